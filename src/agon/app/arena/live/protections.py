"""State which protections of a live arena are off: promised by its rules, and not working now.

Matches, the desk, the report, the rules, the start of the service and its metrics show this list.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, get_args

from agon.app.access.permissions import View
from agon.app.arena.judging.choice import Judge, pause_reason
from agon.app.arena.live.honeypots.bank import count_bank
from agon.app.arena.live.scored import live_rules
from agon.app.contests.ledgers.positions import last_readable_seq
from agon.app.service import Service
from agon.disciplines import discipline
from agon.disciplines.arena.rules import ArenaRules
from agon.entities.arena import ArenaRound, RoundState
from agon.entities.arena_reports import DisabledProtection
from agon.entities.contests import Contest
from agon.store.session import Session


@dataclass(frozen=True)
class Protection:
    """A protection that the rules of an arena can promise.

    Attributes:
        rule: the rule that promises it.
        meaning: what it does, for people who know no rule.
        setting: the section of the settings with the model that it needs; None: it needs none.
    """

    rule: str
    meaning: str
    setting: str | None = None


PROTECTIONS: Final = {
    "audits": Protection(
        "audit_probability",
        "a separate model judges some of the matches again, so that judges who vote "
        "wrongly together are found",
        "[arena.audit]",
    ),
    "pool of judges": Protection(
        "min_judge_pool",
        "the judges of a match are drawn from many, so that nobody can expect to judge a friend",
    ),
    "API judge": Protection(
        "judges_per_match", "a model judges where too few judges can", "[arena.judge]"
    ),
    "honeypots": Protection(
        "honeypot_probability",
        "some matches have an answer that is obviously a machine's, so that judges who do not "
        "read are found",
    ),
}
"""The protections in the order in which they are listed."""

_CONTESTS: Final = 1000
_ROUNDS: Final = 50
"""Number of the latest rounds whose missed audits and unjudged matches are counted."""


def protections_off(service: Service, view: View) -> tuple[DisabledProtection, ...]:
    """Return the protections of an arena that are off, each with the rule that promises it.

    Rounds count as far as the caller may see them, and only once they are settled.

    Raises:
        Conflict: the contest is no arena.
    """
    with service.store.read() as session:
        causes = _model_causes(service, session)
        return _protections_off(session, view, causes)


def arenas_off(service: Service) -> Iterator[tuple[Contest, DisabledProtection]]:
    """Yield the protections that are off of all arenas of a service, for its operator."""
    with service.store.read() as session:
        causes = _model_causes(service, session)
        for contest in _arenas(session):
            view = View(contest=contest, until=None, staff=True)
            for each in _protections_off(session, view, causes):
                yield contest, each


def degraded_rounds(session: Session) -> Iterator[tuple[Contest, int]]:
    """Yield how many of the latest rounds of each arena were degraded: no bot could be reached."""
    for contest in _arenas(session):
        latest = session.arena.round_states(contest.no, limit=_ROUNDS)
        yield (
            contest,
            sum(state.settled_seq is not None and _is_degraded(state) for state in latest),
        )


def _is_degraded(state: RoundState) -> bool:
    return bool(state.summary["degraded"])


def _arenas(session: Session) -> Iterator[Contest]:
    """Yield the arenas of a service that were ever live."""
    for contest in session.contests.page(limit=_CONTESTS):
        is_arena = issubclass(discipline(contest.discipline).rules, ArenaRules)
        if is_arena and session.arena.prompts(contest.no):
            yield contest


def match_protections_off(
    arena_round: ArenaRound, drawn: Mapping[str, Any], match: Mapping[str, Any]
) -> tuple[DisabledProtection, ...]:
    """Return the protections that a match of a settled round went without.

    Args:
        arena_round: the round, or the attempt to qualify.
        drawn: the match as it was drawn.
        match: what is stored of it.
    """
    causes = {"audits": match.get("audit_missed"), "API judge": match.get("unjudged")}
    if arena_round.kind == "round":
        causes["pool of judges"] = _small_pool(ArenaRules(**arena_round.body["rules"]), arena_round)
    if "seen" in match.get("honeypot_text", {}) and drawn["honeypot_real"] is not None:
        causes["honeypots"] = "it shows a built-in text, as no answer of the arena's own was unused"
    return tuple(
        _off(name, cause, matches=1)
        for name in PROTECTIONS
        if (cause := causes.get(name)) is not None
    )


def _model_causes(service: Service, session: Session) -> Mapping[str, str | None]:
    """Return why the model of each role cannot be asked now; None: it can."""
    pause = service.model_pause or partial(pause_reason, {})
    now = service.clock()
    return {judge: pause(session.judging.usage(judge), now) for judge in get_args(Judge)}


def _protections_off(
    session: Session, view: View, causes: Mapping[str, str | None]
) -> tuple[DisabledProtection, ...]:
    contest, rules, until = view.contest, live_rules(view.contest), last_readable_seq(view)
    if contest.is_over or not session.arena.prompts(contest.no):  # no round is played here
        return ()
    latest = [
        state
        for state in session.arena.round_states(contest.no, limit=_ROUNDS)
        if state.kind == "round"
        and state.settled_seq is not None
        and (until is None or state.settled_seq <= until)
    ]
    return (
        *_audits(rules, latest, cause=causes["audit"]),
        *_pool(rules, latest),
        *_api_judge(latest, cause=causes["judge"]),
        *_honeypots(rules, latest, unused=count_bank(session, contest).unused),
    )


def _off(name: str, cause: str, *, matches: int) -> DisabledProtection:
    promised = PROTECTIONS[name]
    return DisabledProtection(name=name, cause=cause, matches=matches, **vars(promised))


def _audits(
    rules: ArenaRules, latest: Sequence[RoundState], *, cause: str | None
) -> Iterator[DisabledProtection]:
    """Yield why audits are drawn and not made; ``cause`` is why the model cannot be asked."""
    if not rules.audit_probability:
        return
    missed: Counter[str] = Counter()
    for state in latest:
        missed.update(state.summary.get("missed_audits", {}))
    drawn = sum(state.summary.get("audits", 0) for state in latest)
    counted = sum(missed.values())
    if cause is None and counted:
        cause = f"the last reasons: {', '.join(sorted(missed))}"
    if cause is None:
        return
    stated = f"; {counted} of {drawn} drawn audits were not made" if drawn else ""
    yield _off("audits", cause + stated, matches=counted)


def _pool(rules: ArenaRules, latest: Sequence[RoundState]) -> Iterator[DisabledProtection]:
    """Yield that fewer judges than the minimum could be drawn in the last round."""
    for last in latest[:1]:
        if (cause := _small_pool(rules, last)) is not None:
            yield _off("pool of judges", cause, matches=len(last.summary["pairs"]))


def _small_pool(rules: ArenaRules, arena_round: ArenaRound | RoundState) -> str | None:
    """Return that fewer judges than the minimum could be drawn in a round; None: enough could."""
    judges: int = arena_round.summary["judges"]
    if judges >= rules.min_judge_pool:
        return None
    were = "judge was" if judges == 1 else "judges were"
    return (
        f"{judges} {were} eligible in round {arena_round.id}; the minimum is {rules.min_judge_pool}"
    )


def _api_judge(latest: Sequence[RoundState], *, cause: str | None) -> Iterator[DisabledProtection]:
    """Yield why the API judge cannot stand in for a panel."""
    if cause is not None:
        unjudged = sum(state.summary.get("unjudged", 0) for state in latest)
        stated = f"; {unjudged} matches had too few judges" if unjudged else ""
        yield _off("API judge", cause + stated, matches=unjudged)


def _honeypots(
    rules: ArenaRules, latest: Sequence[RoundState], *, unused: int
) -> Iterator[DisabledProtection]:
    """Yield that honeypots show texts that everybody can read."""
    if rules.honeypot_probability and not unused:
        yield _off(
            "honeypots",
            "the arena has no unused answers of its own: built-in templates are shown, which "
            "a program that knows them recognizes",
            matches=sum(state.summary.get("built_in", 0) for state in latest),
        )
