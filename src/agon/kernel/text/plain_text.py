"""Decide which texts every database, file and protocol can hold."""


def unstorable(text: str) -> tuple[str, str] | None:
    r"""Return why a text cannot be stored everywhere, and the remedy; None: it can.

    PostgreSQL has no NUL in a text, UTF-8 no half of a surrogate pair. SQLite takes the former.

    Example:
        >>> unstorable("Zoë"), unstorable("a\0b")
        (None, ('has the character NUL', 'leave it out'))
        >>> unstorable("\ud800")
        ('has half of a surrogate pair', 'leave it out')
    """
    if "\x00" in text:
        return "has the character NUL", "leave it out"
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return "has half of a surrogate pair", "leave it out"
    return None
