"""Lay out the four boards: weights, submissions, validators, competitions."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from agon.disciplines.challenge.emission import amount, to_u16
from agon.disciplines.challenge.formulas import PLACES
from agon.disciplines.challenge.outcome import Outcome
from agon.disciplines.challenge.reasons import unscored_reason, weightless_reason
from agon.disciplines.challenge.recorded_trials import Reach, is_known, reach_cell
from agon.disciplines.challenge.weights import staleness
from agon.kernel.boards import Board, UnscoredRow, ranking
from agon.kernel.rounding import publish


def weights_board(outcome: Outcome) -> Board:
    """Build the board of each uid's weight, its integer of 65535, and the amount if E is known.

    The row of ``burn_uid`` is the burn. Where the records say which hotkeys hold uids, each row has
    the hotkey that it pays. Order: weight, then uid.
    """
    network, allocation = outcome.network, outcome.allocation
    paid = np.isin(network.uids, allocation.shares.uids)
    uids = np.concatenate([[network.rules.burn_uid], network.uids[paid]])
    exact = np.concatenate([[allocation.burn], allocation.weights[paid]])
    weights = publish(exact, places=PLACES)
    ids = pa.array([str(uid) for uid in uids.tolist()], pa.string())
    order, ranks = ranking(ids, [-weights], shared=False)
    columns = {
        "rank": ranks,
        "id": ids.take(order),
        "score": weights[order],
        "weight": weights[order],
        "u16": to_u16(exact, rounding_rule=network.rules.rounding)[order],
    }
    total = network.rules.emission_total
    if total is not None:
        columns["amount"] = np.array([amount(w, emission_total=total) for w in exact[order]])
    if outcome.hotkeys:
        held = [outcome.hotkeys.get(uid) for uid in uids.tolist()]
        columns["hotkey"] = pa.array(held, pa.string()).take(order)
    unscored = tuple(
        UnscoredRow(str(uid), weightless_reason(outcome, uid))
        for uid in network.uids[~paid].tolist()
        if uid in outcome.of_miner
    )
    return Board("weights", pa.table(columns), unscored, PLACES)


def submissions_board(outcome: Outcome, reached: Mapping[str, list[Reach]]) -> Board:
    """Lay out the consensus on each submission, with what its agent could reach if that is known.

    Order: score, then the earlier submission, then id.
    """
    facts, consensus = outcome.submissions, outcome.consensus
    scored = np.flatnonzero(consensus.scored)
    scores = publish(consensus.scores[scored], places=PLACES)
    ids = pa.array([facts.ids[index] for index in scored], pa.string())
    order, ranks = ranking(ids, [-scores, facts.turns[scored]], shared=False)
    rows = scored[order]
    names = [competition.id for competition in outcome.network.facts.competitions]
    columns = {
        "rank": ranks,
        "id": ids.take(order),
        "score": scores[order],
        "validators": consensus.reports.counted[rows].sum(axis=1),
        "outliers": consensus.flagged[rows].sum(axis=1),
        "stake_fraction": publish(consensus.stake_fractions[rows], places=PLACES),
        "miner_uid": np.array([outcome.uid_of(index) for index in rows.tolist()], dtype=np.int64),
        "competition": pa.array([names[index] for index in facts.competitions[rows]], pa.string()),
    }
    if is_known(reached.values()):
        cells = [reach_cell(reached.get(facts.ids[index], [])) for index in rows]
        columns["reach"] = pa.array(cells, pa.string())
    unscored = tuple(
        UnscoredRow(facts.ids[index], unscored_reason(outcome, index))
        for index in np.flatnonzero(~consensus.scored).tolist()
    )
    return Board("submissions", pa.table(columns), unscored, PLACES)


def validators_board(outcome: Outcome) -> Board:
    """Lay out each validator's share of stake, and how far from the others it evaluates.

    ``mean_abs_z`` is the mean |z| of its evaluations of submissions with enough evaluations for
    outliers; empty where there is none. Order: share of stake, then id.
    """
    network, reports = outcome.network, outcome.consensus.reports
    scored = np.flatnonzero(reports.registered)
    shares = publish(reports.stakes[scored] / outcome.total_stake, places=PLACES)
    ids = pa.array([network.facts.validators[index] for index in scored], pa.string())
    order, ranks = ranking(ids, [-shares], shared=False)
    rows = scored[order]
    counts = reports.counted[network.eligibility.is_original].sum(axis=0)
    flags = outcome.consensus.flagged[network.eligibility.is_original].sum(axis=0)
    far = mean_abs_z(outcome)
    columns = {
        "rank": ranks,
        "id": ids.take(order),
        "score": shares[order],
        "stake": reports.stakes[rows],
        "evaluations": counts[rows],
        "flagged": flags[rows],
        "mean_abs_z": pa.array([far[index] for index in rows], pa.float64()),
    }
    unscored = tuple(
        UnscoredRow(
            network.facts.validators[index], f"has no stake at or before epoch {reports.epoch}"
        )
        for index in np.flatnonzero(~reports.registered).tolist()
    )
    return Board("validators", pa.table(columns), unscored, PLACES)


def mean_abs_z(outcome: Outcome) -> list[float | None]:
    """Average |z| over each validator's evaluations that could be outliers; None without any."""
    tested = tested_cells(outcome)
    counts = tested.sum(axis=0)
    sums = np.where(tested, np.abs(outcome.z_scores), 0.0).sum(axis=0)
    means = publish(np.divide(sums, counts, out=np.zeros(len(counts)), where=counts > 0))
    return [
        mean if count else None for mean, count in zip(means.tolist(), counts.tolist(), strict=True)
    ]


