"""State which protections of a live arena are off: promised by its rules, and not working now.

Matches, the desk, the report, the rules, the start of the service and its metrics show this list.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final, get_args

from agon.app.access.permissions import View
from agon.app.arena.judging.choice import Judge, pause_reason
from agon.app.arena.live.honeypots.bank import count_bank
from agon.app.arena.live.scored import live_rules
from agon.app.contests.ledgers.positions import last_readable_seq
from agon.app.service import Service
from agon.disciplines import discipline
from agon.disciplines.arena.rules import ArenaRules
from agon.entities.arena import RoundState
from agon.entities.arena_reports import DisabledProtection
from agon.entities.contests import Contest

_CONTESTS: Final = 1000
_ROUNDS: Final = 50
"""Number of the latest rounds whose missed audits and unjudged matches are counted."""


def protections_off(service: Service, view: View) -> tuple[DisabledProtection, ...]:
    """Return the protections of an arena that are off, each with the rule that promises it.

    Rounds count as far as the caller may see them, and only once they are settled.

    Raises:
        Conflict: the contest is no arena.
    """
    rules = live_rules(view.contest)
    until = last_readable_seq(view)
    with service.store.read() as session:
        is_live = bool(session.arena.prompts(view.contest.no))
        if view.contest.state == "final" or not is_live:  # no round is played here
            return ()
        latest = [
            of
            for of in session.arena.round_states(view.contest.no, limit=_ROUNDS)
            if of.kind == "round"
            and of.settled_seq is not None
            and (until is None or of.settled_seq <= until)
        ]
        usages = {judge: session.judging.usage(judge) for judge in get_args(Judge)}
        unused = count_bank(session, view.contest).unused
    pause = service.model_pause or partial(pause_reason, {})
    causes = {judge: pause(usage, service.clock()) for judge, usage in usages.items()}
    return (
        *_audits(rules, latest, cause=causes["audit"]),
        *_pool(rules, latest),
        *_api_judge(latest, cause=causes["judge"]),
        *_honeypots(rules, unused=unused),
    )


def arenas_off(service: Service) -> Iterator[tuple[Contest, DisabledProtection]]:
    """Yield the protections that are off of all arenas of a service, for its operator."""
    with service.store.read() as session:
        contests = session.contests.page(limit=_CONTESTS)
    for contest in contests:
        if issubclass(discipline(contest.discipline).rules, ArenaRules):
            view = View(contest=contest, until=None, staff=True)
            for each in protections_off(service, view):
                yield contest, each


def _audits(
    rules: ArenaRules, latest: Sequence[RoundState], *, cause: str | None
) -> Iterator[DisabledProtection]:
    """Yield why audits are drawn and not made; ``cause`` is why the model cannot be asked."""
    if not rules.audit_probability:
        return
    missed: Counter[str] = Counter()
    for of in latest:
        missed.update(of.summary.get("missed_audits", {}))
    drawn = sum(of.summary.get("audits", 0) for of in latest)
    counted = sum(missed.values())
    if cause is None and counted:
        cause = f"the last reasons: {', '.join(sorted(missed))}"
    if cause is None:
        return
    stated = f"; {counted} of {drawn} drawn audits were not made" if drawn else ""
    yield DisabledProtection(
        name="audits", rule="audit_probability", cause=cause + stated, matches=counted
    )


def _pool(rules: ArenaRules, latest: Sequence[RoundState]) -> Iterator[DisabledProtection]:
    """Yield that fewer judges than the minimum could be drawn in the last round."""
    judges = latest[0].summary.get("judges") if latest else None
    if judges is not None and judges < rules.min_judge_pool:
        yield DisabledProtection(
            name="pool of judges",
            rule="min_judge_pool",
            cause=f"{judges} judges were eligible in round {latest[0].id}; the minimum is "
            f"{rules.min_judge_pool}",
            matches=len(latest[0].summary["pairs"]),
        )


def _api_judge(latest: Sequence[RoundState], *, cause: str | None) -> Iterator[DisabledProtection]:
    """Yield why the API judge cannot stand in for a panel."""
    if cause is not None:
        unjudged = sum(of.summary.get("unjudged", 0) for of in latest)
        stated = f"; {unjudged} matches had too few judges" if unjudged else ""
        yield DisabledProtection(
            name="API judge", rule="judges_per_match", cause=cause + stated, matches=unjudged
        )


def _honeypots(rules: ArenaRules, *, unused: int) -> Iterator[DisabledProtection]:
    """Yield that honeypots show texts that everybody can read."""
    if rules.honeypot_probability and not unused:
        yield DisabledProtection(
            name="honeypots",
            rule="honeypot_probability",
            cause="the arena has no unused answers of its own: built-in templates are shown, which "
            "a program that knows them recognizes",
            matches=0,
        )
