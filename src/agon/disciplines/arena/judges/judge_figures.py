"""State how a judge judges: shares with intervals and their number of cases."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from agon.disciplines.arena.facts import HONEYPOT, RATED, Bools, Facts
from agon.disciplines.arena.formulas import NONE, TIE
from agon.disciplines.arena.history import Results
from agon.disciplines.arena.judges.quality import Quality, quality_of
from agon.disciplines.arena.rules import ArenaRules
from agon.kernel.figures import JudgeFigure
from agon.kernel.statistics import wilson


def judge_figures(
    judge: int, *, facts: Facts, results: Results, rules: ArenaRules
) -> Iterator[JudgeFigure]:
    """Yield a judge's agreement, accuracy, position bias and passed honeypots.

    A model that judges through the API sees both orders: what it prefers by position is measured
    of its calls, not of its votes. Shares have Wilson's interval, the accuracy that of Dawid and
    Skene's estimate.

    Args:
        judge: the judge's number.
        facts: the records.
        results: the outcome of each match.
        rules: ``confidence`` counts.
    """
    votes, matches = facts.votes, facts.matches
    own = slice(votes.opens[judge], votes.opens[judge + 1])
    match, side, label = votes.match[own], votes.side[own], votes.label[own]
    kind, audit, panel = matches.kind[match], matches.audit[match], results.panel[match]
    rated = kind == RATED
    audited = rated & (audit != NONE) & (audit != TIE)
    decided = rated & (panel != NONE)
    tempted = kind == HONEYPOT
    labeled = (rated | tempted) & (label != TIE)

    share = partial(_share, confidence=rules.confidence)
    yield share(
        "agreement with the consensus",
        side == panel,
        among=decided,
        meaning="votes in rated matches that were with the panel, of which this vote is a part",
    )
    yield from _estimates(judge, quality_of(facts, results, rules), cases=_count(rated))
    yield share(
        "agreement with audits",
        side == audit,
        among=audited,
        meaning="votes in audited matches that were with the audit",
    )
    if facts.judges.sees_one_order[judge]:
        yield share(
            "position",
            label == 0,
            among=labeled,
            meaning="votes for the answer shown as A; the order is drawn, so without bias one half",
        )
    yield share(
        "honeypots passed",
        side == matches.real[match],
        among=tempted,
        meaning="controls in which the real answer was chosen, not the robotic one",
    )


def _estimates(judge: int, quality: Quality, *, cases: int) -> Iterator[JudgeFigure]:
    """Yield the figures that are estimated from the votes of all judges together."""
    yield JudgeFigure(
        name="κ with the consensus",
        value=quality.kappa.get(judge),
        low=None,
        high=None,
        cases=cases,
        meaning="agreement beyond chance: 0 is chance, 1 full agreement",
    )
    yield JudgeFigure(
        name="accuracy",
        value=quality.accuracy.get(judge),
        low=quality.low.get(judge),
        high=quality.high.get(judge),
        cases=cases,
        meaning="chance to be right, estimated from all votes together (Dawid–Skene)",
    )


def _share(
    name: str, marked: Bools, *, among: Bools, meaning: str, confidence: float
) -> JudgeFigure:
    """Return the share of marked votes among some, with Wilson's interval; None: there are none."""
    successes, cases = _count(marked & among), _count(among)
    interval = wilson(successes, trials=cases, confidence=confidence)
    return JudgeFigure(
        name=name,
        value=successes / cases if cases else None,
        low=interval.low if cases else None,
        high=interval.high if cases else None,
        cases=cases,
        meaning=meaning,
    )


def _count(marked: Bools) -> int:
    return int(np.count_nonzero(marked))
