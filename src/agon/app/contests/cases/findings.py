"""Look for integrity findings in a contest's newest records, and show what was found last."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson

from agon.app.access.permissions import View
from agon.app.service import Service
from agon.app.webhooks.announcements import announce
from agon.entities.contests import Contest, Event
from agon.errors import Forbidden
from agon.kernel.findings import Severity
from agon.kernel.fingerprints import canonical_json
from agon.store.session import Session

CHANGED: Final = "findings-changed"
"""The kind of event that tells the organisers of other findings than before."""


@dataclass(frozen=True)
class Found:
    """Hold the findings of a position of the ledger, gravest first; position 0: never looked."""

    seq: int
    findings: list[Mapping[str, Any]]

    @classmethod
    def of(cls, seq: int, lines: Sequence[bytes]) -> "Found":
        """Read findings as they are stored."""
        return cls(seq, [orjson.loads(line) for line in lines])


def look(
    service: Service,
    contest_id: str,
    *,
    unless_known: bool = False,
    progress: Callable[[float], object] = lambda _: None,
) -> Found:
    """Run a discipline's integrity checks over a contest's newest records and keep what they find.

    Findings inform and change no score. Those of an earlier position give way; what was found
    meanwhile at a later one stays. Where they are others than before, the organisers are told
    (the event ``findings-changed``).

    Args:
        service: the house.
        contest_id: the contest.
        unless_known: whether the last look will do when nothing was recorded since.
        progress: called with the share done, 0 to 1.

    Raises:
        NotFound: there is no such contest.
        NotScorable: the records cannot be scored, with the reason.
    """
    with service.store.read() as session:
        contest = session.contests.get(contest_id)
        if unless_known and session.cases.scan_position(contest.no) == contest.seq:
            return _last(session, contest)
    with service.lives.at(service.store, contest) as live:
        seq = live.seq
        lines = [canonical_json(one.to_dict()) for one in live.result().findings]
    progress(0.9)
    with service.store.write() as session:
        session.contests.lock(contest_id)
        known, before = session.cases.findings(contest.no)
        if known <= seq:
            session.cases.save_findings(contest.no, seq, lines)
            if lines != before:
                _tell(service, session, contest, before=before, found=Found.of(seq, lines))
    return Found.of(seq, lines)


def findings(service: Service, view: View) -> Found:
    """Return the findings of the last look.

    Raises:
        Forbidden: the caller is neither organiser nor operator of the contest.
    """
    expect_staff(view, "findings")
    with service.store.read() as session:
        return _last(session, view.contest)


def expect_staff(view: View, what: str) -> None:
    """Refuse what only those who run the contest may see.

    Raises:
        Forbidden: the caller does not.
    """
    if not view.staff:
        raise Forbidden(f"{what} are for the organisers of {view.contest.id}; ask them")


def _last(session: Session, contest: Contest) -> Found:
    return Found.of(*session.cases.findings(contest.no))


def _tell(
    service: Service, session: Session, contest: Contest, *, before: Sequence[bytes], found: Found
) -> None:
    """Tell the organisers that findings are others than before: how many, not which."""
    known = {_about(one) for one in map(orjson.loads, before)}
    severities = Counter(str(one["severity"]) for one in found.findings)
    event = Event(
        no=0,
        contest_no=contest.no,
        seq=found.seq,
        at=service.clock(),
        kind=CHANGED,
        body={
            "findings": len(found.findings),
            "new": sum(_about(one) not in known for one in found.findings),
            "severities": {str(one): severities[str(one)] for one in Severity},
        },
        staff=True,
    )
    announce(service, session, event)


def _about(finding: Mapping[str, Any]) -> tuple[str, ...]:
    """Name a finding by what stays the same while its numbers grow: the check and the subjects."""
    return (finding["code"], *finding["subjects"])
