"""Explain competitions: the improvements of the top score, and its decay."""

from itertools import pairwise

import numpy as np

from agon.disciplines.challenge.decay import (
    BestScore,
    DecayState,
    Improvement,
    bar,
    epochs_until_max,
    improves,
    least_improvement,
)
from agon.disciplines.challenge.explanations.submissions import differences, not_found
from agon.disciplines.challenge.formulas import PLACES
from agon.disciplines.challenge.outcome import Outcome
from agon.disciplines.challenge.reasons import number, percent
from agon.disciplines.challenge.rules import ChallengeRules
from agon.disciplines.challenge.weights import current_burn_percent, staleness
from agon.kernel.boards import Board
from agon.kernel.explanations import Explanation, Part, scored_explanation, unscored_explanation
from agon.kernel.findings import RecordRefs
from agon.kernel.rounding import publish
from agon.kernel.text.captions import count_text


def explain_competition(outcome: Outcome, board: Board, name: str) -> Explanation:
    """Explain a competition's top score by its improvements, and forecast its decay.

    Raises:
        NotFound: the competition does not exist.
    """
    ids = [competition.id for competition in outcome.network.facts.competitions]
    if name not in ids:
        raise not_found(board, name, ids)
    index = ids.index(name)
    rules, state = outcome.network.of_competition[index], outcome.allocation.states[index]
    last = state.last_improvement
    if last is None:
        reason = next(row.reason for row in board.unscored if row.id == name)
        return unscored_explanation(board, name, reason)
    row = board.row(name)
    points = differences([step.best.score for step in state.improvements])
    parts = [
        _improvement(outcome, rules, step, gain)
        for step, gain in zip(state.improvements, points, strict=True)
    ]
    if state.falls:
        holders = (state.improvements[-1].best, *state.falls)
        parts += [_fall_part(outcome, before, left) for before, left in pairwise(holders)]
    parts.append(decay_part(rules, state, outcome.epoch))
    full = forecast(rules, last)
    note = "the burn never reaches its maximum"
    if full is not None:
        note = f"the burn reaches its maximum of {rules.max_burn:g} % in epoch {full}"
    if to_improve(rules, state) is None:
        note = f"{unimprovable_text(rules, state)}; {note}"
    elif full is not None:
        note = f"without an improvement, {note}"
    remarks = [note, old_best_text(outcome, index), unsupported_text(outcome, index)]
    return scored_explanation(
        board,
        row,
        parts,
        notes=tuple(remark for remark in remarks if remark),
        context={
            "epoch": outcome.epoch,
            "emission_share": row["emission_share"],
            "burn_percent": row["burn_percent"],
            "maximum_burn_in_epoch": full,
        },
    )


def forecast(rules: ChallengeRules, last_improvement: int) -> int | None:
    """Return the epoch in which the burn reaches its maximum without improvement, or None."""
    stale = epochs_until_max(
        curve=rules.decay_curve, rate=rules.decay_rate, max_burn=rules.max_burn
    )
    return None if stale is None else last_improvement + rules.grace_epochs + stale


def _improvement(outcome: Outcome, rules: ChallengeRules, step: Improvement, gain: float) -> Part:
    wanted = "anything above 0" if step.bar == 0 else f"at least {number(step.bar)}"
    name = outcome.submissions.ids[step.best.submission]
    return Part(
        f"improvement in epoch {step.best.epoch}",
        gain,
        {
            "best": publish(step.best.score, places=PLACES),
            "bar": publish(step.bar, places=PLACES),
            "submission": name,
        },
        {
            "improvement_threshold": rules.improvement_threshold,
            "improvement": rules.improvement,
            "improvement_by": rules.improvement_by,
            "improvement_stake": rules.improvement_stake,
        },
        f"in epoch {step.best.epoch} {name} raised the best score to {number(step.best.score)}; "
        f"{wanted} was an improvement"
        + (f", {supported_text(rules)}" if rules.improvement_stake else ""),
        threshold=step.bar,
        records=(RecordRefs.of("submissions", [name]),),
    )


def _fall_part(outcome: Outcome, before: BestScore, left: BestScore) -> Part:
    """Explain that the top score fell since its agent has left the network."""
    name = outcome.submissions.ids[before.submission]
    loss = publish(
        publish(left.score, places=PLACES) - publish(before.score, places=PLACES), places=PLACES
    )
    return Part(
        f"departure in epoch {left.epoch}",
        loss,
        {"submission": name, "top": publish(left.score, places=PLACES)},
        {"top_of_departed": "drop"},
        f"in epoch {left.epoch} the hotkey of {name} held no uid any more: the top score fell "
        f"to {number(left.score)}, the best that was left (top_of_departed)",
        records=(RecordRefs.of("submissions", [name]),),
    )