def tested_cells(outcome: Outcome) -> npt.NDArray[np.bool_]:
    """Return which evaluations had enough company to be tested for outliers."""
    counted = outcome.consensus.reports.counted
    least = np.array([rules.outlier_min_values for rules in outcome.network.of_competition])
    enough = counted.sum(axis=1) >= least[outcome.submissions.competitions]
    enough &= outcome.network.eligibility.is_original
    cells: npt.NDArray[np.bool_] = counted & enough[:, None]
    return cells


def competitions_board(outcome: Outcome) -> Board:
    """Lay out each competition's top score, its last improvement and its decay.

    Order: top score, then id.
    """
    network, allocation = outcome.network, outcome.allocation
    competitions = network.facts.competitions
    tops = [state.top for state in allocation.states]
    scored = np.array([index for index, top in enumerate(tops) if top is not None], dtype=np.int64)
    scores = publish(np.array([top for top in tops if top is not None]), places=PLACES)
    ids = pa.array([competitions[index].id for index in scored], pa.string())
    order, ranks = ranking(ids, [-scores], shared=False)
    rows = scored[order]
    states = [allocation.states[index] for index in rows]
    bests = np.zeros(len(competitions))
    np.maximum.at(bests, outcome.submissions.competitions, outcome.consensus.scores)
    columns = {
        "rank": ranks,
        "id": ids.take(order),
        "score": scores[order],
        "top": scores[order],
        "best": publish(bests[rows], places=PLACES),
        "last_improvement": np.array([s.last_improvement for s in states], dtype=np.int64),
        "stale": np.array(
            [
                staleness(network.of_competition[index], state, allocation.epoch)
                for index, state in zip(rows, states, strict=True)
            ],
            dtype=np.int64,
        ),
        "burn_percent": publish(allocation.burn_percents[rows]),
        "emission_share": np.array([competitions[index].emission_share for index in rows]),
        "miners": np.bincount(allocation.shares.competitions, minlength=len(competitions))[rows],
    }
    unscored = tuple(
        UnscoredRow(
            competitions[index].id, f"nobody has scored above 0 up to epoch {allocation.epoch}"
        )
        for index, top in enumerate(tops)
        if top is None
    )
    return Board("competitions", pa.table(columns), unscored, PLACES)
