"""Cases over HTTP."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agon.client.values import CaseTold
from agon.client.wire import Wire


class RemoteCases:
    """Look into findings and disputes; see :class:`agon.client.ports.Cases`."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def list(self, contest: str) -> Iterator[CaseTold]:
        """Yield a contest's cases, oldest first."""
        yield from map(CaseTold.model_validate, self._wire.pages("contests", contest, "cases"))

    def get(self, contest: str, case: str) -> CaseTold:
        """Return a case with all its steps."""
        return CaseTold.model_validate(self._wire.get("contests", contest, "cases", case))

    def open(
        self,
        contest: str,
        *,
        text: str,
        title: str | None = None,
        subjects: Sequence[str] = (),
        finding: int | None = None,
    ) -> CaseTold:
        """Open a case, from a finding of the last look or by hand."""
        asked = {"text": text, "title": title, "subjects": list(subjects), "finding": finding}
        made = self._wire.send("POST", "contests", contest, "cases", body=asked)
        return CaseTold.model_validate(made)

    def note(self, contest: str, case: str, *, text: str) -> CaseTold:
        """Add a note."""
        return self._about(contest, case, "notes", {"text": text})

    def decide(
        self, contest: str, case: str, *, decision: str, reason: str, change: str | None = None
    ) -> CaseTold:
        """Decide a case."""
        asked = {"decision": decision, "reason": reason, "change": change}
        return self._about(contest, case, "decisions", asked)

    def appeal(self, contest: str, case: str, *, text: str) -> CaseTold:
        """Appeal against a decision."""
        return self._about(contest, case, "appeals", {"text": text})

    def close(self, contest: str, case: str, *, text: str) -> CaseTold:
        """Close a case."""
        return self._about(contest, case, "close", {"text": text})

    def _about(self, contest: str, case: str, step: str, body: Mapping[str, Any]) -> CaseTold:
        told = self._wire.send("POST", "contests", contest, "cases", case, step, body=dict(body))
        return CaseTold.model_validate(told)
