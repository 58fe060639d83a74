"""Sentences that say where in them participants are named, so that readers see names for ids."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, Self

from agon.kernel.text.bidi import closed_text


@dataclass(frozen=True)
class Piece:
    """A part of a sentence.

    Attributes:
        text: the text.
        participant: the id of the participant that it names; None: it names none.
    """

    text: str
    participant: str | None = None

    @classmethod
    def of(cls, participant: str) -> Self:
        """Return the piece that names a participant by its id."""
        return cls(closed_text(participant), participant)


class Sentence(str):
    """A text that knows the pieces it is made of; as a string it is their texts, joined.

    Example:
        >>> said = Sentence.of("Beat ", Piece.of("b2"), ".")
        >>> said, said.participants
        ('Beat b2.', ('b2',))
    """

    pieces: tuple[Piece, ...]

    __slots__ = ("pieces",)

    def __new__(cls, text: str = "", pieces: tuple[Piece, ...] = ()) -> Self:
        """Return a text; its pieces are those given, or the text as one that names none."""
        made = super().__new__(cls, text)
        made.pieces = pieces or (Piece(str(text)),)
        return made

    def __reduce__(self) -> tuple[type[Self], tuple[str, tuple[Piece, ...]]]:
        """Return how pickles and copies make it again."""
        return type(self), (str(self), self.pieces)

    @classmethod
    def of(cls, *parts: "str | Piece | Sentence") -> Self:
        """Return the sentence of texts, pieces and other sentences, in this order."""
        pieces = tuple(chain.from_iterable(map(pieces_of, parts)))
        return cls("".join(piece.text for piece in pieces), pieces)

    @classmethod
    def joined(cls, separator: str, parts: Iterable["str | Piece | Sentence"]) -> Self:
        """Return the sentence of parts with a separator between two.

        Example:
            >>> Sentence.joined(" and ", [Piece.of("a"), Piece.of("b")]).participants
            ('a', 'b')
        """
        between = chain.from_iterable((separator, part) for part in parts)
        return cls.of(*tuple(between)[1:])

    @property
    def participants(self) -> tuple[str, ...]:
        """Return the ids of the participants that it names, in order."""
        return tuple(piece.participant for piece in self.pieces if piece.participant is not None)


def pieces_of(part: str | Piece) -> tuple[Piece, ...]:
    """Return the pieces of a text; a string that is no :class:`Sentence` is one that names none.

    Example:
        >>> pieces_of("No match.")
        (Piece(text='No match.', participant=None),)
    """
    if isinstance(part, Piece):
        return (part,)
    return part.pieces if isinstance(part, Sentence) else (Piece(part),)


def sentence_text(text: str, name: Callable[[str], str]) -> str:
    """Return a text with participants as a function of the id writes them.

    Example:
        >>> sentence_text(Sentence.of("Beat ", Piece.of("b2"), "."), {"b2": "Zoe"}.__getitem__)
        'Beat Zoe.'
    """
    return "".join(
        piece.text if piece.participant is None else name(piece.participant)
        for piece in pieces_of(text)
    )


def piece_fields(text: str) -> list[dict[str, Any]]:
    """Return the pieces of a sentence for JSON; empty: it names no participant.

    Example:
        >>> piece_fields(Sentence.of("Beat ", Piece.of("b2")))
        [{'text': 'Beat ', 'participant': None}, {'text': 'b2', 'participant': 'b2'}]
        >>> piece_fields("No match.")
        []
    """
    pieces = pieces_of(text)
    named = any(piece.participant is not None for piece in pieces)
    return [vars(piece).copy() for piece in pieces] if named else []


def sentence_of(text: str, pieces: Iterable[Mapping[str, Any]]) -> str:
    """Return a text as a sentence of the pieces that :func:`piece_fields` returned of it."""
    made = tuple(Piece(**piece) for piece in pieces)
    return Sentence(text, made) if made else text
