"""Check what a competition pays: tops that cannot be improved on, pay without a score."""

from collections.abc import Iterator

import numpy as np

from agon.disciplines.challenge.explanations.competitions import (
    forecast,
    to_improve,
    unimprovable_text,
)
from agon.disciplines.challenge.outcome import Outcome
from agon.disciplines.challenge.reasons import percent
from agon.kernel.findings import Finding, RecordRefs, Severity
from agon.kernel.rounding import publish
from agon.kernel.text.captions import count_text


def unimprovable_tops(outcome: Outcome | None) -> Iterator[Finding]:
    """Report competitions whose top score no score can improve on, so that they burn for good."""
    if outcome is None:
        return
    network, allocation = outcome.network, outcome.allocation
    for competition, rules, state in zip(
        network.facts.competitions, network.of_competition, allocation.states, strict=True
    ):
        top = state.top_holder
        if top is None or to_improve(rules, state) is not None:
            continue
        full = forecast(rules, state.improvements[-1].best.epoch)
        burn = "" if full is None else f"; {rules.max_burn:g} % burns from epoch {full} on"
        yield Finding(
            "unimprovable-top",
            Severity.WARNING,
            (competition.id,),
            "top score",
            publish(top.score),
            1.0,
            None,
            f"competition {competition.id}: {unimprovable_text(rules, state)}{burn}",
            (RecordRefs.of("submissions", [network.facts.submissions.ids[top.submission]]),),
        )


def paid_without_score(outcome: Outcome | None) -> Iterator[Finding]:
    """Report miners whose score is 0 and who are paid by their rank (rule ``ranked_zero``)."""
    if outcome is None:
        return
    network, allocation = outcome.network, outcome.allocation
    shares = allocation.shares
    unscored = shares.fractions > 0
    unscored &= outcome.consensus.scores[shares.submissions] == 0
    for index, competition in enumerate(network.facts.competitions):
        entries = np.flatnonzero(unscored & (shares.competitions == index))
        if not len(entries):
            continue
        share = float(shares.fractions[entries].sum())
        submissions, miners = shares.submissions[entries].tolist(), shares.uids[entries]
        yield Finding(
            "paid-without-score",
            Severity.INFO,
            tuple(str(uid) for uid in miners.tolist()),
            "share of the competition",
            publish(share),
            0.0,
            None,
            f"{count_text(len(entries), 'miner')} with a score of 0 got {percent(share)} of "
            f"{competition.id} by rank; ranked_zero=unpaid pays none of it",
            (
                RecordRefs.of(
                    "submissions",
                    [network.facts.submissions.ids[submission] for submission in submissions],
                ),
            ),
        )
