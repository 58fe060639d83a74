"""Test a discipline from another package: it works like agon's disciplines."""

import json
from pathlib import Path

import pytest

import agon as library
from agon.app.demo import build_demo
from agon.app.files import json_line
from agon.app.replay.replica import ContestReplica
from agon.ledger.contest_state import Adjustment
from cli.command import Cli, CommandResult, run_process

TOP = ["p0", "p1", "p3"]
"""The first player of the simulated quiz."""


@pytest.fixture
def records(quiz: Path, agon: Cli, tmp_path: Path) -> Path:
    """Simulate a quiz of a hundred answers in which one player cheats."""
    assert quiz.is_dir()
    folder = tmp_path / "records"
    made = agon("simulate", "quiz", "--out", folder, "--size", 100, "--attack", "repeated-answers")
    assert made.code == 0
    return folder


def good(ended: CommandResult) -> CommandResult:
    """Return the result of a command, which must succeed."""
    assert ended.code == 0, ended.err
    return ended


@pytest.mark.exhaustive
def test_records_are_scored_explained_checked_and_compared(agon: Cli, records: Path) -> None:
    """With the same options as those of agon's own disciplines."""
    scored = good(agon("score", "quiz", records, "--top", 3, "--format", "json")).json()
    assert [row["id"] for row in scored["rows"]] == TOP
    assert scored["edition"] == "classic-1"
    explained = good(agon("explain", "quiz", records, "p3", "--format", "json")).json()
    assert explained["score"] == sum(part["points"] for part in explained["parts"]) == 88
    report = good(agon("check", "quiz", records, "--format", "json")).json()
    assert [finding["code"] for finding in report["findings"]] == ["repeated-answers"]
    moved = good(agon("compare", "quiz", records, "--set", "wrong=0", "--format", "json")).json()
    assert moved["rules"] == {"wrong": {"left": -2, "right": 0}}
    assert moved["summary"]["moved"] == 8


@pytest.mark.exhaustive
def test_invalid_records_are_rejected_with_all_their_errors(agon: Cli, records: Path) -> None:
    """By the schema alone: the package checks nothing itself."""
    (records / "answers.parquet").unlink()
    (records / "answers.csv").write_text(
        "id,player_id,question,correct,answered_at\n1,nobody,q1,maybe,2026-01-01\n"
    )
    ended = agon("check", "quiz", records, "--format", "json")
    assert ended.code == 2
    assert {problem["column"] for problem in ended.json()["problems"]} == {"player_id", "correct"}


def test_its_editions_are_listed_shown_and_linted(quiz: Path, agon: Cli) -> None:
    """Its package contains them, with their lock."""
    assert quiz.is_dir()
    listed = good(agon("rules", "list", "--format", "json")).json()
    assert "quiz/classic-1" in json.dumps(listed)
    shown = good(agon("rules", "show", "quiz/classic-1", "--format", "json")).json()
    assert shown["edition"] == "quiz/classic-1"
    good(agon("rules", "lint", "quiz/classic-1"))


def test_a_contest_runs_from_its_creation_to_the_final_board(
    agon: Cli, records: Path, tmp_path: Path
) -> None:
    """The boards of the contest, of its replay and of the records have one hash."""
    at = ("--database", f"sqlite:///{tmp_path}/agon.db")
    good(agon("contest", "create", "friday", "--discipline", "quiz", "--draft", *at))
    good(agon("contest", "open", "friday", *at))
    good(agon("contest", "add", "friday", records, *at))
    scored = good(agon("score", "quiz", records, "--format", "json")).json()
    board = good(agon("contest", "board", "friday", "--format", "json", *at)).json()
    assert board["board_sha256"] == scored["board_sha256"]
    assert board["rules_sha256"] == scored["rules_sha256"]
    explained = good(agon("contest", "explain", "friday", "p3", "--format", "json", *at)).json()
    assert explained["score"] == 88
    assert "repeated-answers" in good(agon("contest", "findings", "friday", "--scan", *at)).out
    void = ("contest", "void", "friday", "--person", "p0", "--reason", "case 1", "--yes", *at)
    good(agon(*void))
    good(agon("contest", "freeze", "friday", *at))
    good(agon("contest", "finalize", "friday", *at))
    final = good(agon("contest", "board", "friday", "--format", "json", *at)).json()
    assert final["board_sha256"] != board["board_sha256"]
    assert [row["id"] for row in final["rows"]][:2] == TOP[1:]
    good(agon("replay", "friday", "--check", final["board_sha256"], *at))
    good(agon("contest", "export", "friday", "--out", tmp_path / "ledger", *at))
    good(agon("replay", tmp_path / "ledger", "--check", final["board_sha256"]))
    good(agon("db", "verify", *at))


