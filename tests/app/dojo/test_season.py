"""A season's folder survives kills, cut lines and other judges; no verdict is lost or repeated."""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import agon
from agon.app.dojo.judge import judge
from agon.app.dojo.problems import read_problem
from agon.app.dojo.season import SeasonFolder
from agon.app.sandbox import RunRequest, RunResult
from agon.errors import Conflict, NotFound, Unreadable
from app.dojo.packing import ledger_of, pack_problem, pack_solver, recorded, rows
from fakes.sandbox import FakeSandbox
from sizes import ALL, size

TESTS = Path(__file__).parents[2]
USERS = 40 if ALL else 20


def contest(folder: Path, *, users: int = USERS) -> Path:
    """Pack a problem and some submissions to it."""
    pack_problem(folder / "p")
    for user in range(users):
        pack_solver(folder / "s", f"u{user:03}")
    return folder


def begin(folder: Path) -> "subprocess.Popen[bytes]":
    """Start a judge as a separate process."""
    return subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("judge_slowly.py")), str(folder)],
        env={**os.environ, "PYTHONPATH": str(TESTS)},
        stderr=subprocess.PIPE,
    )


def started(folder: Path) -> list[str]:
    """Return the names of the runs that began, in order."""
    log = folder / "log"
    return log.read_text().split() if log.exists() else []


@pytest.mark.exhaustive
def test_a_judge_killed_at_random_times_loses_and_repeats_no_verdict(tmp_path: Path) -> None:
    """Each submission gets one verdict, and a judged one does not run again."""
    dice = random.Random(3)
    contest(tmp_path)
    kills = 0
    season = tmp_path / "season"
    while True:
        finished = recorded(season) if ledger_of(season).exists() else []
        began = len(started(tmp_path))
        judge_process = begin(tmp_path)
        runs = dice.randint(4, 9) if ALL else dice.randint(3, 5)
        while judge_process.poll() is None and len(started(tmp_path)) < began + runs:
            time.sleep(0.001)
        time.sleep(dice.random() * 0.006)
        judge_process.kill()
        _, errors = judge_process.communicate()
        assert judge_process.returncode in (0, -signal.SIGKILL), errors.decode()
        again = set(started(tmp_path)[began:]) & set(finished)
        assert not again, "a judged program ran again"
        if judge_process.returncode == 0:
            break
        kills += 1
    assert kills >= 3
    ids = recorded(season)
    assert len(ids) == len(set(ids)) == USERS
    assert sorted(ids) == [row["id"] for row in rows(season)]
    assert len(agon.score("dojo", season).board()) == USERS


@pytest.mark.exhaustive
def test_two_judges_of_a_season_do_not_run_at_once(tmp_path: Path) -> None:
    """The kernel releases the lock when the process that holds it ends."""
    contest(tmp_path)
    judge_process = begin(tmp_path)
    while not started(tmp_path):
        time.sleep(0.005)
    with pytest.raises(Conflict, match="being judged by another process"):
        judge(read_problem(tmp_path / "p"), tmp_path / "s", tmp_path / "season", FakeSandbox())
    judge_process.kill()
    judge_process.communicate()
    judge(read_problem(tmp_path / "p"), tmp_path / "s", tmp_path / "season", FakeSandbox())
    assert len(rows(tmp_path / "season")) == USERS


@settings(max_examples=size(40), deadline=None)
@given(share=st.floats(0, 1))
def test_a_ledger_cut_at_any_byte_is_completed_to_the_same_tables(share: float) -> None:
    """A power cut can leave any part of it; only what is missing is judged again."""
    with tempfile.TemporaryDirectory() as name:
        folder = contest(Path(name), users=4)
        season = folder / "season"
        paths = read_problem(folder / "p"), folder / "s", season
        judge(*paths, FakeSandbox())
        tables = rows(season), rows(season, "problems")
        ledger = ledger_of(season)
        os.truncate(ledger, round(share * ledger.stat().st_size))
        remaining = recorded(season)
        sandbox = FakeSandbox()
        judge(*paths, sandbox)
        assert (rows(season), rows(season, "problems")) == tables
        assert sorted(recorded(season)) == [row["id"] for row in tables[0]]
        assert not set(sandbox.ran) & set(remaining)


