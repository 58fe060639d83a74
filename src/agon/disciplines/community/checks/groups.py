"""Detect groups: users who together like the prompts of one creator more than by chance."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from agon.disciplines.community.checks.exposure import Exposure
from agon.disciplines.community.evidence import feedback_refs
from agon.disciplines.community.facts import Facts
from agon.kernel.findings import Finding, Severity
from agon.kernel.tails import binomial_tails, poisson_tails

MIN_MEMBERS = 3
"""Users of the smallest group that is reported; one or two may be fans."""

MAX_MEMBERS = 50
"""Users of the largest group that is tried for a creator."""


def find(facts: Facts) -> Iterator[Finding]:
    """Report, for each creator, the group of users whose likes chance explains least.

    Each user has a Poisson probability of liking the creator's prompts so often (mean: likes given
    × the creator's share of all other users' likes). Of n users who like anything, m have a
    probability of at most the m-th smallest one, p, with the chance P[Bin(n, p) ≥ m]. The smallest
    such chance over m is compared with the rule ``finding_alpha``, divided by the number of
    creators and of group sizes. One or two fans are no group.
    """
    rules, feedback = facts.rules, facts.feedback
    if not rules.target_groups:
        return
    seen = Exposure.of(facts, feedback.positive)
    user, author, count = seen.pairs(feedback.user, feedback.positive)
    others = user != author
    user, author, count = user[others], author[others], count[others]
    mean = seen.sent[user] * seen.share(author, away=user, on=count)
    chance = poisson_tails(count, means=mean)
    # By creator, likeliest members first: the first m rows of a creator are its best group of m.
    order = np.lexsort((user, chance, author))
    user, author, count = user[order], author[order], count[order]
    mean, chance = mean[order], chance[order]
    # 1, 2, 3 … within each creator, which is m.
    place = _places(author)
    tried = np.flatnonzero((place >= MIN_MEMBERS) & (place <= MAX_MEMBERS))
    if not len(tried):
        return
    givers = int((seen.sent > 0).sum())
    # The chance of m such users among all who like anything, with the m-th one's p.
    joint = binomial_tails(place[tried], trials=np.full(len(tried), givers), chances=chance[tried])
    sizes = MAX_MEMBERS - MIN_MEMBERS + 1
    reported = joint * seen.creators * sizes < rules.finding_alpha
    for target in np.unique(author[tried[reported]]).tolist():
        of_target = np.flatnonzero(reported & (author[tried] == target))
        best = of_target[np.argmin(joint[of_target])]
        end = int(tried[best]) + 1
        # The group ends at the row that was tried and begins with its creator's first row.
        rows = slice(end - int(place[tried[best]]), end)
        members = np.sort(user[rows])
        likes, expected = int(count[rows].sum()), float(mean[rows].sum())
        names, (name,) = facts.names(members), facts.names([target])
        theirs = feedback.positive & np.isin(feedback.user, members) & (seen.author == target)
        yield Finding(
            "target-group",
            Severity.WARNING,
            (*names, name),
            "positive feedbacks of the group on one creator",
            float(likes),
            expected,
            float(joint[best]),
            f"{len(names)} people gave {likes} positive feedbacks on prompts of {name}; all other "
            f"users' likes predict {expected:.2f}",
            (feedback_refs(facts, np.flatnonzero(theirs)),),
        )


def _places(groups: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the place of each row in its group, from 1; rows are sorted by group."""
    opens = np.flatnonzero(np.concatenate([[True], groups[1:] != groups[:-1]])[: len(groups)])
    sizes = np.diff(np.concatenate([opens, [len(groups)]]))
    return np.arange(len(groups)) - np.repeat(opens, sizes) + 1
