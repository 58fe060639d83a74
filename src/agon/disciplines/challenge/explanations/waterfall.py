"""Explain a weight as a waterfall: evaluations, outliers, stake, strategy, decay, emission, cap.

Every step that moves the weight has points, and they sum to the weight on the published grid.
"""

import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from agon.disciplines.challenge.bittensor import payload_of_board
from agon.disciplines.challenge.explanations.competitions import (
    decay_part,
    improvement_text,
    to_improve,
)
from agon.disciplines.challenge.explanations.submissions import (
    by_stake_text,
    differences,
    gate_parts,
    not_found,
    outlier_text,
)
from agon.disciplines.challenge.facts import rows_behind
from agon.disciplines.challenge.formulas import PLACES
from agon.disciplines.challenge.outcome import Outcome
from agon.disciplines.challenge.reasons import (
    number,
    percent,
    percents_apart,
    weightless_reason,
)
from agon.disciplines.challenge.rules import ChallengeRules
from agon.kernel.boards import Board
from agon.kernel.explanations import (
    Explanation,
    NextStep,
    Part,
    scored_explanation,
    unscored_explanation,
)
from agon.kernel.findings import RecordRefs
from agon.kernel.rounding import U16, publish, sufficient
from agon.kernel.text.captions import count_text
from agon.kernel.text.sentences import Piece, Sentence
from agon.records import Records

GRID = 1e-6
"""The least score above 0 that is shown."""

Stage = tuple[float, Part]
"""The weight so far, and the part that brought it there; points are filled in at the end."""


def explain_weight(records: Records, outcome: Outcome, board: Board, name: str) -> Explanation:
    """Explain a uid's weight, from evaluations to the integer of 65535.

    Raises:
        NotFound: no submission is of that uid.
    """
    burn_uid = outcome.network.rules.burn_uid
    known = [str(burn_uid), *(str(uid) for uid in sorted(outcome.of_miner) if uid != burn_uid)]
    if name not in known:
        raise not_found(board, name, known)
    uid = int(name)
    context: dict[str, Any] = {"epoch": outcome.epoch}
    if uid in outcome.hotkeys:
        context["hotkey"] = outcome.hotkeys[uid]
    if any(row.id == name for row in board.unscored):
        gates = tuple(
            part
            for index in outcome.of_miner[uid]
            for part in gate_parts(outcome, index, suffix=f" {outcome.submissions.ids[index]}")
        )
        reason = weightless_reason(outcome, uid)
        return unscored_explanation(board, name, reason, gates, context=context)
    row = board.row(name)
    steps = list(_burn_stages(outcome) if uid == burn_uid else _miner_stages(records, outcome, uid))
    totals = [total for total, _ in steps]
    totals[-1] = row["weight"]
    parts = [
        replace(part, points=points)
        for points, (_, part) in zip(differences(totals), steps, strict=True)
    ]
    sent = uid in payload_of_board(board).uids
    parts.append(_integer_part(outcome, row, sent=sent))
    if outcome.network.rules.emission_total is not None:
        parts.append(_amount(outcome, row))
    return scored_explanation(board, row, parts, context=context)


def _miner_stages(records: Records, outcome: Outcome, uid: int) -> Iterator[Stage]:
    """Go from each of a miner's best submissions to what it is paid, then through the cap."""
    shares = outcome.allocation.shares
    before = 0.0
    for entry in np.flatnonzero(shares.uids == uid).tolist():
        submission = int(shares.submissions[entry])
        for part in _consensus_parts(records, outcome, submission):
            yield before, part
        yield from _entry_stages(outcome, entry, before)
        before += float(outcome.allocation.paid[entry])
    yield _cap(outcome, uid, before)


def _consensus_parts(records: Records, outcome: Outcome, submission: int) -> list[Part]:
    """Explain a submission's score, without weights."""
    consensus, rules = outcome.consensus, outcome.rules_of(submission)
    name = outcome.submissions.ids[submission]
    validators = outcome.network.facts.validators
    reported, stake = gate_parts(outcome, submission, suffix=f" {name}")
    later: dict[str, list[str]] = defaultdict(list)
    rows_of = rows_behind(records, submission=name, epoch=outcome.epoch)
    for index in np.flatnonzero(consensus.reports.counted[submission]).tolist():
        for refs in rows_of[validators[index]]:
            later[refs.table] += refs.ids
    flagged = np.flatnonzero(consensus.flagged[submission]).tolist()
    said = [
        Sentence.of(
            Piece.of(validators[index]),
            f" gave {number(consensus.reports.values[submission, index])}, "
            f"{outlier_text(float(outcome.z_scores[submission, index]), rules)}",
        )
        for index in flagged
    ]
    outliers = Part(
        f"outliers {name}",
        0.0,
        {"outliers": [validators[index] for index in flagged]},
        {
            "outlier_threshold": rules.outlier_threshold,
            "outlier_min_values": rules.outlier_min_values,
            "mad_when_zero": rules.mad_when_zero,
            "outlier_weights": rules.outlier_weights,
            "exclude_outliers": rules.exclude_outliers,
        },
        Sentence.joined("; ", said)
        or f"no |z| is above {rules.outlier_threshold:g}{by_stake_text(rules)}",
        threshold=rules.outlier_threshold,
        records=(RecordRefs.of("validators", [validators[index] for index in flagged]),),
    )
    score = float(consensus.scores[submission])
    mean = Part(
        f"consensus {name}",
        0.0,
        {"score": publish(score, places=PLACES), "stake": stake.inputs["stake"]},
        {},
        f"the stake-weighted mean of what is kept is {number(score)}",
        records=(RecordRefs.of("submissions", [name]),),
    )
    rows = tuple(RecordRefs.of(table, ids) for table, ids in sorted(later.items()))
    return [replace(reported, records=rows), outliers, stake, mean]


