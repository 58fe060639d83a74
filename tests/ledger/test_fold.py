"""Folding: incremental folding equals a plain second implementation on random histories."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agon.ledger.entry import Entry, genesis
from agon.ledger.fold import LedgerState, Span, check_lines, empty_ledger, fold
from agon.ledger.issues import InvalidEntry
from ledger.histories import (
    CREATED,
    FINAL,
    FROZEN,
    HISTORIES,
    OPENED,
    UNFROZEN,
    Meaning,
    added,
    adjusted,
    adopted,
    ledger,
    meaning,
    replaced,
    rolled_back,
    voided,
)
from sizes import size

LAW = settings(max_examples=size(300), deadline=None)


def folded(entries: list[Entry]) -> LedgerState:
    """Fold a complete ledger."""
    return fold([entry.line for entry in entries], start=empty_ledger("spring"))


def meaning_at(state: LedgerState, *, at: int) -> Meaning:
    """Return what a state states of a position, in the form of the second implementation."""
    contest = state.contest_at(at)
    seen = state.spans.records(at=at).tolist()
    return Meaning(
        seen=[(state.spans.table_of(record) or "", record) for record in seen],
        edition=contest.edition,
        overrides=contest.overrides,
        adjustments=[(one.seq, one.points) for one in state.adjustments_at(at)],
        state=contest.state,
        frozen_at=contest.frozen_at,
        finalized_at=contest.finalized_at,
        head=state.contest.head,
    )


@given(HISTORIES)
@LAW
def test_every_prefix_means_what_it_means_rebuilt_from_zero(entries: list[Entry]) -> None:
    """The clever fold is compared with a plain one, entry by entry."""
    state = empty_ledger("spring")
    for count, entry in enumerate(entries, 1):
        state = fold([entry.line], start=state)
        assert meaning_at(state, at=count) == meaning(one.line for one in entries[:count])


@given(HISTORIES)
@LAW
def test_the_last_state_knows_every_earlier_position(entries: list[Entry]) -> None:
    """Boards as of the past are made from it."""
    state = folded(entries)
    for count in range(1, len(entries) + 1):
        then = meaning(one.line for one in entries[:count])
        now = meaning_at(state, at=count)
        assert (now.seen, now.edition, now.overrides, now.adjustments, now.state) == (
            then.seen, then.edition, then.overrides, then.adjustments, then.state
        )  # fmt: skip
        assert (now.frozen_at, now.finalized_at) == (then.frozen_at, then.finalized_at)


@given(HISTORIES, st.lists(st.integers(0, 41), max_size=4))
@LAW
def test_a_fold_can_stop_and_resume_anywhere(entries: list[Entry], stops: list[int]) -> None:
    """fold(prefix) then fold(rest) is fold(all), and no state is changed by what follows it."""
    lines = [entry.line for entry in entries]
    state, begin, states = empty_ledger("spring"), 0, []
    for stop in sorted(stops):
        state = fold(lines[begin:stop], start=state)
        states.append((stop, state))
        begin = max(begin, min(stop, len(lines)))
    assert fold(lines[begin:], start=state) == folded(entries)
    for stop, earlier in states:
        assert earlier == fold(lines[:stop], start=empty_ledger("spring"))


@given(HISTORIES)
@LAW
def test_a_thorough_look_finds_the_same(entries: list[Entry]) -> None:
    """The quick way past record entries has no meaning of its own."""
    state, issues = check_lines([entry.line for entry in entries], start=empty_ledger("spring"))
    assert issues == ()
    assert state == folded(entries)


@given(HISTORIES)
@LAW
def test_every_record_is_listed_once_in_order(entries: list[Entry]) -> None:
    """A contest's columns grow by it."""
    heard: list[tuple[int, str, object]] = []
    fold([entry.line for entry in entries], start=empty_ledger("spring"),
         on_record=lambda seq, table, row: heard.append((seq, table, row)))  # fmt: skip
    assert heard == [(one.seq, one.body["table"], one.body["row"]) for one in entries
                     if one.kind.startswith("record-")]  # fmt: skip


def test_an_empty_ledger_is_a_draft_without_records() -> None:
    """Folding starts there."""
    state = empty_ledger("spring")
    assert fold([], start=state) == state
    assert (state.contest.seq, state.contest.head) == (0, genesis("spring"))
    assert list(state.spans) == []


def test_a_rolled_back_void_starts_a_new_span() -> None:
    """The record is the same one: its first entry numbers it."""
    state = folded(ledger(added(), voided(2, change="c"), rolled_back("c")))
    assert list(state.spans) == [Span("votes", 2, 2, 3), Span("votes", 2, 4, None)]


def test_a_record_voided_twice_comes_back_when_both_are_rolled_back() -> None:
    """Two reasons to leave a record out do not undo each other."""
    state = folded(ledger(added(), voided(2, change="a"), voided(2, change="b"),
                          rolled_back("a"), rolled_back("b")))  # fmt: skip
    assert list(state.spans) == [Span("votes", 2, 2, 3), Span("votes", 2, 6, None)]


