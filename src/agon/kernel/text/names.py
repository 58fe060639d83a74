"""Names of participants as people read and search them; records hold them as anyone wrote them."""

import re
import unicodedata
from collections.abc import Callable
from typing import Final

MAX_WORDS: Final = 8
"""Maximum number of words of a name at which a search finds it."""

MAX_BEGINNING: Final = 64
"""Maximum number of characters of a search that are compared with a name."""

_MAX_SHOWN: Final = 500
_INVISIBLE: Final = ("C", "Z")
_SEPARATING: Final = ("C", "P", "Z")
_FORMAT: Final = "Cf"
"""The category of characters that join or direct others and are not seen."""

_PLAIN_WORD: Final = re.compile(r"[^\x00-\x20!-#%-*,-/:;?@\[-\]_{}\x7f]+")
"""A word of ASCII: without the characters that Unicode calls controls, separators, punctuation."""


def shown_name(text: str) -> str:
    r"""Return a name on one line, without control characters; empty if nothing of it is visible.

    At most 500 characters are kept, so that no name makes a page long.

    Example:
        >>> shown_name(" Ada\tLovelace\n"), shown_name("\u200b \x00")
        ('Ada Lovelace', '')
    """
    if not text.isprintable():  # a control, a format or a separator other than the space
        text = "".join(
            " " if unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"} else char for char in text
        )
        if all(unicodedata.category(char)[0] in _INVISIBLE for char in text):
            return ""
    return " ".join(text.split())[:_MAX_SHOWN]


def fold(text: str) -> str:
    r"""Return the words of a text without case and accents, with one space between two.

    Compatible characters are equal (NFKD); punctuation separates words; what is not seen is left
    out.

    Example:
        >>> fold("Ada_LOVELACE"), fold("José  Álvarez-Núñez"), fold("Straße"), fold("…")
        ('ada lovelace', 'jose alvarez nunez', 'strasse', '')
    """
    if text.isascii():
        return " ".join(_PLAIN_WORD.findall(text.casefold()))
    return words_without_case(
        text,
        is_separator=lambda char: unicodedata.category(char)[0] in _SEPARATING,
        is_hidden=lambda char: (
            unicodedata.combining(char) != 0 or unicodedata.category(char) == _FORMAT
        ),
    )


def words_without_case(
    text: str, *, is_separator: Callable[[str], bool], is_hidden: Callable[[str], bool]
) -> str:
    """Return the words of a text without case, with one space between two.

    Compatible characters are equal (NFKD).

    Args:
        text: the text.
        is_separator: returns whether a character separates words, as blanks do.
        is_hidden: returns whether a character is left out.

    Example:
        >>> words_without_case("GPT-4", is_separator="-".__eq__, is_hidden="4".__eq__)
        'gpt'
    """
    # The case of some letters decomposes into marks, as that of İ does.
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    shown = (char for char in plain if not is_hidden(char))
    return " ".join("".join(" " if is_separator(char) else char for char in shown).split())


def beginnings(name: str) -> tuple[str, ...]:
    """Return the folded name from each of its words on, in order: what a search compares.

    Example:
        >>> beginnings("Ada Lovelace")
        ('ada lovelace', 'lovelace')
    """
    words = fold(name).split()
    return tuple(
        sorted({" ".join(words[index:])[:MAX_BEGINNING] for index in range(len(words))[:MAX_WORDS]})
    )


def found_at(name: str, prefix: str) -> str | None:
    """Return the first of the beginnings of a name that begins with a folded text; None: none does.

    Example:
        >>> found_at("Ada Lovelace", "lo"), found_at("Ada Lovelace", "ve")
        ('lovelace', None)
    """
    if not prefix:
        return None
    prefix = prefix[:MAX_BEGINNING]
    return next((each for each in beginnings(name) if each.startswith(prefix)), None)


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
