"""Matches and votes of a live arena are written by its rounds alone; replay explains the rest."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agon.app.access.permissions import LOCAL
from agon.app.arena.draw_audit import DrawReport, check_draws, check_stored_draws
from agon.app.arena.imported_rounds import check_rounds
from agon.app.contests.changes import change_sets
from agon.app.contests.ingest.records import RecordImporter, record
from agon.app.contests.lifecycle.transfer import export, import_contest
from agon.app.contests.lifecycle.transitions import freeze, open_contest
from agon.client.local import Local
from agon.entities.access import Caller
from agon.entities.contests import Change
from agon.errors import Conflict
from agon.ledger.directory import export_directory
from agon.ledger.fold import empty_ledger, fold
from agon.ledger.issues import InvalidEntry
from fakes.arena import League, league
from fakes.service import JUDGE, OPERATOR, ORGANISER, service_at

VOTE = {"match_id": "r1-1", "judge_id": "judy", "shown_first": "a", "vote": "A",
        "voted_at": "2026-01-01T00:00:00Z"}  # fmt: skip
MATCH = {"id": "r9-1", "played_at": None, "bot_a": "b1", "bot_b": "b2", "kind": "rated"}


@pytest.fixture
def played(tmp_path: Path) -> Iterator[League]:
    """Play one round of an open arena."""
    opened = league(tmp_path)
    open_contest(opened.service, "autumn", by=LOCAL)
    assert opened.play() == []
    yield opened
    opened.service.store.close()


def report(of: League) -> DrawReport:
    """Return what the check of the draws gives."""
    lines = of.ledger()
    return check_draws(lines, fold(lines, start=empty_ledger("autumn")))


def stuff(of: League, row: dict[str, Any], *, table: str = "votes", again: bool = False) -> int:
    """Record a row as earlier versions did for judges; return its position."""
    with of.service.store.write() as session:
        contest = session.contests.lock("autumn")
        importer = RecordImporter(of.service, session, contest, JUDGE, replace=again)
        return importer.run([(table, row, None)]).seqs[0]


def change(of: League, kind: str, **params: Any) -> Change:
    """Propose, try and apply a change set."""
    proposed = change_sets.propose(
        of.service, "autumn", kind=kind, params=params, reason="stuffed", by=ORGANISER
    )
    change_sets.dry_run(of.service, "autumn", proposed.id)
    return change_sets.apply(of.service, "autumn", proposed.id, by=ORGANISER)


@pytest.mark.sample(1)
@pytest.mark.parametrize("caller", [JUDGE, ORGANISER, OPERATOR, LOCAL])
@pytest.mark.parametrize("match", ["r1-1", "none"])
@pytest.mark.parametrize("frozen", [False, True])
def test_nobody_sends_votes_to_a_live_arena(
    played: League, caller: Caller, match: str, *, frozen: bool
) -> None:
    """The answer does not depend on whether there is such a match, hidden or not."""
    if frozen:
        freeze(played.service, "autumn", by=LOCAL)
        assert played.play() == []
        match = match.replace("r1", "r2")
    before = played.ledger()
    variants: list[dict[str, Any]] = [{}, {"replace": True}, {"dry_run": True}]
    for options in variants:
        with pytest.raises(
            Conflict, match="autumn is live, and votes are written by its rounds"
        ) as error:
            record(
                played.service, "autumn", [("votes", {**VOTE, "match_id": match}, None)],
                by=caller, **options,
            )  # fmt: skip
        assert ("change set" in str(error.value)) is (caller is not JUDGE)
    assert played.ledger() == before


@pytest.mark.exhaustive
def test_organizers_send_no_matches_to_a_live_arena_and_other_tables_as_before(
    played: League,
) -> None:
    """A match with the id of a later round would keep that round from being settled."""
    for row in (MATCH, {**MATCH, "id": "r1-1"}):
        with pytest.raises(Conflict, match="propose a change set: a correction or a void"):
            record(played.service, "autumn", [("matches", row, None)], by=ORGANISER, replace=True)
    owner = {"id": "ann", "handle": "Ann", "account_created_at": None}
    assert record(played.service, "autumn", [("owners", owner, None)], by=ORGANISER).added == 1
    assert played.play() == []
    assert report(played) == DrawReport()


@pytest.mark.exhaustive
def test_a_stuffed_vote_of_an_earlier_version_is_a_note_until_it_is_voided(
    played: League,
) -> None:
    """The ledger can be replayed and verified, and the note has the remedy."""
    seq = stuff(played, VOTE)
    assert played.play() == []
    [note] = report(played).notes
    assert (note.line, report(played).issues) == (seq, ())
    assert "user:judy recorded a row of votes for match r1-1 outside of its round" in note.what
    assert note.remedy == f"void it: agon contest void autumn --record {seq} --reason TEXT"
    stored = check_stored_draws(played.service.store)
    assert (stored.issues, [each.file for each in stored.notes]) == ((), ["contest autumn"])
    change(played, "void", records=[str(seq)])
    assert report(played) == DrawReport()


@pytest.mark.exhaustive
def test_a_replaced_vote_of_an_earlier_version_is_a_note(played: League) -> None:
    """It changed the result of a match without a change set."""
    vote = played.rows("votes")[0]
    seq = stuff(played, {**vote, "vote": "A" if vote["vote"] == "B" else "B"}, again=True)
    assert [note.line for note in report(played).notes] == [seq]
    assert report(played).issues == ()


def test_a_vote_that_a_round_did_not_record_is_named_though_it_came_later(
    played: League,
) -> None:
    """Taking a vote out of its round does not make it a note."""
    lines = played.ledger()
    at = max(at for at, line in enumerate(lines) if b'"table":"votes"' in line)
    lines[at] = lines[at].replace(b'"by":"system"', b'"by":"user:judy"')
    changed = check_draws(lines, fold(played.ledger(), start=empty_ledger("autumn")))
    assert any("voted, its panel was" in issue.what for issue in changed.issues)
    assert len(changed.notes) == 1


@pytest.mark.exhaustive
def test_corrections_voids_and_their_rollback_are_explained(played: League) -> None:
    """They are entries of a change set, with a reason."""
    vote, match = played.rows("votes")[0], played.rows("matches")[0]
    key = {name: vote[name] for name in ("match_id", "judge_id")}
    other = "A" if vote["vote"] == "B" else "B"
    corrected = change(played, "correction", table="votes", rows=[{**key, "vote": other}])
    change(played, "correction", table="matches", rows=[{"id": match["id"], "response_a": "other"}])
    change(played, "void", records=[f"matches/{match['id']}"])
    change_sets.roll_back(played.service, "autumn", corrected.id, reason="no", by=ORGANISER)
    assert played.play() == []
    assert report(played) == DrawReport()


@pytest.mark.exhaustive
def test_a_replay_up_to_any_position_checks_whole_rounds(played: League) -> None:
    """A round is settled with all of its records at once, so half of them cannot be judged."""
    stuff(played, VOTE)
    lines = played.ledger()
    for at in range(1, len(lines) + 1):
        state = fold(lines[:at], start=empty_ledger("autumn"))
        assert check_draws(lines, state, until=at).issues == ()


@pytest.mark.exhaustive
def test_records_with_ids_of_matches_of_a_round_do_not_keep_it_from_being_settled(
    tmp_path: Path,
) -> None:
    """An organizer may have recorded the matches of another arena before the first round."""
    opened = league(tmp_path)
    pair = {"bot_a": opened.bot("b1").id, "bot_b": opened.bot("b2").id}
    for name in ("r1-2", "r2-1"):
        row = {**MATCH, **pair, "id": name}
        record(opened.service, "autumn", [("matches", row, None)], by=LOCAL)
    assert opened.play() == []
    assert opened.entries("draw-committed")[-1]["round"] == "r3"
    assert report(opened) == DrawReport()
    opened.service.store.close()


def test_rounds_of_an_imported_ledger_are_not_continued(played: League, tmp_path: Path) -> None:
    """Their names would be used again, and honeypots be shown to judges who know them."""
    export(played.service, "autumn", tmp_path / "ledger")
    (tmp_path / "other").mkdir()
    base = service_at(tmp_path / "other", clock=played.clock)
    other = League(replace(base, random=lambda count: b"t" * count), played.network, played.clock)
    import_contest(other.service, tmp_path / "ledger", by=LOCAL, further=check_rounds)
    [cause] = other.play()
    assert "round r1 of autumn was played on another server" in cause
    assert other.ledger() == played.ledger()
    other.service.store.close()


def test_an_import_does_not_continue_rounds_that_are_played_here(
    played: League, tmp_path: Path
) -> None:
    """It could add votes that no draw has."""
    (tmp_path / "other").mkdir()
    other = replace(played, service=service_at(tmp_path / "other", clock=played.clock))
    export(played.service, "autumn", tmp_path / "first")
    import_contest(other.service, tmp_path / "first", by=LOCAL, further=check_rounds)
    stuff(other, VOTE)
    export(other.service, "autumn", tmp_path / "second")
    with pytest.raises(Conflict, match="the rounds of autumn are played here"):
        import_contest(played.service, tmp_path / "second", by=LOCAL, further=check_rounds)
    other.service.store.close()


def test_a_ledger_whose_draw_was_changed_is_not_imported(played: League, tmp_path: Path) -> None:
    """It could never be verified in the database that takes it."""
    lines = played.ledger()
    at = next(at for at, line in enumerate(lines) if b'"kind":"draw-made"' in line)
    value = json.loads(lines[at])
    value["body"]["seed"] = "chosen"
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    changed = [*lines[:at], text.encode(), *lines[at + 1 :]]
    export_directory(tmp_path / "ledger", contest="autumn", lines=changed)
    (tmp_path / "other").mkdir()
    other = service_at(tmp_path / "other")
    with pytest.raises(InvalidEntry, match="the secret number does not have the committed SHA-256"):
        Local(other).ledgers.import_(tmp_path / "ledger")
    with other.store.read() as session:
        assert not session.contests.page(limit=1)
    other.store.close()
