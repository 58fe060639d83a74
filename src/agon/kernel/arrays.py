"""Types of arrays, which modules of all disciplines name, and the order of numbers in one."""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

IntArray: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
ShortArray: TypeAlias = npt.NDArray[np.int32]


def stable_order(numbers: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.intp]:
    """Return the order of numbers from 0 up that keeps the order of equals; small ones by radix.

    Example:
        >>> stable_order(np.array([1, 0, 1, 0])).tolist()
        [1, 3, 0, 2]
    """
    if (numbers[1:] >= numbers[:-1]).all():
        return np.arange(len(numbers))
    small = numbers.max() <= np.iinfo(np.uint16).max
    return np.argsort(numbers.astype(np.uint16) if small else numbers, kind="stable")
