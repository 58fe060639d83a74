"""Test records: a request is stored completely or not at all, once; all errors are reported."""

import dataclasses
from datetime import datetime
from typing import Any

import orjson
import pytest

from agon.app.access.permissions import ANONYMOUS, SYSTEM
from agon.app.contests.ingest.ndjson import read_ndjson
from agon.app.contests.ingest.records import RecordImporter, record
from agon.app.contests.lifecycle.creation import NewContest, create
from agon.app.contests.lifecycle.transitions import finalize, freeze, open_contest
from agon.app.service import Service
from agon.client.local import Local
from agon.entities.ledgers import ImportSummary
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
        return [entry.line for entry in session.entries.after(session.contests.get(contest).no)]


def test_records_are_appended_in_their_order_and_the_head_moves(spring: Service) -> None:
    """The fold of the ledger is the contest's stored state."""
    summary = record(spring, "spring", [("votes", vote(), "v1")], by=ORGANISER)
    assert summary == ImportSummary(added=1, first_seq=7, last_seq=7, seqs=(7,))
    entries = [read_line(line) for line in lines(spring)]
    assert [entry.kind for entry in entries[2:]] == ["record-added"] * 5
    assert (entries[-1].external_id, entries[-1].body["row"]) == ("v1", vote())
    state = fold(lines(spring), start=empty_ledger("spring")).contest
    with spring.store.read() as session:
        contest = session.contests.get("spring")
    assert (contest.seq, contest.head) == (state.seq, state.head)


def test_a_request_sent_twice_adds_nothing_the_second_time(spring: Service) -> None:
    """A client that received no response sends again."""
    rows = [("votes", vote(), None), ("votes", vote(judge="jim"), "v2")]
    first = record(spring, "spring", rows, by=ORGANISER)
    again = record(spring, "spring", rows, by=ORGANISER)
    assert again == ImportSummary(repeated=2, seqs=first.seqs)
    assert len(lines(spring)) == first.last_seq


def test_a_repetition_within_one_request_is_recognized(spring: Service) -> None:
    """Also with batches between them."""
    rows = [("votes", vote(), None)] * 2
    assert record(spring, "spring", rows, by=ORGANISER).repeated == 1


def test_key_order_and_notation_of_json_do_not_matter(spring: Service) -> None:
    """Content is compared, not bytes."""
    record(spring, "spring", [("votes", vote(), None)], by=ORGANISER)
    turned = dict(reversed(vote().items()))
    assert record(spring, "spring", [("votes", turned, None)], by=ORGANISER).repeated == 1


def test_other_content_with_the_same_key_or_name_is_a_conflict_that_names_both(
    spring: Service,
) -> None:
    """Neither silently replaces the other."""
    record(spring, "spring", [("votes", vote(), "v1")], by=ORGANISER)
    before = lines(spring)
    with pytest.raises(Conflict, match=r"line 2: the record votes/m1/judy is entry 7"):
        record(spring, "spring", [BOTS[0], ("votes", vote(vote="B"), None)], by=ORGANISER)
    with pytest.raises(Conflict, match=r"line 1: the external id 'v1' is entry 7"):
        record(spring, "spring", [("votes", vote(judge="jim"), "v1")], by=ORGANISER)
    assert lines(spring) == before


def test_a_name_of_a_record_in_another_table_is_a_conflict(spring: Service) -> None:
    """The same row in two tables is two records."""
    row = {"id": "twin", "handle": "twin", "kind": "person"}
    record(spring, "spring", [("owners", row, "n1")], by=ORGANISER)
    with pytest.raises(Conflict, match="the external id 'n1' is entry 7"):
        record(spring, "spring", [("judges", row, "n1")], by=ORGANISER)


def test_a_replaced_record_is_superseded_by_a_new_entry(spring: Service) -> None:
    """The ledger has both; a repetition is compared with the newest."""
    record(spring, "spring", [("votes", vote(), "v1")], by=ORGANISER)
    summary = record(
        spring, "spring", [("votes", vote(vote="B"), "v1")], by=ORGANISER, replace=True
    )
    assert (summary.added, summary.replaced, summary.first_seq) == (0, 1, 8)
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


def test_a_row_with_the_key_and_the_name_of_two_entries_replaces_neither(spring: Service) -> None:
    """It is not known which of the two is meant."""
    rows = [("votes", vote(), "v1"), ("votes", vote(judge="jim"), "v2")]
    record(spring, "spring", rows, by=ORGANISER)
    with pytest.raises(Conflict, match="two entries, 7 and 8"):
        record(spring, "spring", [("votes", vote(vote="B"), "v2")], by=ORGANISER, replace=True)


