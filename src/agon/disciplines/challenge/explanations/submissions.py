"""Explain submissions, validators and competitions; `waterfall.py` explains weights."""

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from agon.disciplines.challenge.boards import mean_abs_z, tested_cells
from agon.disciplines.challenge.consensus import Status
from agon.disciplines.challenge.facts import mean_rewards, rows_behind
from agon.disciplines.challenge.formulas import PLACES, reaches
from agon.disciplines.challenge.outcome import Outcome
from agon.disciplines.challenge.reasons import (
    number,
    percent,
    percents_apart,
    unscored_reason,
)
from agon.disciplines.challenge.recorded_trials import reach_by_submission
from agon.disciplines.challenge.rules import ChallengeRules
from agon.errors import NotFound, did_you_mean
from agon.kernel.boards import Board
from agon.kernel.explanations import Explanation, Part, scored_explanation, unscored_explanation
from agon.kernel.findings import RecordRefs
from agon.kernel.rounding import publish, sufficient
from agon.kernel.text.captions import count_text
from agon.kernel.text.sentences import Piece, Sentence
from agon.kernel.times import from_micros
from agon.records import Records

_LISTED = 20
_PERCENT_PLACES = 4


def not_found(board: Board, name: str, known: list[str]) -> NotFound:
    """Return the error for an unknown id, with a suggestion."""
    hint = did_you_mean(name, known)
    if len(known) > _LISTED and not hint.startswith("did you mean"):
        hint = f"the records have {len(known):,}, such as {known[0]}"
    return NotFound(f"there is no {name!r} on board {board.name}: {hint}")


def differences(running: list[float]) -> list[float]:
    """Return published steps between running totals, which sum to the last total.

    Example:
        >>> differences([0.5, 0.75, 0.6])
        [0.5, 0.25, -0.15]
    """
    totals = [0.0, *(publish(total, places=PLACES) for total in running)]
    return [publish(after - before, places=PLACES) for before, after in pairwise(totals)]


def gate_parts(outcome: Outcome, submission: int, *, suffix: str = "") -> list[Part]:
    """Explain the gates a submission passes: its content, the quorum, the stake."""
    facts, consensus, rules = outcome.submissions, outcome.consensus, outcome.rules_of(submission)
    counts = consensus.reports.counted[submission]
    reported = int(counts.sum())
    fraction = float(consensus.stake_fractions[submission])
    parts = []
    if consensus.status[submission] == Status.DUPLICATE:
        first = int(outcome.network.eligibility.originals[submission])
        parts.append(
            Part(
                f"content{suffix}",
                0.0,
                {"original": facts.ids[first]},
                {"duplicate_content": rules.duplicate_content},
                Sentence.of(
                    Piece.of(facts.ids[submission]), f" {unscored_reason(outcome, submission)}"
                ),
                missing="content of its own",
                step={"more": 1},
                records=(RecordRefs.of("submissions", [facts.ids[submission], facts.ids[first]]),),
            )
        )
    lacking = rules.min_validators - reported
    parts.append(
        Part(
            f"evaluations{suffix}",
            0.0,
            {"validators": reported, "epoch": consensus.reports.epoch},
            {"min_validators": rules.min_validators, "evaluation_window": rules.evaluation_window},
            f"the latest evaluations of {count_text(reported, 'validator')} count, of at least "
            f"{rules.min_validators}",
            threshold=float(rules.min_validators),
            missing=f"{count_text(lacking, 'more validator')}" if lacking > 0 else None,
            step={"validators": lacking, "more": lacking} if lacking > 0 else {},
        )
    )
    needed = 0.0
    if consensus.status[submission] == Status.TOO_LITTLE_STAKE:
        needed = missing_stake(fraction, rules)
    have, least = percents_apart(fraction, rules.min_stake_fraction)
    held = math.fsum(consensus.reports.stakes[consensus.included[submission]].tolist())
    parts.append(
        Part(
            f"stake{suffix}",
            0.0,
            {
                "stake": held,
                "total": outcome.total_stake,
                "stake_fraction": publish(fraction, places=PLACES),
            },
            {"min_stake_fraction": rules.min_stake_fraction},
            f"{have} of all stake stands behind the evaluations that are kept, of at least {least}",
            threshold=rules.min_stake_fraction,
            missing=f"{needed:.15g} % more of all stake" if needed > 0 else None,
            step={"percent": needed} if needed > 0 else {},
        )
    )
    return parts


