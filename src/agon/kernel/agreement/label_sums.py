"""Sum rows along labels: of cells into tasks, of tasks into cells; the two halves of EM.

Every label joins one task and one cell (a worker's giving one label). Little is summed column by
column with numpy, much by a compiled loop; both add in the same order, so the bits are the same.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from agon.kernel.compiling import compiled

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

COMPILED_FROM = 200_000
"""Labels from which compiled loops pay for their loading (numpy takes about 40 ns a label)."""


@dataclass(frozen=True, eq=False)
class LabelSums:
    """Labels sorted by task, then cell: task ``t`` has ``cell[offsets[t]:offsets[t + 1]]``."""

    cell: IntArray
    offsets: IntArray
    classes: int
    compiled: bool

    @classmethod
    def of(cls, task: IntArray, cell: IntArray, *, cells: int, classes: int) -> "LabelSums":
        """Sort labels, so that no sum depends on the order of the rows; tasks are dense."""
        keys = np.sort(task * cells + cell)
        offsets = np.concatenate([[0], np.cumsum(np.bincount(task))])
        owner = np.repeat(np.arange(len(offsets) - 1), offsets[1:] - offsets[:-1])
        return cls(keys - owner * cells, offsets, classes, len(keys) >= COMPILED_FROM)

    def into_tasks(self, rows: FloatArray, first: int, *, out: FloatArray) -> None:
        """Fill ``out[:, t]`` with the sum of ``rows[cell]`` over the labels of ``first + t``."""
        offsets = self.offsets[first : first + out.shape[1] + 1]
        if self.compiled:
            compiled(_into_tasks)(out, rows, self.cell, offsets, (0,) * self.classes)
            return
        task, cell = self._labels(offsets)
        for column, sums in enumerate(out):
            sums[:] = np.bincount(task, rows[cell, column], minlength=len(sums))

    def into_cells(self, rows: FloatArray, first: int, *, out: FloatArray) -> None:
        """Add ``rows[:, t]`` to ``out[cell]`` for each label of ``first + t``."""
        offsets = self.offsets[first : first + rows.shape[1] + 1]
        if self.compiled:
            compiled(_into_cells)(out, rows, self.cell, offsets, (0,) * self.classes)
            return
        task, cell = self._labels(offsets)
        for column, row in enumerate(rows):
            np.add.at(out[:, column], cell, row[task])

    def _labels(self, offsets: IntArray) -> tuple[IntArray, IntArray]:
        """Return the task (from 0) and the cell of each label of some tasks."""
        task = np.repeat(np.arange(len(offsets) - 1), offsets[1:] - offsets[:-1])
        return task, self.cell[offsets[0] : offsets[-1]]


def _into_tasks(out: Any, rows: Any, cell: Any, offsets: Any, columns: Any) -> None:
    """Compiled only. ``columns`` is a tuple for its length, which the compiler then knows."""
    for task in range(len(offsets) - 1):
        for column in range(len(columns)):
            out[column, task] = 0.0
        for label in range(offsets[task], offsets[task + 1]):
            source = cell[label]
            for column in range(len(columns)):
                out[column, task] += rows[source, column]


def _into_cells(out: Any, rows: Any, cell: Any, offsets: Any, columns: Any) -> None:
    """Compiled only, as :func:`_into_tasks`."""
    for task in range(len(offsets) - 1):
        for label in range(offsets[task], offsets[task + 1]):
            target = cell[label]
            for column in range(len(columns)):
                out[target, column] += rows[column, task]