def _entry_stages(outcome: Outcome, entry: int, before: float) -> Iterator[Stage]:
    """Explain one entry: its share by strategy, less the burn, times the competition's part."""
    shares, index = outcome.allocation.shares, int(outcome.allocation.shares.competitions[entry])
    competition = outcome.network.facts.competitions[index]
    rules, state = outcome.network.of_competition[index], outcome.allocation.states[index]
    share, rank = float(shares.fractions[entry]), int(shares.ranks[entry])
    burning = float(outcome.allocation.burn_percents[index])
    miners = int((shares.competitions == index).sum())
    above = _next_place(outcome, entry)
    yield (
        before + share,
        Part(
            f"strategy {competition.id}",
            0.0,
            {"rank": rank, "miners": miners, "share": publish(share, places=PLACES)},
            {"strategy": rules.strategy, "top_n": rules.top_n},
            f"rank {rank} of {count_text(miners, 'miner')} in {competition.id} gets "
            f"{percent(share)} of it ({rules.strategy})",
            missing=above.text if above else None,
            step=above.numbers if above else {},
        ),
    )
    decay = decay_part(rules, state, outcome.epoch)
    wanted = to_improve(rules, state) if burning > 0 else None
    left = 1 - burning / 100 if rules.burn_application == "scaled" else 1.0
    yield (
        before + share * left,
        replace(
            decay,
            name=f"decay {competition.id}",
            missing=None
            if wanted is None
            else f"{improvement_text(rules, wanted)} in {competition.id} ends the burn",
            step={} if wanted is None else {"more": 1, "best": wanted},
        ),
    )
    yield (
        before + float(outcome.allocation.paid[entry]),
        Part(
            f"emission {competition.id}",
            0.0,
            {"emission_share": competition.emission_share},
            {},
            f"{competition.id} has {percent(competition.emission_share)} of all emission",
            records=(RecordRefs.of("competitions", [competition.id]),),
        ),
    )


def _next_place(outcome: Outcome, entry: int) -> NextStep | None:
    """Return what the next better share needs, where the strategy is by rank."""
    shares = outcome.allocation.shares
    index, rank = int(shares.competitions[entry]), int(shares.ranks[entry])
    rules = outcome.network.of_competition[index]
    if rules.strategy == "winner_takes_all" and rank > rules.top_n:
        place = rules.top_n
    elif rules.strategy == "ranked" and rank > 1:
        place = rank - 1
    else:
        return None
    rival = int(shares.submissions[entry - (rank - place)])
    has = publish(float(outcome.consensus.scores[rival]), places=PLACES)
    if has >= 1:
        return None
    name = outcome.submissions.ids[rival]
    least = min(sufficient(has, lambda score: score > has), 1.0)
    shown = sufficient(has, lambda score: score >= has)
    text = f"a score above {number(shown)}, which {name} has on rank {place}"
    if shown != has:
        text = f"a score of at least {number(least)}, more than {name} has on rank {place}"
    return NextStep(text, {"more": 1, "score": least, "rank": place})


def _cap(outcome: Outcome, uid: int, before: float) -> Stage:
    rules = outcome.network.rules
    index = int(np.searchsorted(outcome.network.uids, uid))
    after = float(outcome.allocation.weights[index])
    total = math.fsum(outcome.allocation.uncapped.tolist())
    limit = rules.weight_cap * total
    if after < before:
        goes = {"redistribute": "goes to those below it", "burn": "burns", "drop": "is dropped"}
        said = (
            f"{number(before)} is above the limit, so {number(before - after)} "
            f"{goes[rules.cap_excess]}"
        )
        if rules.cap_excess == "redistribute" and outcome.allocation.excess > 0:
            said += f"; {number(outcome.allocation.excess)} has nowhere to go and burns"
    elif after > before:
        said = f"{number(after - before)} of what others have above the limit comes here"
    else:
        said = f"{number(before)} is not above the limit"
    return (
        after,
        Part(
            "cap",
            0.0,
            {"before": publish(before, places=PLACES), "limit": publish(limit, places=PLACES)},
            {"weight_cap": rules.weight_cap, "cap_excess": rules.cap_excess},
            f"no miner may get more than {number(limit)}, {percent(rules.weight_cap)} of the "
            f"{number(total)} that all miners get: {said}",
            threshold=publish(limit, places=PLACES),
        ),
    )


