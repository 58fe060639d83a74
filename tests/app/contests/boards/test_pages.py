"""Test how published boards are read: pages, rows, positions, proofs."""

import hashlib
from itertools import count

import orjson
import pytest

from agon.app.access.permissions import ANONYMOUS, LOCAL
from agon.app.contests.boards.cursors import Cursor
from agon.app.contests.boards.pages import BoardRows, boards, page, row
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


def _ids(result: BoardRows) -> list[str]:
    return [orjson.loads(line)["id"] for line in result.lines]


def _board(service: Service) -> list[str]:
    return _ids(page(service, view(service, ANONYMOUS), "bots"))


@pytest.mark.exhaustive
@pytest.mark.parametrize("limit", [1, 3, 8, 1000])
def test_pages_forward_and_backward_cover_the_board(service: Service, limit: int) -> None:
    """Each row is on exactly one page, in both directions."""
    spring(service)
    publish(service, "spring")
    access, ids = view(service, ANONYMOUS), _board(service)
    current = page(service, access, "bots", limit=limit)
    forward = [current]
    while current.next is not None:
        current = page(service, access, "bots", cursor=current.next, limit=limit)
        forward.append(current)
    assert [id_ for item in forward for id_ in _ids(item)] == ids
    backward = [current]
    while current.previous is not None:
        current = page(service, access, "bots", cursor=current.previous, limit=limit)
        backward.append(current)
    assert [id_ for item in reversed(backward) for id_ in _ids(item)] == ids


@pytest.mark.exhaustive
def test_a_cursor_stays_with_its_snapshot(service: Service) -> None:
    """A reader of several pages sees one board, also while records arrive."""
    spring(service)
    publish(service, "spring")
    ids = _board(service)
    first = page(service, view(service, ANONYMOUS), "bots", limit=4)
    play(service, 9, 20)
    publish(service, "spring")
    assert _board(service) != ids
    second = page(service, view(service, ANONYMOUS), "bots", cursor=first.next, limit=4)
    assert _ids(first) + _ids(second) == ids


@pytest.mark.exhaustive
def test_a_row_is_shown_among_its_neighbors(service: Service) -> None:
    """The index is that on the complete board; the first and last rows have fewer neighbors."""
    spring(service)
    publish(service, "spring")
    ids, access = _board(service), view(service, ANONYMOUS)
    for index, bot in enumerate(ids):
        result = row(service, access, "bots", bot, neighbors=2)
        assert result.index == index
        assert _ids(result) == ids[max(0, index - 2) : index + 3]
        around = page(service, access, "bots", around=bot, limit=3)
        assert bot in _ids(around)
        assert around.index == index


@pytest.mark.exhaustive
def test_an_unscored_id_has_its_reason(service: Service) -> None:
    """A participant without a score sees why."""
    spring(service)
    publish(service, "spring")
    with pytest.raises(NotFound, match="idle is unscored on board bots: has not qualified"):
        row(service, view(service, ANONYMOUS), "bots", "idle")
    result = page(service, view(service, ANONYMOUS), "bots", unscored=True)
    assert _ids(result) == ["idle"]


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["nobody", "a\x00", "\ud800", "", "x" * 10_000, "'; --"])
def test_an_unknown_id_is_not_found(service: Service, name: str) -> None:
    """Ids come from URLs; with any text there the error is a sentence."""
    spring(service)
    publish(service, "spring")
    for read in (row, proof):
        with pytest.raises(NotFound):
            read(service, view(service, ANONYMOUS), "bots", name)
    with pytest.raises(NotFound):
        page(service, view(service, ANONYMOUS), "bots", around=name)


@pytest.mark.exhaustive
def test_a_board_is_shown_as_of_a_position_or_a_time(service: Service) -> None:
    """A past board is requested by the ledger's position or time."""
    spring(service)
    first = publish(service, "spring").snapshots[0]
    ids = _board(service)
    play(service, 9, 20)
    second = publish(service, "spring").snapshots[0]
    access = view(service, ANONYMOUS)
    for as_of in (str(first.seq), str(second.seq - 1), first.at.isoformat()):
        result = page(service, access, "bots", as_of=as_of)
        assert (result.snapshot.seq, _ids(result)) == (first.seq, ids)
    for as_of in (str(second.seq), "9" * 30, "9" * 17, second.at.isoformat(), "2999-01-01"):
        assert page(service, access, "bots", as_of=as_of).snapshot == second


@pytest.mark.exhaustive
@pytest.mark.parametrize("as_of", ["0", "1", "2020-01-01"])
def test_before_the_first_snapshot_there_is_no_board(service: Service, as_of: str) -> None:
    """A time before it must not give a later board."""
    spring(service)
    publish(service, "spring")
    with pytest.raises(NotFound, match="nothing was published"):
        page(service, view(service, ANONYMOUS), "bots", as_of=as_of)