def missing_stake(fraction: float, rules: ChallengeRules) -> float:
    """Return how many percent of all stake are missing, rounded up to a ten-thousandth."""
    least = rules.min_stake_fraction
    return sufficient(
        100 * (least - fraction),
        lambda more: bool(reaches(fraction + more / 100, least)),
        places=_PERCENT_PLACES,
    )


def outlier_text(z: float, rules: ChallengeRules) -> str:
    """Return the text that an evaluation is an outlier, with the consequence."""
    what = "is left out" if rules.exclude_outliers else "is only reported"
    return (
        f"z = {number(z)} is further out than {rules.outlier_threshold:g}"
        f"{by_stake_text(rules)}, so it {what}"
    )


def by_stake_text(rules: ChallengeRules) -> str:
    """Return the remark that stakes count in the median and the MAD, or nothing."""
    return " by stake (outlier_weights)" if rules.outlier_weights == "stake" else ""


def _evaluation_parts(records: Records, outcome: Outcome, submission: int) -> list[Part]:
    """Explain what each validator's evaluation adds to the stake-weighted mean."""
    facts, consensus = outcome.network.facts, outcome.consensus
    reports, rules = consensus.reports, outcome.rules_of(submission)
    reporting = np.flatnonzero(reports.counted[submission])
    weights = np.where(consensus.included[submission], reports.stakes, 0.0)[reporting]
    held = math.fsum(weights.tolist())
    divisor = held
    if rules.mean_over == "reported":
        divisor = math.fsum(reports.stakes[reporting].tolist())
    running = [0.0] * len(reporting)
    if consensus.scored[submission]:
        running = np.cumsum(weights * reports.values[submission, reporting] / divisor).tolist()
        running[-1] = float(consensus.scores[submission])
    rows = rows_behind(records, submission=facts.submissions.ids[submission], epoch=reports.epoch)
    parts = []
    for validator, weight, points in zip(
        reporting.tolist(), weights.tolist(), differences(running), strict=True
    ):
        name = facts.validators[validator]
        value = float(reports.values[submission, validator])
        since = int(reports.since[submission, validator])
        z = float(outcome.z_scores[submission, validator])
        flagged = bool(consensus.flagged[submission, validator])
        said = f" gave {number(value)} in epoch {since}"
        if flagged:
            said += f"; {outlier_text(z, rules)}"
        if weight > 0:
            said += f"; it holds {percent(weight / held)} of the stake that is kept"
        parts.append(
            Part(
                f"evaluation of {name}",
                points,
                {
                    "score": value,
                    "epoch": since,
                    "stake": float(reports.stakes[validator]),
                    "z": publish(z),
                    "outlier": flagged,
                },
                {
                    "outlier_threshold": rules.outlier_threshold,
                    "outlier_min_values": rules.outlier_min_values,
                    "mad_when_zero": rules.mad_when_zero,
                    "outlier_weights": rules.outlier_weights,
                    "exclude_outliers": rules.exclude_outliers,
                    "mean_over": rules.mean_over,
                },
                Sentence.of(Piece.of(name), said),
                threshold=rules.outlier_threshold,
                missing="an evaluation closer to the others" if flagged else None,
                step={"more": 1} if flagged else {},
                records=rows.get(name, ()),
            )
        )
    return parts


def _reward_parts(records: Records, submission: str) -> list[Part]:
    """Show the mean of each reward beside the score; nothing where no rewards are recorded."""
    if not records.count("task_rewards"):
        return []
    means, results = mean_rewards(records, submission)
    if not means:
        return []
    said = ", ".join(f"{key} {number(mean)}" for key, mean in means.items())
    return [
        Part(
            "rewards",
            0.0,
            {key: publish(mean, places=PLACES) for key, mean in means.items()},
            {},
            f"mean rewards over {count_text(results, 'task result')}: {said}; the score counts "
            "passes alone",
        )
    ]


def _reach_parts(records: Records, submission: str) -> list[Part]:
    """Say what the agent could reach as its tasks ran; nothing where that is unknown."""
    return [
        Part(
            f"agent network {','.join(reach.hosts) or reach.network}",
            0.0,
            {
                "agent_network": reach.network,
                "allowed_hosts": ",".join(reach.hosts),
                "task_results": reach.results,
            },
            {},
            reach.sentence,
        )
        for reach in reach_by_submission(records, submission=submission).get(submission, ())
        if reach.network
    ]


