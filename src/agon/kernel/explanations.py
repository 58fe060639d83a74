"""Explanations of scores: every part with its inputs, rule, threshold, points and records.

The parts of an explanation sum to the score on the published grid; another sum is an error.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

from agon.kernel.findings import RecordRefs
from agon.kernel.text.sentences import Sentence, piece_fields
from agon.kernel.text.text_tables import html_table

if TYPE_CHECKING:
    from agon.kernel.boards import Board

_SHOWN = 10


@dataclass(frozen=True)
class NextStep:
    """The requirement of the next step, as a sentence and as the numbers in it.

    Attributes:
        text: the sentence, rounded so that doing what it says is enough.
        numbers: its numbers by name; ``more`` is the least count that it takes, such as records,
            ``points`` the least that they add.
    """

    text: str
    numbers: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Part:
    """One line of an explanation.

    Attributes:
        name: the component, event or step (``h_index``, ``match m7``, ``cap``).
        points: what it adds to the score (negative when it takes away).
        inputs: the inputs of the formula, by name.
        rules: the rules that decided, by name, with the values in force.
        text: one sentence, made from inputs and rules; a :class:`Sentence` where it names
            participants.
        threshold: the threshold to reach, or None where there is none.
        missing: the requirement of the next step, or None when there is none.
        records: the records it is based on.
        step: the numbers in ``missing``, by name, as of :class:`NextStep`.
    """

    name: str
    points: float
    inputs: Mapping[str, Any]
    rules: Mapping[str, Any]
    text: str
    threshold: float | None = None
    missing: str | None = None
    records: tuple[RecordRefs, ...] = ()
    step: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return a plain value for JSON."""
        return {
            "name": self.name,
            "points": self.points,
            "inputs": dict(self.inputs),
            "rules": dict(self.rules),
            "threshold": self.threshold,
            "text": str(self.text),
            "pieces": piece_fields(self.text),
            "missing": self.missing,
            "step": dict(self.step),
            "records": [refs.to_dict() for refs in self.records],
        }


