"""State what keeps a judge from the pool: the rules, and what no record shows.

The draw of rounds, the pages of judges and of bots, and the answers to owners and to people who
want to judge are from here.
"""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, Final

from agon.app.analysis.score import rules_of
from agon.disciplines.arena.judges import pool
from agon.disciplines.arena.judges.pool import Candidate, candidates_of, new_bot, obstacles
from agon.disciplines.arena.scoring import ScoredArena
from agon.entities.arena import LiveBot
from agon.entities.contests import Contest
from agon.store.session import Session

NOT_QUALIFIED: Final = "has not qualified"
_WITHDRAWN: Final = "withdrawn by the organizers"


def judge_obstacles(
    session: Session,
    contest: Contest,
    judge: str,
    *,
    scored: ScoredArena,
    at: datetime,
    new: Candidate | None = None,
) -> tuple[str, ...] | None:
    """Return what keeps a judge from the pool now, in words; empty: nothing, None: it is no judge.

    Args:
        session: the session.
        contest: the arena.
        judge: a bot, a person or another judge.
        scored: the scores of its records.
        at: the time.
        new: the state of a person who is not recorded as a judge.
    """
    facts, games, rules = scored.facts, scored.standings.games, scored.rules
    candidates = candidates_of(facts, games, scored.credibilities, rules, only={judge})
    bot = session.arena.bots_named(contest.no, {judge}).get(judge)
    candidate = candidates[0] if candidates else new
    if candidate is None and bot is not None:
        candidate = new_bot(judge, facts=facts, games=games, rules=rules)
    if candidate is None and bot is None:
        return None
    by_rules = (NOT_QUALIFIED,) if candidate is None else obstacles(candidate, at=at, rules=rules)
    withdrawn = session.members.withdrawn(contest.no)
    return (*absences(judge, bot, withdrawn=withdrawn), *by_rules)


def asked_of_people(edition: str, overrides: Mapping[str, Any]) -> dict[str, str]:
    """Return what the rules of an arena ask of people who judge, by rule."""
    rules: Any = rules_of("arena", edition, overrides)[1]
    return pool.asked_of_people(rules)


def absences(judge: str, bot: LiveBot | None, *, withdrawn: Collection[str]) -> tuple[str, ...]:
    """Return what keeps a judge from the pool although the records may let it in.

    Args:
        judge: a bot, a person or another judge.
        bot: the registered bot; None: the judge is none.
        withdrawn: the users whom organizers withdrew.

    Example:
        >>> absences("judy", None, withdrawn={"judy"})
        ('is withdrawn by the organizers',)
    """
    if bot is None:
        return (f"is {_WITHDRAWN}",) if judge in withdrawn else ()
    reasons = [] if bot.judges else ["does not want to judge; set judges"]
    if bot.paused is not None:
        reasons.append(f"is paused: {bot.paused}")
    if bot.is_of(withdrawn):
        reasons.append(f"its owner is {_WITHDRAWN}")
    return tuple(reasons)
