"""agon dojo: the program tools in the real sandbox."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agon.cli.dojo.arguments import MODES
from agon.wiring import MODES as WALLS
from app.dojo.packing import RIGHT, ledger_of, pack_problem, pack_solver, recorded, rows
from cli.command import Cli, run_process

CUBES = "def solver():\n    return [n**3 for n in range(1, 201)]\n"


@pytest.fixture
def solver(tmp_path: Path) -> Path:
    """Return the path of a program."""
    file = tmp_path / "solver.py"
    file.write_text(CUBES)
    return file


def test_the_mode_option_lists_all_sandbox_modes() -> None:
    """The command line lists them without importing the sandbox."""
    assert MODES == WALLS


@pytest.mark.sample(1)
@pytest.mark.parametrize("mode", MODES)
def test_run_prints_the_documented_json(agon: Cli, solver: Path, mode: str) -> None:
    """Other programs read these keys; every isolation mode gives the same output."""
    ended = agon("dojo", "run", solver, "--mode", mode, "--format", "json")
    answer = ended.json()
    assert ended.code == 0
    assert list(answer) == [
        "verdict", "terms", "terms_count", "cpu_ms", "wall_ms", "memory_kib", "mode", "reason",
        "first_index",
    ]  # fmt: skip
    assert answer["verdict"] == "ok"
    assert answer["terms"] == [str(n**3) for n in range(1, 201)]
    assert (answer["terms_count"], answer["mode"], answer["reason"]) == (200, mode, "")
    assert answer["cpu_ms"] > 0
    assert answer["wall_ms"] > 0
    assert answer["memory_kib"] >= 0


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("source", "verdict"),
    [
        ("import os\n", "rejected_import"),
        ("def solver(:\n", "syntax_error"),
        (f"T = {list(range(150))}\n", "rejected_policy"),
        ("def solver():\n    return [True]\n", "wrong_type"),
        ("def solver():\n    return [][0]\n", "runtime_error"),
    ],
)
def test_run_exits_with_zero_for_every_verdict(
    agon: Cli, tmp_path: Path, source: str, verdict: str
) -> None:
    """A verdict is a success; forbidden lines are listed."""
    file = tmp_path / "program.py"
    file.write_text(source)
    ended = agon("dojo", "run", file, "--format", "json")
    assert (ended.code, ended.json()["verdict"]) == (0, verdict)
    assert "line " in ended.json()["reason"] or verdict == "wrong_type"


def test_run_without_the_scan_is_still_isolated(agon: Cli, tmp_path: Path) -> None:
    """The program's forbidden actions fail in the sandbox."""
    file = tmp_path / "program.py"
    file.write_text("import socket\ndef solver():\n    socket.socket()\n    return [1]\n")
    answer = agon("dojo", "run", file, "--no-scan", "--format", "json").json()
    assert answer["verdict"] == "runtime_error"
    assert answer["mode"] == "bwrap"


def test_run_accepts_a_setter_and_a_number_of_terms(agon: Cli, tmp_path: Path) -> None:
    """The text output has verdict, cost and first terms."""
    file = tmp_path / "setter.py"
    file.write_text("def seq(n):\n    return 10**40 + n\n")
    ended = agon("dojo", "run", file, "--kind", "setter", "--n-check", 30)
    assert ended.code == 0
    assert ended.out.startswith("ok\n")
    assert "30 terms from a_0 on: 100000000000000000000000000000…(41 digits), " in ended.out
    assert "and 10 more" in ended.out


@pytest.mark.exhaustive
def test_run_reads_stdin(solver: Path) -> None:
    """Pipes work like files."""
    ended = run_process("dojo", "run", "-", "--format", "json", given=solver.read_bytes())
    assert ended.json()["terms_count"] == 200


@pytest.mark.exhaustive
def test_a_missing_bwrap_is_named_with_its_package(solver: Path, tmp_path: Path) -> None:
    """The exit code is 5, and the message names a package and an alternative."""
    ended = run_process("dojo", "run", str(solver), PATH=str(tmp_path))
    assert ended.code == 5
    assert "bubblewrap" in ended.err
    assert "degraded" in ended.err


