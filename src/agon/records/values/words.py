"""Read words of closed lists as people write them: other case, blanks, and known synonyms.

``Tie``, ``draw`` and ``tie (bothbad)`` are the result ``tie``; ``1-0`` is a win of side a; ``+1``,
``like`` and ``thumbs up`` are the opinion ``positive``. A word that is exact is never touched.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

from agon.records.schemas import Column

_JOINED: Final = re.compile(r"(?<=[\w)])[\s_\-]+(?=[\w(])")
_DASHES: Final = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2212"), "-")

_TIE: Final = (
    "draw, drawn, ties, tied, a=b, b=a, [[c]], both bad, bothbad, both good, bothgood, "
    "tie (bothbad), tie (both bad), tie (bothgood), tie (both good), tie (inconsistent), "
    "1/2-1/2, ½-½, 0.5-0.5"
)
_FIRST: Final = (
    "model_a, modela, side_a, left, assistant_a, response_a, bot_a, player_a, a, 1-0, model_1, "
    "assistant_1, response_1, output_1, generator_1, first, white, a>b, a>>b, b<a, b<<a, [[a]]"
)
_SECOND: Final = (
    "model_b, modelb, side_b, right, assistant_b, response_b, bot_b, player_b, b, 0-1, model_2, "
    "assistant_2, response_2, output_2, generator_2, second, black, b>a, b>>a, a<b, a<<b, [[b]]"
)

SYNONYMS: Final[tuple[Mapping[str, str], ...]] = (
    {"a": _FIRST, "b": _SECOND, "tie": _TIE},
    {"model_a": _FIRST, "model_b": _SECOND, "tie": _TIE},
    {"left": _FIRST, "right": _SECOND, "tie": _TIE},
    {"A": "", "B": "", "tie": _TIE},
    {
        "positive": "+1, 1, up, upvote, thumbs up, thumbsup, like, liked, 👍",
        "negative": "-1, down, downvote, thumbs down, thumbsdown, dislike, disliked, 👎",
    },
    {"person": "human"},
)
"""Words that mean a choice, for closed lists that have all of some choices."""

# Data frames hold whole numbers as floats where a value of their column is missing.
TRUE: Final = ("true", "t", "yes", "y", "1", "1.0")
FALSE: Final = ("false", "f", "no", "n", "0", "0.0")
EXACT_TRUTHS: Final = ("true", "false", "1", "0")
"""Words of truth that need no note."""


def fold_word(text: str) -> str:
    """Return a word without what may differ between spellings of it.

    Example:
        >>> [fold_word(text) for text in (" Both_Bad ", "both-bad", "-1", "1-0", "1\u20130")]
        ['both bad', 'both bad', '-1', '1 0', '1 0']
    """
    return _JOINED.sub(" ", text.translate(_DASHES).strip().casefold())


def choice_of(column: Column, text: str) -> str | None:
    """Return the choice that a text means; None: it means none, or it may mean several.

    Example:
        >>> from agon.records.schemas import Kind
        >>> winner = Column("winner", Kind.TEXT, choices=("a", "b", "tie"))
        >>> [choice_of(winner, text) for text in ("A ", "1/2-1/2", "model_b", "carl")]
        ['a', 'tie', 'b', None]
    """
    return _choices(column.choices).get(fold_word(text))


@cache
def _choices(choices: tuple[str, ...]) -> dict[str, str]:
    exact = {fold_word(choice): choice for choice in choices}
    if len(exact) < len(choices):
        return {}  # choices that differ in case or blanks alone
    meant: dict[str, set[str]] = {}
    for words in SYNONYMS:
        if words.keys() <= set(choices):
            for choice, listed in words.items():
                for word in filter(None, listed.split(", ")):
                    meant.setdefault(fold_word(word), set()).add(choice)
    synonyms = {
        word: next(iter(meanings)) for word, meanings in meant.items() if len(meanings) == 1
    }
    return {**synonyms, **exact}


_POINTS: Final = {
    **dict.fromkeys(("1", "1.0"), "model_a"),
    **dict.fromkeys(("0", "0.0"), "model_b"),
    **dict.fromkeys(("0.5", "0,5", ".5", "1/2", "½"), "tie"),
}


def points(words: Sequence[str]) -> Mapping[str, str]:
    """Return the result that each word of a column of points means; empty: it is no such column.

    They are the points of side a: 1, 0.5 and 0. Without 0.5 the numbers may be those of the sides.

    Example:
        >>> points(["1.0", "0.5"]), points(["1", "0"])
        ({'1.0': 'model_a', '0.5': 'tie'}, {})
    """
    read = {word: _POINTS[word.strip()] for word in words if word.strip() in _POINTS}
    is_home_and_away = "tie" in read.values() and all(
        word in read for word in words if word.strip()
    )
    return read if is_home_and_away else {}


_HOME: Final = frozenset(("h", "home", "home win"))
_AWAY: Final = frozenset(("a", "away", "away win"))
_DRAWN: Final = frozenset(("d", "draw", "drawn", "tie"))
_HOME_OR_AWAY: Final = (_HOME | _AWAY) - {"h", "a"}


def home_and_away(
    column: Column, words: Sequence[str], stated: Mapping[str, str]
) -> Mapping[str, str]:
    """Return the result that each word of a column of home, draw and away means.

    Beside H for home, A is the away side, and not side a; empty: it is no such column.

    Args:
        column: the column.
        words: all of its words.
        stated: what a mapping says of some of them.

    Example:
        >>> from agon.records.schemas import Kind
        >>> winner = Column("winner", Kind.TEXT, choices=("model_a", "model_b", "tie"))
        >>> home_and_away(winner, ["H", "A", "D"], {}), home_and_away(winner, ["A", "B"], {})
        ({'H': 'model_a', 'A': 'model_b', 'D': 'tie'}, {})
    """
    results = _results(column.choices)
    folded = {word: fold_word(word) for word in words if word.strip()}
    found = {*folded.values()}
    # H alone may be a human as well.
    is_home_and_away = bool(found & _HOME_OR_AWAY) or ("h" in found and bool(found & {"a", "d"}))
    known = {fold_word(word) for word in stated} | _HOME | _AWAY | _DRAWN
    if results is None or not is_home_and_away or not found <= known:
        return {}
    meanings = zip((_HOME, _AWAY, _DRAWN), results, strict=True)
    of_word = {word: result for listed, result in meanings for word in listed}
    return {word: of_word[fold] for word, fold in folded.items() if fold in of_word}


def _results(choices: tuple[str, ...]) -> tuple[str, str, str] | None:
    """Return the choices of the first side, the second and a tie.

    None: they are others, or A itself is one.
    """
    for words in SYNONYMS:
        if words.keys() <= {*choices} and words.get("tie"):
            first, second = (choice for choice in words if choice != "tie")
            return (first, second, "tie") if words[first] else None
    return None


_WHOLE: Final = "-?[0-9]{1,15}"
WHOLE_NAME: Final = rf"({_WHOLE})\.0+"
"""A whole number as data frames write it, where a value of its column is missing."""
WHOLE_ID: Final = rf"{_WHOLE}(\.0+)?"
"""An id that is whole, as programs that read ids as numbers write it."""
NAME: Final = "name"
"""The value that a mapping states for a word that is the name of what is on a side."""


class StatedWords:
    """The meaning of the words of a column: what a mapping states, else the choice they mean.

    Example:
        >>> from agon.records.schemas import Kind
        >>> winner = Column("winner", Kind.TEXT, choices=("model_a", "model_b", "tie"))
        >>> words = StatedWords(winner, {"H": "model_a"})
        >>> [words.meaning(text) for text in ("h ", "draw", "model_b", "carl")]
        ['model_a', 'tie', 'model_b', None]
    """

    def __init__(self, column: Column, stated: Mapping[str, str] | None = None) -> None:
        self._column = column
        self._stated = {fold_word(text): value for text, value in (stated or {}).items()}
        self._has_home = bool(_HOME & self._stated.keys())

    def states(self, text: str) -> bool:
        """Return whether a mapping states the meaning of a text; 1.0 is the number 1."""
        return bool(self._words(text) & self._stated.keys())

    def meaning(self, text: str) -> str | None:
        """Return what a text means; None: it means nothing that is known."""
        for word in self._words(text) & self._stated.keys():
            return self._stated[word]
        if text in self._column.choices:
            return text
        if self._has_home and fold_word(text) in _AWAY:
            return None  # beside home, A may be the away side: it must be stated as well
        return choice_of(self._column, text)

    def _words(self, text: str) -> set[str]:
        return {fold_word(text), fold_word(text.strip().removesuffix(".0"))}