def test_a_file_that_is_not_a_ledger_is_reported_and_not_changed(tmp_path: Path) -> None:
    """A user may have edited it."""
    contest(tmp_path, users=1)
    paths = read_problem(tmp_path / "p"), tmp_path / "s", tmp_path / "season"
    judge(*paths, FakeSandbox())
    ledger = ledger_of(tmp_path / "season")
    ledger.write_text('{"problem": {}}\n')
    with pytest.raises(Unreadable, match="line 1 is not an entry"):
        judge(*paths, FakeSandbox())
    assert ledger.read_text() == '{"problem": {}}\n'


@pytest.mark.exhaustive
def test_deleted_tables_are_restored_from_the_ledger(tmp_path: Path) -> None:
    """The ledger has all that they state; no program runs again."""
    contest(tmp_path, users=4)
    paths = read_problem(tmp_path / "p"), tmp_path / "s", tmp_path / "season"
    judge(*paths, FakeSandbox())
    before = agon.score("dojo", tmp_path / "season").fingerprint
    for table in ("problems", "submissions"):
        (tmp_path / "season" / f"{table}.ndjson").unlink()
    sandbox = FakeSandbox()
    judge(*paths, sandbox)
    assert set(sandbox.ran) == {"setter"}
    assert agon.score("dojo", tmp_path / "season").fingerprint == before


def test_the_order_of_verdicts_does_not_change_the_tables(tmp_path: Path) -> None:
    """Two judges of the same programs write the same tables."""
    contest(tmp_path, users=6)
    problem = read_problem(tmp_path / "p")

    class Backwards(FakeSandbox):
        def run_many(
            self, requests: Iterable[RunRequest]
        ) -> Iterator[tuple[RunRequest, RunResult]]:
            yield from reversed(list(super().run_many(requests)))

    judge(problem, tmp_path / "s", tmp_path / "season", FakeSandbox())
    judge(problem, tmp_path / "s", tmp_path / "other", Backwards())
    assert recorded(tmp_path / "other") == recorded(tmp_path / "season")[::-1]
    first, second = (tmp_path / name / "submissions.ndjson" for name in ("season", "other"))
    assert first.read_bytes() == second.read_bytes()


def test_incomplete_files_of_a_killed_judge_are_removed(tmp_path: Path) -> None:
    """A table is replaced by renaming; a file that was not renamed is incomplete."""
    contest(tmp_path, users=1)
    paths = read_problem(tmp_path / "p"), tmp_path / "s", tmp_path / "season"
    judge(*paths, FakeSandbox())
    before = sorted((tmp_path / "season").rglob("*"))
    (tmp_path / "season" / ".submissions.ndjson-0a1b2c3d").write_text("half")
    (tmp_path / "season" / "ledger" / ".ledger.ndjson-0a1b2c3d").write_text("half")
    judge(*paths, FakeSandbox())
    assert sorted((tmp_path / "season").rglob("*")) == before


def test_reading_a_missing_season_does_not_create_it(tmp_path: Path) -> None:
    """Only a judge creates one."""
    with pytest.raises(NotFound), SeasonFolder.open(tmp_path / "season", new=False):
        pass
    assert not (tmp_path / "season").exists()


@pytest.mark.exhaustive
def test_no_character_of_a_program_breaks_a_line_of_the_ledger(tmp_path: Path) -> None:
    r"""Lines end with \n alone, and a line holds none."""
    pack_problem(tmp_path / "p")
    odd = "def solver():\n    return [0]  # \u2028 \u0085 \x0b π\n"
    pack_solver(tmp_path / "s", "ada", odd, notes="a\u2028b\nc")
    judge(read_problem(tmp_path / "p"), tmp_path / "s", tmp_path / "season", FakeSandbox())
    lines = ledger_of(tmp_path / "season").read_bytes().split(b"\n")
    assert lines.pop() == b""
    assert [json.loads(line)["seq"] for line in lines] == [1, 2, 3, 4, 5, 6]
    judge(read_problem(tmp_path / "p"), tmp_path / "s", tmp_path / "season", FakeSandbox())
    assert len(recorded(tmp_path / "season")) == 1
    source = agon.read_records("dojo", tmp_path / "season").arrow("submissions")["source"]
    assert source.to_pylist() == [odd]
