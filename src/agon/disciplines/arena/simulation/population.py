"""Define populations of known strength and honesty, for leagues that are simulated.

Everything follows from a seed: the strengths of the bots, the characters of the judges, each answer
and each vote. An answer states the strength of its bot, from which a judge sees the difference.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final, Literal

from agon.disciplines.arena.rounds.draws import uniform

Character = Literal["honest", "always wrong", "coin flip"]
"""How a judge votes: as well as it can see, always for the worse answer, or without reading."""

CLARITY: Final = 300
"""Strength distance at which an honest judge sees the stronger bot with odds of ten to one."""

SPREAD: Final = 200
"""Standard deviation of the strengths; their mean is 1000, as the rule ``elo_start``."""

SYLLABLES: Final = tuple(consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou")
"""What invented words are made of."""

_HONEYPOT: Final = 0.99
_WORDS: Final = 10
_STATED: Final = re.compile(r" (-?\d+\.\d\d)$")


def truth_probability(character: Character, *, distance: float, honeypot: bool) -> float:
    """Return the probability that a judge votes for the better answer, or the human one.

    An honest judge sees it with 1 / (1 + 10^(-d / 300)) at strength distance d, and a robotic text
    with .99.

    Example:
        >>> round(truth_probability("honest", distance=300, honeypot=False), 3)
        0.909
        >>> truth_probability("coin flip", distance=300, honeypot=True)
        0.5
    """
    if character != "honest":
        return 0.5 if character == "coin flip" else 0.0
    return _HONEYPOT if honeypot else 1 / (1 + 10 ** (-abs(distance) / CLARITY))


def characters_of(*, honest: int, wrong: int = 0, coin_flips: int = 0) -> list[Character]:
    """Return the characters of so many judges, the honest ones first."""
    counts: dict[Character, int] = {
        "honest": honest,
        "always wrong": wrong,
        "coin flip": coin_flips,
    }
    return [character for character, count in counts.items() for _ in range(count)]


@dataclass(frozen=True)
class Population:
    """Bots, some of which judge; the first ``len(characters)`` of them do.

    Attributes:
        strengths: of each bot, on the scale of Elo.
        characters: of each judge.
        seed: of everything.
    """

    strengths: Sequence[float]
    characters: Sequence[Character]
    seed: str

    @classmethod
    def draw(cls, *, bots: int, judges: int, dishonest: float, seed: str) -> "Population":
        """Return a population; of the dishonest judges half are always wrong, half flip coins.

        Args:
            bots: number of bots.
            judges: how many of them judge.
            dishonest: the share of judges that are not honest.
            seed: of everything.

        Example:
            >>> Population.draw(bots=9, judges=5, dishonest=0.4, seed="1").characters
            ['honest', 'honest', 'honest', 'always wrong', 'coin flip']
        """
        normal = NormalDist(1000, SPREAD)
        strengths = [
            normal.inv_cdf(max(uniform(seed, "strength", str(bot)), 1e-9)) for bot in range(bots)
        ]
        liars = round(judges * dishonest)
        flips = liars // 2
        characters = characters_of(honest=judges - liars, wrong=liars - flips, coin_flips=flips)
        return cls(strengths, characters, seed)

    def answer(self, bot: int, match: str) -> str:
        """Return a bot's answer in a match: invented words, and its strength.

        Example:
            >>> Population([1000.0], [], "1").answer(0, "r1-1").split()[-1]
            '1000.00'
        """
        words = " ".join(
            "".join(
                SYLLABLES[
                    int(uniform(self.seed, match, str(bot), f"{index}.{part}") * len(SYLLABLES))
                ]
                for part in range(3)
            )
            for index in range(_WORDS)
        )
        return f"{words} {self.strengths[bot]:.2f}"

    def vote(self, judge: int, match: str, answers: Mapping[str, str]) -> str:
        """Return the label that a judge votes for.

        An answer that states no strength is a robotic one.

        Example:
            >>> Population([], ["always wrong"], "1").vote(0, "m", {"A": "b 9.00", "B": "c 8.00"})
            'B'
        """
        stated = {label: strength_in(text) for label, text in answers.items()}
        known = {label: strength for label, strength in stated.items() if strength is not None}
        better = max(known, key=lambda label: known[label], default="A")
        probability = truth_probability(
            self.characters[judge],
            distance=max(known.values(), default=0) - min(known.values(), default=0),
            honeypot=len(known) < len(stated),
        )
        if uniform(self.seed, match, "vote", str(judge)) < probability:
            return better
        return "B" if better == "A" else "A"


def strength_in(text: str) -> float | None:
    """Return the strength that an answer states; None: it is another's.

    Example:
        >>> strength_in("bada lifo 1012.50"), strength_in("As an AI assistant, I can help.")
        (1012.5, None)
    """
    stated = _STATED.search(text)
    return None if stated is None else float(stated[1])
