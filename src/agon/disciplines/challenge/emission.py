"""Pay miners by weight and burn the rest: emission, decay's burn, the cap, integers of 65535.

A network's emission is 1. The part no miner gets goes to UID 0, the burn address; weights and the
burn sum to 1, unless the cap's excess is dropped.
"""

from dataclasses import dataclass

import numpy as np

from agon.disciplines.challenge.formulas import NOISE
from agon.kernel import rounding
from agon.kernel.arrays import FloatArray, IntArray


@dataclass(frozen=True)
class Payout:
    """The miners' pay and the burn of one competition, as shares of all emission."""

    miners: FloatArray
    burned: float


def emission(
    shares: FloatArray, *, emission_share: float, burn_percent: float, burn_application: str
) -> Payout:
    """Divide a competition's share: miner m gets α (1 - B) w_m, the burn α B, or α without miners.

    With ``added`` miner m gets α w_m, and the burn is added to that.

    Args:
        shares: w, one per miner, summing to 1 (or all 0).
        emission_share: α, the competition's part of all emission, 0 … 1.
        burn_percent: B, in percent.
        burn_application: ``scaled`` or ``added``.

    Source: document 001, Multi-Competition Allocation and Burn Application; challenge, step 9.

    Example:
        >>> terms = {"emission_share": 0.5, "burn_percent": 40, "burn_application": "scaled"}
        >>> emission(np.array([0.75, 0.25]), **terms)
        Payout(miners=array([0.225, 0.075]), burned=0.2)
    """
    if not shares.any():
        return Payout(np.zeros_like(shares), emission_share)
    burned = burn_percent / 100
    left = 1 - burned if burn_application == "scaled" else 1.0
    return Payout(emission_share * left * shares, emission_share * burned)


def cap(weights: FloatArray, *, weight_cap: float, excess: str) -> FloatArray:
    """Limit each miner to ``weight_cap`` of all miners' weight.

    The limit is L = cap × Σ w, of the input weights. ``redistribute`` moves the part above L
    to the miners below it, in proportion to their weights, until none is above; what none can
    take is missing from the result and burns. ``burn`` and ``drop`` cut at L: min(w, L).

    Args:
        weights: one per miner, without UID 0, which is never capped.
        weight_cap: above 0, at most 1.
        excess: ``redistribute``, ``burn`` or ``drop`` (the caller assigns it).

    Returns:
        one weight per miner, none above L.

    Source: document 001, Weight Cap; challenge, step 10.

    Example:
        >>> cap(np.array([0.90, 0.06, 0.04]), weight_cap=0.5, excess="redistribute").tolist()
        [0.5, 0.3, 0.2]
        >>> cap(np.array([1.0]), weight_cap=0.5, excess="redistribute").tolist()
        [0.5]
    """
    total = float(np.sort(weights).sum())
    limit = weight_cap * total
    if excess != "redistribute":
        return np.minimum(weights, limit)
    if not (weights > limit * (1 + NOISE)).any():
        return weights
    # The larger a weight, the earlier it is capped: with the k largest at the limit, the others
    # are scaled equally to share what is left. The first k that leaves none above is the answer.
    falling = np.argsort(-weights, kind="stable")
    ordered = weights[falling]
    rest = np.cumsum(ordered[::-1])[::-1]  # of the k-th and all smaller ones
    left = np.maximum(total - limit * np.arange(len(ordered)), 0.0)
    scale = np.divide(left, rest, out=np.zeros_like(rest), where=rest > 0)
    fits = ordered * scale <= limit * (1 + NOISE)
    capped = int(fits.argmax()) if fits.any() else len(ordered)
    capped_and_scaled = np.full_like(ordered, limit)
    if capped < len(ordered):
        capped_and_scaled[capped:] = ordered[capped:] * scale[capped]
    result = np.empty_like(weights)
    result[falling] = np.minimum(capped_and_scaled, limit)
    return result


def to_u16(weights: FloatArray, *, rounding_rule: str) -> IntArray:
    """Return weights as integers of 65535, UID 0 included.

    ``nearest`` rounds each w × 65535 half away from zero; ``largest_remainder`` shares out 65535
    so that the numbers sum to it exactly.

    Raises:
        ValueError: the rounding does not exist.

    Source: document 001, Weight Normalization; challenge, step 11.

    Example:
        >>> to_u16(np.array([0.5, 0.5]), rounding_rule="nearest").tolist()  # 32767.5 each
        [32768, 32768]
        >>> to_u16(np.array([0.5, 0.5]), rounding_rule="largest_remainder").tolist()
        [32768, 32767]
    """
    if rounding_rule == "nearest":
        return rounding.u16(weights)
    if rounding_rule == "largest_remainder":
        return rounding.largest_remainder(weights)
    raise ValueError(f"there is no rounding {rounding_rule!r}")


def amount(weight: float, *, emission_total: float) -> float:
    """Return the pay of a weight: E w, on a grid of a billionth (the network's smallest coin).

    Source: document 001, Multi-Competition Allocation (E_c = α_c E_total).

    Example:
        >>> amount(0.25, emission_total=7200)
        1800.0
    """
    return rounding.publish(emission_total * weight, places=9)