def test_all_errors_are_reported_together_and_nothing_is_stored(spring: Service) -> None:
    """Issues have the line numbers of the request."""
    before = lines(spring)
    body = b'{"table":"votes","row":{"match_id":"m1"}}\n{\n{"table":"vote","row":{}}\n'
    with pytest.raises(InvalidRecords) as error:
        record(spring, "spring", read_ndjson([body]), by=ORGANISER)
    codes = {(issue.row, issue.code) for issue in error.value.issues}
    assert {line for line, _ in codes} == {1, 2, 3}
    assert {"bad-line", "unknown-table"} <= {code for _, code in codes}
    assert lines(spring) == before


def test_a_thousand_issues_are_listed_and_the_others_counted(spring: Service) -> None:
    """A wrong file must fill neither the client's screen nor the server's memory."""
    rows = [("votes", {**vote(judge=str(n)), "vote": "C"}, None) for n in range(1500)]
    with pytest.raises(InvalidRecords) as error:
        record(spring, "spring", rows, by=ORGANISER)
    assert len(error.value.issues) == 1000
    assert error.value.total == 1500


def test_references_may_point_to_later_lines_of_the_same_request(spring: Service) -> None:
    """Clients need not sort rows by table."""
    match = ("matches", {**PAIR, "id": "m2"}, None)
    summary = record(spring, "spring", [("votes", vote("m2"), None), match], by=ORGANISER)
    assert summary.added == 2


def test_a_reference_to_a_missing_row_is_rejected_with_its_line(
    spring: Service, monkeypatch: Any
) -> None:
    """Also with batches of one row."""
    monkeypatch.setattr("agon.app.contests.ingest.records.BATCH_SIZE", 1)
    rows = [("votes", vote(), None), ("votes", vote("m9"), None), ("votes", vote("m8"), None)]
    with pytest.raises(InvalidRecords) as error:
        record(spring, "spring", rows, by=ORGANISER)
    assert [(issue.row, issue.column, issue.value) for issue in error.value.issues] == [
        (2, "match_id", "m9"),
        (3, "match_id", "m8"),
    ]
    assert len(lines(spring)) == 6


def test_a_reference_to_a_table_without_a_key_is_checked(service: Service) -> None:
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


def test_a_dry_run_reports_the_result_and_stores_nothing(spring: Service) -> None:
    """It recognizes references within the request."""
    before = lines(spring)
    rows = [("matches", {**PAIR, "id": "m2"}, None), ("votes", vote("m2"), None)]
    assert record(spring, "spring", rows, by=ORGANISER, dry_run=True).added == 2
    assert lines(spring) == before
    assert record(spring, "spring", rows, by=ORGANISER).added == 2


def test_only_rows_that_somebody_sends_are_read_in_other_spellings(spring: Service) -> None:
    """What a protocol of the service writes has the names and types of the schema already."""
    rows = [("bots", {"ID": "w", "Name": "w"}, None)]
    with spring.store.write() as session:
        contest = session.contests.lock("spring")
        importer = RecordImporter(spring, session, contest, SYSTEM, replace=False)
        with pytest.raises(InvalidRecords, match="id"):
            importer.run(rows)
    summary = record(spring, "spring", rows, by=ORGANISER)
    assert summary.added == 1
    assert "ID" in summary.notes[0]


def test_addresses_of_owners_are_stored_as_keyed_hashes(spring: Service) -> None:
    """An address cannot be removed from a ledger."""
    owner = {"id": "o1", "handle": "h", "account_created_at": TIME}
    hashed = keyed_network("203.0.113.9", key=spring.network_key, digits=32)
    rows = [("owners", {**owner, "ip": "203.0.113.9", "network": "203.0.113.0/24"}, None)]
    record(spring, "spring", rows, by=ORGANISER)
    assert read_line(lines(spring)[-1]).body["row"] == {**owner, "ip": hashed, "network": hashed}
    assert not any(b"203.0.113" in line for line in lines(spring))
    assert record(spring, "spring", rows, by=ORGANISER).repeated == 1


@pytest.mark.exhaustive
@pytest.mark.parametrize("digits", [16, 32, 64])
def test_an_address_that_is_a_hash_is_stored_unchanged(spring: Service, digits: int) -> None:
    """Its sender chose the key and the length; equal hashes remain equal."""
    owner = {"id": "o1", "handle": "h", "account_created_at": TIME, "ip": "2dfd4828" * 8}
    row = owner | {"ip": owner["ip"][:digits]}
    record(spring, "spring", [("owners", row, None)], by=ORGANISER)
    assert read_line(lines(spring)[-1]).body["row"] == row


