"""The price of a campaign of votes, and two tests of who takes part in it.

N votes with at most m per account cost ⌈N / m⌉ accounts, N actions, and once what it takes to
recognize the model. The publication's defense compares how likely a user's votes are under the
public ratings with honest users; against a user who votes honestly except for one bot, most votes
say nothing. The arena's finding ``favorite-bot`` counts the votes for each bot among the battles in
which the user saw it.

Source: Huang et al. (2025), Exploring and Mitigating Adversarial Manipulation of Voting-Based
Leaderboards, arXiv 2501.07493.
"""

import math
from collections.abc import Iterator

import numpy as np
from benchmarks.published import voters
from benchmarks.published.figures import Figure, Sources

from agon.attacks.arena.judges import JudgeCase, judge_power

SOURCE = "Cost of voting campaigns (arXiv 2501.07493)"

_USERS, _VOTES, _BOTS, _SPREAD, _SEED = 2_000, 200, 20, 0.8, 0
_EXPOSURES, _WORLDS = 20, 20
"""With 20 bots a user sees each one in 20 of 200 battles."""


def campaign_cost(
    votes: int, *, per_account: int, account: float, action: float, detector: float
) -> float:
    """Return the cost of a campaign: ⌈N / m⌉ c_account + N c_action + c_detector.

    Args:
        votes: N.
        per_account: m, how many votes an account may cast before it is found or blocked.
        account: the price of an account.
        action: the price of a vote.
        detector: the price of recognizing the model.

    Example:
        >>> campaign_cost(1000, per_account=30, account=0.5, action=0.01, detector=10)
        37.0
    """
    return math.ceil(votes / per_account) * account + votes * action + detector


def _cost_by_votes(
    votes: int, *, per_account: int, account: float, action: float, detector: float
) -> float:
    """Add up the cost vote by vote, with a new account whenever the last one is used up."""
    cost, free = detector, 0
    for _ in range(votes):
        if not free:
            cost, free = cost + account, per_account
        cost, free = cost + action, free - 1
    return cost


def figures(_: Sources) -> Iterator[Figure]:
    """Yield the cost of a campaign, and the power of two tests at 1 % of false alarms."""
    yield Figure(
        name="price of 1,000 votes, 30 per account: formula, and vote by vote",
        theirs=round(
            campaign_cost(1000, per_account=30, account=0.26, action=0.01, detector=10), 2
        ),
        ours=round(_cost_by_votes(1000, per_account=30, account=0.26, action=0.01, detector=10), 2),
        comparison="within",
        unit="$",
    )
    generator = np.random.default_rng(_SEED)
    honest = voters.honest_votes(generator, users=_USERS, votes=_VOTES, bots=_BOTS, spread=_SPREAD)
    target = _BOTS // 2
    likelihood = voters.power_at(
        0.01,
        honest=voters.unlikelihood(honest),
        others=voters.unlikelihood(voters.always_for(target, honest)),
    )
    exposure = judge_power(
        JudgeCase("favorite-bot", "always for one bot", _EXPOSURES, bots=_BOTS), worlds=_WORLDS
    )
    yield Figure(
        name="power against users who always vote for a middling bot, seen 20 times: "
        "likelihood, and finding favorite-bot",
        theirs=round(likelihood[0], 2),
        ours=round(exposure[0], 2),
        comparison="at least",
    )
