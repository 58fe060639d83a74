"""Consensus guarantees of Yuma: the honest utility that keeps an honest majority's stake.

512 nodes, 64 of them validators; 60 % of stake, validators and servers are honest. The honest
validators give the weight W_H to honest servers, the others W_C to their own. An epoch pays the
servers by the stake-weighted weights, each clipped at the weight that at least half of the stake
supports, and the validators by their bonds with the servers. The honest side keeps its stake if its
part of the emission is at least 60 %. The figure is the least W_H that suffices for every W_C.

Source: opentensor/subtensor, docs/consensus.md (Consensus guarantees: 60, 67 and 73 % for weight
deviations of 0, .2 and .4; 78, 76 and 73 % for bonds penalties β of 0, .5 and 1; 82, 78 and 73 %
for emission ratios ξ of 0, .25 and .5) and map_consensus_guarantees in its tests of epochs.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from benchmarks.published.figures import Figure, Sources

FloatArray = npt.NDArray[np.float64]

SOURCE = "Yuma consensus guarantees (subtensor, docs/consensus.md)"

_NODES, _VALIDATORS, _HONEST = 512, 64, 0.6
_STAKE_DEVIATION = 0.3
_STEPS = 8  # of the bisection: 1/256 of utility


@dataclass(frozen=True)
class Network:
    """A network in which two sides weigh their own servers and those of the other side.

    Attributes:
        stakes: one per validator, sum 1; the honest ones first.
        honest: number of honest validators.
        honest_servers: number of honest servers.
        on_honest, on_others: how each validator divides a weight of 1 among the honest servers
            and among the others (validators × servers).
    """

    stakes: FloatArray
    honest: int
    honest_servers: int
    on_honest: FloatArray
    on_others: FloatArray

    @classmethod
    def draw(cls, *, deviation: float, seed: int) -> "Network":
        """Draw a network whose weights deviate by a part of their mean."""
        generator = np.random.default_rng(seed)

        def parts(count: int, spread: float) -> FloatArray:
            sizes = np.maximum(0.0, 1.0 + spread * generator.standard_normal(count))
            return np.asarray(sizes / sizes.sum())

        servers = _NODES - _VALIDATORS
        honest, honest_servers = int(_HONEST * _VALIDATORS), int(_HONEST * servers)
        stakes = np.concatenate(
            [
                _HONEST * parts(honest, _STAKE_DEVIATION),
                (1 - _HONEST) * parts(_VALIDATORS - honest, _STAKE_DEVIATION),
            ]
        )
        weights = np.zeros((2, _VALIDATORS, servers))
        for row in range(_VALIDATORS):
            weights[0, row, :honest_servers] = parts(honest_servers, deviation)
            weights[1, row, honest_servers:] = parts(servers - honest_servers, deviation)
        return cls(stakes, honest, honest_servers, weights[0], weights[1])

    def honest_emission(
        self, utility: float, self_weight: float, *, penalty: float, ratio: float
    ) -> float:
        """Return the part of an epoch's emission that the honest side gets.

        Args:
            utility: W_H, the weight that the honest validators give to honest servers.
            self_weight: W_C, the weight that the others give to their own.
            penalty: β, how far bonds are cut above consensus.
            ratio: ξ, the validators' part of the emission.
        """
        on_honest = np.full((_VALIDATORS, 1), 1.0 - self_weight)
        on_honest[: self.honest] = utility
        weights = on_honest * self.on_honest + (1 - on_honest) * self.on_others
        clipped = np.minimum(weights, supported_weights(weights, self.stakes, majority=0.5))
        ranks = self.stakes @ clipped
        incentive = ranks / ranks.sum()
        bonds = self.stakes[:, None] * ((1 - penalty) * weights + penalty * clipped)
        held = bonds.sum(axis=0)
        rewards = (bonds / np.where(held > 0, held, 1.0)) @ incentive
        validators = rewards[: self.honest].sum() / rewards.sum()
        return float(ratio * validators + (1 - ratio) * incentive[: self.honest_servers].sum())


def supported_weights(weights: FloatArray, stakes: FloatArray, *, majority: float) -> FloatArray:
    """Return for each server the largest weight that the majority of the stake supports.

    Args:
        weights: validators × servers.
        stakes: one per validator.
        majority: κ, a part of the stake.

    Example:
        >>> supported_weights(np.array([[0.9], [0.4], [0.1]]), np.array([0.4, 0.3, 0.3]),
        ...                   majority=0.5).tolist()
        [0.4]
    """
    order = np.argsort(-weights, axis=0, kind="stable")
    behind = np.cumsum(stakes[order], axis=0)
    first = np.argmax(behind >= majority * stakes.sum() - 1e-12, axis=0)
    return np.take_along_axis(weights, order, axis=0)[first, np.arange(weights.shape[1])]


def utility_needed(*, deviation: float, penalty: float, ratio: float, seed: int = 0) -> float:
    """Return the least honest utility, in percent, that keeps the stake for every self-weight.

    Args:
        deviation: σ of the weights, as a part of their mean.
        penalty: β.
        ratio: ξ.
        seed: of the draws.
    """
    network = Network.draw(deviation=deviation, seed=seed)

    def suffices(utility: float, self_weight: float) -> bool:
        emission = network.honest_emission(utility, self_weight, penalty=penalty, ratio=ratio)
        return emission >= _HONEST

    needed = 0.0
    for self_weight in np.linspace(0.0, 1.0, 21).tolist():
        if suffices(needed, self_weight):
            continue
        low, high = needed, 1.0
        for _ in range(_STEPS):
            middle = (low + high) / 2
            low, high = (low, middle) if suffices(middle, self_weight) else (middle, high)
        needed = high
    return 100 * needed


_ROWS = (
    ("σ = 0", 60.0, 0.0, 1.0, 0.5),
    ("σ = .2", 67.0, 0.2, 1.0, 0.5),
    ("σ = .4", 73.0, 0.4, 1.0, 0.5),
    ("σ = .4, β = .5", 76.0, 0.4, 0.5, 0.5),
    ("σ = .4, β = 0", 78.0, 0.4, 0.0, 0.5),
    ("σ = .4, ξ = .25", 78.0, 0.4, 1.0, 0.25),
    ("σ = .4, ξ = 0", 82.0, 0.4, 1.0, 0.0),
)
"""The published rows: β is 1 and ξ is .5 where nothing is stated."""


def figures(_: Sources) -> Iterator[Figure]:
    """Yield the utility needed in each published row."""
    for setting, theirs, deviation, penalty, ratio in _ROWS:
        yield Figure(
            name=f"honest utility needed, {setting}",
            theirs=theirs,
            ours=round(utility_needed(deviation=deviation, penalty=penalty, ratio=ratio)),
            comparison="within",
            tolerance=2,
            unit="%",
        )
