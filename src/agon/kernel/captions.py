"""Captions of boards: epoch, intervals and anchors in words, for headings."""


def interval_caption(*, method: str, confidence: float) -> str:
    """Return the method and level of a board's intervals.

    Example:
        >>> interval_caption(method="sandwich", confidence=0.95)
        '95 % intervals (sandwich)'
    """
    return f"{100 * confidence:.6g} % intervals ({method})"