@dataclass(frozen=True, repr=False)
class Explanation:
    """Why an id has its score on a board, or why it has none.

    ``score`` and ``rank`` are None when the id is unscored; then ``reason`` is set and ``parts``
    show how far the computation came. ``places`` is the number of decimals the board publishes.
    ``names`` are those that a contest shows of the participants it is about, by id.

    Raises:
        ValueError: when the parts do not sum to the score on that grid (an internal error).
    """

    board: str
    id: str
    rank: int | None
    score: float | None
    parts: tuple[Part, ...]
    places: int = 6
    reason: str | None = None
    notes: tuple[str, ...] = ()
    context: Mapping[str, Any] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.score is None:
            return
        total = math.fsum(part.points for part in self.parts)
        # Half a step of the grid, and the noise of adding floats of that size.
        if abs(total - self.score) > 0.5 * 10.0**-self.places + 1e-12 * (1 + abs(self.score)):
            raise ValueError(f"{self.board}/{self.id}: parts sum to {total}, score is {self.score}")

    @property
    def participants(self) -> tuple[str, ...]:
        """Return the ids of the participants it is about: its own, opponents, those in sentences.

        Example:
            >>> from agon.kernel.text.sentences import Piece
            >>> beaten = Sentence.of("Beat ", Piece.of("bob"), ".")
            >>> Explanation("bots", "ada", 1, 3.0, (Part("m1", 3.0, {}, {}, beaten),)).participants
            ('ada', 'bob')
        """
        opponents = [str(each["opponent"]) for each in self.context.get("opponents", ())]
        sentences = [*(part.text for part in self.parts), *self.notes]
        named = [
            each for text in sentences if isinstance(text, Sentence) for each in text.participants
        ]
        return tuple(dict.fromkeys([self.id, *opponents, *named]))

    @property
    def improvable(self) -> tuple[Part, ...]:
        """Return the parts that say what is missing, those first that take the least count.

        Of equal counts, those that add most points are first.

        Example:
            >>> far = Part("far", 0.0, {}, {}, "", missing="9 more", step={"more": 9})
            >>> near = Part("near", 0.0, {}, {}, "", missing="1 more", step={"more": 1})
            >>> why = Explanation("bots", "ada", 1, 0.0, (far, near))
            >>> [part.name for part in why.improvable]
            ['near', 'far']
        """
        steps = [part for part in self.parts if part.missing]
        return tuple(
            sorted(
                steps,
                key=lambda part: (part.step.get("more", math.inf), -part.step.get("points", 0.0)),
            )
        )

    def first_parts(self, most: int) -> tuple[Part, ...]:
        """Return at most ``most`` parts: the first ones, and one for the sum of all others.

        Example:
            >>> parts = tuple(Part(name, 1.0, {}, {}, "") for name in "abc")
            >>> why = Explanation("bots", "ada", 1, 3.0, parts)
            >>> [(part.name, part.points) for part in why.first_parts(2)]
            [('a', 1.0), ('2 more', 2.0)]
        """
        if len(self.parts) <= most:
            return self.parts
        shown, remaining = self.parts[: most - 1], self.parts[most - 1 :]
        rest = round(math.fsum(part.points for part in remaining), self.places)
        together = Part(f"{len(remaining):,} more", rest, {}, {}, "the parts after these, together")
        return (*shown, together)

    def first(self, most: int) -> Self:
        """Return it with ``most`` parts, notes and rows of each list of the context.

        What is left out is one part more, which makes up the sum, and is counted in the notes.

        Example:
            >>> why = Explanation("bots", "ada", 1, 0.0, (), notes=("m1", "m2"), context={"n": [1]})
            >>> why.first(1).notes
            ('m1', '1 more note')
        """
        notes = list(self.notes[:most])
        more = len(self.notes) - most
        if more > 0:
            notes.append(f"{more:,} more note{'s' if more > 1 else ''}")
        context = dict(self.context)
        for name, value in self.context.items():
            if isinstance(value, (list, tuple)) and len(value) > most:
                context[name] = list(value[:most])
                notes.append(f"{name.replace('_', ' ')}: the first {most:,} of {len(value):,}")
        return replace(self, parts=self.first_parts(most + 1), notes=tuple(notes), context=context)

    def to_dict(self) -> dict[str, Any]:
        """Return a plain value for JSON."""
        return {
            "board": self.board,
            "id": self.id,
            "rank": self.rank,
            "score": self.score,
            "reason": self.reason,
            "parts": [part.to_dict() for part in self.parts],
            "notes": [str(note) for note in self.notes],
            "note_pieces": [piece_fields(note) for note in self.notes],
            "context": dict(self.context),
            "next_steps": [part.name for part in self.improvable],
            "names": dict(self.names),
        }

    def _heading(self) -> str:
        if self.score is None:
            return f"{self.id} · {self.board} · no score: {self.reason}"
        return f"{self.id} · {self.board} · rank {self.rank} · score {self.score:.10g}"

    def __repr__(self) -> str:
        parts = self.first_parts(_SHOWN)
        lines = [f"{part.points:+10.10g}  {part.name}: {part.text}" for part in parts]
        return "\n".join([self._heading(), *lines])

    def _repr_html_(self) -> str:
        parts = self.first_parts(_SHOWN)
        columns = [
            ("part", [part.name for part in parts]),
            ("points", [f"{part.points:+.10g}" for part in parts]),
            ("why", [part.text for part in parts]),
        ]
        return html_table(columns, self._heading())


def scored_explanation(
    board: "Board",
    row: Mapping[str, Any],
    parts: Iterable[Part],
    *,
    notes: Iterable[str] = (),
    context: Mapping[str, Any] | None = None,
) -> Explanation:
    """Return the explanation of a row of a board: its rank and its score, on the board's grid.

    Raises:
        ValueError: the parts do not sum to the score (an internal error).
    """
    return Explanation(
        board=board.name,
        id=row["id"],
        rank=row["rank"],
        score=row["score"],
        parts=tuple(parts),
        places=board.places,
        notes=tuple(notes),
        context=context or {},
    )


def unscored_explanation(
    board: "Board",
    name: str,
    reason: str | None,
    parts: Iterable[Part] = (),
    *,
    notes: Iterable[str] = (),
    context: Mapping[str, Any] | None = None,
) -> Explanation:
    """Return why an id has no score on a board, with the parts that could be computed."""
    return Explanation(
        board=board.name,
        id=name,
        rank=None,
        score=None,
        parts=tuple(parts),
        places=board.places,
        reason=reason,
        notes=tuple(notes),
        context=context or {},
    )
