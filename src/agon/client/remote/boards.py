"""Published boards over HTTP."""

from collections.abc import Iterator
from typing import Any

from agon.client.reading import explanation_of
from agon.client.values import Page, Published, Step
from agon.client.wire import Wire
from agon.kernel.explanations import Explanation


class RemoteBoards:
    """Read published boards; see :class:`agon.client.ports.Boards`."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def list(self, contest: str) -> list[Published]:
        """Return the newest state of every board, the default one first."""
        items = self._wire.get("contests", contest, "boards")["items"]
        return [Published.model_validate(one) for one in items]

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
        path = ["contests", contest, "boards", board or self._default(contest)]
        query: dict[str, Any] = {"as_of": as_of, "cursor": cursor, "limit": limit}
        if not unscored:
            return Page.model_validate(self._wire.get(*path, **query, around=around))
        found = self._wire.get(*path, "unscored", **query)
        return Page.model_validate({**found, "rows": found["unscored"]})

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
        path = ("contests", contest, "boards", board or self._default(contest))
        found = self._wire.get(*path, q=begins, as_of=as_of, cursor=cursor, limit=limit)
        return Page.model_validate(found)

    def proof(
        self, contest: str, participant: str, *, board: str | None = None, as_of: str | None = None
    ) -> dict[str, Any]:
        """Return what proves a line of a board to anybody."""
        found: dict[str, Any] = self._about("proofs", contest, participant, board, as_of)
        return found

    def explain(
        self, contest: str, participant: str, *, board: str | None = None, as_of: str | None = None
    ) -> Explanation:
        """Explain a score."""
        return explanation_of(self._about("explanations", contest, participant, board, as_of))

    def history(
        self, contest: str, participant: str, *, board: str | None = None
    ) -> Iterator[Step]:
        """Yield somebody's steps on a board, oldest first."""
        name = board or self._default(contest)
        path = ("contests", contest, "boards", name, "history", participant)
        yield from map(Step.model_validate, self._wire.pages(*path))

    def _about(
        self, noun: str, contest: str, participant: str, board: str | None, as_of: str | None
    ) -> Any:
        name = board or self._default(contest)
        return self._wire.get("contests", contest, "boards", name, noun, participant, as_of=as_of)

    def _default(self, contest: str) -> str:
        boards: list[str] = self._wire.get("contests", contest)["boards"]
        return boards[0]
