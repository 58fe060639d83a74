"""Check that a contest kept in memory says what its ledger says."""

import gc
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from agon.app.analysis.score import score
from agon.app.replay.replica import ContestReplica
from agon.disciplines import BUILT_IN, discipline
from agon.editions import edition as released
from agon.editions import rules_sha256
from agon.errors import Conflict, NotFound
from agon.ledger.entry import Draft, chain, encode_entry, genesis
from agon.ledger.issues import InvalidEntry
from agon.records import read_rows
from app.contests.histories import AT

PROBLEMS = [{"id": "p"}]
SUBMISSIONS = [
    {
        "id": f"s{number}",
        "problem_id": "p",
        "user_id": user,
        "created_at": f"2026-01-0{number}",
        "source_hash": f"{number:064x}",
        "l_chars": size,
        "verdict": "ok",
    }
    for number, (user, size) in enumerate([("ada", 80), ("bob", 90), ("cy", 90)], start=1)
]


class Writer:
    """Write a dojo's ledger entry by entry."""

    def __init__(self) -> None:
        self.lines: list[tuple[int, bytes]] = []
        self.head = genesis("c")
        self.enter(
            "contest-created",
            contest="c",
            discipline="dojo",
            title="C",
            edition="dojo/0.1",
            overrides={},
            series=None,
            season=None,
            visibility="public",
            description="",
            boards=["season"],
        )

    def enter(self, kind: str, **body: Any) -> int:
        """Write an entry and return its position."""
        seq = len(self.lines) + 1
        entry = encode_entry(
            Draft(kind=kind, body=body, at=AT, by="user:a"), seq=seq, previous=self.head
        )
        self.lines.append((seq, entry.line))
        self.head = entry.sha256
        return seq

    def record(self, table: str, row: Mapping[str, Any]) -> int:
        """Write a record."""
        return self.enter("record-added", table=table, row=row)

    def adjust(self, name: str, points: float, change: str | None = None) -> int:
        """Write an adjustment of the season's board."""
        body: dict[str, Any] = {"board": "season", "id": name, "points": points, "change": change}
        return self.enter("adjustment-made", **body, reason="jury")


@pytest.fixture
def writer() -> Writer:
    """Begin a ledger that holds a problem and three submissions: entries 2 to 5."""
    writer = Writer()
    for problem in PROBLEMS:
        writer.record("problems", problem)
    for row in SUBMISSIONS:
        writer.record("submissions", row)
    return writer


@pytest.fixture
def live(writer: Writer) -> Iterator[ContestReplica]:
    """Read that ledger."""
    live = ContestReplica("c")
    live.catch_up(writer.lines)
    yield live
    live.close()


def _scores(live: ContestReplica, **asked: Any) -> dict[str, float]:
    return {row["id"]: row["score"] for row in live.result(**asked).board().rows()}