@pytest.mark.exhaustive
@pytest.mark.parametrize("as_of", ["", "yesterday", "-1", "١٢", "\ud800", "2026-13-01"])
def test_what_is_neither_a_position_nor_a_time_is_rejected(service: Service, as_of: str) -> None:
    """A misread time would silently show another board."""
    spring(service)
    publish(service, "spring")
    with pytest.raises(Unreadable):
        page(service, view(service, ANONYMOUS), "bots", as_of=as_of)


@pytest.mark.parametrize("limit", [0, -1, 1001])
def test_a_limit_out_of_bounds_is_rejected(service: Service, limit: int) -> None:
    """A limit is applied or rejected, never changed."""
    spring(service)
    with pytest.raises(Unreadable, match="limit is"):
        page(service, view(service, ANONYMOUS), "bots", limit=limit)


def test_cursors_of_other_boards_and_contests_are_rejected(service: Service) -> None:
    """A cursor is a position on one board; on another it would show the wrong rows."""
    spring(service)
    bots, judges = publish(service, "spring").snapshots
    access = view(service, ANONYMOUS)
    for number in (judges.no, bots.no + 1000):
        with pytest.raises(NotFound, match="begin again"):
            page(service, access, "bots", cursor=str(Cursor(number, 0)))
    assert page(service, access, "bots", cursor=str(Cursor(bots.no, 10**6))).lines == []


@pytest.mark.exhaustive
def test_an_unknown_board_gets_the_nearest_name(service: Service) -> None:
    """A misspelt board gets a suggestion; one that the contest does not publish gets none."""
    spring(service)
    publish(service, "spring")
    with pytest.raises(NotFound, match="did you mean bots"):
        page(service, view(service, ANONYMOUS), "bot")
    with pytest.raises(NotFound, match="no board 'bradley-terry'"):
        page(service, view(service, ANONYMOUS), "bradley-terry")


@pytest.mark.exhaustive
def test_all_boards_are_listed_with_the_default_first(service: Service) -> None:
    """A contest's page begins with the list."""
    spring(service)
    published = list(publish(service, "spring").snapshots)
    assert boards(service, view(service, ANONYMOUS)) == published


def test_a_proof_is_verified_without_the_service(service: Service) -> None:
    """The manifest, a line and a few hashes are enough to check a row, scored or not."""
    spring(service)
    publish(service, "spring")
    for name in (*BOTS, "idle"):
        response = proof(service, view(service, ANONYMOUS), "bots", name)
        manifest, line = manifest_of(response["manifest"]), response["line"].encode()
        assert manifest.is_signed(
            response["signature"], public=bytes.fromhex(response["public_key"])
        )
        path = [bytes.fromhex(sibling) for sibling in response["path"]]
        root = bytes.fromhex(manifest.merkle_root)
        assert verify(line, response["index"], manifest.size, path, root)
        assert not verify(line + b" ", response["index"], manifest.size, path, root)
        assert orjson.loads(line)["id"] == name


def test_stored_lines_hash_to_the_boards_hash(service: Service) -> None:
    """Pages show exactly the bytes that were signed."""
    spring(service)
    publish(service, "spring")
    access = view(service, ANONYMOUS)
    for name in ("bots", "judges"):
        result, rest = page(service, access, name), page(service, access, name, unscored=True)
        text = b"".join(line + b"\n" for line in [canonical_json(name), *result.lines, *rest.lines])
        assert hashlib.sha256(text).hexdigest() == result.snapshot.board_sha256


def test_an_amended_result_is_shown_and_the_one_before_remains(service: Service) -> None:
    """The old winner still led: the amended board leads, with the reason and the one before."""
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
    before = page(service, view(service, ANONYMOUS), "bots", as_of=str(final.snapshot.seq))
    assert before.lines == final.lines
    assert before.amended_by is not None
    assert before.amended_by.seq == applied.applied_at
    for caller, as_of in ((ANONYMOUS, None), (LOCAL, None), (ANONYMOUS, str(applied.applied_at))):
        amended = page(service, view(service, caller), "bots", as_of=as_of)
        assert amended.lines != final.lines
        assert amended.amended_by is None
        assert amended.amendment is not None
        assert (amended.amendment.reason, amended.amendment.final_seq) == (
            "plagiarism", final.snapshot.seq
        )  # fmt: skip
    roll_back(service, "spring", change.id, reason="it was not", by=LOCAL)
    publish(service, "spring")
    back = page(service, view(service, ANONYMOUS), "bots")
    assert (back.lines, back.amended_by, back.amendment) == (final.lines, None, None)


@pytest.mark.exhaustive
def test_a_page_reads_only_its_own_chunks(service: Service) -> None:
    """Memory for a page does not depend on where it begins on a long board."""
    spring(service)
    publish(service, "spring")
    access, ids = view(service, ANONYMOUS), _board(service)
    for start, bot in zip(count(), ids, strict=False):
        cursor = str(Cursor(page(service, access, "bots").snapshot.no, start, 1))
        assert _ids(page(service, access, "bots", cursor=cursor)) == [bot]
