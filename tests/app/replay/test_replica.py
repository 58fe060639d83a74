"""Check that a replica of a contest has the state of its ledger."""

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
    """Return a ledger with a problem and three submissions: entries 2 to 5."""
    writer = Writer()
    for problem in PROBLEMS:
        writer.record("problems", problem)
    for row in SUBMISSIONS:
        writer.record("submissions", row)
    return writer


@pytest.fixture
def replica(writer: Writer) -> Iterator[ContestReplica]:
    """Return a replica of that ledger."""
    replica = ContestReplica("c")
    replica.catch_up(writer.lines)
    yield replica
    replica.close()


def _scores(replica: ContestReplica, **options: Any) -> dict[str, float]:
    return {row["id"]: row["score"] for row in replica.result(**options).board().rows()}


@pytest.mark.exhaustive
def test_a_result_of_a_position_is_reused(
    replica: ContestReplica, writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each explanation of a board would score its records; a long ledger keeps no result."""
    first = replica.result()
    assert replica.result(at=5).scored is first.scored
    writer.record("submissions", {**SUBMISSIONS[0], "id": "s9", "l_chars": 60, "user_id": "di"})
    replica.catch_up(writer.lines)
    assert replica.result(at=5).scored is first.scored
    assert replica.result(at=5, without=[3]).scored is not first.scored
    assert replica.result(at=5, overrides={}).scored is not first.scored
    assert replica.result().scored is not first.scored
    assert (
        replica.result(at=4).scored is not first.scored
    )  # a third position: the first one is dropped
    assert replica.result(at=5).scored is not first.scored
    assert replica.result(at=5).board().sha256 == first.board().sha256
    monkeypatch.setattr("agon.app.replay.replica._MAX_REUSED_ENTRIES", replica.seq - 1)
    assert replica.result(at=3).scored is not replica.result(at=3).scored


def test_a_board_of_a_replica_is_that_of_the_records_in_a_file(replica: ContestReplica) -> None:
    """A user who exports the records and scores them gets the published board."""
    records = read_rows(
        discipline("dojo").schema, {"problems": PROBLEMS, "submissions": SUBMISSIONS}
    )
    alone = score("dojo", records, edition="dojo/0.1")
    result = replica.result()
    assert result.board().sha256 == alone.board().sha256
    assert result.fingerprint == alone.fingerprint
    records.close()


def test_lines_that_were_read_are_skipped(replica: ContestReplica, writer: Writer) -> None:
    """A worker may receive the same entries twice."""
    replica.catch_up(writer.lines)
    assert replica.seq == 5
    assert len(_scores(replica)) == 3


def test_garbage_collection_is_restored_after_reading(writer: Writer) -> None:
    """It is off while lines are read; a process where it stays off would run out of memory."""
    replica = ContestReplica("c")
    gc.disable()
    try:
        replica.catch_up(writer.lines[:2])
        assert not gc.isenabled()
    finally:
        gc.enable()
    replica.catch_up(writer.lines)
    assert gc.isenabled()
    with pytest.raises(InvalidEntry):
        replica.catch_up([(9, b"{}")])
    assert gc.isenabled()
    replica.close()


def test_an_earlier_position_has_its_own_board(replica: ContestReplica) -> None:
    """An explanation of a published board must not include later records."""
    assert list(_scores(replica, at=4)) == ["ada", "bob"]
    assert list(_scores(replica, at=3)) == ["ada"]


def test_any_position_has_a_head(replica: ContestReplica, writer: Writer) -> None:
    """A manifest has the hash of the chain at its position, after any kind of entry."""
    head = genesis("c")
    for seq, line in writer.lines:
        head = chain(head, line)
        state = replica.contest_state(at=seq)
        assert (state.seq, state.head) == (seq, head)


@pytest.mark.parametrize("at", [6, 100])
def test_a_position_that_was_not_read_is_rejected(replica: ContestReplica, at: int) -> None:
    """It would give the board of another position."""
    with pytest.raises(Conflict, match="catch up first"):
        replica.result(at=at)
    with pytest.raises(Conflict, match="catch up first"):
        replica.contest_state(at=at)


def test_a_replica_without_entries_has_no_result() -> None:
    """A contest begins with its first entry."""
    replica = ContestReplica("c")
    with pytest.raises(Conflict, match="nothing of c has been read"):
        replica.result()
    replica.close()


def test_a_gap_in_the_lines_is_rejected(writer: Writer) -> None:
    """The missing entry may have voided records."""
    replica = ContestReplica("c")
    with pytest.raises(InvalidEntry):
        replica.catch_up([writer.lines[0], *writer.lines[2:]])
    assert replica.seq == 0
    replica.close()


@pytest.mark.exhaustive
def test_rules_apply_from_their_adoption_on(replica: ContestReplica, writer: Writer) -> None:
    """Changed rules rescore all records; earlier positions have the earlier rules."""
    before = _scores(replica)
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
    replica.catch_up(writer.lines)
    assert _scores(replica) == {name: points + 1000 for name, points in before.items()}
    assert _scores(replica, at=5) == before
    assert _scores(replica, overrides={}) == before
    writer.enter("change-rolled-back", change="c1", reason="r")
    replica.catch_up(writer.lines)
    assert _scores(replica) == before


@pytest.mark.exhaustive
def test_a_dry_run_leaves_records_out(replica: ContestReplica) -> None:
    """The effect of a void is shown before it is applied."""
    assert replica.records_about(["bob", "eve"]) == ([4], {"bob"})
    assert "bob" not in _scores(replica, without=replica.records_about(["bob"])[0])
    assert "bob" in _scores(replica)


def test_adjustments_are_added_and_explained(replica: ContestReplica, writer: Writer) -> None:
    """A decision is an entry, and the explanation names it."""
    before = _scores(replica)
    first = writer.adjust("cy", 500, change="c1")
    writer.adjust("nobody", 5)
    replica.catch_up(writer.lines)
    rows = replica.result().board().rows()
    assert [(row["rank"], row["id"]) for row in rows] == [(1, "cy"), (2, "ada"), (3, "bob")]
    assert rows[0]["score"] == before["cy"] + 500
    explanation = replica.result().explain("cy")
    assert (explanation.rank, explanation.score) == (1, before["cy"] + 500)
    assert explanation.parts[-1].name == "adjustment"
    assert explanation.parts[-1].text == f"Decided in entry {first}: +500 (jury)"
    assert replica.result().explain("ada").rank == 2
    assert _scores(replica, at=first - 1) == before
    writer.enter("change-rolled-back", change="c1", reason="r")
    replica.catch_up(writer.lines)
    assert _scores(replica) == before


def test_adjustments_do_not_give_a_score_to_an_unscored_id(
    replica: ContestReplica, writer: Writer
) -> None:
    """Points alone would be a score without records."""
    row = {**SUBMISSIONS[0], "id": "s9", "user_id": "eve", "verdict": "sandbox_error"}
    writer.record("submissions", row)
    writer.adjust("eve", 5)
    replica.catch_up(writer.lines)
    assert "eve" not in _scores(replica)
    explanation = replica.result().explain("eve")
    assert explanation.score is None
    assert explanation.notes[-1] == "Decided in entry 7: +5 (jury); no score, no effect"


def test_other_boards_keep_their_scores(replica: ContestReplica, writer: Writer) -> None:
    """An adjustment names one board."""
    writer.adjust("cy", 500)
    replica.catch_up(writer.lines)
    rows = replica.result().board("problem:p").rows()
    assert [row["id"] for row in rows] == ["ada", "bob", "cy"]
    assert replica.result().explain("cy", board="problem:p").parts[-1].name != "adjustment"
    with pytest.raises(NotFound):
        replica.result().board("weights")


@pytest.mark.parametrize("of", BUILT_IN)
def test_participants_are_in_columns_of_the_schema(of: str) -> None:
    """A renamed column would hide a participant's records from a void."""
    schema = discipline(of).schema
    for table, column in discipline(of).participant_columns:
        assert column in {item.name for item in schema.table(table).columns}
    assert discipline(of).participant_columns
