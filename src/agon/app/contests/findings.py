"""Look for integrity findings in a contest's newest records, and show what was found last."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from agon.app.access.authorising import View
from agon.app.contests.service import Service
from agon.errors import Forbidden
from agon.kernel.fingerprints import canonical_json


@dataclass(frozen=True)
class Found:
    """Hold the findings of a position of the ledger, gravest first; position 0: never looked."""

    seq: int
    findings: list[Mapping[str, Any]]


def look(
    service: Service, contest_id: str, *, progress: Callable[[float], object] = lambda _: None
) -> Found:
    """Run a discipline's integrity checks over a contest's newest records and keep what they find.

    Findings inform and change no score. Those of an earlier position give way; what was found
    meanwhile at a later one stays.

    Raises:
        NotFound: there is no such contest.
        NotScorable: the records cannot be scored, with the reason.
    """
    with service.store.read() as session:
        contest = session.contests.get(contest_id)
    with service.lives.at(service.store, contest) as live:
        seq = live.seq
        lines = [canonical_json(one.to_dict()) for one in live.result().findings]
    progress(0.9)
    with service.store.write() as session:
        session.contests.lock(contest_id)
        known, _ = session.cases.findings(contest.no)
        if known <= seq:
            session.cases.keep_findings(contest.no, seq, lines)
    return Found(seq, [orjson.loads(line) for line in lines])


def findings(service: Service, view: View) -> Found:
    """Return the findings of the last look.

    Raises:
        Forbidden: the caller is neither organiser nor operator of the contest.
    """
    expect_staff(view, "findings")
    with service.store.read() as session:
        seq, lines = session.cases.findings(view.contest.no)
    return Found(seq, [orjson.loads(line) for line in lines])


def expect_staff(view: View, what: str) -> None:
    """Refuse what only those who run the contest may see.

    Raises:
        Forbidden: the caller does not.
    """
    if not view.staff:
        raise Forbidden(f"{what} are for the organisers of {view.contest.id}; ask them")