@pytest.mark.parametrize("ip", ["203.0.113.9:80", "203.0.113.9, 10.0.0.1", "localhost", "A" * 32])
def test_a_possible_address_in_another_notation_is_rejected(spring: Service, ip: str) -> None:
    """The message does not repeat it."""
    row = {"id": "o1", "handle": "h", "account_created_at": TIME, "ip": ip}
    with pytest.raises(InvalidRecords) as error:
        record(spring, "spring", [("owners", row, None)], by=ORGANISER)
    assert ip not in str(error.value)


def test_judges_send_only_their_own_votes(spring: Service) -> None:
    """A judge's token must not vote for others."""
    assert record(spring, "spring", [("votes", vote(), None)], by=JUDGE).added == 1
    for row in [("votes", vote(judge="jim"), None), MATCH]:
        with pytest.raises(Forbidden, match="judge_id judy"):
            record(spring, "spring", [row], by=JUDGE)


def test_viewers_participants_and_anonymous_callers_add_no_records(spring: Service) -> None:
    """Viewers and participants only read; anonymous callers need a token."""
    line = orjson.dumps({"table": MATCH[0], "row": MATCH[1]}) + b"\n"
    for caller in (VIEWER, PARTICIPANT, dataclasses.replace(ORGANISER, contests=("autumn",))):
        with pytest.raises(Forbidden):
            Local(spring, by=caller).records.add("spring", [line])
    with pytest.raises(Unauthenticated):
        Local(spring, by=ANONYMOUS).records.add("spring", [line])
    with pytest.raises(NotFound):
        Local(spring, by=OPERATOR).records.add("autumn", [line])