def _turn_parts(records: Records, board: Board, row: Mapping[str, Any]) -> list[Part]:
    """Say which of two neighbors with equal scores was submitted earlier, which decides the rank.

    Source: document 001, the earlier submission stands first.
    """
    index = row["rank"] - 1
    neighbors = board.table.slice(max(index - 1, 0), 3 if index else 2).to_pylist()
    level = [other for other in neighbors if other["score"] == row["score"] and other != row]
    if not level:
        return []
    table = records.sql("SELECT id::VARCHAR AS id, epoch_us(submitted_at) AS at FROM submissions")
    ids = pa.array([row["id"], *(other["id"] for other in level)], pa.string())
    times = table["at"].take(pc.index_in(ids, value_set=table["id"].combine_chunks())).to_pylist()
    parts = []
    for other, time in zip(level, times[1:], strict=True):
        ahead = other["rank"] < row["rank"]
        if time == times[0]:
            why = f"at the same time, and its id comes {'first' if ahead else 'later'}"
        else:
            why = "earlier" if ahead else "later"
        parts.append(
            Part(
                f"submitted {'after' if ahead else 'before'} {other['id']}",
                0.0,
                {"submitted_at": _iso(times[0]), f"submitted_at of {other['id']}": _iso(time)},
                {},
                Sentence.of(
                    Piece.of(other["id"]),
                    f" has the same score and was submitted {why}: it is ranked "
                    f"{'before' if ahead else 'after'} ",
                    Piece.of(row["id"]),
                ),
                records=(RecordRefs.of("submissions", [row["id"], other["id"]]),),
            )
        )
    return parts


def _iso(micros: int) -> str:
    return from_micros(micros).isoformat()


def explain_submission(records: Records, outcome: Outcome, board: Board, name: str) -> Explanation:
    """Explain a consensus score: the gates it passed, and what each evaluation adds to the mean.

    Raises:
        NotFound: the submission does not exist.
    """
    facts = outcome.submissions
    if name not in facts.number:
        raise not_found(board, name, facts.ids)
    index = facts.number[name]
    row = board.row(name) if outcome.consensus.scored[index] else None
    parts = gate_parts(outcome, index)
    parts += _evaluation_parts(records, outcome, index)
    parts += _reward_parts(records, name)
    parts += _reach_parts(records, name)
    if row is not None:
        parts += _turn_parts(records, board, row)
    context = {
        "epoch": outcome.epoch,
        "miner_uid": outcome.uid_of(index),
        "competition": outcome.competition_of(index).id,
    }
    if row is None:
        reason = unscored_reason(outcome, index)
        return unscored_explanation(board, name, reason, parts, context=context)
    return scored_explanation(board, row, parts, context=context)


def explain_validator(outcome: Outcome, board: Board, name: str) -> Explanation:
    """Explain a validator's share of stake and its record of outliers.

    Raises:
        NotFound: the validator does not exist.
    """
    facts, consensus = outcome.network.facts, outcome.consensus
    if name not in facts.validators:
        raise not_found(board, name, facts.validators)
    index = facts.validators.index(name)
    if not consensus.reports.registered[index]:
        reason = next(row.reason for row in board.unscored if row.id == name)
        return unscored_explanation(board, name, reason)
    row = board.row(name)
    tested = int(tested_cells(outcome)[:, index].sum())
    flagged = np.flatnonzero(consensus.flagged[:, index] & outcome.network.eligibility.is_original)
    thresholds = sorted({rules.outlier_threshold for rules in outcome.network.of_competition})
    mean = mean_abs_z(outcome)[index]
    said = "nothing to compare with" if mean is None else f"|z| is {number(mean)} on average"
    parts = (
        Part(
            "stake",
            row["score"],
            {"stake": row["stake"], "total": outcome.total_stake},
            {},
            f"{number(row['stake'])} of {number(outcome.total_stake)} registered stake",
            records=(RecordRefs.of("validators", [name]),),
        ),
        Part(
            "outliers",
            0.0,
            {
                "evaluations": row["evaluations"],
                "tested": tested,
                "flagged": row["flagged"],
                "mean_abs_z": mean,
            },
            {"outlier_threshold": thresholds[0] if len(thresholds) == 1 else thresholds},
            f"{row['flagged']} of {count_text(tested, 'evaluation')} with enough company are "
            f"outliers; {said}",
            threshold=thresholds[0],
            records=(
                RecordRefs.of(
                    "submissions", [facts.submissions.ids[submission] for submission in flagged]
                ),
            ),
        ),
    )
    return scored_explanation(board, row, parts, context={"epoch": outcome.epoch})
