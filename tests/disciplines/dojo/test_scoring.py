"""A season's boards: against a second implementation, under other rules, and explained."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import agon
from agon.app.analysis.score import Result
from agon.disciplines.dojo.records import SCHEMA, VERDICTS
from agon.errors import NotFound
from agon.records import InvalidRecords, read_rows
from disciplines.dojo import oracle
from sizes import size

HASHES = [f"{n:064x}" for n in range(4)]
TIMES = [f"2026-01-0{day}T00:00:00" for day in range(1, 6)]


def scored(problems: list[Any], submissions: list[Any], **rules: Any) -> Result:
    """Score rows at hand."""
    records = read_rows(SCHEMA, {"problems": problems, "submissions": submissions})
    return agon.score("dojo", records, overrides=rules)


@st.composite
def seasons(draw: st.DrawFn) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Draw small seasons full of ties, late entries, extra time, setters and odd tags."""
    problems = [
        {"id": name, "setter_user_id": draw(st.sampled_from([None, "ada", "bob"])),
         "n_check": draw(st.sampled_from([None, 200, 51])),
         "freeze_started_at": draw(st.sampled_from([None, *TIMES]))}
        for name in ("p", "q")
    ]  # fmt: skip
    tags = [None, "", " ", "x" * 64, "x" * 65, "loops", "closed_form"]
    one = st.fixed_dictionaries(
        {
            "problem_id": st.sampled_from(["p", "q"]),
            "user_id": st.sampled_from(["ada", "bob", "cy", "dee"]),
            "created_at": st.sampled_from(TIMES),
            "extended_until": st.sampled_from([None, None, *TIMES]),
            "source_hash": st.sampled_from(HASHES),
            "l_chars": st.sampled_from([0, 50, 51, 800, 5000]),
            "method_tag": st.sampled_from(tags),
            "verdict": st.sampled_from(["ok", "ok", "ok", "wrong_answer", *VERDICTS]),
            "terms_matched": st.sampled_from([0, 24, 25, 50, 51, 99, 100, 199, 200]),
        }
    )
    drawn = draw(st.lists(one, min_size=1, max_size=14))
    return problems, [{"id": f"s{at}", **row} for at, row in enumerate(drawn)]


@settings(max_examples=size(60, at_least=3, dear=True), deadline=None)
@given(seasons(), st.randoms(use_true_random=False))
def test_boards_equal_a_second_implementation(
    season: tuple[list[dict[str, Any]], list[dict[str, Any]]], dice: Any
) -> None:
    """Dicts and loops from the page alone are the oracle; row order has no meaning."""
    problems, submissions = season
    expected = oracle.season(problems, submissions)
    shuffled = list(submissions)
    dice.shuffle(shuffled)
    result = scored(problems, shuffled)
    for name, rows in expected["problems"].items():
        got = [(r["id"], r["score"], r["submission_id"]) for r in
               result.board(f"problem:{name}").rows()]  # fmt: skip
        assert got == [(r["id"], r["score"], r["submission"]) for r in rows]
    columns = ("id", "score", "reward_corrects", "median_l_chars", "stage_passes")
    season_rows = [tuple(row[column] for column in columns) for row in result.board().rows()]
    assert season_rows == expected["season"]


@settings(max_examples=size(30, at_least=3, dear=True), deadline=None)
@given(seasons())
def test_explanations_sum_to_every_score(
    season: tuple[list[dict[str, Any]], list[dict[str, Any]]],
) -> None:
    """An explanation is rejected where it does not add up; every id on every board has one."""
    result = scored(*season)
    for board in ("season", "problem:p", "problem:q"):
        shown = result.board(board)
        for row in shown.rows():
            explanation = result.explain(row["id"], board=board)
            assert sum(part.points for part in explanation.parts) == row["score"]
            assert explanation.rank == row["rank"]
        for one in shown.unscored:
            explanation = result.explain(one.id, board=board)
            assert explanation.score is None
            assert explanation.reason == one.reason


SOURCE = "def solver():\n    return [1] * 200\n"


def submission(**given: Any) -> dict[str, Any]:
    """Make a reward-correct submission with some values given."""
    row = {"id": "s1", "problem_id": "p", "user_id": "ada", "created_at": TIMES[0],
           "source": SOURCE, "verdict": "ok"}  # fmt: skip
    return {**row, **given}


def test_a_submission_in_extra_time_counts_as_one_before_the_freeze() -> None:
    """It gets the diversity bonus too; after the extra time it has no score, and says why."""
    frozen = {"id": "p", "freeze_started_at": TIMES[1]}
    late = {"created_at": TIMES[3], "method_tag": "loops"}
    rows = [
        submission(id="s1", user_id="ada", extended_until=TIMES[3], **late),
        submission(id="s2", user_id="bob", extended_until=TIMES[2], **late),
        submission(id="s3", user_id="cy", **late),
    ]
    board = scored([frozen], rows).board("problem:p")
    assert [(row["id"], row["diversity"]) for row in board.rows()] == [("ada", 30.0)]
    assert [(one.id, one.reason) for one in board.unscored] == [
        ("bob", "submitted after the user's extra time ended at 2026-01-03T00:00:00Z"),
        ("cy", "submitted after the problem froze at 2026-01-02T00:00:00Z"),
    ]


