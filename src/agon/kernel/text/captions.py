"""Captions: epoch, intervals and anchors of boards in words for headings, and counts of things."""

_COMPARISONS = {
    "none": "each comparison by itself",
    "neighbours": "ranks by single comparisons, neighbors compared together",
    "pairs": "all pairs compared together",
}


def interval_caption(*, method: str, confidence: float, simultaneous: str | None = None) -> str:
    """Return the method and level of a board's intervals, and which comparisons hold at once.

    Example:
        >>> interval_caption(method="sandwich", confidence=0.95)
        '95 % intervals (sandwich)'
        >>> interval_caption(method="sandwich", confidence=0.95, simultaneous="pairs")
        '95 % intervals (sandwich), all pairs compared together'
    """
    caption = f"{100 * confidence:.6g} % intervals ({method})"
    return caption if simultaneous is None else f"{caption}, {_COMPARISONS[simultaneous]}"


def count_text(how_many: int, noun: str) -> str:
    """Write a number of things.

    Example:
        >>> count_text(1, "validator"), count_text(2, "epoch"), count_text(1200, "match")
        ('1 validator', '2 epochs', '1,200 matches')
    """
    return f"{how_many:,} {noun_text(how_many, noun)}"


def noun_text(how_many: float, noun: str) -> str:
    """Write what is counted in the singular or the plural, as in "2 epochs" and "3 matches"."""
    if how_many == 1:
        return noun
    return f"{noun}es" if noun.endswith(("s", "tch")) else f"{noun}s"
