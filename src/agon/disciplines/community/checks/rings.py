"""Detect rings: users with more likes than by chance in both directions or around a circle."""

from collections.abc import Iterator

import numpy as np

from agon.disciplines.community.checks.exposure import Exposure
from agon.disciplines.community.evidence import feedback_refs
from agon.disciplines.community.facts import Facts
from agon.kernel.findings import Finding, Severity
from agon.kernel.tails import poisson_tail, poisson_tails


def find(facts: Facts) -> Iterator[Finding]:
    """Report the strongly connected groups among ties that chance does not explain.

    A tie leads from one user to another whose prompts they liked at least ``ring_positives``
    times, when a Poisson count of that mean (likes given × the creator's share of the
    other likes) would be as large less often than the rule ``finding_alpha`` over all pairs.
    """
    rules, feedback = facts.rules, facts.feedback
    seen = Exposure.of(facts, feedback.positive)
    user, author, count = seen.pairs(feedback.user, feedback.positive)
    pairs = max(len(user), 1)
    keep = (count >= rules.ring_positives) & (user != author)
    user, author, count = user[keep], author[keep], count[keep]
    mean = seen.sent[user] * seen.share(author, away=user, on=count)
    tied = poisson_tails(count, means=mean) * pairs < rules.finding_alpha
    user, author, count, mean = user[tied], author[tied], count[tied], mean[tied]
    if not len(user):
        return
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    people = np.unique(np.concatenate([user, author]))
    places = np.searchsorted(people, user), np.searchsorted(people, author)
    graph = coo_array((np.ones(len(user)), places), shape=(len(people), len(people)))
    # Strong: each member is reached from each other one along ties, so likes come back.
    _, group = connected_components(graph, directed=True, connection="strong")
    # A tie between groups closes no ring, and a group of one has no tie inside.
    inside = group[places[0]] == group[places[1]]
    for ring in np.unique(group[places[0][inside]]).tolist():
        members = people[group == ring]
        edges = inside & (group[places[0]] == ring)
        likes, expected = int(count[edges].sum()), float(mean[edges].sum())
        rows = np.flatnonzero(
            feedback.positive
            & np.isin(feedback.user, members)
            & np.isin(seen.author, members)
            & (feedback.user != seen.author)
        )
        names = facts.names(members)
        yield Finding(
            "reciprocal-ring",
            Severity.WARNING,
            tuple(names),
            "positive feedbacks inside the ring",
            float(likes),
            expected,
            poisson_tail(likes, mean=expected),
            f"{len(names)} people gave each other {likes} positive feedbacks along "
            f"{int(edges.sum())} ties that close a ring; everybody else's likes predict "
            f"{expected:.2f}",
            (feedback_refs(facts, rows),),
        )