@pytest.mark.exhaustive
def test_an_adjusted_board_shares_ranks_as_the_discipline_says(
    agon: Cli, records: Path, tmp_path: Path
) -> None:
    """Twelve points lift the third to the first two, who share the rank."""
    at = ("--database", f"sqlite:///{tmp_path}/agon.db")
    good(agon("contest", "create", "friday", "--discipline", "quiz", *at))
    good(agon("contest", "add", "friday", records, *at))
    good(agon("contest", "export", "friday", "--out", tmp_path / "ledger", *at))
    lines = (tmp_path / "ledger" / "ledger.ndjson").read_bytes().splitlines()
    replica = ContestReplica("friday")
    replica.catch_up(enumerate(lines, start=1))
    bonus = Adjustment(seq=1, board="players", id="p3", points=12, change=None, reason="a mistake")
    board = replica.result(adjustments=[bonus]).board()
    assert [(row["id"], row["rank"]) for row in board.rows(top=4)] == [
        ("p0", 1), ("p1", 1), ("p3", 1), ("p6", 4),
    ]  # fmt: skip
    positions, known = replica.records_about(["p3"])
    assert (positions, known) == (sorted(positions), {"p3"})
    assert len(positions) == 11
    replica.close()


@pytest.mark.exhaustive
def test_a_ledger_says_which_discipline_is_not_installed(
    agon: Cli, records: Path, tmp_path: Path
) -> None:
    """A user who replays it needs the package; the message names it."""
    at = ("--database", f"sqlite:///{tmp_path}/agon.db")
    good(agon("contest", "create", "friday", "--discipline", "quiz", *at))
    good(agon("contest", "add", "friday", records, *at))
    good(agon("contest", "export", "friday", "--out", tmp_path / "ledger", *at))
    ended = run_process("replay", tmp_path / "ledger", PYTHONPATH="")
    assert ended.code == 1
    assert "'quiz'; give one of" in ended.err
    assert "install the package that adds it" in ended.err
    ended = run_process("db", "verify", *at, PYTHONPATH="")
    assert ended.code == 1
    assert "install the package that adds it" in ended.err
    assert "restore" not in ended.err


def test_the_library_finds_it_by_name(quiz: Path) -> None:
    """Records of a user are scored and explained."""
    assert quiz.is_dir()
    made = library.simulate("quiz", size=50, seed=2)
    assert set(made.tables) == {"players", "answers"}
    assert library.edition("classic-1", of="quiz").full_name == "quiz/classic-1"


def test_the_demo_shows_it(quiz: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The demo is that of its ``Demo``."""
    assert quiz.is_dir()
    monkeypatch.setattr("agon.app.demo.names", lambda: ("quiz",))
    (shown,) = build_demo(tmp_path / "demo")
    assert shown.discipline == "quiz"
    assert shown.commands == (f"agon check quiz {shown.source}",)
    assert len(shown.result.findings) == 1


@pytest.mark.exhaustive
def test_commands_of_a_separate_process_find_it(quiz: Path, tmp_path: Path) -> None:
    """The interpreter searches the path, without fixtures of the test."""
    (tmp_path / "quiz").mkdir()
    (tmp_path / "quiz" / "players.ndjson").write_bytes(json_line({"id": "ada"}))
    (tmp_path / "quiz" / "answers.ndjson").write_bytes(
        json_line(
            {"id": 1, "player_id": "ada", "question": "q1", "correct": True,
             "answered_at": "2026-01-01T00:00:00Z"}
        )
    )  # fmt: skip
    command = ("score", "quiz", tmp_path / "quiz", "--format", "json")
    ended = good(run_process(*command, PYTHONPATH=str(quiz)))
    assert ended.json()["rows"] == [{"rank": 1, "id": "ada", "score": 10.0, "right": 1, "wrong": 0}]
