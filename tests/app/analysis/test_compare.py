"""Comparing: who moves when the rules change, largest moves first, and nobody for equal rules."""

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
    """Make an arena of five bots from outcomes (a, b, winner)."""
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


@settings(max_examples=size(15), deadline=None)
@given(OUTCOMES)
def test_compared_with_itself_nobody_moves(outcomes: list[tuple[int, int, str]]) -> None:
    """The law that makes every listed move a real one."""
    found = agon.compare("arena", arena_of(outcomes))
    assert (found.moves, found.entered, found.dropped) == ((), (), ())
    assert found.summary.moved == 0
    assert found.summary.spearman in {None, 1.0}


@settings(max_examples=size(15), deadline=None)
@given(OUTCOMES, st.sampled_from(["1", "8", "100"]))
def test_moves_are_what_the_two_boards_say(outcomes: list[tuple[int, int, str]], k: str) -> None:
    """A second way to the same: both boards, row by row."""
    records = arena_of(outcomes)
    other = RuleSet(overrides={"k_new": k})
    found = agon.compare("arena", records, None, other)
    before = {row["id"]: row for row in agon.score("arena", records).board().rows()}
    after = agon.score("arena", records, overrides=other.overrides).board()
    moved = {
        row["id"]
        for row in after.rows()
        if (row["rank"], row["score"]) != (before[row["id"]]["rank"], before[row["id"]]["score"])
    }
    assert {move.id for move in found.moves} == moved
    for move in found.moves:
        assert move.rank_before == before[move.id]["rank"]
        assert move.rank_after == after.row(move.id)["rank"]
        assert move.score_change == pytest.approx(move.score_after - move.score_before)
    sizes = [(-abs(move.rank_change), -abs(move.score_change), move.id) for move in found.moves]
    assert sizes == sorted(sizes)
    assert found.summary.share_moved == len(moved) / len(before)


@settings(max_examples=size(10), deadline=None)
@given(OUTCOMES)
def test_turned_around_every_move_is_opposite(outcomes: list[tuple[int, int, str]]) -> None:
    """From left to right and back is where one was."""
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
    """A reader sees what the cause was."""
    value = compared(tmp_path, right=RuleSet(overrides={"k_new": 8})).to_dict()
    assert value["rules"] == {"k_new": {"left": 32.0, "right": 8.0}}
    assert value["left"]["edition"] == value["right"]["edition"] == "sentience-1"
    assert value["left"]["rules_sha256"] != value["right"]["rules_sha256"]


def test_who_enters_and_drops_is_told_with_the_reason(tmp_path: Path) -> None:
    """A submission that loses its quorum has no score; that is no move."""
    simulated = agon.simulate("challenge", size=600, seed=3)
    records = read_rows(discipline("challenge").schema, simulated.tables)
    many = RuleSet(overrides={"min_validators": 30})
    found = agon.compare("challenge", records, None, many, board="submissions")
    assert found.dropped
    assert not found.entered
    assert all(one.reason for one in found.dropped)
    assert found.summary.dropped == len(found.dropped)
    assert found.summary.spearman is None
    back = agon.compare("challenge", records, many, None, board="submissions")
    assert [one.id for one in back.entered] == [one.id for one in found.dropped]
    assert tmp_path.exists()
