"""Anomalous users of Chatbot Arena: its own test, and the likelihood of a user's votes.

Their test ranks each vote among the past votes on the same pair of models, which gives a p-value
per vote, and combines a user's p-values by Fisher's method at five points, each against χ² at the
level α / 5. On 25 users who were labeled anomalous and 25 others it found 13 and accused 1 at
α = .1. Here it examines
thousands of users with 200 votes each, honest ones and ones who flip a coin. Its p-value is 1 for
every vote for the second model, so a coin is not found. Ours is the arena's finding
``low-agreement``, which compares each judge with the others on the same battles.

Source: Chiang et al. (2024), Chatbot Arena: An Open Platform for Evaluating LLMs by Human
Preference, arXiv 2403.04132, section 5 and table 5.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from benchmarks.published import voters
from benchmarks.published.figures import Figure, Sources

from agon.attacks.arena.judges import JudgeCase, judge_power

SOURCE = "Anomalous users of Chatbot Arena (arXiv 2403.04132)"

_USERS, _VOTES, _BOTS, _SPREAD, _SEED = 4_000, 200, 20, 0.8, 0
_WORLDS = 100
_PAST = 200  # past votes on each pair
_POINTS = 5
_THEIR_POWER, _THEIR_FALSE_ALARMS = 13 / 25, 1 / 25


def fisher_flags(
    votes: voters.Votes, *, level: float, generator: np.random.Generator
) -> npt.NDArray[np.bool_]:
    """Return whom their test calls anomalous.

    A vote is ranked by its side: 1 for the first bot, 0 for the second; its p-value is the part
    of past votes on the pair that are at least as large, itself included.

    Args:
        votes: the users' votes.
        level: α.
        generator: draws the past votes.
    """
    from scipy.stats import chi2  # takes 0.3 s; only needed here

    past = generator.binomial(_PAST, votes.chance)
    p = np.where(votes.won, (1 + past) / (1 + _PAST), 1.0)
    combined = np.cumsum(-2 * np.log(p), axis=1)
    points = np.linspace(votes.won.shape[1] / _POINTS, votes.won.shape[1], _POINTS).astype(int)
    limits = chi2.ppf(1 - level / _POINTS, 2 * points)
    return np.asarray((combined[:, points - 1] >= limits).any(axis=1))


def figures(_: Sources) -> Iterator[Figure]:
    """Yield the power against coin flips, and the false alarms."""
    generator = np.random.default_rng(_SEED)
    honest = voters.honest_votes(generator, users=_USERS, votes=_VOTES, bots=_BOTS, spread=_SPREAD)
    flips = voters.coin_flips(generator, honest)
    theirs = fisher_flags(flips, level=0.1, generator=generator).mean()
    power, alarms = judge_power(
        JudgeCase("low-agreement", "coin flip", _VOTES, bots=_BOTS), worlds=_WORLDS
    )
    yield Figure(
        name=f"power against users who flip a coin, {_VOTES} votes: finding low-agreement",
        theirs=round(_THEIR_POWER, 2),
        ours=round(power, 2),
        comparison="at least",
    )
    yield Figure(
        name="the same, their test on 4,000 drawn users",
        theirs=round(float(theirs), 2),
        ours=round(power, 2),
        comparison="at least",
    )
    yield Figure(
        name="honest users accused",
        theirs=_THEIR_FALSE_ALARMS,
        ours=round(alarms, 3),
        comparison="at most",
    )
