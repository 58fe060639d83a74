"""Say quickly whether directed edges lead from one node to all others, as on most boards."""

from typing import Final

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.integer]

_MAX_ROUNDS: Final = 16  # a circle of thousands takes as many rounds; its groups are found by scipy


def reaches_all(sources: Numbers, targets: Numbers, *, nodes: int) -> bool:
    """Return whether every node is at most 16 edges away from node 0.

    scipy finds any groups, and takes a fifth of a second to import; boards of which it would find
    a single group do without it.

    Args:
        sources: the node at the beginning of each edge.
        targets: the node at its end.
        nodes: how many nodes there are.

    Example:
        >>> reaches_all(np.array([0, 1]), np.array([1, 2]), nodes=3)
        True
        >>> reaches_all(np.array([1, 2]), np.array([0, 1]), nodes=3)
        False
    """
    reached = np.arange(nodes) == 0
    for _ in range(_MAX_ROUNDS):
        if reached.all():
            return True
        before = np.count_nonzero(reached)
        reached[targets[reached[sources]]] = True
        if np.count_nonzero(reached) == before:
            return False
    return bool(reached.all())
