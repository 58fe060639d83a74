"""Scan a contest's newest records for integrity findings, and return those of the last scan."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import orjson

from agon.app.access.permissions import View
from agon.app.service import Service
from agon.app.webhooks.announcements import announce
from agon.entities.contests import Contest, Event
from agon.kernel.findings import Finding, Severity, in_order
from agon.kernel.fingerprints import canonical_json
from agon.store.session import Session

FurtherChecks: TypeAlias = Callable[[Session, Contest, int], Iterable[Finding]]
"""Returns findings of a contest up to a position of its ledger."""

CHANGED: Final = "findings-changed"
"""The kind of the event by which organizers learn that the findings have changed."""


@dataclass(frozen=True)
class ScanResult:
    """The findings at a position of the ledger, most severe first; position 0: never scanned."""

    seq: int
    findings: list[Mapping[str, Any]]

    @classmethod
    def from_lines(cls, seq: int, lines: Sequence[bytes]) -> "ScanResult":
        """Return findings read from stored JSON."""
        return cls(seq, [orjson.loads(line) for line in lines])


def scan(
    service: Service,
    contest_id: str,
    *,
    unless_known: bool = False,
    progress: Callable[[float], object] = lambda _: None,
    further: FurtherChecks = lambda *_: (),
) -> ScanResult:
    """Run a discipline's integrity checks on a contest's newest records and store the findings.

    Findings inform and change no score. They replace those of an earlier position, and never
    those of a later one. If they differ from the ones before, organizers are notified by the event
    ``findings-changed``.

    Args:
        service: the service.
        contest_id: the contest.
        unless_known: return the last scan's findings if no entry was made since.
        progress: called with the part that is done, from 0 to 1.
        further: returns findings about what is in the ledger but not in the records.

    Raises:
        NotFound: there is no such contest.
        NotScorable: the records cannot be scored, with the reason.
    """
    with service.store.read() as session:
        contest = session.contests.get(contest_id)
        if unless_known and session.cases.scan_position(contest.no) == contest.seq:
            return _last(session, contest)
    with service.replicas.current(service.store, contest) as replica:
        seq = replica.seq
        results = list(replica.result().findings)
    with service.store.read() as session:
        results += further(session, contest, seq)
    lines = [canonical_json(finding.to_dict()) for finding in in_order(results)]
    progress(0.9)
    result = ScanResult.from_lines(seq, lines)
    with service.store.write() as session:
        session.contests.lock(contest_id)
        last_seq, before = session.cases.findings(contest.no)
        if last_seq <= seq:
            session.cases.save_findings(contest.no, seq, lines)
            if lines != before:
                _announce_changed(service, session, contest, before=before, result=result)
    return result


def findings(service: Service, view: View) -> ScanResult:
    """Return the findings of the last scan."""
    with service.store.read() as session:
        return _last(session, view.contest)


def _last(session: Session, contest: Contest) -> ScanResult:
    return ScanResult.from_lines(*session.cases.findings(contest.no))


def _announce_changed(
    service: Service,
    session: Session,
    contest: Contest,
    *,
    before: Sequence[bytes],
    result: ScanResult,
) -> None:
    """Store the event that the findings have changed: how many there are, not which."""
    known_keys = {_key(finding) for finding in map(orjson.loads, before)}
    severities = Counter(str(finding["severity"]) for finding in result.findings)
    event = Event(
        no=0,
        contest_no=contest.no,
        seq=result.seq,
        at=service.clock(),
        kind=CHANGED,
        body={
            "findings": len(result.findings),
            "new": sum(_key(finding) not in known_keys for finding in result.findings),
            "severities": {str(severity): severities[str(severity)] for severity in Severity},
        },
        staff=True,
    )
    announce(service, session, event)


def _key(finding: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what identifies a finding while its numbers change: the check and the subjects."""
    return (finding["code"], *finding["subjects"])
