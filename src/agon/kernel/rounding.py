"""Round decimals half away from zero, and shares so that they add up to a total."""

from collections.abc import Callable
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import overload

import numpy as np
import numpy.typing as npt

from agon.errors import NotScorable
from agon.kernel.arrays import FloatArray, IntArray

U16 = 65_535

_MAX_PLACES = 15  # decimals a double carries
_NO_FRACTION = 2.0**49  # above it a scaled double has too few bits left to show a half
_STEP_NOISE = 1e-9  # of one grid step; a sum of floats ends this close to a half, data do not
_INTEGRAL = 2.0**52  # from here on doubles are integers
_DIGITS = Context(prec=40)  # 2^52 with 15 decimals has 31 digits
_HALF = 0.5
_PART = 1 << 16  # numbers rounded at a time, which fit into the processor's cache
_ULPS = 4 * np.finfo(np.float64).eps


@overload
def half_away(x: float, *, places: int = 0) -> float: ...
@overload
def half_away(x: FloatArray, *, places: int = 0) -> FloatArray: ...
def half_away(x: float | FloatArray, *, places: int = 0) -> float | FloatArray:
    """Round to ``places`` decimals, a half away from zero.

    A number means its shortest decimal: ``1.005`` is a half of 0.01 although the nearest double
    is below it. Return a number for a number, an array (float64, same shape) for an array;
    never ``-0``.

    Raises:
        ValueError: when ``places`` is not 0 … 15 or a number is not finite.

    Source: document 003, Elo (+8/-8, +24/-24); document 001, Weight Normalization (``round``).

    Example:
        >>> half_away(2.5), half_away(-2.5), half_away(0.49999999999999994)
        (3.0, -3.0, 0.0)
        >>> half_away(1.005, places=2), half_away(-0.285, places=2)
        (1.01, -0.29)
    """
    values, scaled, integral = _split(x, places)
    fraction = scaled - integral
    rounded = (integral + (fraction >= _HALF)) / 10.0**places
    if places:
        # Scaling moved these by an ulp or two: their decimals decide.
        unsure = (np.abs(fraction - _HALF) <= _ULPS * scaled) | (scaled >= _NO_FRACTION)
        unsure &= np.abs(values) < _INTEGRAL
        grid = Decimal(1).scaleb(-places)
        rounded[unsure] = [
            float(Decimal(repr(value)).quantize(grid, ROUND_HALF_UP, _DIGITS))
            for value in np.abs(values[unsure]).tolist()
        ]
    rounded = np.where(np.abs(values) < _INTEGRAL, rounded, np.abs(values))
    return _with_signs(rounded, values, x)


@overload
def publish(x: float, *, places: int = 6) -> float: ...
@overload
def publish(x: FloatArray, *, places: int = 6) -> FloatArray: ...
def publish(x: float | FloatArray, *, places: int = 6) -> float | FloatArray:
    """Round a computed score to the grid of ``10^-places`` for publication and ranking.

    As :func:`half_away`, but a value within computing noise (a billionth of a step, or
    4 ulp) below a half counts as that half: scores that differ only in the order of a sum are
    published equal. Publishing is idempotent.

    Raises:
        ValueError: when ``places`` is not 0 … 15 or a number is not finite.

    Source: CONTRIBUTING, habit 7.

    Example:
        >>> publish(2 / 3), publish(11 + 1 / 3), publish(-1e-9)
        (0.666667, 11.333333, 0.0)
        >>> publish(1.1 + 2.2 + 0.0000005)  # 3.3000005000000003 or ...04999..., by order
        3.300001
    """
    if isinstance(x, np.ndarray) and x.size > _PART:
        parts = (
            publish(x[index : index + _PART], places=places) for index in range(0, len(x), _PART)
        )
        return np.concatenate(list(parts))
    values, scaled, integral = _split(x, places)
    half = _HALF - np.minimum(_STEP_NOISE + _ULPS * scaled, 0.25)
    rounded = (integral + (scaled - integral >= half)) / 10.0**places
    if (large := scaled >= _NO_FRACTION).any():  # noise is below their resolution
        rounded[large] = half_away(np.abs(values[large]), places=places)
    return _with_signs(rounded, values, x)


