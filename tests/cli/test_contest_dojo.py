"""A dojo contest's problems and programs from the command line."""

from pathlib import Path

import pytest

from agon.settings import load
from agon.wiring import open_service
from cli.command import Cli, CommandResult
from fakes.autumn import CUBES, RIGHT, SQUARES, judged, publish

DOJO = Path(__file__).parents[2] / "src/agon/examples/dojo"


@pytest.fixture
def database(agon: Cli, tmp_path: Path) -> str:
    """Create a dojo contest with the problem of squares."""
    url = f"sqlite:///{tmp_path}/agon.db"
    ended = agon("contest", "create", "autumn", "--discipline", "dojo", "--database", url)
    assert ended.code == 0, ended.err
    service = open_service(load({"database": url}))
    publish(service, SQUARES)
    publish(service, CUBES, freeze_started_at="2026-01-01T00:00:00.000000Z")
    service.store.close()
    return url


def good(agon: Cli, database: str, *arguments: object) -> CommandResult:
    """Run a command that has to succeed."""
    ended = agon("contest", *arguments, "--database", database)
    assert ended.code == 0, ended.err
    return ended


def test_problems_are_listed_with_their_disclosed_terms(agon: Cli, database: str) -> None:
    """The table is an overview; the JSON contains all terms."""
    problem = good(agon, database, "problems", "autumn", "--format", "json").json()["problems"]
    assert [item["disclosed"][1]["a"] for item in problem] == ["9", "27"]
    assert [item["terms"] for item in problem] == [None, None]
    assert problem[0]["id"] in good(agon, database, "problems", "autumn").out
    output = good(agon, database, "problems", "autumn", "--problem", problem[1]["id"]).out
    assert "freeze started at: 2026-01-01 00:00:00" in output
    assert "a_1 = 1  a_3 = 27  a_5 = 125" in output
    ended = agon("contest", "problems", "autumn", "--problem", "none", "--database", database)
    assert ended.code == 3


def test_a_published_setter_passes_its_gate(agon: Cli, database: str) -> None:
    """Errors are reported before the package is sent."""
    problem = good(agon, database, "publish", "autumn", DOJO / "primes", "--format", "json").json()
    assert (problem["job"]["kind"], problem["job"]["state"]) == ("gate", "queued")
    printed = good(agon, database, "publish", "autumn", DOJO / "primes")
    assert printed.out.strip() == problem["problem"]
    assert agon("contest", "publish", "autumn", "none/", "--database", database).code == 3


@pytest.mark.exhaustive
def test_an_answer_is_revealed_once_its_problem_is_closed(agon: Cli, database: str) -> None:
    """Solvers want to see source and terms."""
    squares, cubes = (
        item["id"]
        for item in good(agon, database, "problems", "autumn", "--format", "json").json()[
            "problems"
        ]
    )
    assert agon("contest", "reveal", "autumn", squares, "--database", database).code == 4
    assert "is revealed" in good(agon, database, "reveal", "autumn", cubes).out
    item = ("problems", "autumn", "--problem", cubes, "--format", "json")
    [problem] = good(agon, database, *item).json()["problems"]
    assert (problem["source"], problem["terms"][2]) == (CUBES, "27")


def test_a_program_is_submitted(agon: Cli, database: str, tmp_path: Path) -> None:
    """A worker judges it; the local client needs the user's id."""
    problem = good(agon, database, "problems", "autumn", "--format", "json").json()["problems"]
    solver = tmp_path / "solver.py"
    solver.write_text(RIGHT)
    sending = ("submit", "autumn", solver, "--problem", problem[0]["id"])
    assert agon("contest", *sending, "--database", database).code == 2
    submission = good(agon, database, *sending, "--user", "ada", "--format", "json").json()
    assert [job["kind"] for job in submission["jobs"]] == ["judge"]
    assert good(agon, database, *sending, "--user", "bob", "--tag", "search_enum").out.strip()
    solver.write_bytes(b"\xff")
    assert agon("contest", *sending, "--user", "ada", "--database", database).code == 2


def test_submit_waits_for_the_verdict(
    agon: Cli, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scripts then need no loop; a verdict that does not come is an error after some time."""
    [problem, _] = good(agon, database, "problems", "autumn", "--format", "json").json()["problems"]
    solver = tmp_path / "solver.py"
    solver.write_text(RIGHT)
    sending = ("submit", "autumn", solver, "--problem", problem["id"], "--user", "ada", "--wait")

    def judge(_: float) -> None:
        listed = good(agon, database, "submissions", "autumn", "--format", "json").json()
        service = open_service(load({"database": database}))
        judged(
            service, listed["submissions"][0]["id"], problem["id"], verdict="runtime_error",
            terms_matched=None, reason="there is no function solver()",
        )  # fmt: skip
        service.store.close()

    monkeypatch.setattr("agon.cli.contest.dojo.time.sleep", judge)
    out = good(agon, database, *sending).out
    assert out.splitlines()[-1] == "runtime_error: there is no function solver()"
    monkeypatch.setattr("agon.cli.contest.dojo._MAX_WAIT_S", 0)
    assert agon("contest", *sending[:-2], "bob", "--wait", "--database", database).code == 5


def test_the_verdict_of_a_program_is_shown(agon: Cli, database: str, tmp_path: Path) -> None:
    """Participants need the cause and the program of a failed submission."""
    [problem, _] = good(agon, database, "problems", "autumn", "--format", "json").json()["problems"]
    solver = tmp_path / "solver.py"
    solver.write_text("def gen(n):\n    return [n]\n")
    sending = ("submit", "autumn", solver, "--problem", problem["id"], "--user", "ada")
    submission = good(agon, database, *sending)
    name = submission.out.strip()
    assert f"agon contest submissions autumn {name}" in submission.err
    assert "not judged yet" in good(agon, database, "submissions", "autumn").out
    service = open_service(load({"database": database}))
    judged(
        service, name, problem["id"], verdict="runtime_error", terms_matched=None,
        reason="there is no function solver()",
    )  # fmt: skip
    service.store.close()
    assert "runtime_error" in good(agon, database, "submissions", "autumn").out
    output = good(agon, database, "submissions", "autumn", name).out
    assert "reason: there is no function solver()" in output
    assert "def gen(n):" in output
    [item] = good(agon, database, "submissions", "autumn", "--format", "json").json()["submissions"]
    assert (item["id"], item["records"][0]["verdict"]) == (name, "runtime_error")
    assert agon("contest", "submissions", "autumn", "none", "--database", database).code == 3