def test_hash_and_length_are_computed_from_the_source_when_it_is_there() -> None:
    """CRLF and trailing blank lines cost nothing: the canonical source is what counts."""
    messy = "\ufeff" + SOURCE.replace("\n", "\r\n") + "\r\n  \r\n"
    rows = [submission(), submission(id="s2", user_id="bob", source=messy, created_at=TIMES[1])]
    board = scored([{"id": "p"}], rows, diversity="false").board("problem:p").rows()
    assert {row["l_chars"] for row in board} == {len(SOURCE)}
    assert {row["score"] for row in board} == {1000.0 + board[0]["brevity"]}


def test_a_stricter_policy_rescores_without_running_a_program() -> None:
    """A rule change re-scores stored results; the explanation names the line that is rejected."""
    result = scored([{"id": "p"}], [submission()], max_numeric_literals=1)
    explanation = result.explain("ada", board="problem:p")
    assert explanation.score == 0.0
    assert (
        "rejected_policy (line 2: 2 numeric literals, 1 are allowed)" in explanation.parts[0].text
    )


def test_a_laxer_policy_admits_a_program_that_was_run_all_the_same() -> None:
    """A judge records the terms of rejected programs, so that no program has to run again."""
    row = submission(verdict="rejected_policy", terms_matched=200)
    assert scored([{"id": "p"}], [row], max_numeric_literals=1).board().rows()[0]["score"] == 0.0
    assert scored([{"id": "p"}], [row]).board().rows()[0]["reward_corrects"] == 1
    never_run = submission(verdict="rejected_policy")
    assert scored([{"id": "p"}], [never_run]).board().rows()[0]["score"] == 0.0


def test_more_terms_make_a_wrong_answer_right_under_a_shorter_gate() -> None:
    """`terms_matched` is recorded, so another number of terms needs no run."""
    row = submission(verdict="wrong_answer", terms_matched=150)
    assert scored([{"id": "p"}], [row]).board().rows()[0]["score"] == 200.0
    short = scored([{"id": "p"}], [row], n_check=150, diversity=False).board().rows()[0]
    assert short["reward_corrects"] == 1


def test_tag_rules_change_what_counts_as_a_tag() -> None:
    """Notes can be required, unspecified can be ignored, contradicted tags too."""
    squares = "def solver():\n    return [n * n for n in range(200)]\n"
    rows = [submission(method_tag="matrix_power", source=squares),
            submission(id="s2", user_id="bob", created_at=TIMES[1])]  # fmt: skip

    def bonuses(**rules: Any) -> list[int]:
        board = scored([{"id": "p"}], rows, **rules).board("problem:p").rows()
        return [row["diversity"] for row in sorted(board, key=lambda row: row["id"])]

    assert bonuses() == [50, 50]
    assert bonuses(unspecified_tag="ignored") == [30, 0]
    assert bonuses(require_notes=True) == [30, 0]
    assert bonuses(tag_conflict="ignore") == [30, 0]
    assert bonuses(diversity=False) == [0, 0]
    assert bonuses(diversity_bonus_cap=25) == [25, 25]


def test_missing_bytes_to_the_next_brevity_point_are_exact() -> None:
    """Who asks what is missing gets the number that is enough, and not one byte more."""
    for length in (80, 799, 800, 4239, 6000):
        row = submission(source=None, source_hash=HASHES[0], l_chars=length)
        part = scored([{"id": "p"}], [row]).explain("ada", board="problem:p").parts[1]
        assert part.missing is not None
        less = int(part.missing.split()[0])
        for saved, gain in ((less, 1), (less - 1, 0)):
            changed = {**row, "l_chars": length - saved}
            points = scored([{"id": "p"}], [changed]).board("problem:p").rows()[0]["brevity"]
            assert points == part.points + gain


def test_an_unknown_problem_or_user_is_not_found_with_a_suggestion() -> None:
    """Exit code 3, and a way on."""
    result = scored([{"id": "fibonacci"}], [submission(problem_id="fibonacci")])
    with pytest.raises(NotFound, match="did you mean fibonacci"):
        result.board("problem:fibonaci")
    with pytest.raises(NotFound, match="no user 'eve'"):
        result.explain("eve")


def test_a_verdict_outside_the_closed_list_and_a_lost_length_are_rejected() -> None:
    """All errors at once, each with its row."""
    rows = [submission(verdict="pass"), submission(id="s2", source=None, source_hash=HASHES[0]),
            submission(id="s3", verdict="wrong_answer")]  # fmt: skip
    with pytest.raises(InvalidRecords) as caught:
        scored([{"id": "p"}], rows)
    assert {(p.row, p.column) for p in caught.value.issues} == {
        (1, "verdict"), (2, "source"), (3, "terms_matched")}  # fmt: skip


@pytest.mark.parametrize("name", ["0.1", "0.2"])
def test_the_golden_season_of_an_edition_does_not_move(name: str) -> None:
    """A board once published under an edition stays as it is; the records are stored with it."""
    golden = Path(__file__).parent / "golden"
    expected = json.loads((golden / f"board-{name}.json").read_text())
    result = agon.score("dojo", agon.read_records("dojo", golden), edition=name)
    shown = result.to_dict()
    notes = shown.pop("notes")
    assert shown.pop("warnings") == []
    assert shown == expected
    assert notes[0] == "not used: board-0.1.json, board-0.2.json"
