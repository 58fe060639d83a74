"""Find participants on a published board by the beginning of a name or an id."""

from collections.abc import Iterator
from itertools import chain, islice
from typing import Final

from agon.app.access.permissions import View
from agon.app.contests.boards.cursors import Cursor
from agon.app.contests.boards.pages import (
    MAX_ROWS,
    BoardRows,
    PublishedBoard,
    find_board,
    with_names,
)
from agon.app.contests.boards.stored_rows import ids_of, shown_names
from agon.app.contests.ledgers.positions import require_storable_name
from agon.app.service import Service
from agon.errors import NotFound, Unreadable
from agon.kernel.text.names import MAX_BEGINNING, fold, found_at
from agon.store.session import Session

_MAX_BATCH: Final = 1000
"""Maximum number of texts that are read together while few of them are of rows of the board."""


def search(
    service: Service,
    view: View,
    board: str | None,
    prefix: str,
    *,
    as_of: str | None = None,
    cursor: str | None = None,
    limit: int = 50,
) -> BoardRows:
    """Return the rows of a board whose names or ids begin with a text.

    Rows found by name come first, in the order of the names, if the contest shows names: a name is
    found at the beginning of each of its words, and case and accents do not matter. Rows found by
    id follow in the order of ids, in which upper and lower case differ.

    Names and ids that were ever on a board are found in indexes, and their rows by index; the board
    itself is not scanned, and only rows of the state that the caller sees are found. Names are
    those of that state.

    Args:
        service: the service.
        view: what the caller may see.
        board: the board; None: the default one.
        prefix: how the names or ids begin, at least one character.
        as_of: as for :func:`agon.app.contests.boards.pages.page`.
        cursor: as a page of the same search gave it.
        limit: maximum number of rows, 1 to 1000.

    Returns:
        A page whose ``start`` is the index of the first row found (0 where there is none); the
        others may be anywhere on the board.

    Raises:
        NotFound: as for :func:`agon.app.contests.boards.pages.page`; or the cursor's row was
            found by a name, and names are hidden by now.
        NotStored, Unreadable: as for :func:`agon.app.contests.boards.pages.page`.
    """
    if not prefix or not 1 <= limit <= MAX_ROWS:
        raise Unreadable(f"give the beginning of a name or an id, and a limit of 1 to {MAX_ROWS}")
    require_storable_name(prefix)
    start = None if cursor is None else Cursor.read(cursor)
    with service.store.read() as session:
        published = find_board(session, view, board, as_of=as_of, at=start)
        finding = _Search(session, view, published, prefix, batch=limit + 1)
        indexes = list(islice(finding.indexes(None if start is None else start.start), limit + 1))
        selected = indexes[:limit]
        snapshot = published.snapshot
        page = BoardRows(
            snapshot=snapshot,
            lines=session.snapshots.lines_at(published.rows_snapshot.no, selected),
            start=selected[0] if selected else 0,
            next=str(Cursor(snapshot.no, selected[-1])) if len(indexes) > limit else None,
            previous=None,
            amended_by=published.amended_by,
            amendment=published.amendment,
        )
        return with_names(session, view, page)


class _Search:
    """A search on one state of a board.

    A row that is found by its name is not found by its id as well; so a row alone determines where
    among all rows found it is.
    """

    def __init__(
        self, session: Session, view: View, published: PublishedBoard, prefix: str, *, batch: int
    ) -> None:
        self._session = session
        self._contest = view.contest
        self._snapshot = published.snapshot
        self._rows_snapshot = published.rows_snapshot
        self._prefix = prefix
        self._folded = fold(prefix)[:MAX_BEGINNING]
        self._batch = batch

    def indexes(self, after: int | None) -> Iterator[int]:
        """Yield the indexes of the rows found, those after the row at an index.

        Raises:
            Unreadable: the board has no row there.
            NotFound: that row is not found.
        """
        if after is None:
            return chain(self._by_name(None), self._by_id(None))
        lines = self._session.snapshots.lines(self._rows_snapshot.no, start=after, count=1)
        if not lines:
            raise Unreadable("this cursor is not of a page of this board; begin again without it")
        [name] = ids_of(lines)
        text = self._found_names([name]).get(name)
        if text is not None:
            return chain(self._by_name((text, name)), self._by_id(None))
        if not name.startswith(self._prefix):
            raise NotFound("this page no longer exists; begin again with the first one")
        return self._by_id(name)

    def _by_name(self, after: tuple[str, str] | None) -> Iterator[int]:
        """Yield rows in the order in which their names are found, each at the first of its words.

        Names of participants who are not on the board are skipped.
        """
        if not self._contest.shows_names or not self._folded:
            return
        for batch in self._batches():
            texts = self._session.names.beginning(
                self._contest.no, self._folded, at=self._snapshot.seq, after=after, limit=batch
            )
            rows = self._rows([name for _, name in texts])
            first = self._found_names(list(rows))
            yield from (rows[name] for text, name in texts if first.get(name) == text)
            if len(texts) < batch:
                return
            after = texts[-1]

    def _by_id(self, after: str | None) -> Iterator[int]:
        """Yield the rows whose ids begin with the text and which are not found by name, in order.

        Ids that were on the board at another time only are skipped.
        """
        for batch in self._batches():
            ids = self._session.histories.names(
                self._contest.no,
                self._snapshot.board,
                begins=self._prefix,
                after=after,
                until=self._snapshot.seq,
                limit=batch,
            )
            rows = self._rows(ids)
            named = self._found_names(list(rows))
            yield from (rows[name] for name in ids if name in rows and name not in named)
            if len(ids) < batch:
                return
            after = ids[-1]

    def _batches(self) -> Iterator[int]:
        """Yield how many texts are read at a time: more each time, for most may be of no row."""
        batch = self._batch
        while True:
            yield batch
            batch = min(2 * batch, max(batch, _MAX_BATCH))

    def _rows(self, ids: list[str]) -> dict[str, int]:
        """Return the indexes of the rows of those ids that are on the board."""
        return self._session.snapshots.row_indexes(self._rows_snapshot.no, ids) if ids else {}

    def _found_names(self, ids: list[str]) -> dict[str, str]:
        """Return at which folded text the names of some ids are found; without those that are not.

        It is empty if the contest hides names.
        """
        names = shown_names(self._session, self._contest, ids, at=self._snapshot.seq) or {}
        texts = {name: found_at(full, self._folded) for name, full in names.items()}
        return {name: text for name, text in texts.items() if text is not None}