def test_a_problem_is_published_judged_revealed_and_verified(agon: Cli, tmp_path: Path) -> None:
    """The complete lifecycle of a problem works on the command line."""
    package = pack_problem(tmp_path / "p", N_check=200, freeze_started_at="2026-02-01")
    published = agon("dojo", "publish", package, "--out", tmp_path / "pub")
    assert published.code == 0
    p_hash = published.out.strip()
    assert "setter: none: anyone can score on it\nfreeze: 2026-02-01T00:00:00" in published.err
    assert "N_check: 200\nfirst_index: 1\n" in published.err
    assert json.loads((tmp_path / "pub" / "disclosure.json").read_text())["problem_id"] == p_hash
    right = "def solver():\n    return [n * n for n in range(1, 201)]\n"
    pack_solver(tmp_path / "s", "ada", right, method_tag="closed_form")
    pack_solver(tmp_path / "s", "bob", right.replace("201", "121"))
    judged = agon("dojo", "judge", package, tmp_path / "s", "--out", tmp_path / "season")
    assert judged.code == 0
    assert judged.out == f"problem\t{p_hash}\nok\t1\nwrong_answer\t1\n"
    board = agon("score", "dojo", tmp_path / "season", "--format", "json").json()["rows"]
    assert [(row["id"], row["stage_passes"], row["reward_corrects"]) for row in board] == [
        ("ada", 1, 1), ("bob", 1, 0),
    ]  # fmt: skip
    board = agon("score", "dojo", tmp_path / "season", "--board", f"problem:{p_hash}",
                 "--format", "json").json()["rows"]  # fmt: skip
    assert board[1]["score"] == 200
    sealed = tmp_path / "pub" / "sealed.json"
    revealed = agon("dojo", "reveal", sealed, "--out", tmp_path / "r.json",
                    "--season", tmp_path / "season")  # fmt: skip
    assert revealed.code == 0
    assert json.loads((tmp_path / "r.json").read_text())["method_tags"] == {"closed_form": 1}
    assert agon("dojo", "reveal", package, "--out", tmp_path / "r2.json").code == 0
    assert agon("dojo", "verify", tmp_path / "r2.json").code == 0
    assert agon("dojo", "verify", package / "setter.py", "--hash", p_hash).code == 0
    wrong = agon("dojo", "verify", package / "setter.py", "--hash", "0" * 64)
    assert (wrong.code, wrong.out.strip()) == (1, p_hash)


def test_a_problem_is_not_revealed_while_it_is_open(agon: Cli, tmp_path: Path) -> None:
    """The exit code is 4 unless the option forces it."""
    package = pack_problem(tmp_path / "p", freeze_started_at="9999-01-01")
    result = agon("dojo", "reveal", package, "--out", tmp_path / "r.json")
    assert result.code == 4
    assert not (tmp_path / "r.json").exists()
    assert agon("dojo", "reveal", package, "--out", tmp_path / "r.json", "--early").code == 0


@pytest.mark.exhaustive
def test_a_nondeterministic_setter_is_rejected_with_the_term(agon: Cli, tmp_path: Path) -> None:
    """Two processes with different hash seeds (dojo page, The sandbox)."""
    setter = "def gen(N):\n    return [n + (n == 6) * hash('x') for n in range(N)]\n"
    package = pack_problem(tmp_path / "p", setter=setter)
    result = agon("dojo", "publish", package, "--out", tmp_path / "out")
    assert result.code == 1
    assert "term 7 differs between two runs" in result.err
    assert not (tmp_path / "out").exists()


@pytest.mark.exhaustive
def test_judge_reports_submissions_that_could_not_be_judged(agon: Cli, tmp_path: Path) -> None:
    """They are on stderr and in the JSON summary; the others are judged."""
    package = pack_problem(tmp_path / "p")
    pack_solver(tmp_path / "s", "ada")
    (tmp_path / "s" / "bob" / "1").mkdir(parents=True)
    (tmp_path / "s" / "ada" / "1" / "solution.json").write_text('{"methodTag": "loops"}')
    ended = agon("dojo", "judge", package, tmp_path / "s", "--out", tmp_path / "o",
                 "--jobs", 1, "--format", "json")  # fmt: skip
    assert ended.code == 0
    assert "could not be judged" in ended.err
    summary = ended.json()
    assert summary["verdicts"] == {"ok": 1}
    assert summary["mode"] == "bwrap"
    assert "solver.py: is missing" in summary["refused"][0]
    assert "'methodTag' is read as method_tag" in summary["to_check"][0]


