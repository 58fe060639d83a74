"""Records: a request is stored completely or not at all, once, and all errors are reported."""

import dataclasses
from typing import Any

import orjson
import pytest

from agon.app.access.permissions import ANONYMOUS
from agon.app.contests.ingest.ndjson import read_ndjson
from agon.app.contests.ingest.records import ImportSummary, record
from agon.app.contests.lifecycle.creation import NewContest, create
from agon.app.contests.lifecycle.transitions import finalize, freeze, open_contest
from agon.app.service import Service
from agon.client.local import Local
from agon.errors import Conflict, Forbidden, NotFound, Unauthenticated
from agon.ledger.entry import read_line
from agon.ledger.fold import empty_ledger, fold
from agon.networks import keyed_network
from agon.records import InvalidRecords
from fakes.service import JUDGE, OPERATOR, ORGANISER, PARTICIPANT, VIEWER

TIME = "2026-11-22T00:00:00Z"
BOTS = [("bots", {"id": name, "name": name}, None) for name in ("x", "y", "z")]
PAIR = {"id": "m1", "played_at": TIME, "bot_a": "x", "bot_b": "y", "kind": "rated"}
MATCH = ("matches", PAIR, None)


def vote(match: str = "m1", judge: str = "judy", vote: str = "A") -> dict[str, Any]:
    """Return a vote's row."""
    return {
        "match_id": match,
        "judge_id": judge,
        "shown_first": "a",
        "vote": vote,
        "voted_at": TIME,
    }


@pytest.fixture
def spring(service: Service) -> Service:
    """Open an arena with three bots and a match."""
    create(service, NewContest(id="spring", discipline="arena", title="Spring"), by=ORGANISER)
    open_contest(service, "spring", by=ORGANISER)
    record(service, "spring", [*BOTS, MATCH], by=ORGANISER)
    return service


def lines(service: Service, contest: str = "spring") -> list[bytes]:
    """Return the ledger."""
    with service.store.read() as session:
        return [one.line for one in session.entries.after(session.contests.get(contest).no)]


def test_records_are_entered_in_the_order_given_and_the_head_moves(spring: Service) -> None:
    """The ledger folds to what the contest says of itself."""
    done = record(spring, "spring", [("votes", vote(), "v1")], by=ORGANISER)
    assert done == ImportSummary(added=1, first_seq=7, last_seq=7, seqs=(7,))
    entries = [read_line(line) for line in lines(spring)]
    assert [entry.kind for entry in entries[2:]] == ["record-added"] * 5
    assert (entries[-1].external_id, entries[-1].body["row"]) == ("v1", vote())
    standing = fold(lines(spring), start=empty_ledger("spring")).contest
    with spring.store.read() as session:
        contest = session.contests.get("spring")
    assert (contest.seq, contest.head) == (standing.seq, standing.head)


def test_a_request_sent_twice_adds_nothing_the_second_time(spring: Service) -> None:
    """A sender that heard no answer sends again."""
    rows = [("votes", vote(), None), ("votes", vote(judge="jim"), "v2")]
    first = record(spring, "spring", rows, by=ORGANISER)
    again = record(spring, "spring", rows, by=ORGANISER)
    assert again == ImportSummary(repeated=2, seqs=first.seqs)
    assert len(lines(spring)) == first.last_seq


def test_a_repetition_within_one_request_is_known_too(spring: Service) -> None:
    """Also when batches lie between."""
    rows = [("votes", vote(), None)] * 2
    assert record(spring, "spring", rows, by=ORGANISER).repeated == 1


def test_key_order_and_spelling_of_json_do_not_make_another_record(spring: Service) -> None:
    """Content is compared, not bytes."""
    record(spring, "spring", [("votes", vote(), None)], by=ORGANISER)
    turned = dict(reversed(vote().items()))
    assert record(spring, "spring", [("votes", turned, None)], by=ORGANISER).repeated == 1


def test_other_content_under_the_same_key_or_name_is_a_conflict_that_names_both(
    spring: Service,
) -> None:
    """Neither silently wins."""
    record(spring, "spring", [("votes", vote(), "v1")], by=ORGANISER)
    before = lines(spring)
    with pytest.raises(Conflict, match=r"line 2: the record votes/m1/judy is entry 7"):
        record(spring, "spring", [BOTS[0], ("votes", vote(vote="B"), None)], by=ORGANISER)
    with pytest.raises(Conflict, match=r"line 1: the external id 'v1' is entry 7"):
        record(spring, "spring", [("votes", vote(judge="jim"), "v1")], by=ORGANISER)
    assert lines(spring) == before


def test_a_name_that_stands_for_a_record_of_another_table_is_a_conflict(spring: Service) -> None:
    """The same row in two tables is two records."""
    row = {"id": "twin", "handle": "twin", "kind": "person"}
    record(spring, "spring", [("owners", row, "n1")], by=ORGANISER)
    with pytest.raises(Conflict, match="the external id 'n1' is entry 7"):
        record(spring, "spring", [("judges", row, "n1")], by=ORGANISER)