def test_a_result_of_a_position_is_reused(
    live: ContestReplica, writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Explanations of one board would score its records once each; a long ledger keeps none."""
    first = live.result()
    assert live.result(at=5).scored is first.scored
    writer.record("submissions", {**SUBMISSIONS[0], "id": "s9", "l_chars": 60, "user_id": "di"})
    live.catch_up(writer.lines)
    assert live.result(at=5).scored is first.scored
    assert live.result(at=5, without=[3]).scored is not first.scored
    assert live.result(at=5, overrides={}).scored is not first.scored
    assert live.result().scored is not first.scored
    assert live.result(at=4).scored is not first.scored  # the third position: the first is dropped
    assert live.result(at=5).scored is not first.scored
    assert live.result(at=5).board().sha256 == first.board().sha256
    monkeypatch.setattr("agon.app.replay.replica._MAX_REUSED_ENTRIES", live.seq - 1)
    assert live.result(at=3).scored is not live.result(at=3).scored


def test_a_live_board_is_that_of_the_records_in_a_file(live: ContestReplica) -> None:
    """Whoever exports the records and scores them at home gets the published board."""
    records = read_rows(
        discipline("dojo").schema, {"problems": PROBLEMS, "submissions": SUBMISSIONS}
    )
    alone = score("dojo", records, edition="dojo/0.1")
    result = live.result()
    assert result.board().sha256 == alone.board().sha256
    assert result.fingerprint == alone.fingerprint
    records.close()


def test_lines_known_already_are_passed_over(live: ContestReplica, writer: Writer) -> None:
    """A worker may be told of the same entries twice."""
    live.catch_up(writer.lines)
    assert live.seq == 5
    assert len(_scores(live)) == 3


def test_collection_of_garbage_is_left_as_it_was(writer: Writer) -> None:
    """It is off while lines are taken in; a process whose own stays off would run out of memory."""
    live = ContestReplica("c")
    gc.disable()
    try:
        live.catch_up(writer.lines[:2])
        assert not gc.isenabled()
    finally:
        gc.enable()
    live.catch_up(writer.lines)
    assert gc.isenabled()
    with pytest.raises(InvalidEntry):
        live.catch_up([(9, b"{}")])
    assert gc.isenabled()
    live.close()


def test_an_earlier_position_shows_its_own_board(live: ContestReplica) -> None:
    """An explanation of a published board must not know what came later."""
    assert list(_scores(live, at=4)) == ["ada", "bob"]
    assert list(_scores(live, at=3)) == ["ada"]


def test_the_head_of_any_position_is_at_hand(live: ContestReplica, writer: Writer) -> None:
    """A manifest names the chain's hash at its position, whatever kind of entry stands there."""
    head = genesis("c")
    for seq, line in writer.lines:
        head = chain(head, line)
        standing = live.contest_state(at=seq)
        assert (standing.seq, standing.head) == (seq, head)


@pytest.mark.parametrize("at", [6, 100])
def test_a_position_that_was_not_read_is_refused(live: ContestReplica, at: int) -> None:
    """A board of a position nobody has seen would be one of another position."""
    with pytest.raises(Conflict, match="catch up first"):
        live.result(at=at)
    with pytest.raises(Conflict, match="catch up first"):
        live.contest_state(at=at)


def test_nothing_read_is_nothing_to_score() -> None:
    """A contest begins with its first entry."""
    live = ContestReplica("c")
    with pytest.raises(Conflict, match="nothing of c has been read"):
        live.result()
    live.close()


def test_a_gap_in_the_lines_is_refused(writer: Writer) -> None:
    """What was left out may have voided what is seen."""
    live = ContestReplica("c")
    with pytest.raises(InvalidEntry):
        live.catch_up([writer.lines[0], *writer.lines[2:]])
    assert live.seq == 0
    live.close()


def test_rules_hold_from_their_adoption_on(live: ContestReplica, writer: Writer) -> None:
    """Changed rules rescore everything, and earlier positions keep theirs."""
    before = _scores(live)
    overrides = {"reward_base": 2000}
    rules = released("dojo/0.1").with_rules(overrides)
    writer.enter(
        "edition-adopted",
        edition="dojo/0.1",
        overrides=overrides,
        rules_sha256=rules_sha256(rules),
        change="c1",
        reason="r",
    )
    live.catch_up(writer.lines)
    assert _scores(live) == {name: points + 1000 for name, points in before.items()}
    assert _scores(live, at=5) == before
    assert _scores(live, overrides={}) == before
    writer.enter("change-rolled-back", change="c1", reason="r")
    live.catch_up(writer.lines)
    assert _scores(live) == before


def test_a_dry_run_leaves_records_out(live: ContestReplica) -> None:
    """What a void would do is seen before anybody is voided."""
    assert live.records_about(["bob"]) == [4]
    assert "bob" not in _scores(live, without=live.records_about(["bob"]))
    assert "bob" in _scores(live)


def test_points_are_added_and_explained(live: ContestReplica, writer: Writer) -> None:
    """People decide, the decision is an entry, and the explanation says so."""
    before = _scores(live)
    first = writer.adjust("cy", 500, change="c1")
    writer.adjust("nobody", 5)
    live.catch_up(writer.lines)
    rows = live.result().board().rows()
    assert [(row["rank"], row["id"]) for row in rows] == [(1, "cy"), (2, "ada"), (3, "bob")]
    assert rows[0]["score"] == before["cy"] + 500
    told = live.result().explain("cy")
    assert (told.rank, told.score) == (1, before["cy"] + 500)
    assert told.parts[-1].name == "adjustment"
    assert told.parts[-1].text == f"Decided in entry {first}: +500 (jury)"
    assert live.result().explain("ada").rank == 2
    assert _scores(live, at=first - 1) == before
    writer.enter("change-rolled-back", change="c1", reason="r")
    live.catch_up(writer.lines)
    assert _scores(live) == before


def test_who_has_no_score_gets_none_by_points(live: ContestReplica, writer: Writer) -> None:
    """Points on nothing would be a score without a reason."""
    row = {**SUBMISSIONS[0], "id": "s9", "user_id": "eve", "verdict": "sandbox_error"}
    writer.record("submissions", row)
    writer.adjust("eve", 5)
    live.catch_up(writer.lines)
    assert "eve" not in _scores(live)
    told = live.result().explain("eve")
    assert told.score is None
    assert told.notes[-1] == "Decided in entry 7: +5 (jury); no score, no effect"


def test_other_boards_keep_their_scores(live: ContestReplica, writer: Writer) -> None:
    """An adjustment names one board."""
    writer.adjust("cy", 500)
    live.catch_up(writer.lines)
    rows = live.result().board("problem:p").rows()
    assert [row["id"] for row in rows] == ["ada", "bob", "cy"]
    assert live.result().explain("cy", board="problem:p").parts[-1].name != "adjustment"
    with pytest.raises(NotFound):
        live.result().board("weights")


@pytest.mark.parametrize("of", BUILT_IN)
def test_people_stand_in_columns_of_the_schema(of: str) -> None:
    """A renamed column would hide somebody's records from a void."""
    schema = discipline(of).schema
    for table, column in discipline(of).participant_columns:
        assert column in {one.name for one in schema.table(table).columns}
    assert discipline(of).participant_columns
