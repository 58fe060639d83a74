"""Published boards beside the database."""

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import orjson

from agon.app.access.permissions import View, viewed
from agon.app.contests.boards import pages as cases
from agon.app.contests.boards.explain import explain
from agon.app.contests.boards.history import MOST_STEPS, history
from agon.app.contests.boards.proofs import proof as prove
from agon.app.contests.boards.publish import rebuild
from agon.app.contests.boards.search import search
from agon.app.contests.boards.stored_rows import NotStored
from agon.app.service import Service
from agon.client.values import Page, Published, Step
from agon.entities.access import Caller
from agon.kernel.explanations import Explanation

T = TypeVar("T")


class LocalBoards:
    """Read published boards; see :class:`agon.client.ports.Boards`.

    Rows that are no longer stored are rebuilt from the ledger.
    """

    def __init__(self, service: Service, by: Caller) -> None:
        self._service = service
        self._by = by

    def list(self, contest: str) -> list[Published]:
        """Return the newest state of every board, the default one first."""
        found = cases.boards(self._service, self._view(contest))
        return [Published.model_validate(cases.proof_fields(one)) for one in found]

    def page(
        self,
        contest: str,
        board: str | None = None,
        *,
        as_of: str | None = None,
        cursor: str | None = None,
        around: str | None = None,
        limit: int = 50,
        unscored: bool = False,
    ) -> Page:
        """Return a page of a board, or of those without a score."""
        view = self._view(contest)
        found = self._stored(
            view,
            lambda: cases.page(
                self._service, view, board, as_of=as_of, cursor=cursor, around=around,
                limit=limit, unscored=unscored,
            ),
        )  # fmt: skip
        return _page(view, found)

    def search(
        self,
        contest: str,
        begins: str,
        *,
        board: str | None = None,
        as_of: str | None = None,
        cursor: str | None = None,
        limit: int = 50,
    ) -> Page:
        """Return the rows of those whose ids begin with a text, in id order."""
        view = self._view(contest)
        found = self._stored(
            view,
            lambda: search(
                self._service, view, board, begins, as_of=as_of, cursor=cursor, limit=limit
            ),
        )
        return _page(view, found)

    def proof(
        self, contest: str, participant: str, *, board: str | None = None, as_of: str | None = None
    ) -> dict[str, Any]:
        """Return what proves a line of a board to anybody."""
        view = self._view(contest)
        return self._stored(
            view, lambda: prove(self._service, view, board, participant, as_of=as_of)
        )

    def explain(
        self, contest: str, participant: str, *, board: str | None = None, as_of: str | None = None
    ) -> Explanation:
        """Explain a score."""
        return explain(self._service, self._view(contest), board, participant, as_of=as_of)

    def history(
        self, contest: str, participant: str, *, board: str | None = None
    ) -> Iterator[Step]:
        """Yield somebody's steps on a board, oldest first."""
        view, after = self._view(contest), 0
        while True:
            steps = history(self._service, view, board, participant, after=after, limit=MOST_STEPS)
            yield from map(Step.model_validate, steps)
            if len(steps) < MOST_STEPS:
                return
            after = steps[-1].seq

    def _view(self, contest: str) -> View:
        with self._service.store.read() as session:
            return viewed(session, contest, self._by)

    def _stored(self, view: View, find: Callable[[], T]) -> T:
        """Find something among a board's rows, which are rebuilt where they are gone."""
        try:
            return find()
        except NotStored as missing:
            rebuild(self._service, view.contest.id, seq=missing.seq, board=missing.board)
            return find()


def _page(view: View, found: cases.Page) -> Page:
    """Return a page as the API's model."""
    rows = [orjson.loads(line) for line in found.lines]
    return Page.model_validate({**cases.page_fields(view, found), "rows": rows})
