"""Draw a match's judges from the eligible ones, and report why the others are not eligible."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from agon.disciplines.arena.facts import API, Facts, parse_time
from agon.disciplines.arena.formulas import NONE
from agon.disciplines.arena.history import Credibilities, Ratings
from agon.disciplines.arena.rounds.draws import sample, shown_first
from agon.disciplines.arena.rules import ArenaRules
from agon.kernel.times import duration_text


@dataclass(frozen=True)
class Candidate:
    """The state of a potential judge at the time of a match.

    Attributes:
        id: the judge.
        owner_id: whose bot it is.
        qualified: whether it has passed qualification.
        account_created_at: when its owner's account was made, None where unknown.
        matches: rated matches it has completed.
        credibility: its credibility now.
        is_inactive: whether it fell below the active threshold and has not been reinstated.
    """

    id: str
    owner_id: str | None
    qualified: bool
    account_created_at: datetime | None
    matches: int
    credibility: int
    is_inactive: bool = False


def candidates_of(
    facts: Facts, ratings: Ratings, credibilities: Credibilities, rules: ArenaRules
) -> list[Candidate]:
    """Return the bots that judge, with their state after all recorded matches, in id order."""
    bots, judges, games = facts.bots, facts.judges, ratings.games
    level = rules.credibility_active
    return [
        Candidate(
            str(judges.ids[judge]),
            judges.owner[judge].as_py(),
            bool(bots.qualified[bot]),
            parse_time(int(bots.account_created[bot])),
            int(games[bot]),
            int(credibilities.credibility[judge]),
            credibilities.deactivation_of(judge, level=level) is not None,
        )
        for judge, bot in enumerate(judges.bot.tolist())
        if bot != NONE and judges.kind[judge] != API
    ]


def obstacles(candidate: Candidate, *, at: datetime, rules: ArenaRules) -> tuple[str, ...]:
    """Return what keeps a candidate out of the pool at a time; empty when it is eligible.

    Source: seed 003, Requirements to Become a Judge; Credibility Score, Threshold.

    Example:
        >>> from datetime import UTC
        >>> new = Candidate("j", "o", qualified=True, account_created_at=datetime(2026, 1, 5),
        ...                 matches=3, credibility=100)
        >>> for reason in obstacles(new, at=datetime(2026, 1, 8), rules=ArenaRules()):
        ...     print(reason)
        the owner's account is 3 days old; 7 days are needed
        has completed 3 matches: 2 more matches
    """
    reasons = []
    if not candidate.qualified:
        reasons.append("has not qualified")
    if candidate.account_created_at is None:
        reasons.append("the age of the owner's account is unknown")
    else:
        age = at - candidate.account_created_at
        days = rules.account_age_days
        if age < timedelta(days=days):
            needed = "1 day is" if days == 1 else f"{days:g} days are"
            reasons.append(f"the owner's account is {duration_text(age)} old; {needed} needed")
    if candidate.matches < rules.judge_min_matches:
        missing = rules.judge_min_matches - candidate.matches
        reasons.append(f"has completed {_matches(candidate.matches)}: {_matches(missing, 'more ')}")
    if candidate.credibility < rules.credibility_active:
        reasons.append(f"credibility {candidate.credibility} is below {rules.credibility_active}")
    elif candidate.is_inactive:
        reasons.append(f"fell below {rules.credibility_active} and was not reinstated")
    return tuple(reasons)


def _matches(count: int, more: str = "") -> str:
    return f"{count} {more}{'match' if count == 1 else 'matches'}"


@dataclass(frozen=True)
class Panel:
    """The judges of a match, bots or the API judge.

    Attributes:
        judges: the drawn judges, in the order drawn; empty for an API panel.
        shown_first: which response each of them sees as A.
        api: whether the API judge alone is the panel; its votes change no credibility.
        degraded: whether the pool is below its minimum.
        eligible: how many judges are eligible for any match.
        excluded: why each of the others does not judge this match.
    """

    judges: tuple[str, ...]
    shown_first: Mapping[str, str]
    api: bool
    degraded: bool
    eligible: int
    excluded: Mapping[str, tuple[str, ...]]


def draw_panel(  # a panel depends on all of these
    candidates: Iterable[Candidate],
    *,
    match: str,
    seed: str,
    owners: tuple[str | None, ...],
    bots: tuple[str, ...],
    at: datetime,
    rules: ArenaRules,
) -> Panel:
    """Draw a match's judges uniformly among the eligible whose owner owns neither bot.

    Fewer than ``judges_per_match`` of those make it an API panel; a pool (eligible for any match)
    below ``min_judge_pool`` is reported as degraded.

    Args:
        candidates: all potential judges.
        match: the match's id.
        seed: the seed in its record.
        owners: the owners of both bots, None where unknown.
        bots: the ids of both bots; a bot never judges itself.
        at: the time of the match.
        rules: thresholds and sizes.

    Source: seed 003, 3. Judge Eligibility.
    """
    excluded: dict[str, tuple[str, ...]] = {}
    pool, eligible = [], 0
    for candidate in candidates:
        reasons = obstacles(candidate, at=at, rules=rules)
        eligible += not reasons
        if candidate.id in bots:
            reasons += ("plays in this match",)
        elif candidate.owner_id is not None and candidate.owner_id in owners:
            reasons += ("its owner owns a bot in this match",)
        if reasons:
            excluded[candidate.id] = reasons
        else:
            pool.append(candidate.id)
    api = len(pool) < rules.judges_per_match
    judges = [] if api else sample(seed, match, pool, size=rules.judges_per_match)
    return Panel(
        tuple(judges),
        shown_first(seed, match, judges),
        api,
        eligible < rules.min_judge_pool,
        eligible,
        excluded,
    )
