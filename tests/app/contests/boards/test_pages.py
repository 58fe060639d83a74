"""Test how published boards are read: pages, places, positions, proofs."""

import hashlib
from itertools import count

import orjson
import pytest

from agon.app.access.permissions import ANONYMOUS, LOCAL
from agon.app.contests.boards.cursors import Cursor
from agon.app.contests.boards.pages import Page, boards, page, row
from agon.app.contests.boards.proofs import proof
from agon.app.contests.boards.publish import publish
from agon.app.contests.changes.change_sets import apply, dry_run, propose, roll_back
from agon.app.contests.lifecycle.transitions import finalize
from agon.app.service import Service
from agon.errors import NotFound, Unreadable
from agon.kernel.fingerprints import canonical_json
from agon.ledger.manifest import manifest_of
from agon.ledger.merkle import verify
from fakes.spring import BOTS, play, spring, view


def _ids(shown: Page) -> list[str]:
    return [orjson.loads(line)["id"] for line in shown.lines]


def _board(service: Service) -> list[str]:
    return _ids(page(service, view(service, ANONYMOUS), "bots"))


@pytest.mark.parametrize("limit", [1, 3, 8, 1000])
def test_pages_forth_and_back_cover_the_board(service: Service, limit: int) -> None:
    """Every row is on exactly one page, whichever way one turns them."""
    spring(service)
    publish(service, "spring")
    seen, whole = view(service, ANONYMOUS), _board(service)
    shown = page(service, seen, "bots", limit=limit)
    forth = [shown]
    while shown.next is not None:
        shown = page(service, seen, "bots", cursor=shown.next, limit=limit)
        forth.append(shown)
    assert [one for part in forth for one in _ids(part)] == whole
    back = [shown]
    while shown.previous is not None:
        shown = page(service, seen, "bots", cursor=shown.previous, limit=limit)
        back.append(shown)
    assert [one for part in reversed(back) for one in _ids(part)] == whole


def test_a_cursor_stays_with_its_snapshot(service: Service) -> None:
    """Who turns pages while records arrive sees one board, not two halves of different ones."""
    spring(service)
    publish(service, "spring")
    whole = _board(service)
    first = page(service, view(service, ANONYMOUS), "bots", limit=4)
    play(service, 9, 20)
    publish(service, "spring")
    assert _board(service) != whole
    second = page(service, view(service, ANONYMOUS), "bots", cursor=first.next, limit=4)
    assert _ids(first) + _ids(second) == whole


def test_ones_own_row_stands_among_its_neighbours(service: Service) -> None:
    """The place is the row's in the whole board; at the edges there are fewer neighbors."""
    spring(service)
    publish(service, "spring")
    whole, seen = _board(service), view(service, ANONYMOUS)
    for place, bot in enumerate(whole):
        shown = row(service, seen, "bots", bot, neighbors=2)
        assert shown.index == place
        assert _ids(shown) == whole[max(0, place - 2) : place + 3]
        around = page(service, seen, "bots", around=bot, limit=3)
        assert bot in _ids(around)
        assert around.index == place


def test_an_unscored_id_is_told_its_reason(service: Service) -> None:
    """Not being on a board is an answer too."""
    spring(service)
    publish(service, "spring")
    with pytest.raises(NotFound, match="idle is unscored on board bots: has not qualified"):
        row(service, view(service, ANONYMOUS), "bots", "idle")
    shown = page(service, view(service, ANONYMOUS), "bots", unscored=True)
    assert _ids(shown) == ["idle"]


@pytest.mark.parametrize("name", ["nobody", "a\x00", "\ud800", "", "x" * 10_000, "'; --"])
def test_whom_a_board_does_not_know_is_not_found(service: Service, name: str) -> None:
    """Ids come from addresses; whatever stands there, the answer is a sentence."""
    spring(service)
    publish(service, "spring")
    for ask in (row, proof):
        with pytest.raises(NotFound):
            ask(service, view(service, ANONYMOUS), "bots", name)
    with pytest.raises(NotFound):
        page(service, view(service, ANONYMOUS), "bots", around=name)


def test_a_board_is_shown_as_of_a_position_or_a_time(service: Service) -> None:
    """The past is asked for by the ledger's own numbers or its own clock."""
    spring(service)
    first = publish(service, "spring").snapshots[0]
    whole = _board(service)
    play(service, 9, 20)
    second = publish(service, "spring").snapshots[0]
    seen = view(service, ANONYMOUS)
    for as_of in (str(first.seq), str(second.seq - 1), first.at.isoformat()):
        shown = page(service, seen, "bots", as_of=as_of)
        assert (shown.snapshot.seq, _ids(shown)) == (first.seq, whole)
    for as_of in (str(second.seq), "9" * 30, "9" * 17, second.at.isoformat(), "2999-01-01"):
        assert page(service, seen, "bots", as_of=as_of).snapshot == second


@pytest.mark.parametrize("as_of", ["0", "1", "2020-01-01"])
def test_before_the_first_snapshot_there_is_no_board(service: Service, as_of: str) -> None:
    """An earlier time gives no later board."""
    spring(service)
    publish(service, "spring")
    with pytest.raises(NotFound, match="nothing was published"):
        page(service, view(service, ANONYMOUS), "bots", as_of=as_of)


