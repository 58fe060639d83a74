"""Rate bots so that named ones, the anchors, have the ratings stated for them.

Ratings have an origin by convention: only differences predict results. One anchor moves the origin:
all ratings and ends of intervals are shifted; ranks, differences and widths stay. Several anchors
state differences, too. Bradley–Terry holds them, and the likelihood is maximized over the other
bots (:mod:`agon.kernel.ratings.anchored_fit`); intervals are then about the distance to the
anchors, whose own have no width. Elo in order of play has no likelihood to maximize: with anchors
a_1 … a_n of bots rated r_1 … r_n, c = mean(a_i - r_i) is added to all ratings.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isfinite, log
from typing import Any

import numpy as np
import pyarrow as pa

from agon.disciplines.arena.facts import Bots
from agon.disciplines.arena.history import Standings
from agon.disciplines.arena.ratings.strength_explanations import explain_strength
from agon.disciplines.arena.ratings.strengths import (
    Strengths,
    publish_strengths,
    resampling_of,
    strengths_board,
)
from agon.disciplines.arena.rules import ArenaRules
from agon.errors import NotFound, NotScorable, Unreadable, did_you_mean
from agon.kernel.boards import Board
from agon.kernel.explanations import Explanation, Part
from agon.kernel.ratings.anchored_fit import hold_anchors
from agon.kernel.ratings.intervals import Intervals
from agon.kernel.rounding import publish

_SHIFTED = ("score", "low", "high", "rating", "plain_score")
_MAX_BOTS = 5000  # above it the matrices take minutes and gigabytes


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
        return caption_of(self.values)

    def shift_board(self, board: Board) -> Board:
        """Return a board with shifted ratings; its context and caption name the anchors."""
        table = board.table
        for name in _SHIFTED:
            if name in table.column_names:
                index = table.column_names.index(name)
                values = publish(table[name].to_numpy() + self.shift)
                table = table.set_column(index, name, pa.array(values))
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


@dataclass(frozen=True)
class HeldAnchors:
    """Ratings stated for several bots, and the Bradley–Terry fit that holds them.

    Attributes:
        values: the stated ratings by id.
        strengths: the ratings of all bots where the anchors have theirs.
        bots: all bots.
        rules: the rules of the fit.
        board: the ratings by rank.
    """

    values: Mapping[str, float]
    strengths: Strengths
    bots: Bots
    rules: ArenaRules
    board: Board

    def explain(self, name: str) -> Explanation:
        """Explain a rating: the mean of the anchors, and the distance to it.

        Raises:
            NotFound: there is no such bot.
        """
        row = self.board.row(name)
        explanation = explain_strength(
            self.bots.ids.index(name).as_py(),
            board=self.board,
            bots=self.bots,
            strengths=self.strengths,
            rules=self.rules,
        )
        origin = sum(self.values.values()) / len(self.values)
        held = "This bot is one of them." if name in self.values else ""
        anchors = Part(
            "anchors",
            publish(origin),
            {"anchors": dict(self.values)},
            {},
            f"The ratings are {caption_of(self.values)}, with mean {origin:g}. {held}".strip(),
        )
        strength = replace(explanation.parts[-1], points=publish(row["score"] - origin))
        return replace(explanation, parts=(anchors, strength))


def hold(
    board: Board,
    values: Any,
    *,
    bots: Bots,
    standings: Standings,
    strengths: Strengths,
    rules: ArenaRules,
) -> HeldAnchors:
    """Return the Bradley–Terry ratings with several anchors held.

    Args:
        board: the board without anchors.
        values: the stated ratings by id.
        bots: all bots.
        standings: their matches.
        strengths: the fit without anchors.
        rules: the rules of the fit.

    Raises:
        NotFound, Unreadable: as :func:`anchors_of` does.
        NotScorable: there are too many bots, or the anchors are too far from the matches.
    """
    stated = anchors_of(board, values).values
    if strengths.model is not None:
        raise NotScorable(
            "several anchors are held by the plain model: state one, or set ties=half, "
            "position=ignored and no control"
        )
    if strengths.counts.players > _MAX_BOTS:
        raise NotScorable(
            f"several anchors among {strengths.counts.players:,} bots need too much "
            "memory: state one"
        )
    intervals = _fit_intervals(stated, bots, strengths, rules)
    names = [str(name) for name in bots.ids.take(pa.array(strengths.bots)).to_pylist()]
    origin = next(iter(stated.values()))
    anchored = replace(
        publish_strengths(
            strengths.bots, strengths.counts, intervals, rules, names=names, origin=origin
        ),
        unrated=strengths.unrated,
        clusters=strengths.clusters,
        notes=strengths.notes,
    )
    shown = strengths_board(bots, standings, anchored, rules)
    shown = replace(
        shown,
        context={**shown.context, "anchors": {"values": dict(stated), "held": True}},
        caption=f"{shown.caption} · {caption_of(stated)}",
    )
    return HeldAnchors(stated, anchored, bots, rules, shown)


def _fit_intervals(
    stated: Mapping[str, float], bots: Bots, strengths: Strengths, rules: ArenaRules
) -> Intervals:
    """Fit log-strengths while those of the anchors are held, with their intervals."""
    unit = log(10.0) / rules.elo_scale
    rows = np.searchsorted(strengths.bots, [bots.ids.index(name).as_py() for name in stated])
    held = {
        int(row): (value - rules.elo_start) * unit
        for row, value in zip(rows, stated.values(), strict=True)
    }
    fit = hold_anchors(
        strengths.counts,
        held,
        regularization=rules.bradley_terry_regularisation,
        start=(strengths.score - rules.elo_start) * unit,
    )
    if rules.interval == "bootstrap":
        return fit.bootstrap(resampling_of(rules), clusters=strengths.clusters)
    return fit.intervals(level=rules.confidence, clusters=strengths.clusters)


def caption_of(values: Mapping[str, float]) -> str:
    """Return anchors as a heading names them."""
    return "anchored at " + ", ".join(f"{name}={value:g}" for name, value in values.items())


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