def _burn_stages(outcome: Outcome) -> Iterator[Stage]:
    """Explain UID 0's share: decay, competitions without weights, the unassigned part, the cap."""
    allocation = outcome.allocation
    total = 0.0
    for index in range(len(outcome.network.facts.competitions)):
        total += float(allocation.burned[index])
        yield total, _burned_part(outcome, index)
    total += allocation.unassigned
    if allocation.unassigned > 0:
        yield total, _unassigned_part(allocation.unassigned)
    total += allocation.own
    if outcome.of_miner.get(outcome.network.rules.burn_uid):
        yield total, _own_part(outcome)
    total += allocation.unregistered
    if allocation.unregistered > 0:
        yield total, _unregistered_part(outcome)
    total += allocation.excess
    if allocation.excess > 0:
        yield total, _excess_part(allocation.excess, outcome.network.rules)
    if total > allocation.burn + GRID:
        yield allocation.burn, _limit_part(total)


def _burned_part(outcome: Outcome, at: int) -> Part:
    """Explain what burns of a competition: by decay, or all of it where no score is above 0."""
    allocation, competition = outcome.allocation, outcome.network.facts.competitions[at]
    rules, state = outcome.network.of_competition[at], allocation.states[at]
    mine = allocation.shares.competitions == at
    if allocation.shares.fractions[mine].any():
        return replace(decay_part(rules, state, outcome.epoch), name=f"decay {competition.id}")
    return Part(
        f"empty {competition.id}",
        0.0,
        {"emission_share": competition.emission_share},
        {"strategy": rules.strategy},
        f"no miner in {competition.id} has a score above 0, so its "
        f"{percent(competition.emission_share)} burns",
        missing="a submission with a score above 0",
        step={"more": 1, "best": GRID},
        records=(RecordRefs.of("competitions", [competition.id]),),
    )


def _unassigned_part(unassigned: float) -> Part:
    assigned = 1 - unassigned
    shared, _ = percents_apart(assigned, 1)
    return Part(
        "unassigned",
        0.0,
        {"emission_shares": publish(assigned, places=PLACES)},
        {},
        f"the competitions share {shared} of all emission; the rest burns",
    )


def _own_part(outcome: Outcome) -> Part:
    """Explain what submissions of UID 0 earned."""
    burn_uid = outcome.network.rules.burn_uid
    names = [outcome.submissions.ids[index] for index in outcome.of_miner[burn_uid]]
    return Part(
        "own",
        0.0,
        {"submissions": names},
        {},
        f"submissions of UID {burn_uid} earned {percent(outcome.allocation.own)}",
        records=(RecordRefs.of("submissions", names),),
    )


def _unregistered_part(outcome: Outcome) -> Part:
    """Explain what submissions earned whose hotkeys hold no uid."""
    shares = outcome.allocation.shares
    names = [
        outcome.submissions.ids[index] for index in shares.submissions[shares.uids < 0].tolist()
    ]
    return Part(
        "unregistered",
        0.0,
        {"submissions": names},
        {"unregistered": outcome.network.rules.unregistered},
        f"submissions whose hotkeys hold no uid earned {percent(outcome.allocation.unregistered)}",
        records=(RecordRefs.of("submissions", names),),
    )


def _excess_part(excess: float, rules: ChallengeRules) -> Part:
    return Part(
        "cap",
        0.0,
        {"excess": publish(excess, places=PLACES)},
        {"weight_cap": rules.weight_cap, "cap_excess": rules.cap_excess},
        f"{percent(excess)} was above the cap and had nowhere else to go",
    )


def _limit_part(total: float) -> Part:
    """Explain that a burn beside the miners' weights is no more than all there is."""
    return Part(
        "limit",
        0.0,
        {"before": publish(total, places=PLACES)},
        {"burn_application": "added"},
        f"together {number(total)}, of which there is 1",
    )


def _integer_part(outcome: Outcome, row: dict[str, Any], *, sent: bool) -> Part:
    """Explain the integer, and where a weight above 0 becomes none."""
    rounding = outcome.network.rules.rounding
    exact = row["weight"] * U16
    said = f"of {U16} that is {row['u16']} ({rounding})"
    if row["weight"] > 0 and row["u16"] == 0:
        said += f": {exact:.3g} is less than a half"
        said += (
            "; what is sent is scaled to a largest weight of 65535, and there it is above 0"
            if sent
            else ", so it is left out of what is sent"
        )
    elif exact % 1 == 0.5:  # noqa: PLR2004 - the half that is rounded
        said += f": {exact:,.1f}, and a half goes away from zero"
    return Part(
        "u16",
        0.0,
        {"weight": row["weight"], "u16": row["u16"]},
        {"rounding": rounding},
        said,
    )


def _amount(outcome: Outcome, row: dict[str, object]) -> Part:
    total = outcome.network.rules.emission_total
    return Part(
        "amount",
        0.0,
        {"weight": row["weight"], "amount": row["amount"]},
        {"emission_total": total},
        f"of the {total:,} an epoch pays, that is {row['amount']}",
    )
