"""The weights of all epochs of a challenge, and a forecast of the next ones.

Everything is computed from a scored challenge (`agon.app.analysis.score.score`): its rules, its
records, the epoch it was scored at. The formulas are those of the discipline.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from agon.app.analysis.score import Result
from agon.disciplines.challenge.bittensor import (
    WeightsPayload,
    left_out_of_payload,
    left_out_text,
)
from agon.disciplines.challenge.decay import DecayState
from agon.disciplines.challenge.emission import amount
from agon.disciplines.challenge.explanations.competitions import forecast as maximum_in
from agon.disciplines.challenge.explanations.competitions import (
    improvement_text,
    to_improve,
    unimprovable_text,
)
from agon.disciplines.challenge.formulas import PLACES
from agon.disciplines.challenge.outcome import Outcome
from agon.disciplines.challenge.rules import ChallengeRules
from agon.disciplines.challenge.scoring import ScoredChallenge
from agon.disciplines.challenge.weights import (
    WeightHistory,
    all_weights,
    allocate,
    current_burn_percent,
    staleness,
)
from agon.errors import NotFound, Unreadable, did_you_mean
from agon.kernel.fingerprints import sha256_lines
from agon.kernel.rounding import publish

CURVES = ("linear", "exponential")
MAX_WEIGHTS = 20_000_000
"""Maximum number of weights computed together; with an epoch number that is in fact a time in
milliseconds they would not fit into memory."""

MIN_AHEAD, MAX_AHEAD = 10, 100
PLATEAU = 3
"""Default number of epochs of a forecast: ``PLATEAU`` beyond the last maximum, at least 10, at most
100."""


def outcome_of(result: Result) -> Outcome:
    """Return the scored epoch of a challenge.

    Raises:
        TypeError: the result is another discipline's.
    """
    return _scored_challenge(result).outcome


def cautions(result: Result) -> list[str]:
    """Return warnings: why a result may not be the network's present weights."""
    outcome = outcome_of(result)
    epoch, recorded = outcome.epoch, outcome.network.facts.epochs
    last = outcome.network.facts.last_epoch
    warnings = []
    if epoch > last:
        warnings.append(
            f"epoch {epoch} is after the last one in the records, {last}: the evaluations of then "
            "are carried forward, and decay goes on"
        )
    elif len(recorded) and epoch < int(recorded[0]):
        warnings.append(f"epoch {epoch} is before the first one in the records, {int(recorded[0])}")
    return warnings


def payload_cautions(result: Result) -> list[str]:
    """Return warnings: why a payload may not be what the network should get, or leaves out some."""
    lost = left_out_of_payload(result.board("weights"))
    return [*_imported_uids(result), *([left_out_text(lost)] if lost else [])]


def _imported_uids(result: Result) -> list[str]:
    """Return the warning about uids that an import has numbered, if there are any."""
    rows = result.records.sql(
        "SELECT count(*) AS n, min(miner_uid) AS first FROM submissions WHERE uid_from = 'import'"
    ).to_pylist()
    count, first = rows[0]["n"], rows[0]["first"]
    warning = (
        f"{count:,} submissions have miner_uids that an import has numbered, such as {first}: they "
        "are no uids of a subnet; give the subnet's own in submissions.miner_uid"
    )
    return [warning] if count else []


def payload_of(result: Result) -> WeightsPayload:
    """Return the scored epoch's weights as a Bittensor network takes them."""
    return _scored_challenge(result).payload()


def _scored_challenge(result: Result) -> ScoredChallenge:
    if not isinstance(result.scored, ScoredChallenge):
        raise TypeError(f"{result.discipline.name} has no epochs")
    return result.scored


