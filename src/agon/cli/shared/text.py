"""Text that is safe to print on a terminal."""


def printable(text: str) -> str:
    r"""Return text with control characters and bidirectional marks replaced by their escapes.

    Example:
        >>> printable("ada\x1b[2J")
        'ada\\x1b[2J'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
