"""Test comparisons: the moves when rules change, largest first, and none for equal rules."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import agon
from agon.app.analysis.compare import Comparison, RuleSet
from agon.disciplines import discipline
from agon.records import Records, read_rows
from cli.command import arena_folder
from sizes import size

NAMES = ["ann", "bob", "cy", "dan", "eve"]


def arena_of(outcomes: list[tuple[int, int, str]]) -> Records:
    """Return an arena of five bots with outcomes (a, b, winner)."""
    return read_rows(
        discipline("arena").schema,
        {
            "bots": [{"id": name, "owner_id": None, "name": name} for name in NAMES],
            "matches": [
                {"id": at, "played_at": None, "bot_a": NAMES[a], "bot_b": NAMES[b],
                 "kind": "rated", "winner": winner}
                for at, (a, b, winner) in enumerate(outcomes)
            ],
        },
    )  # fmt: skip


OUTCOMES = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 4), st.sampled_from(["a", "b", "tie"])).filter(
        lambda outcome: outcome[0] != outcome[1]
    ),
    min_size=1,
    max_size=25,
)


@pytest.mark.exhaustive
@settings(max_examples=size(15, at_least=3, dear=True), deadline=None)
@given(OUTCOMES)
def test_a_comparison_with_itself_has_no_moves(outcomes: list[tuple[int, int, str]]) -> None:
    """Otherwise a listed move might not be real."""
    comparison = agon.compare("arena", arena_of(outcomes))
    assert (comparison.moves, comparison.entered, comparison.dropped) == ((), (), ())
    assert comparison.summary.moved == 0
    assert comparison.summary.spearman in {None, 1.0}


@settings(max_examples=size(15, at_least=3, dear=True), deadline=None)
@given(OUTCOMES, st.sampled_from(["1", "8", "100"]))
def test_moves_are_the_differences_of_the_two_boards(
    outcomes: list[tuple[int, int, str]], k: str
) -> None:
    """A second computation: both boards, row by row."""
    records = arena_of(outcomes)
    other = RuleSet(overrides={"k_new": k})
    comparison = agon.compare("arena", records, None, other)
    before = {row["id"]: row for row in agon.score("arena", records).board().rows()}
    after = agon.score("arena", records, overrides=other.overrides).board()
    moved = {
        row["id"]
        for row in after.rows()
        if (row["rank"], row["score"]) != (before[row["id"]]["rank"], before[row["id"]]["score"])
    }
    assert {move.id for move in comparison.moves} == moved
    for move in comparison.moves:
        assert move.rank_before == before[move.id]["rank"]
        assert move.rank_after == after.row(move.id)["rank"]
        assert move.score_change == pytest.approx(move.score_after - move.score_before)
    sizes = [
        (-abs(move.rank_change), -abs(move.score_change), move.id) for move in comparison.moves
    ]
    assert sizes == sorted(sizes)
    assert comparison.summary.share_moved == len(moved) / len(before)


@pytest.mark.exhaustive
@settings(max_examples=size(10, at_least=3, dear=True), deadline=None)
@given(OUTCOMES)
def test_the_reverse_comparison_has_opposite_moves(outcomes: list[tuple[int, int, str]]) -> None:
    """Left to right and back changes no rank."""
    records, other = arena_of(outcomes), RuleSet(overrides={"k_new": "100"})
    there, back = (
        agon.compare("arena", records, *sides) for sides in ((None, other), (other, None))
    )
    climbs = {move.id: move.rank_change for move in there.moves}
    assert {move.id: -move.rank_change for move in back.moves} == climbs


def compared(tmp_path: Path, *, right: RuleSet) -> Comparison:
    """Compare a small arena's reference edition with other rules."""
    return agon.compare("arena", arena_folder(tmp_path / "arena"), "sentience-1", right)


def test_the_rules_that_differ_are_named(tmp_path: Path) -> None:
    """A reader sees the cause of the moves."""
    value = compared(tmp_path, right=RuleSet(overrides={"k_new": 8})).to_dict()
    assert value["rules"] == {"k_new": {"left": 32.0, "right": 8.0}}
    assert value["left"]["edition"] == value["right"]["edition"] == "sentience-1"
    assert value["left"]["rules_sha256"] != value["right"]["rules_sha256"]


@pytest.mark.exhaustive
def test_entered_and_dropped_participants_have_reasons(tmp_path: Path) -> None:
    """A submission that loses its quorum has no score; that is no move."""
    simulated = agon.simulate("challenge", size=600, seed=3)
    records = read_rows(discipline("challenge").schema, simulated.tables)
    many = RuleSet(overrides={"min_validators": 30})
    comparison = agon.compare("challenge", records, None, many, board="submissions")
    assert comparison.dropped
    assert not comparison.entered
    assert all(row.reason for row in comparison.dropped)
    assert comparison.summary.dropped == len(comparison.dropped)
    assert comparison.summary.spearman is None
    back = agon.compare("challenge", records, many, None, board="submissions")
    assert [row.id for row in back.entered] == [row.id for row in comparison.dropped]
    assert tmp_path.exists()
