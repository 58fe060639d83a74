"""State who is in the pool of judges, and what keeps the others from it."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from agon.disciplines.arena.facts import API, PERSON, UNKNOWN_TIME, Facts, parse_time
from agon.disciplines.arena.formulas import NONE, Ints
from agon.disciplines.arena.history import Credibilities, CredibilityEvent
from agon.disciplines.arena.rules import ArenaRules
from agon.kernel.times import duration_text, from_micros


@dataclass(frozen=True)
class Candidate:
    """The state of a potential judge at the time of a match.

    Attributes:
        id: the judge.
        owner_id: whose bot it is; the person itself, if it has no other owner.
        qualified: whether it has passed qualification; of a person, whether a bot of its own has.
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
    games: Ints,
    credibilities: Credibilities,
    rules: ArenaRules,
    *,
    only: Collection[str] | None = None,
) -> list[Candidate]:
    """Return the judges with their state after all recorded matches, in id order.

    Args:
        facts: the records.
        games: the rated matches of every bot.
        credibilities: their credibilities.
        rules: the threshold of credibility.
        only: the judges that are returned; None: all but models.
    """
    judges, is_out = facts.judges, out_of_pool(credibilities, level=rules.credibility_active)
    played, qualified = _played_by_owner(facts, games), _qualified_owners(facts)
    candidates = []
    for judge, name in enumerate(map(str, judges.ids.to_pylist())):
        if judges.kind[judge] == API or (only is not None and name not in only):
            continue
        # A person may be listed under the id of a bot: what the records say it is decides.
        is_person = bool(judges.kind[judge] == PERSON)
        bot = NONE if is_person else int(judges.bot[judge])
        owner = judges.owner[judge].as_py() or (name if is_person else None)
        has_qualified = bot != NONE and bool(facts.bots.qualified[bot])
        matches = int(games[bot]) if bot != NONE else 0
        # People have no games of their own: judged matches, and what their bots did, count instead.
        if is_person:
            judged = int(facts.votes.opens[judge + 1] - facts.votes.opens[judge])
            matches = judged + played.get(owner, 0)
            has_qualified = owner in qualified
        candidates.append(
            Candidate(
                name,
                owner,
                has_qualified,
                parse_time(int(judges.account_created[judge])),
                matches,
                int(credibilities.credibility[judge]),
                bool(is_out[judge]),
                is_person,
            )
        )
    return candidates


def out_of_pool(credibilities: Credibilities, *, level: int) -> npt.NDArray[np.bool_]:
    """Return of every judge whether it fell below ``level`` and was not reinstated since.

    It does not return by votes (document 003, Credibility Score, Threshold). Of one judge
    :meth:`Credibilities.deactivation_of` names the event.
    """
    back = credibilities.kind == CredibilityEvent.REINSTATED
    last = np.full(len(credibilities.credibility), NONE)
    last[credibilities.judge[back]] = np.flatnonzero(back)  # events are in order
    fell = np.flatnonzero(~back & (credibilities.after < level))
    out = np.zeros(len(credibilities.credibility), dtype=np.bool_)
    out[credibilities.judge[fell[fell > last[credibilities.judge[fell]]]]] = True
    return out


def in_pool(
    facts: Facts, games: Ints, credibilities: Credibilities, rules: ArenaRules
) -> npt.NDArray[np.bool_]:
    """Return of every judge whether no obstacle keeps it from the pool, by the records alone.

    Judges have the age that they had at the newest time in the records; API judges are in no pool.
    """
    now, pool = newest_time(facts), np.zeros(len(facts.judges), dtype=np.bool_)
    candidates = candidates_of(facts, games, credibilities, rules)
    pool[facts.judges.kind != API] = [
        not obstacles(each, at=now, rules=rules) for each in candidates
    ]
    return pool


def newest_time(facts: Facts) -> datetime:
    """Return the newest time in the records: of a match, an account or a reinstatement."""
    times = (facts.matches.played, facts.judges.account_created, facts.reinstatements.at)
    newest = max(int(column.max(initial=UNKNOWN_TIME)) for column in times)
    return parse_time(newest) or from_micros(0)


def new_person(
    name: str,
    account_created_at: datetime | None,
    *,
    facts: Facts,
    games: Ints,
    rules: ArenaRules,
) -> Candidate:
    """Return the state of a person who is not recorded as a judge."""
    matches = _played_by_owner(facts, games).get(name, 0)
    start = rules.credibility_start
    return Candidate(
        name,
        name,
        name in _qualified_owners(facts),
        account_created_at,
        matches,
        start,
        is_person=True,
    )


def new_bot(name: str, *, facts: Facts, games: Ints, rules: ArenaRules) -> Candidate | None:
    """Return the state of a bot that does not judge, as if it began to; None: no record."""
    bot = pc.index(facts.bots.ids, name).as_py()
    if bot < 0:
        return None
    return Candidate(
        name,
        facts.bots.owner[bot].as_py(),
        bool(facts.bots.qualified[bot]),
        parse_time(int(facts.bots.account_created[bot])),
        int(games[bot]),
        rules.credibility_start,
    )


def _qualified_owners(facts: Facts) -> frozenset[str]:
    """Return the owners of which a bot has qualified."""
    owners = facts.bots.owner.filter(pa.array(facts.bots.qualified))
    return frozenset(owner for owner in owners.to_pylist() if owner is not None)


def _played_by_owner(facts: Facts, games: Ints) -> Mapping[str | None, int]:
    """Return the rated matches that the bots of each owner have completed."""
    played: dict[str | None, int] = {}
    for owner, count in zip(facts.bots.owner.to_pylist(), games.tolist(), strict=True):
        played[owner] = played.get(owner, 0) + count
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
    if rules.person_qualified and not candidate.qualified:
        reasons.append("no bot of its own has qualified")
    if rules.person_account_age_days:
        days = rules.person_account_age_days
        reasons += _too_young(candidate, "the account", days=days, at=at)
    if is_newcomer(candidate, rules=rules) and not rules.newcomers_per_panel:
        missing = rules.person_min_matches - candidate.matches
        reasons.append(
            f"has judged or played {_matches(candidate.matches)}: {_matches(missing, 'more ')}"
        )
    return reasons


def asked_of_people(rules: ArenaRules) -> dict[str, str]:
    """Return what is asked of people who judge, in words, by the rule that says so.

    Example:
        >>> asked_of_people(ArenaRules(person_min_matches=5))
        ... # doctest: +NORMALIZE_WHITESPACE
        {'person_qualified': 'no bot and no qualification',
         'person_account_age_days': 'an account of any age',
         'person_min_matches': '5 matches judged or played by own bots; before, a person is a
                                newcomer, of whom a panel has at most 1'}
    """
    days, count = rules.person_account_age_days, rules.person_min_matches
    age = f"an account of at least {'1 day' if days == 1 else f'{days:g} days'}"
    few = (
        f"before, a person is a newcomer, of whom a panel has at most {rules.newcomers_per_panel}"
        if rules.newcomers_per_panel
        else "before, a person does not judge"
    )
    return {
        "person_qualified": "a bot of their own that has qualified"
        if rules.person_qualified
        else "no bot and no qualification",
        "person_account_age_days": age if days else "an account of any age",
        "person_min_matches": f"{_matches(count)} judged or played by own bots; {few}"
        if count
        else "no matches before",
    }


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