def test_what_is_asked_to_be_replaced_is_superseded_by_a_new_entry(spring: Service) -> None:
    """The ledger keeps both; the newest is what a repetition is compared with."""
    record(spring, "spring", [("votes", vote(), "v1")], by=ORGANISER)
    done = record(spring, "spring", [("votes", vote(vote="B"), "v1")], by=ORGANISER, replace=True)
    assert (done.added, done.replaced, done.first_seq) == (0, 1, 8)
    entry = read_line(lines(spring)[-1])
    assert (entry.kind, entry.body["replaces"]) == ("record-replaced", 7)
    again = record(spring, "spring", [("votes", vote(vote="B"), "v1")], by=ORGANISER)
    assert again.repeated == 1
    third = record(
        spring, "spring", [("votes", vote(vote="tie"), None)], by=ORGANISER, replace=True
    )
    assert read_line(lines(spring)[-1]).body["replaces"] == 8
    assert third.replaced == 1
    fold(lines(spring), start=empty_ledger("spring"))


def test_a_key_and_a_name_of_two_entries_cannot_be_replaced_as_one(spring: Service) -> None:
    """Which of the two was meant cannot be known."""
    rows = [("votes", vote(), "v1"), ("votes", vote(judge="jim"), "v2")]
    record(spring, "spring", rows, by=ORGANISER)
    with pytest.raises(Conflict, match="two entries, 7 and 8"):
        record(spring, "spring", [("votes", vote(vote="B"), "v2")], by=ORGANISER, replace=True)


def test_all_errors_are_reported_together_and_nothing_is_stored(spring: Service) -> None:
    """With the lines as they were sent."""
    before = lines(spring)
    body = b'{"table":"votes","row":{"match_id":"m1"}}\n{\n{"table":"vote","row":{}}\n'
    with pytest.raises(InvalidRecords) as refused:
        record(spring, "spring", read_ndjson([body]), by=ORGANISER)
    told = {(issue.row, issue.code) for issue in refused.value.issues}
    assert {line for line, _ in told} == {1, 2, 3}
    assert {"bad-line", "unknown-table"} <= {code for _, code in told}
    assert lines(spring) == before


def test_a_thousand_problems_are_listed_and_the_others_counted(spring: Service) -> None:
    """A wrong file must not fill the sender's screen, nor our memory."""
    rows = [("votes", {**vote(judge=str(n)), "vote": "C"}, None) for n in range(1500)]
    with pytest.raises(InvalidRecords) as refused:
        record(spring, "spring", rows, by=ORGANISER)
    assert len(refused.value.issues) == 1000
    assert refused.value.total == 1500


def test_references_may_point_to_later_lines_of_the_same_request(spring: Service) -> None:
    """Senders need not sort by table."""
    match = ("matches", {**PAIR, "id": "m2"}, None)
    done = record(spring, "spring", [("votes", vote("m2"), None), match], by=ORGANISER)
    assert done.added == 2


def test_a_reference_to_a_missing_row_is_rejected_with_its_line(
    spring: Service, monkeypatch: Any
) -> None:
    """Also when the batches are as small as can be."""
    monkeypatch.setattr("agon.app.contests.ingest.records.BATCH_SIZE", 1)
    rows = [("votes", vote(), None), ("votes", vote("m9"), None), ("votes", vote("m8"), None)]
    with pytest.raises(InvalidRecords) as refused:
        record(spring, "spring", rows, by=ORGANISER)
    assert [(one.row, one.column, one.value) for one in refused.value.issues] == [
        (2, "match_id", "m9"),
        (3, "match_id", "m8"),
    ]
    assert len(lines(spring)) == 6


def test_a_reference_to_a_table_without_a_key_is_checked_too(service: Service) -> None:
    """Validators have a row for each epoch."""
    create(service, NewContest(id="net", discipline="challenge", title="Net"), by=ORGANISER)
    submission = {"id": "s1", "miner_uid": 1, "submitted_at": TIME}
    score = {"submission_id": "s1", "validator_id": "v1", "score": 0.5}
    rows = [
        ("submissions", submission, None),
        ("evaluations", score, None),
        ("validators", {"id": "v1", "stake": 5.0}, None),
    ]
    assert record(service, "net", rows, by=ORGANISER).added == 3
    with pytest.raises(InvalidRecords, match=r"validators\.id"):
        record(
            service, "net", [("evaluations", {**score, "validator_id": "v2"}, None)], by=ORGANISER
        )


def test_a_dry_run_says_what_would_be_and_enters_nothing(spring: Service) -> None:
    """References within the request are seen by it."""
    before = lines(spring)
    rows = [("matches", {**PAIR, "id": "m2"}, None), ("votes", vote("m2"), None)]
    assert record(spring, "spring", rows, by=ORGANISER, dry_run=True).added == 2
    assert lines(spring) == before
    assert record(spring, "spring", rows, by=ORGANISER).added == 2


