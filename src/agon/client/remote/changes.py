"""Change sets and findings over HTTP."""

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from agon.client.values import ChangeTold, FindingsTold
from agon.client.wire import Wire
from agon.errors import Conflict, Unavailable

PATIENCE: Final = 300.0
"""Seconds a dry run is waited for."""

_PAUSE: Final = 0.2


class RemoteChanges:
    """Change what a contest says; see :class:`agon.client.ports.Changes`."""

    def __init__(self, wire: Wire, *, sleep: Callable[[float], object] = time.sleep) -> None:
        self._wire = wire
        self._sleep = sleep

    def propose(
        self, contest: str, *, kind: str, params: Mapping[str, Any], reason: str
    ) -> ChangeTold:
        """Propose a change set; its dry run is queued."""
        asked = {"kind": kind, "params": dict(params), "reason": reason}
        return _told(self._wire.send("POST", "contests", contest, "change-sets", body=asked))

    def tried(self, contest: str, change: str) -> ChangeTold:
        """Return a change set after its dry run, which a worker of the server does.

        Raises:
            Conflict: the dry run failed, with the cause.
            Unavailable: it takes too long; ask again.
        """
        waited = 0.0
        while True:
            found = self.get(contest, change)
            if found.dry_run_at is not None or found.state != "proposed":
                return found
            if found.failed is not None:
                raise Conflict(found.failed)
            if waited >= PATIENCE:
                raise Unavailable(
                    f"change set {change} waits for its dry run; see with agon jobs queue whether "
                    "a worker is running, then propose it again"
                )
            self._sleep(_PAUSE)
            waited += _PAUSE

    def get(self, contest: str, change: str) -> ChangeTold:
        """Return a change set."""
        return _told(self._wire.get("contests", contest, "change-sets", change))

    def list(self, contest: str) -> Iterator[ChangeTold]:
        """Yield a contest's change sets, oldest first."""
        yield from map(_told, self._wire.pages("contests", contest, "change-sets"))

    def apply(self, contest: str, change: str) -> ChangeTold:
        """Apply a change set that was tried."""
        return self._led(contest, change, "apply", {})

    def cancel(self, contest: str, change: str) -> ChangeTold:
        """Drop a change set that was not applied."""
        return self._led(contest, change, "cancel")

    def roll_back(self, contest: str, change: str, *, reason: str) -> ChangeTold:
        """Take the effect from an applied change set."""
        return self._led(contest, change, "rollback", {"reason": reason})

    def _led(self, contest: str, change: str, step: str, body: Any = None) -> ChangeTold:
        path = ("contests", contest, "change-sets", change, step)
        return _told(self._wire.send("POST", *path, body=body))


class RemoteIntegrity:
    """Show what integrity checks found; see :class:`agon.client.ports.Integrity`."""

    def __init__(self, wire: Wire, *, sleep: Callable[[float], object] = time.sleep) -> None:
        self._wire = wire
        self._sleep = sleep

    def findings(self, contest: str) -> FindingsTold:
        """Return the findings of the last look."""
        told = self._wire.get("contests", contest, "findings")
        return FindingsTold(seq=told["seq"], findings=tuple(told["items"]))

    def look(self, contest: str) -> FindingsTold:
        """Have a worker of the server look through the newest records; return what is found.

        Raises:
            Unavailable: it takes too long, or the look failed, with the reason.
        """
        job, waited = self._wire.send("POST", "contests", contest, "findings"), 0.0
        while job["state"] in {"queued", "leased"} and waited < PATIENCE:
            self._sleep(_PAUSE)
            waited += _PAUSE
            job = self._wire.get("jobs", job["id"])
        if job["state"] != "done":
            causes = job["causes"] or [{"cause": "it waits; is a worker running?"}]
            raise Unavailable(f"nobody has looked through {contest}: {causes[-1]['cause']}")
        return self.findings(contest)


def _told(value: Any) -> ChangeTold:
    return ChangeTold.model_validate(value)
