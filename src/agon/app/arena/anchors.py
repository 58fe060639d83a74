"""Shift ratings so that named bots have the ratings stated for them.

Ratings have an origin by convention: only differences predict results. An anchor moves the origin.
With anchors a_1 … a_n of bots rated r_1 … r_n, c = mean(a_i - r_i) is added to all ratings and ends
of intervals. One anchor has its rating exactly; several have theirs by least squares, and the
distances that remain are noted. Ranks, differences and widths of intervals stay.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

import pyarrow as pa

from agon.errors import NotFound, Unreadable, did_you_mean
from agon.kernel.boards import Board
from agon.kernel.explanations import Explanation, Part
from agon.kernel.rounding import publish

_SHIFTED = ("score", "low", "high", "rating")


@dataclass(frozen=True)
class Anchors:
    """Ratings stated for bots, and the shift that follows.

    Attributes:
        values: the stated ratings by id.
        shift: what is added to every rating.
    """

    values: Mapping[str, float]
    shift: float

    @property
    def caption(self) -> str:
        """The anchors as a heading names them."""
        return "anchored at " + ", ".join(f"{name}={v:g}" for name, v in self.values.items())

    def shift_board(self, board: Board) -> Board:
        """Return a board with shifted ratings; its context and caption name the anchors."""
        table = board.table
        for name in _SHIFTED:
            if name in table.column_names:
                at = table.column_names.index(name)
                values = publish(table[name].to_numpy() + self.shift)
                table = table.set_column(at, name, pa.array(values))
        context = {**board.context, "anchors": {"values": dict(self.values), "shift": self.shift}}
        caption = f"{board.caption} · {self.caption}" if board.caption else self.caption
        return replace(board, table=table, context=context, caption=caption)

    def extend_explanation(self, explanation: Explanation, row: Mapping[str, Any]) -> Explanation:
        """Return an explanation of the unshifted rating with the shift as its last part.

        Args:
            explanation: the explanation of the unshifted rating.
            row: the row of the shifted board.
        """
        part = Part(
            "anchors",
            publish(row["score"] - explanation.score),
            {"anchors": dict(self.values)},
            {},
            f"All ratings are shifted by {self.shift:g}, so that they are {self.caption}.",
        )
        context = {
            name: row[name] if name in _SHIFTED and name in row else value
            for name, value in explanation.context.items()
        }
        notes = explanation.notes
        if notes:
            notes = (
                *notes,
                f"ratings in texts and notes are those before the shift of {self.shift:g}",
            )
        return replace(
            explanation,
            score=row["score"],
            parts=(*explanation.parts, part),
            notes=notes,
            context=context,
        )


def anchors_of(board: Board, values: Any) -> Anchors:
    """Return the anchors of a board.

    Raises:
        NotFound: a bot has no rating on the board.
        Unreadable: the anchors are not finite numbers by id.

    Example:
        >>> board = Board("bots", pa.table({"rank": [1, 2], "id": ["ann", "bob"],
        ...                                 "score": [1016.0, 984.0]}))
        >>> anchors_of(board, {"bob": 1000}).shift_board(board).rows()[0]["score"]
        1032.0
        >>> anchors_of(board, {"ann": 1100, "bob": 1000}).shift
        50.0
    """
    if not isinstance(values, Mapping) or not values:
        raise Unreadable(f"anchor is {values!r}; give ratings by id, as in {{'gpt-4': 1000}}")
    ratings = dict(
        zip(board.table["id"].to_pylist(), board.table["score"].to_pylist(), strict=True)
    )
    stated = {str(name): _number(str(name), value) for name, value in values.items()}
    if missing := [name for name in stated if name not in ratings]:
        raise NotFound(
            f"anchor: no bot {missing[0]!r} has a rating: {did_you_mean(missing[0], ratings)}"
        )
    distances = [value - ratings[name] for name, value in stated.items()]
    return Anchors(stated, publish(sum(distances) / len(distances)))


def _number(name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = float("nan")
    if not isfinite(number):
        raise Unreadable(f"anchor {name!r} is {value!r}; give a number such as 1000")
    return number
