"""Decide which texts every database, file and protocol can hold, and which are one line."""


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


def unfit_line(text: str, *, longest: int) -> str | None:
    r"""Return why a text is no line such as a title, with the remedy; None: it is one.

    Characters that are not printable, such as those that turn the direction of the text around
    them, change how the page beside a line reads.

    Args:
        text: the line; blanks around it do not count.
        longest: the most characters it may have.

    Example:
        >>> unfit_line("Spring", longest=9), unfit_line("a\u202eb", longest=9)
        (None, 'has the character U+202E, which is not printable; leave it out')
        >>> unfit_line(" ", longest=9)
        'has 0 characters; give 1 to 9'
    """
    line = text.strip()
    if not 0 < len(line) <= longest:
        return f"has {len(line):,} characters; give 1 to {longest:,}"
    hidden = next((each for each in line if not each.isprintable()), None)
    if hidden is None:
        return None
    return f"has the character U+{ord(hidden):04X}, which is not printable; leave it out"