@pytest.mark.parametrize("as_of", ["", "yesterday", "-1", "١٢", "\ud800", "2026-13-01"])
def test_what_is_no_position_and_no_time_is_refused(service: Service, as_of: str) -> None:
    """A misread moment would silently show another board."""
    spring(service)
    publish(service, "spring")
    with pytest.raises(Unreadable):
        page(service, view(service, ANONYMOUS), "bots", as_of=as_of)


@pytest.mark.parametrize("limit", [0, -1, 1001])
def test_a_limit_out_of_bounds_is_refused(service: Service, limit: int) -> None:
    """A limit is honoured or refused, never bent."""
    spring(service)
    with pytest.raises(Unreadable, match="limit is"):
        page(service, view(service, ANONYMOUS), "bots", limit=limit)


def test_cursors_of_other_boards_and_contests_lead_nowhere(service: Service) -> None:
    """A cursor is a place on one board; on another it would show rows out of nothing."""
    spring(service)
    bots, judges = publish(service, "spring").snapshots
    seen = view(service, ANONYMOUS)
    for number in (judges.no, bots.no + 1000):
        with pytest.raises(NotFound, match="begin again"):
            page(service, seen, "bots", cursor=str(Cursor(number, 0)))
    assert page(service, seen, "bots", cursor=str(Cursor(bots.no, 10**6))).lines == []


def test_unknown_boards_are_named_with_the_nearest(service: Service) -> None:
    """A misspelt board gets a suggestion; one of the discipline that is not published, none."""
    spring(service)
    publish(service, "spring")
    with pytest.raises(NotFound, match="did you mean bots"):
        page(service, view(service, ANONYMOUS), "bot")
    with pytest.raises(NotFound, match="no board 'bradley-terry'"):
        page(service, view(service, ANONYMOUS), "bradley-terry")


def test_all_boards_are_listed_the_default_first(service: Service) -> None:
    """The list is what a contest's page begins with."""
    spring(service)
    published = list(publish(service, "spring").snapshots)
    assert boards(service, view(service, ANONYMOUS)) == published


def test_a_proof_needs_nobody(service: Service) -> None:
    """With the manifest, a line and a few hashes anybody can check a row, scored or not."""
    spring(service)
    publish(service, "spring")
    for name in (*BOTS, "idle"):
        told = proof(service, view(service, ANONYMOUS), "bots", name)
        manifest, line = manifest_of(told["manifest"]), told["line"].encode()
        assert manifest.is_signed(told["signature"], public=bytes.fromhex(told["public_key"]))
        path = [bytes.fromhex(beside) for beside in told["path"]]
        root = bytes.fromhex(manifest.merkle_root)
        assert verify(line, told["index"], manifest.size, path, root)
        assert not verify(line + b" ", told["index"], manifest.size, path, root)
        assert orjson.loads(line)["id"] == name


def test_stored_lines_hash_to_the_boards_hash(service: Service) -> None:
    """What pages show is what was signed, to the byte."""
    spring(service)
    publish(service, "spring")
    seen = view(service, ANONYMOUS)
    for name in ("bots", "judges"):
        shown, rest = page(service, seen, name), page(service, seen, name, unscored=True)
        text = b"".join(line + b"\n" for line in [canonical_json(name), *shown.lines, *rest.lines])
        assert hashlib.sha256(text).hexdigest() == shown.snapshot.board_sha256


def test_a_final_result_stays_and_says_that_it_was_amended(service: Service) -> None:
    """A finalised board never changes silently: it is shown as it was, with what came after."""
    spring(service)
    finalize(service, "spring", by=LOCAL)
    publish(service, "spring")
    final = page(service, view(service, ANONYMOUS), "bots")
    assert final.amended_by is None
    adjustment = {"board": "bots", "id": "a", "points": -100}
    change = propose(
        service, "spring", kind="adjustment", params=adjustment, reason="plagiarism", by=LOCAL
    )
    dry_run(service, "spring", change.id)
    applied = apply(service, "spring", change.id, by=LOCAL)
    publish(service, "spring")
    for caller, as_of in ((ANONYMOUS, None), (LOCAL, None), (ANONYMOUS, str(final.snapshot.seq))):
        shown = page(service, view(service, caller), "bots", as_of=as_of)
        assert shown.lines == final.lines
        assert shown.amended_by is not None
        assert shown.amended_by.seq == applied.applied_at
    amended = page(service, view(service, ANONYMOUS), "bots", as_of=str(applied.applied_at))
    assert amended.lines != final.lines
    assert amended.amended_by is None
    roll_back(service, "spring", change.id, reason="it was not", by=LOCAL)
    publish(service, "spring")
    assert page(service, view(service, ANONYMOUS), "bots").amended_by is None


def test_reading_holds_no_more_than_a_page(service: Service) -> None:
    """A page of a long board is read by its own chunks, wherever it begins."""
    spring(service)
    publish(service, "spring")
    seen, whole = view(service, ANONYMOUS), _board(service)
    for start, bot in zip(count(), whole, strict=False):
        cursor = str(Cursor(page(service, seen, "bots").snapshot.no, start, 1))
        assert _ids(page(service, seen, "bots", cursor=cursor)) == [bot]