def test_addresses_of_owners_become_keyed_hashes_before_they_are_entered(spring: Service) -> None:
    """An address cannot be removed from a ledger."""
    owner = {"id": "o1", "handle": "h", "account_created_at": TIME}
    hashed = keyed_network("203.0.113.9", key=spring.network_key, digits=32)
    rows = [("owners", {**owner, "ip": "203.0.113.9", "network": "203.0.113.0/24"}, None)]
    record(spring, "spring", rows, by=ORGANISER)
    assert read_line(lines(spring)[-1]).body["row"] == {**owner, "ip": hashed, "network": hashed}
    assert not any(b"203.0.113" in line for line in lines(spring))
    assert record(spring, "spring", rows, by=ORGANISER).repeated == 1


@pytest.mark.parametrize("digits", [16, 32, 64])
def test_an_address_that_was_hashed_elsewhere_is_entered_as_it_is(
    spring: Service, digits: int
) -> None:
    """Who hashed it chose the key and how much of the hash to keep; equal stays equal."""
    owner = {"id": "o1", "handle": "h", "account_created_at": TIME, "ip": "2dfd4828" * 8}
    row = owner | {"ip": owner["ip"][:digits]}
    record(spring, "spring", [("owners", row, None)], by=ORGANISER)
    assert read_line(lines(spring)[-1]).body["row"] == row


@pytest.mark.parametrize("ip", ["203.0.113.9:80", "203.0.113.9, 10.0.0.1", "localhost", "A" * 32])
def test_a_possible_address_in_another_notation_is_rejected(spring: Service, ip: str) -> None:
    """And is not repeated in the message."""
    row = {"id": "o1", "handle": "h", "account_created_at": TIME, "ip": ip}
    with pytest.raises(InvalidRecords) as refused:
        record(spring, "spring", [("owners", row, None)], by=ORGANISER)
    assert ip not in str(refused.value)


def test_judges_give_their_own_votes_and_nothing_else(spring: Service) -> None:
    """A judge's token must not vote for others."""
    assert record(spring, "spring", [("votes", vote(), None)], by=JUDGE).added == 1
    for row in [("votes", vote(judge="jim"), None), MATCH]:
        with pytest.raises(Forbidden, match="judge_id judy"):
            record(spring, "spring", [row], by=JUDGE)


def test_others_add_no_records(spring: Service) -> None:
    """Viewers and participants look; anonymous callers need a token."""
    line = orjson.dumps({"table": MATCH[0], "row": MATCH[1]}) + b"\n"
    for caller in (VIEWER, PARTICIPANT, dataclasses.replace(ORGANISER, contests=("autumn",))):
        with pytest.raises(Forbidden):
            Local(spring, by=caller).records.add("spring", [line])
    with pytest.raises(Unauthenticated):
        Local(spring, by=ANONYMOUS).records.add("spring", [line])
    with pytest.raises(NotFound):
        Local(spring, by=OPERATOR).records.add("autumn", [line])


def test_drafts_take_records_of_staff_frozen_contests_of_all_and_final_ones_of_nobody(
    service: Service,
) -> None:
    """A final result never changes silently."""
    create(service, NewContest(id="spring", discipline="arena", title="Spring"), by=ORGANISER)
    record(service, "spring", [*BOTS, MATCH], by=ORGANISER)
    with pytest.raises(Conflict, match="not open yet"):
        record(service, "spring", [("votes", vote(), None)], by=JUDGE)
    open_contest(service, "spring", by=ORGANISER)
    freeze(service, "spring", by=ORGANISER)
    # A judge does not get the position: it would show how much was added since the freeze.
    assert record(service, "spring", [("votes", vote(), None)], by=JUDGE) == ImportSummary(added=1)
    finalize(service, "spring", by=ORGANISER)
    with pytest.raises(Conflict, match="propose a change set"):
        record(service, "spring", [("votes", vote(judge="jim"), None)], by=OPERATOR)


def test_one_publish_job_waits_however_many_records_come(spring: Service) -> None:
    """A board is made once for all that came meanwhile."""
    for judge in ("a", "b", "c"):
        record(spring, "spring", [("votes", vote(judge=judge), None)], by=ORGANISER)
    with spring.store.read() as session:
        assert [job.kind for job in session.queue.page()] == ["publish"]


def test_a_clock_that_goes_back_does_not_turn_the_ledger_round(spring: Service) -> None:
    """Times never decrease along a ledger."""
    clock = spring.clock
    clock.at -= clock.step * 1000  # type: ignore[attr-defined] # a test's clock
    record(spring, "spring", [("votes", vote(), None)], by=ORGANISER)
    times = [read_line(line).at for line in lines(spring)]
    assert times == sorted(times)


def test_the_batch_size_changes_nothing(service: Service, monkeypatch: Any) -> None:
    """The entries are the same however many records are stored together."""
    found = []
    rows = [*BOTS, MATCH, *(("votes", vote(judge=f"j{n}"), f"e{n}" if n % 3 else None)
                            for n in range(20))]  # fmt: skip
    for number, batch in enumerate((10_000, 1, 3)):
        monkeypatch.setattr("agon.app.contests.ingest.records.BATCH_SIZE", batch)
        name = f"c{number}"
        create(service, NewContest(id=name, discipline="arena", title="C"), by=ORGANISER)
        record(service, name, iter(rows), by=ORGANISER)
        found.append([read_line(line).body for line in lines(service, name)][1:])
    assert found[0] == found[1] == found[2]
