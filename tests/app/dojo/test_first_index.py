"""Test the first index: a_0 in a new problem, a_1 in one published before it existed."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import agon
from agon.app.dojo.hidden_answer import read_answer
from agon.app.dojo.judge import judge
from agon.app.dojo.problems import packaged_problem, read_problem
from agon.app.dojo.publication import publish
from agon.app.dojo.rejudge import rejudge
from agon.app.dojo.season import SeasonFolder
from agon.app.sandbox import RunRequest
from agon.errors import Conflict
from agon.ledger.entry import Draft
from app.dojo.packing import RIGHT, SQUARES, entries, pack_problem, pack_solver, rows
from fakes.sandbox import FakeSandbox

FROM_0 = "def solver(): return [n * n for n in range(20)]\n"
FROM_1 = RIGHT.format(n=20)


def judged(package: Path, folder: Path) -> Mapping[str, str]:
    """Judge a folder's submissions to a package; return the reason of each verdict by user."""
    judge(read_problem(package), folder / "s", folder / "season", FakeSandbox())
    return {row["user_id"]: f"{row['verdict']}: {row['reason']}" for row in rows(folder / "season")}


def pack_both(folder: Path) -> None:
    """Write a solver that begins with a_0 and one that begins with a_1."""
    pack_solver(folder / "s", "zero", FROM_0)
    pack_solver(folder / "s", "one", FROM_1)


def forget(season: Path) -> None:
    """Publish a season's problem as it was entered before problems stated their first index."""
    with SeasonFolder.open(season, new=False) as opened:
        (problem,) = opened.problems.values()
        package = {k: v for k, v in problem.package.items() if k != "first_index"}
        body = {"problem": problem.id, "package": package}
        at = datetime(2026, 1, 1, tzinfo=UTC)
        opened._append(Draft(kind="problem-published", body=body, at=at, by="local"))
        opened.finish()


@pytest.mark.parametrize(
    ("stated", "verdicts"),
    [
        ({"first_index": None}, {"zero": "ok: ", "one": "wrong_answer: term 1 (a_0) is wrong"}),
        ({"first_index": 0}, {"zero": "ok: ", "one": "wrong_answer: term 1 (a_0) is wrong"}),
        ({"first_index": 1}, {"zero": "wrong_answer: term 1 is wrong", "one": "ok: "}),
    ],
)
def test_a_new_problem_begins_with_a_0_by_default(
    tmp_path: Path, stated: dict[str, Any], verdicts: dict[str, str]
) -> None:
    """The seed counts a[0..N_check-1]: a solver written for it must not fail at its first term."""
    pack_both(tmp_path)
    assert judged(pack_problem(tmp_path / "p", **stated), tmp_path) == verdicts
    (row,) = rows(tmp_path / "season", "problems")
    assert row.get("first_index", 1) == (stated["first_index"] or 0)


@pytest.mark.parametrize("first_index", [0, 1])
def test_the_disclosed_terms_have_odd_indices_with_any_first_index(
    tmp_path: Path, first_index: int
) -> None:
    """The file states the index of the first term."""
    package = pack_problem(tmp_path / "p", N_check=200, first_index=first_index)
    publish(read_problem(package), tmp_path / "out", FakeSandbox())
    page = json.loads((tmp_path / "out" / "disclosure.json").read_text())
    assert page["first_index"] == first_index
    assert page["disclosed"] == [{"n": n, "a": str(n * n)} for n in range(1, 100, 2)]
    answer = read_answer(tmp_path / "out" / "sealed.json")
    assert answer.problem.first_index == first_index
    assert answer.terms[0] == str(first_index)


def test_gen_is_called_with_the_number_of_terms_with_any_first_index() -> None:
    """Its list begins with the first index; its argument is the length."""
    request = RunRequest(source=b"def gen(N): return [N] * N\n", entry="gen", n_check=3)
    assert FakeSandbox().run(request).terms == ("3", "3", "3")


def test_a_published_problem_without_a_first_index_keeps_a_1(tmp_path: Path) -> None:
    """Earlier verdicts remain valid, and judging continues by the same terms."""
    package = pack_problem(tmp_path / "p", first_index=1)
    pack_both(tmp_path)
    before = judged(package, tmp_path)
    for name in ("zero", "one"):
        (tmp_path / "s" / name / "1").rename(tmp_path / "s" / name / "2")
    forget(tmp_path / "season")
    pack_problem(tmp_path / "p", first_index=None)
    assert judged(package, tmp_path) == before
    kinds = [entry["kind"] for entry in entries(tmp_path / "season")]
    assert kinds.count("problem-published") == 2
    assert rejudge(tmp_path / "season", FakeSandbox()).changes == ()


def test_a_season_rejects_its_problem_with_another_first_index(tmp_path: Path) -> None:
    """Verdicts of two sequences would have one hash."""
    pack_both(tmp_path)
    judged(pack_problem(tmp_path / "p", first_index=1), tmp_path)
    with pytest.raises(Conflict, match="with first_index 1, not 0; judge into another folder"):
        judged(pack_problem(tmp_path / "p", first_index=0), tmp_path)


def test_a_package_of_a_ledger_without_a_first_index_means_1() -> None:
    """Jobs and entries were written before the field existed."""
    assert packaged_problem({"source": SQUARES}).first_index == 1
    assert packaged_problem({"source": SQUARES, "first_index": 0}).first_index == 0


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("first", "disclosed"), [(5, [5, 7, 9]), (-4, [-3, -1, 1]), (6, [7, 9, 11])]
)
def test_a_sequence_may_begin_at_any_whole_number(
    tmp_path: Path, first: int, disclosed: list[int]
) -> None:
    """Offsets of known sequences are not only 0 and 1; the disclosed terms have odd indices."""
    package = pack_problem(tmp_path / "p", first_index=first)
    answer = publish(read_problem(package), tmp_path / "out", FakeSandbox())
    assert answer.terms[0] == str(first * first)
    shown = json.loads((tmp_path / "out" / "disclosure.json").read_text())
    assert shown["first_index"] == first
    assert [term["n"] for term in shown["disclosed"][:3]] == disclosed
    assert all(term["a"] == str(term["n"] ** 2) for term in shown["disclosed"])
    assert read_answer(tmp_path / "out" / "sealed.json").problem.first_index == first
    pack_solver(tmp_path / "s", "ada", f"def solver(): return [n*n for n in range({first}, 99)]\n")
    assert judged(package, tmp_path) == {"ada": "ok: "}
    assert rows(tmp_path / "season", "problems")[0]["first_index"] == first
    board = agon.score("dojo", tmp_path / "season").board()
    assert [row["id"] for row in board.rows()] == ["ada"]