def sufficient(near: float, enough: Callable[[float], bool], *, places: int = 6) -> float:
    """Return the number closest to ``near`` on the grid of ``10^-places`` that is enough.

    For sentences such as "at least X": X is rounded, but never below what is needed.

    Args:
        near: the exact number.
        enough: whether a number is enough; true for every number above one that is.
        places: decimals of the grid, 0 … 15.

    Example:
        >>> sufficient(0.8160000000000001, lambda x: x >= 0.816), sufficient(1 / 3, (1 / 3).__le__)
        (0.816, 0.333334)
    """
    value = publish(near, places=places)
    return value if enough(value) else publish(value + 10.0**-places, places=places)


def u16(weights: npt.ArrayLike) -> IntArray:
    """Scale weights in 0 … 1 to integers: w x 65535, each rounded half away from zero.

    The result need not sum to 65535; :func:`largest_remainder` does.

    Raises:
        ValueError: when a weight is not finite or outside 0 … 1 (by more than a billionth).

    Source: document 001, Weight Normalization.

    Example:
        >>> u16([0.5, 0.3, 0.2]).tolist()  # 32767.5, 19660.5, 13107
        [32768, 19661, 13107]
    """
    shares = np.asarray(weights, dtype=np.float64)
    if not (np.abs(shares - _HALF) <= _HALF + _STEP_NOISE).all():  # NaN fails as well
        raise ValueError("expected weights from 0 to 1, got another value; normalize weights first")
    return publish(np.clip(shares, 0.0, 1.0) * U16, places=0).astype(np.int64)


def largest_remainder(weights: npt.ArrayLike, *, total: int = U16) -> IntArray:
    """Divide ``total`` units in proportion to weights into integers that sum to it exactly.

    Each gets the integer part of its quota total x w / Σw; the units left over go one each to the
    largest fractional parts. Fractional parts that differ by less than computing noise
    (``total`` x 2^-40) are equal, and among equals the earlier position gets the unit.

    Raises:
        NotScorable: when no weight is above zero.
        ValueError: when a weight is negative or not finite, or ``total`` is negative or ≥ 2^32.

    Source: challenge, step 11 (rule ``rounding``).

    Example:
        >>> largest_remainder([1, 1, 1], total=10).tolist()
        [4, 3, 3]
        >>> int(largest_remainder([0.5, 0.3, 0.2]).sum())
        65535
    """
    parts = np.asarray(weights, dtype=np.float64)
    if not 0 <= total < 2**32:
        raise ValueError(f"expected a total from 0 to 2^32 - 1, got {total}")
    if not (np.isfinite(parts).all() and (parts >= 0).all()):
        raise ValueError("a weight is negative or not finite")
    largest = parts.max(initial=0.0)
    if largest == 0:
        raise NotScorable("no weight is above zero; give at least one that is")
    shares = parts / largest  # so that neither sum nor product can overflow
    quotas = shares / shares.sum() * total
    units = np.floor(quotas)
    noise = max(total, 1) * 2.0**-40
    remainders = np.rint((quotas - units) / noise)
    remaining = total - int(units.sum())
    units[np.argsort(-remainders, kind="stable")[:remaining]] += 1
    return units.astype(np.int64)


def _split(x: float | FloatArray, places: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the numbers, their absolute values in grid steps, and the integer part of those."""
    if not 0 <= places <= _MAX_PLACES:
        raise ValueError(f"expected 0 to {_MAX_PLACES} decimals, got {places}")
    values = np.atleast_1d(np.asarray(x, dtype=np.float64))
    if not np.isfinite(values).all():
        raise ValueError("expected finite numbers to round, got another")
    with np.errstate(over="ignore"):
        scaled = np.abs(values) * 10.0**places
    if places:
        scaled = np.minimum(scaled, 2 * _NO_FRACTION)  # beyond it the decimals decide
    return values, scaled, np.floor(scaled)


def _with_signs(
    rounded: FloatArray, values: FloatArray, x: float | FloatArray
) -> float | FloatArray:
    """Return absolute values with their signs (zero has none), in the shape of the input."""
    signed = np.copysign(rounded, values) + 0.0  # -0.0 + 0.0 is 0.0
    return signed if isinstance(x, np.ndarray) else float(signed[0])