@dataclass(frozen=True)
class EpochWeights:
    """The weights of many epochs, with the result they come from.

    ``table`` has a row for each uid with a weight above 0, and one for the uid that burns in every
    epoch; by epoch, then uid: ``epoch``, ``uid``, ``weight``, ``u16``, ``burn`` (what burns in that
    epoch), and ``amount`` where the rule ``emission_total`` is set.
    """

    result: Result
    epochs: range
    table: pa.Table

    def rows(self, *, since: int | None = None) -> Iterator[dict[str, Any]]:
        """Yield the rows as plain values, from epoch ``since`` on (None: all)."""
        begins = 0 if since is None else int(np.searchsorted(self.table["epoch"].to_numpy(), since))
        for batch in self.table.slice(begins).to_batches(65_536):
            yield from batch.to_pylist()

    @cached_property
    def sha256(self) -> str:
        """Hash the weights: one canonical JSON line per row, in order."""
        return sha256_lines(self.rows())

    def to_dict(self) -> dict[str, Any]:
        """Return the weights with their provenance as a plain value."""
        return {
            **self.result.provenance(),
            "board": "weights",
            "board_sha256": self.sha256,
            "epochs": {"first": self.epochs[0], "last": self.epochs[-1]},
            "rows": list(self.rows()),
        }


def span(result: Result) -> range:
    """Return all epochs from the first in the records to the one that was scored."""
    outcome = outcome_of(result)
    recorded = outcome.network.facts.epochs
    first = int(recorded[0]) if len(recorded) else outcome.epoch
    return range(min(first, outcome.epoch), outcome.epoch + 1)


def weigh_epochs(result: Result) -> EpochWeights:
    """Return the weights of all epochs up to the scored one, computed in one pass.

    An epoch in which no stake is registered has no scores, so everything burns.

    Raises:
        Unreadable: the epochs are too many for one table.
    """
    network = outcome_of(result).network
    epochs = span(result)
    if len(epochs) * (len(network.uids) + 1) > MAX_WEIGHTS:
        raise Unreadable(
            f"the records span {len(epochs):,} epochs, {epochs[0]:,} to {epochs[-1]:,}, of "
            f"{len(network.uids):,} miners; score single epochs, or number epochs without gaps"
        )
    history = all_weights(network.facts, network.rules, epochs=epochs)
    return EpochWeights(result, epochs, _table(history, network.rules))


def _table(history: WeightHistory, rules: ChallengeRules) -> pa.Table:
    """Return a history as rows, with weights on the grid of the board of weights."""
    exact = np.column_stack([history.burn, history.weights])
    uids = np.concatenate([[rules.burn_uid], history.uids])
    nonzero = exact > 0
    nonzero[:, 0] = True
    rows, columns = np.nonzero(nonzero)
    weights = publish(exact[rows, columns], places=PLACES)
    table = {
        "epoch": history.epochs[rows],
        "uid": uids[columns],
        "weight": weights,
        "u16": history.u16()[rows, columns],
        "burn": publish(exact[:, 0], places=PLACES)[rows],
    }
    if (total := rules.emission_total) is not None:
        amounts = [amount(share, emission_total=total) for share in exact[rows, columns].tolist()]
        table["amount"] = np.array(amounts)
    return pa.table(table)


@dataclass(frozen=True)
class Decay:
    """The decay of a competition if no score improves.

    Attributes:
        competition: its id.
        rules: the rules in force there.
        emission_share: α, its share of all emission.
        state: its improvements so far.
        epochs: the scored epoch and those ahead.
    """

    competition: str
    rules: ChallengeRules
    emission_share: float
    state: DecayState
    epochs: range

    @property
    def stale(self) -> list[int]:
        """τ in each epoch."""
        return [staleness(self.rules, self.state, epoch) for epoch in self.epochs]

    @cached_property
    def curves(self) -> dict[str, list[float]]:
        """B in each epoch, in percent, by both curves."""
        by_curve = {curve: self.rules.override({"decay_curve": curve}) for curve in CURVES}
        return {
            curve: [
                publish(current_burn_percent(rules, self.state, epoch)) for epoch in self.epochs
            ]
            for curve, rules in by_curve.items()
        }

    @property
    def burning(self) -> list[float]:
        """B in each epoch, in percent, by the curve in force."""
        return self.curves[self.rules.decay_curve]

    @property
    def begins_in(self) -> int | None:
        """The first epoch in which something burns by decay; None: never."""
        last = self.state.last_improvement
        if last is None or self.rules.decay_rate == 0 or self.rules.max_burn == 0:
            return None
        return last + self.rules.grace_epochs + 1

    @property
    def full_in(self) -> int | None:
        """The first epoch in which the burn is at its maximum; None: never."""
        last = self.state.last_improvement
        return None if last is None or self.begins_in is None else maximum_in(self.rules, last)

    @property
    def note(self) -> str | None:
        """Return a note that all emission burns, or that no score can improve."""
        if self.state.last_improvement is None:
            return "no score is above 0, so its entire share burns"
        return unimprovable_text(self.rules, self.state) if self.improves_at is None else None

    @property
    def improves_at(self) -> float | None:
        """The least score that improves and resets the decay; None where not even 1 does."""
        return to_improve(self.rules, self.state)

    def to_dict(self) -> dict[str, Any]:
        """Return a plain value for JSON."""
        return {
            "id": self.competition,
            "emission_share": self.emission_share,
            "top": None if self.state.top is None else publish(self.state.top, places=PLACES),
            "last_improvement": self.state.last_improvement,
            "improves_at": self.improves_at,
            "improvement": None
            if self.improves_at is None
            else improvement_text(self.rules, self.improves_at),
            "note": self.note,
            "stale": self.stale[0],
            "burn_percent": self.burning[0],
            "grace_epochs": self.rules.grace_epochs,
            "decay_curve": self.rules.decay_curve,
            "decay_rate": self.rules.decay_rate,
            "max_burn": self.rules.max_burn,
            "decay_begins_in_epoch": self.begins_in,
            "maximum_in_epoch": self.full_in,
        }