def supported_text(rules: ChallengeRules) -> str:
    """Return the sentence on the share of stake that has to report an improvement."""
    return (
        f"from at least {percent(rules.improvement_stake)} of the stake behind it "
        "(improvement_stake)"
    )


def old_best_text(outcome: Outcome, competition: int) -> str | None:
    """Return why the best score, though high enough, is no improvement: its agent is not new."""
    state = outcome.allocation.states[competition]
    best, top = state.old_best, state.top_holder
    if best is None or top is None:
        return None
    return (
        f"{outcome.submissions.ids[best.submission]} has {number(best.score)}, but it was first "
        f"evaluated in epoch {best.first_evaluated}, and the top score is of epoch "
        f"{top.epoch}: only a new agent resets the decay (improvement_by)"
    )


def unsupported_text(outcome: Outcome, competition: int) -> str | None:
    """Return why a best score that is high enough is no improvement; None if it is not so."""
    rules = outcome.network.of_competition[competition]
    state, consensus = outcome.allocation.states[competition], outcome.consensus
    own = np.flatnonzero(outcome.submissions.competitions == competition)
    scored = own[consensus.scored[own]]
    if not len(scored) or not rules.improvement_stake:
        return None
    best = int(scored[np.argmax(consensus.scores[scored])])
    score, level = float(consensus.scores[best]), float(consensus.levels[best])
    step, kind = rules.improvement_threshold, rules.improvement
    high_enough = improves(score, state.top, threshold=step, improvement=kind)
    if not high_enough or improves(level, state.top, threshold=step, improvement=kind):
        return None
    wanted = bar(state.top, threshold=step, improvement=kind)
    return (
        f"{outcome.submissions.ids[best]} has {number(score)}, but an improvement needs "
        f"{number(wanted)} {supported_text(rules)}; that much of it gives only {number(level)}"
    )


def decay_part(rules: ChallengeRules, state: DecayState, epoch: int) -> Part:
    """Explain a competition's burn at an epoch; it adds nothing to the top score."""
    stale = staleness(rules, state, epoch)
    burning = current_burn_percent(rules, state, epoch)
    text = (
        f"{count_text(stale, 'stale epoch')} after the last improvement in epoch "
        f"{state.last_improvement} and {rules.grace_epochs} of grace: "
        f"{number(burning)} % burns ({rules.decay_curve})"
    )
    wanted = to_improve(rules, state)
    if wanted is None:
        text += f"; {unimprovable_text(rules, state)}"
    return Part(
        "decay",
        0.0,
        {
            "epoch": epoch,
            "last_improvement": state.last_improvement,
            "stale": stale,
            "burn_percent": publish(burning),
        },
        {
            "grace_epochs": rules.grace_epochs,
            "decay_curve": rules.decay_curve,
            "decay_rate": rules.decay_rate,
            "max_burn": rules.max_burn,
        },
        text,
        threshold=rules.max_burn,
        missing=None if wanted is None else f"{improvement_text(rules, wanted)} restarts the count",
        step={} if wanted is None else {"more": 1, "best": wanted},
    )


def improvement_text(rules: ChallengeRules, wanted: float) -> str:
    """Return the words for what resets the decay: a score, of a new agent or of any."""
    who = "a new agent with a" if rules.improvement_by == "new_agent" else "a best"
    return f"{who} score of at least {number(wanted)}"


def to_improve(rules: ChallengeRules, state: DecayState) -> float | None:
    """Return the least score that improves, of six decimals; None where not even 1 does."""
    return least_improvement(
        state.top,
        threshold=rules.improvement_threshold,
        improvement=rules.improvement,
        above=state.old_best.score if state.old_best else 0.0,
    )


def unimprovable_text(rules: ChallengeRules, state: DecayState) -> str:
    """Return the sentence that no score can improve on the top score."""
    wanted = bar(state.top, threshold=rules.improvement_threshold, improvement=rules.improvement)
    if state.old_best is not None and wanted <= 1:
        return (
            f"no new agent can improve on {number(state.top or 0.0)} now: an older one has "
            f"{number(state.old_best.score)}, and scores end at 1 (improvement_by)"
        )
    return (
        f"no score can improve on {number(state.top or 0.0)} any more: {number(wanted)} or more "
        f"is needed (improvement_threshold = {rules.improvement_threshold:g}, "
        f"{rules.improvement}), and scores end at 1"
    )
