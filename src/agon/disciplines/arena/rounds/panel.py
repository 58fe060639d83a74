"""Draw a match's judges from the eligible ones, and report why the others are not eligible."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from agon.disciplines.arena.facts import API, PERSON, Facts, parse_time
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
        owner_id: whose bot it is; the person itself, if it has no other owner.
        qualified: whether it has passed qualification; people need not.
        account_created_at: when its owner's account was made, None where unknown.
        matches: rated matches it has completed; of a person, those it has judged and the rated ones
            of its bots.
        credibility: its credibility now.
        is_inactive: whether it fell below the active threshold and has not been reinstated.
        is_person: whether it is a person.
    """

    id: str
    owner_id: str | None
    qualified: bool
    account_created_at: datetime | None
    matches: int
    credibility: int
    is_inactive: bool = False
    is_person: bool = False


def candidates_of(
    facts: Facts,
    ratings: Ratings,
    credibilities: Credibilities,
    rules: ArenaRules,
    *,
    only: Collection[str] | None = None,
) -> list[Candidate]:
    """Return the judges with their state after all recorded matches, in id order.

    Args:
        facts: the records.
        ratings: their ratings.
        credibilities: their credibilities.
        rules: the threshold of credibility.
        only: the judges that are returned; None: all but models.
    """
    judges, level = facts.judges, rules.credibility_active
    played = _played_by_owner(facts, ratings)
    candidates = []
    for judge, name in enumerate(map(str, judges.ids.to_pylist())):
        if judges.kind[judge] == API or (only is not None and name not in only):
            continue
        bot = int(judges.bot[judge])
        is_person = bot == NONE and bool(judges.kind[judge] == PERSON)
        owner = judges.owner[judge].as_py() or (name if is_person else None)
        matches = int(ratings.games[bot]) if bot != NONE else 0
        # People have no games of their own: judged matches, and those their bots played, count
        # instead.
        if is_person:
            judged = int(facts.votes.opens[judge + 1] - facts.votes.opens[judge])
            matches = judged + played.get(owner, 0)
        candidates.append(
            Candidate(
                name,
                owner,
                bot != NONE and bool(facts.bots.qualified[bot]),
                parse_time(int(judges.account_created[judge])),
                matches,
                int(credibilities.credibility[judge]),
                credibilities.deactivation_of(judge, level=level) is not None,
                is_person,
            )
        )
    return candidates


def new_person(
    name: str,
    account_created_at: datetime | None,
    *,
    facts: Facts,
    ratings: Ratings,
    rules: ArenaRules,
) -> Candidate:
    """Return the state of a person who is not recorded as a judge."""
    matches = _played_by_owner(facts, ratings).get(name, 0)
    start = rules.credibility_start
    return Candidate(name, name, False, account_created_at, matches, start, is_person=True)


def _played_by_owner(facts: Facts, ratings: Ratings) -> Mapping[str | None, int]:
    """Return the rated matches that the bots of each owner have completed."""
    played: dict[str | None, int] = {}
    for owner, games in zip(facts.bots.owner.to_pylist(), ratings.games.tolist(), strict=True):
        played[owner] = played.get(owner, 0) + games
    return played


def is_newcomer(candidate: Candidate, *, rules: ArenaRules) -> bool:
    """Return whether a person has too few matches to sit on a panel with other newcomers."""
    return candidate.is_person and candidate.matches < rules.person_min_matches


def obstacles(candidate: Candidate, *, at: datetime, rules: ArenaRules) -> tuple[str, ...]:
    """List the rules that keep a candidate out of the pool at a time; empty if it is eligible.

    Source: document 003, Requirements to Become a Judge; Credibility Score, Threshold.

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
    if candidate.is_person:
        reasons += _obstacles_of_person(candidate, at=at, rules=rules)
    else:
        if not candidate.qualified:
            reasons.append("has not qualified")
        reasons += _too_young(candidate, "the owner's account", days=rules.account_age_days, at=at)
        if candidate.matches < rules.judge_min_matches:
            missing = rules.judge_min_matches - candidate.matches
            reasons.append(
                f"has completed {_matches(candidate.matches)}: {_matches(missing, 'more ')}"
            )
    if candidate.credibility < rules.credibility_active:
        reasons.append(f"credibility {candidate.credibility} is below {rules.credibility_active}")
    elif candidate.is_inactive:
        reasons.append(f"fell below {rules.credibility_active} and was not reinstated")
    return tuple(reasons)


def _obstacles_of_person(candidate: Candidate, *, at: datetime, rules: ArenaRules) -> list[str]:
    """Return what keeps a person out of the pool, apart from its credibility."""
    reasons = []
    if rules.person_account_age_days:
        days = rules.person_account_age_days
        reasons += _too_young(candidate, "the account", days=days, at=at)
    if is_newcomer(candidate, rules=rules) and not rules.newcomers_per_panel:
        missing = rules.person_min_matches - candidate.matches
        reasons.append(
            f"has judged or played {_matches(candidate.matches)}: {_matches(missing, 'more ')}"
        )
    return reasons


def _too_young(candidate: Candidate, account: str, *, days: float, at: datetime) -> list[str]:
    """Return that an account is younger than some days, or of unknown age; nothing if it is not."""
    if candidate.account_created_at is None:
        return [f"the age of {account} is unknown"]
    age = at - candidate.account_created_at
    if age >= timedelta(days=days):
        return []
    needed = "1 day is" if days == 1 else f"{days:g} days are"
    return [f"{account} is {duration_text(age)} old; {needed} needed"]


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

    Source: document 003, 3. Judge Eligibility.
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
