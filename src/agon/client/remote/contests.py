"""Contests over HTTP."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from agon.app.contests.lifecycle.creation import NewContest
from agon.client.values import ContestTold
from agon.client.wire import Wire


class RemoteContests:
    """Lead contests through their lives; see :class:`agon.client.ports.Contests`."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def create(self, new: NewContest) -> ContestTold:
        """Create a contest, a draft until it is opened."""
        asked = asdict(new) | {"overrides": dict(new.overrides)}
        return _told(self._wire.send("POST", "contests", body=asked))

    def next_season(self, contest: str, *, id: str) -> ContestTold:  # noqa: A002 (a contest's id is called id everywhere)
        """Create the next season: the same rules and boards, without records."""
        return self._led(contest, "next-season", {"id": id})

    def list(
        self, *, discipline: str | None = None, series: str | None = None
    ) -> Iterator[ContestTold]:
        """Yield the contests the caller may see, in id order."""
        yield from map(_told, self._wire.pages("contests", discipline=discipline, series=series))

    def get(self, contest: str) -> ContestTold:
        """Return a contest."""
        return _told(self._wire.get("contests", contest))

    def open(self, contest: str) -> ContestTold:
        """Open a draft."""
        return self._led(contest, "open")

    def freeze(self, contest: str) -> ContestTold:
        """Show the public nothing later."""
        return self._led(contest, "freeze")

    def unfreeze(self, contest: str, *, reason: str) -> ContestTold:
        """Let the public see again."""
        return self._led(contest, "unfreeze", {"reason": reason})

    def finalise(self, contest: str, *, force: bool = False) -> ContestTold:
        """Make the result final."""
        return self._led(contest, "finalize", {"force": force})

    def _led(self, contest: str, step: str, body: Any = None) -> ContestTold:
        return _told(self._wire.send("POST", "contests", contest, step, body=body))


def _told(value: Any) -> ContestTold:
    return ContestTold.model_validate(value)
