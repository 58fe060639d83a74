"""Cases beside the database."""

from collections.abc import Iterator, Sequence

from agon.app.access.permissions import View, viewed
from agon.app.contests.cases import cases
from agon.app.service import Service
from agon.client.values import CaseTold
from agon.entities.access import Caller

_PAGE = 100


class LocalCases:
    """Look into findings and disputes; see :class:`agon.client.ports.Cases`."""

    def __init__(self, service: Service, by: Caller) -> None:
        self._service = service
        self._by = by

    def list(self, contest: str) -> Iterator[CaseTold]:
        """Yield a contest's cases, oldest first."""
        view, after = self._view(contest), None
        while True:
            found = cases.cases(self._service, view, after=after, limit=_PAGE)
            yield from map(CaseTold.model_validate, found)
            if len(found) < _PAGE:
                return
            after = found[-1].id

    def get(self, contest: str, case: str) -> CaseTold:
        """Return a case with all its steps."""
        return CaseTold.model_validate(cases.case(self._service, self._view(contest), case))

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
        made = cases.open_case(
            self._service, contest, by=self._by, text=text, title=title, subjects=subjects,
            finding=finding,
        )  # fmt: skip
        return CaseTold.model_validate(made)

    def note(self, contest: str, case: str, *, text: str) -> CaseTold:
        """Add a note."""
        done = cases.note(self._service, contest, case, text=text, by=self._by)
        return CaseTold.model_validate(done)

    def decide(
        self, contest: str, case: str, *, decision: str, reason: str, change: str | None = None
    ) -> CaseTold:
        """Decide a case."""
        done = cases.decide(
            self._service, contest, case, decision=decision, reason=reason, change=change,
            by=self._by,
        )  # fmt: skip
        return CaseTold.model_validate(done)

    def appeal(self, contest: str, case: str, *, text: str) -> CaseTold:
        """Appeal against a decision."""
        done = cases.appeal(self._service, contest, case, text=text, by=self._by)
        return CaseTold.model_validate(done)

    def close(self, contest: str, case: str, *, text: str) -> CaseTold:
        """Close a case."""
        done = cases.close(self._service, contest, case, text=text, by=self._by)
        return CaseTold.model_validate(done)

    def _view(self, contest: str) -> View:
        with self._service.store.read() as session:
            return viewed(session, contest, self._by)