def test_a_rolled_back_replacement_brings_back_what_it_superseded() -> None:
    """A rejudging that was wrong leaves no trace on the board."""
    state = folded(ledger(added(), replaced(2, change="c"), rolled_back("c")))
    assert list(state.spans) == [
        Span("votes", 2, 2, 3), Span("votes", 2, 4, None), Span("votes", 3, 3, 4)
    ]  # fmt: skip


def test_a_rolled_back_replacement_stays_superseded_by_a_later_one() -> None:
    """A key never has two records in sight."""
    state = folded(ledger(added(), replaced(2, change="c"), replaced(3), rolled_back("c")))
    assert state.spans.records(at=5).tolist() == [4]


def test_rolling_back_an_adoption_restores_the_edition_before() -> None:
    """A rule change is undone completely."""
    state = folded(ledger(adopted("arena/e1", change="c"), adjusted(2, change="c"),
                          rolled_back("c")))  # fmt: skip
    assert state.contest.edition == "arena/sentience-1"
    assert state.adjustments_at(state.contest.seq) == ()
    assert state.contest_at(3).edition == "arena/e1"
    assert [one.points for one in state.adjustments_at(3)] == [2]


def test_a_freeze_is_known_by_its_position_until_it_is_lifted() -> None:
    """The public sees nothing later."""
    entries = ledger(OPENED, FROZEN, added(), UNFROZEN, FROZEN, FINAL)
    result = [folded(entries[:count]).contest for count in range(1, 8)]
    assert [one.frozen_at for one in result] == [None, None, 3, 3, None, 6, None]
    assert result[-1].finalized_at == 7


@pytest.mark.parametrize(
    ("bodies", "message"),
    [
        ([voided(1)], "line 2: voids 1, which is no record; give the seqs of records before it"),
        ([voided(9)], "voids 9, which is no record"),
        ([added(), replaced(2, "matches")], "line 3: replaces 2, which is no record of 'matches'"),
        ([replaced(7)], "replaces 7, which is no record of 'votes'"),
        ([rolled_back("x")], "no entry belongs to change 'x'; name one made"),
        ([adjusted(1, change="x"), rolled_back("x"), rolled_back("x")], "was rolled back at 3"),
        ([adjusted(1, change="x"), rolled_back("x"), added(change="x")], "was rolled back at 3"),
        ([FROZEN], "contest-frozen while the contest is draft; it can follow while the contest is"),
        ([OPENED, OPENED], "contest-opened while the contest is open"),
        ([OPENED, FINAL, FINAL], "contest-finalised while the contest is final"),
        ([OPENED, UNFROZEN], "contest-unfrozen while the contest is open"),
        ([("contest-created", CREATED)], "contest-created is entry 2; begin with contest-created"),
    ],
)
def test_what_contradicts_earlier_entries_is_refused(
    bodies: list[tuple[str, dict[str, object]]], message: str
) -> None:
    """A ledger that cannot have come about is not scored."""
    with pytest.raises(InvalidEntry) as caught:
        folded(ledger(*bodies))
    assert message in str(caught.value)


def test_all_faults_are_named_at_once() -> None:
    """The author of a correction needs all issues."""
    with pytest.raises(InvalidEntry) as caught:
        folded(ledger(voided(1), FROZEN, rolled_back("x")))
    assert [issue.line for issue in caught.value.issues] == [2, 3, 4]


def test_lines_out_of_order_are_refused() -> None:
    """Gaps, repetitions and turned clocks."""
    one, two, three, four = (entry.line for entry in ledger(added(), added(), added()))
    for lines in ([two, one], [one, three, four], [one, two, two], [one, three, two]):
        with pytest.raises(InvalidEntry) as caught:
            fold(lines, start=empty_ledger("spring"))
        assert "number entries 1, 2, 3" in str(caught.value)
    early = four.replace(b"02:30:04", b"02:30:00")
    with pytest.raises(InvalidEntry, match="keep entries in the order they were made"):
        fold([one, two, three, early], start=empty_ledger("spring"))


def test_another_contests_ledger_is_refused() -> None:
    """Its records would be scored under the wrong name."""
    lines = [entry.line for entry in ledger(contest="autumn")]
    with pytest.raises(InvalidEntry, match="take that contest's ledger"):
        fold(lines, start=empty_ledger("spring"))


@pytest.mark.parametrize("line", [b"", b"[]", b"{}", b"null", b"\xff", b'{"kind":"record-added"}'])
def test_what_is_no_entry_is_refused(line: bytes) -> None:
    """No traceback for bad input."""
    with pytest.raises(InvalidEntry, match="line 1: "):
        fold([line], start=empty_ledger("spring"))


def test_two_futures_of_one_state_do_not_meet() -> None:
    """A dry run folds what may never happen."""
    past = ledger(added(change="c"), replaced(2, change="d"), voided(3, change="e"))
    start = folded(past)
    before = folded(past)
    for change in "cde":
        ahead = [added(change="c"), replaced(2, change="d"), voided(3, change="e")]
        line = ledger(*ahead, rolled_back(change))[-1].line
        assert fold([line], start=start).contest.seq == 5
        assert start == before