@dataclass(frozen=True)
class Forecast:
    """Burn and decay of the next epochs if all scores stay those of the scored epoch.

    Attributes:
        result: the scored challenge.
        epochs: the scored epoch and those ahead.
        decays: one for each requested competition.
        burn: what burns in each epoch, as a share of the network.
    """

    result: Result
    epochs: range
    decays: tuple[Decay, ...]
    burn: list[float]

    def table(self) -> pa.Table:
        """Return a row per competition and epoch, in that order."""
        parts = [
            pa.table(
                {
                    "competition": pa.array([decay.competition] * len(self.epochs), pa.string()),
                    "epoch": pa.array(self.epochs, pa.int64()),
                    "stale": pa.array(decay.stale, pa.int64()),
                    "burn_percent": decay.burning,
                    **decay.curves,
                    "network_burn": self.burn,
                }
            )
            for decay in self.decays
        ]
        return pa.concat_tables(parts)

    def to_dict(self) -> dict[str, Any]:
        """Return the forecast with its provenance as a plain value."""
        return {
            **self.result.provenance(),
            "epoch": self.epochs[0],
            "epochs_ahead": len(self.epochs) - 1,
            "competitions": [decay.to_dict() for decay in self.decays],
            "rows": self.table().to_pylist(),
        }


def forecast(
    result: Result, *, ahead: int | None = None, competition: str | None = None
) -> Forecast:
    """Return how the burn grows if all scores stay those of the scored epoch.

    Args:
        result: a scored challenge.
        ahead: number of epochs; None: some beyond the last maximum, 10 to 100.
        competition: id of one competition; None: all.

    Raises:
        NotFound: there is no such competition.

    Source: document 001, Decay Curves; challenge, step 8.
    """
    outcome = outcome_of(result)
    network, allocation = outcome.network, outcome.allocation
    names = [item.id for item in network.facts.competitions]
    if competition is not None and competition not in names:
        raise NotFound(
            f"there is no competition {competition!r}: {did_you_mean(competition, names)}"
        )
    decays = [
        Decay(item.id, rules, item.emission_share, state, range(0))
        for item, rules, state in zip(
            network.facts.competitions, network.of_competition, allocation.states, strict=True
        )
        if competition in {None, item.id}
    ]
    if ahead is None:
        last = max((item.full_in or 0 for item in decays), default=0)
        ahead = min(max(last + PLATEAU - outcome.epoch, MIN_AHEAD), MAX_AHEAD)
    epochs = range(outcome.epoch, outcome.epoch + ahead + 1)
    burn = [allocate(network, epoch, allocation.shares, allocation.states).burn for epoch in epochs]
    return Forecast(
        result,
        epochs,
        tuple(replace(item, epochs=epochs) for item in decays),
        publish(np.minimum(burn, 1.0), places=PLACES).tolist(),
    )