@pytest.mark.exhaustive
def test_drafts_accept_records_of_staff_frozen_contests_of_all_and_final_ones_none(
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


def test_one_publish_job_waits_for_any_number_of_records(spring: Service) -> None:
    """A board is scored once for all records that arrived meanwhile."""
    for judge in ("a", "b", "c"):
        record(spring, "spring", [("votes", vote(judge=judge), None)], by=ORGANISER)
    with spring.store.read() as session:
        assert [job.kind for job in session.queue.page()] == ["publish"]


def test_a_clock_that_is_set_back_does_not_decrease_the_times_of_entries(spring: Service) -> None:
    """Times never decrease along a ledger."""
    clock = spring.clock
    clock.at -= clock.step * 1000  # type: ignore[attr-defined] # a test's clock
    record(spring, "spring", [("votes", vote(), None)], by=ORGANISER)
    times = [read_line(line).at for line in lines(spring)]
    assert times == sorted(times)


def test_the_batch_size_changes_nothing(service: Service, monkeypatch: Any) -> None:
    """The entries are equal with any number of records stored together."""
    entries = []
    rows = [*BOTS, MATCH, *(("votes", vote(judge=f"j{n}"), f"e{n}" if n % 3 else None)
                            for n in range(20))]  # fmt: skip
    for number, batch in enumerate((10_000, 1, 3)):
        monkeypatch.setattr("agon.app.contests.ingest.records.BATCH_SIZE", batch)
        name = f"c{number}"
        create(service, NewContest(id=name, discipline="arena", title="C"), by=ORGANISER)
        record(service, name, iter(rows), by=ORGANISER)
        entries.append([read_line(line).body for line in lines(service, name)][1:])
    assert entries[0] == entries[1] == entries[2]


def test_an_entry_supersedes_records_of_its_own_table_only(spring: Service) -> None:
    """Another one would make the ledger invalid for good."""
    row = {"id": "twin", "handle": "twin", "kind": "person"}
    record(spring, "spring", [("owners", row, "n1")], by=ORGANISER)
    with pytest.raises(Conflict, match="entry 7, which is no record of judges; give another"):
        record(spring, "spring", [("judges", row, "n1")], by=ORGANISER, replace=True)
    fold(lines(spring), start=empty_ledger("spring"))


def test_a_judge_votes_at_the_time_of_the_service(spring: Service) -> None:
    """A vote with an earlier time would come before others; organizers state times in imports."""
    summary = record(spring, "spring", [("votes", vote(), None)], by=JUDGE)
    record(spring, "spring", [("votes", vote(judge="jim"), None)], by=ORGANISER)
    own, imported = (read_line(line) for line in lines(spring)[-2:])
    voted_at, entry_at = own.body["row"]["voted_at"], orjson.loads(own.line)["at"]
    assert datetime.fromisoformat(voted_at) == datetime.fromisoformat(entry_at)
    assert imported.body["row"]["voted_at"] == TIME
    again = record(spring, "spring", [("votes", vote(), None)], by=JUDGE)
    assert again == ImportSummary(repeated=1, seqs=summary.seqs)
    without_time = {name: value for name, value in vote().items() if name != "voted_at"}
    assert record(spring, "spring", [("votes", without_time, None)], by=JUDGE).repeated == 1


def test_a_vote_in_two_batches_of_a_request_is_one(spring: Service, monkeypatch: Any) -> None:
    """The second is compared with the first, which the request has stored."""
    monkeypatch.setattr("agon.app.contests.ingest.records.BATCH_SIZE", 1)
    votes = [("votes", {**vote(), "voted_at": time}, None) for time in (TIME, None, "2000-01-01")]
    summary = record(spring, "spring", votes, by=JUDGE)
    assert (summary.added, summary.repeated) == (1, 2)


@pytest.mark.exhaustive
@pytest.mark.parametrize("replace", [False, True])
def test_a_judge_votes_once(spring: Service, *, replace: bool) -> None:
    """The message does not show how long the ledger is, also while the contest is frozen."""
    record(spring, "spring", [("votes", vote(), None)], by=JUDGE)
    freeze(spring, "spring", by=ORGANISER)
    changed = [("votes", vote(vote="B"), None)]
    with pytest.raises(Conflict, match=r"^line 1: the record votes/m1/judy exists with other"):
        record(spring, "spring", changed, by=JUDGE, replace=replace)
    assert record(spring, "spring", [("votes", vote(), None)], by=JUDGE).repeated == 1


@pytest.mark.parametrize(
    "row",
    [
        ("owners", {"id": "judy", "handle": "Judy", "account_created_at": None}),
        ("bots", {"id": "judy", "name": "Judy"}),
        ("judges", {"id": "judy", "kind": "person", "owner_id": "ann"}),
        ("bots", {"id": "judy", "name": "Judy", "owner_id": "ann"}),
    ],
)
def test_a_judge_does_not_vote_on_an_own_bot(spring: Service, row: tuple[str, Any]) -> None:
    """A bot is its owner's, and that of the owner of a judge."""
    owner = "judy" if row[0] == "owners" else "ann"
    named = {"id": owner, "handle": "x", "account_created_at": None}
    bot = {"id": "judy" if row[1] == {"id": "judy", "name": "Judy"} else "own", "name": "Own"}
    rows = [("owners", named, None), ("bots", {**bot, "owner_id": owner}, None),
            ("matches", {**PAIR, "id": "m2", "bot_b": bot["id"]}, None)]  # fmt: skip
    record(spring, "spring", rows, by=ORGANISER)
    record(spring, "spring", [(*row, None)], by=ORGANISER, replace=True)
    before = lines(spring)
    with pytest.raises(Forbidden, match=f"the bot {bot['id']} of match m2 is their own"):
        record(spring, "spring", [("votes", vote(match="m2"), None)], by=JUDGE)
    assert lines(spring) == before
    assert record(spring, "spring", [("votes", vote(), None)], by=JUDGE).added == 1
    record(spring, "spring", [("votes", vote(match="m2"), None)], by=ORGANISER)


def test_a_judge_does_not_learn_which_matches_a_freeze_hides(spring: Service) -> None:
    """A hidden match has the answer of one that does not exist."""
    freeze(spring, "spring", by=ORGANISER)
    owner = {"id": "judy", "handle": "Judy", "account_created_at": None}
    bot = {"id": "own", "name": "Own", "owner_id": "judy"}
    pairs = [{**PAIR, "id": "m2"}, {**PAIR, "id": "m3", "bot_a": "own"}]
    rows = [("owners", owner, None), ("bots", bot, None)]
    record(spring, "spring", [*rows, *(("matches", pair, None) for pair in pairs)], by=ORGANISER)
    record(spring, "spring", [("votes", vote(match="m2"), None)], by=ORGANISER)
    answers = set()
    for match in ("m2", "m3", "m4"):
        for label in ("A", "B"):
            with pytest.raises(InvalidRecords) as error:
                record(spring, "spring", [("votes", vote(match, vote=label), None)], by=JUDGE)
            answers.add(str(error.value).replace(match, "M"))
    assert len(answers) == 1
    assert record(spring, "spring", [("votes", vote(), None)], by=JUDGE).added == 1


@pytest.mark.sample(3)
@pytest.mark.parametrize("match", [7, None, "", "\x00", "a" * 3000, ["m1"], {"id": "m1"}, 1e400])
def test_odd_ids_of_a_judge_are_issues(spring: Service, match: Any) -> None:
    """They are looked up before the row is validated."""
    row = {**vote(), "match_id": match}
    with pytest.raises(InvalidRecords):
        record(spring, "spring", [("votes", row, None), ("votes", 3, None)], by=JUDGE)
