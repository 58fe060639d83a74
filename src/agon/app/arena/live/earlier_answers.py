"""Keep the answers of each arena's settled rounds in memory, to compare later ones with them."""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Final
from weakref import WeakKeyDictionary

from agon.app.arena.live.matches import SIDES, matches_of
from agon.app.service import Service
from agon.disciplines.arena.checks.plagiarism import EarlierAnswers
from agon.disciplines.arena.rules import ArenaRules
from agon.entities.arena import ArenaRound
from agon.entities.contests import Contest
from agon.store.session import Session, Store

_ROUNDS: Final = 50
"""Number of rounds that are read at once."""

_CONTESTS: Final = 8
"""Number of contests whose answers are kept, those that were asked for last."""


@dataclass
class _ReadAnswers:
    """The answers of a contest, read to a round."""

    answers: EarlierAnswers
    round: int = 0


@dataclass
class _KeptAnswers:
    """The answers of the contests of one database, by contest and threshold."""

    lock: Lock = field(default_factory=Lock)
    contests: OrderedDict[tuple[int, str, float], _ReadAnswers] = field(default_factory=OrderedDict)


_KEPT: Final[WeakKeyDictionary[Store, _KeptAnswers]] = WeakKeyDictionary()


def earlier_answers(
    service: Service, session: Session, contest: Contest, arena_round: ArenaRound
) -> EarlierAnswers | None:
    """Return the answers of bots in all settled rounds; None: the rules do not compare them.

    A settled round never changes, and the next one begins after it. So each round is read once by
    a process, and what a round costs does not grow with the contest.
    """
    rules = ArenaRules(**arena_round.body["rules"])
    if rules.plagiarism_scope == "match" or arena_round.kind != "round":
        return None
    kept = _KEPT.setdefault(service.store, _KeptAnswers())
    key = (contest.no, contest.id, rules.plagiarism_jaccard)
    with kept.lock:
        if key not in kept.contests:
            kept.contests[key] = _ReadAnswers(EarlierAnswers(rules.plagiarism_jaccard))
        kept.contests.move_to_end(key)
        while len(kept.contests) > _CONTESTS:
            kept.contests.popitem(last=False)
        _read_settled(session, contest, kept.contests[key])
        return kept.contests[key].answers


def author_of(arena_round: ArenaRound, bot: str) -> str:
    """Return the owner of a bot, or the bot where its owner is unknown."""
    return _authors(arena_round).get(bot, bot)


def _authors(arena_round: ArenaRound) -> dict[str, str]:
    """Return the author of each bot of a round."""
    entrants = arena_round.body["inputs"]["entrants"]
    return {each["id"]: each["owner_id"] or each["id"] for each in entrants}


def _read_settled(session: Session, contest: Contest, read: _ReadAnswers) -> None:
    """Add the answers of the rounds that were settled since the last time."""
    while page := session.arena.rounds_after(contest.no, read.round, limit=_ROUNDS):
        for past in page:
            if past.phase != "settled":
                return
            authors = _authors(past)
            for drawn, match in reversed(list(matches_of(past))):  # the last one is named first
                for side in reversed(_sides_of_bots(drawn)):
                    if side in match["answers"]:
                        bot = drawn[f"bot_{side}"]
                        read.answers.add(
                            match["answers"][side]["text"],
                            author=authors.get(bot, bot),
                            match=drawn["match"],
                        )
            read.round = past.number


def _sides_of_bots(drawn: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the sides of a match whose answers bots wrote."""
    real = drawn["honeypot_real"]
    return SIDES if real is None else (real,)