@pytest.mark.parametrize("command", ["publish", "judge"])
def test_an_invalid_package_is_rejected_before_writing(
    agon: Cli, tmp_path: Path, command: str
) -> None:
    """The exit code is 2, with one line for every error."""
    package = pack_problem(tmp_path / "p", N_check=0, setter="import os\n")
    (tmp_path / "s").mkdir()
    arguments = [package, tmp_path / "s"] if command == "judge" else [package]
    ended = agon("dojo", command, *arguments, "--out", tmp_path / "out")
    assert ended.code == 2
    assert len(ended.err.splitlines()) == 3
    assert not (tmp_path / "out").exists()


@pytest.mark.exhaustive
def test_rejudge_is_a_dry_run_by_default(agon: Cli, tmp_path: Path) -> None:
    """The recorded verdict differs from that of the run."""
    package = pack_problem(tmp_path / "p")
    pack_solver(tmp_path / "s", "ada")
    season = tmp_path / "season"
    assert agon("dojo", "judge", package, tmp_path / "s", "--out", season).code == 0
    ledger = ledger_of(season)
    ledger.write_text(ledger.read_text().replace('"ok"', '"time_limit"'))
    summary = agon("dojo", "rejudge", season, "--format", "json").json()
    assert [
        (change["verdict_before"], change["verdict_after"]) for change in summary["changes"]
    ] == [("time_limit", "ok")]
    assert "time_limit" in ledger.read_text()
    applied = agon("dojo", "rejudge", season, "--apply")
    assert applied.code == 0
    assert "1 verdicts change" in applied.out
    assert rows(season)[0]["verdict"] == "ok"


def descendants(pid: int) -> list[int]:
    """Return the ids of all descendants of a process."""
    descendant_ids = []
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, children.read_text().split()):
            descendant_ids += [child, *descendants(child)]
    return descendant_ids


def test_a_killed_judge_leaves_no_process_and_can_be_resumed(tmp_path: Path) -> None:
    """The real command is killed with signal 9 in the real sandbox."""
    package = pack_problem(tmp_path / "p")
    slow = RIGHT.format(n=20).replace(":\n", ":\n    sum(range(2_000_000))\n", 1)
    for user in range(30):
        pack_solver(tmp_path / "s", f"u{user:02}", slow)
    command = [sys.executable, "-m", "agon", "dojo", "judge", str(package), str(tmp_path / "s"),
               "--out", str(tmp_path / "o")]  # fmt: skip
    ledger = ledger_of(tmp_path / "o")
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as judge:
        while not ledger.exists() or len(recorded(tmp_path / "o")) < 3:
            assert judge.poll() is None
            time.sleep(0.005)
        workers = descendants(judge.pid)
        os.kill(judge.pid, signal.SIGKILL)
    assert workers
    end = time.monotonic() + 60
    while any(Path(f"/proc/{pid}").exists() for pid in workers):
        assert time.monotonic() < end, "a worker outlived its judge"
        time.sleep(0.01)
    finished = recorded(tmp_path / "o")
    assert len(finished) < 30
    process = subprocess.run(command, capture_output=True, check=True)
    assert f"{len(finished)} had their verdict already" in process.stderr.decode()
    ids = recorded(tmp_path / "o")
    assert len(ids) == len(set(ids)) == 30
    assert ids[: len(finished)] == finished
    assert {row["verdict"] for row in rows(tmp_path / "o")} == {"ok"}


@pytest.mark.exhaustive
def test_commands_that_run_no_programs_do_not_import_the_sandbox(solver: Path) -> None:
    """The command line starts faster without it."""
    code = (
        "import sys; from agon.cli.run import run; "
        f"run(['dojo', 'check', {str(solver)!r}]); "
        "sys.exit(any(name.startswith('agon.runners') for name in sys.modules))"
    )
    process = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True)
    assert process.returncode == 0


def test_the_rules_of_programs_are_shown_for_an_edition(agon: Cli) -> None:
    """What a message refers to is one command away, for people and for programs."""
    text = agon("dojo", "rules", "--edition", "0.2").out
    assert "modules: sympy, math, fractions, itertools, functools, collections" in text
    assert "sympy.crypto" not in agon("dojo", "rules", "--format", "json").json()["allowed_modules"]
    shown = agon("dojo", "rules", "--set", "recursion_limit=500", "--format", "json").json()
    assert shown["limits"]["recursion"] == 500
    assert "sympy.crypto" in shown["sympy_missing"]
    assert "input" in shown["refused_names"]
