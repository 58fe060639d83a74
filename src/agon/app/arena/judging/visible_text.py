"""Give a model judge the text that a person sees: nothing invisible, nothing out of order."""

import unicodedata
from typing import Final

_NEWLINES: Final = str.maketrans(dict.fromkeys("\r\v\f\x85\u2028\u2029", "\n"))
# Characters without a picture (Unicode's Default_Ignorable_Code_Point), and marks of direction
# that keyboards insert. Tags and variation selectors among them can hide whole sentences.
_INVISIBLE: Final = tuple(
    range(first, last + 1)
    for first, last in (
        (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5),
        (0x180B, 0x180F), (0x200B, 0x200F), (0x2060, 0x2065), (0x206A, 0x206F), (0x3164, 0x3164),
        (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8),
        (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
    )
)  # fmt: skip
_NAMED: Final = frozenset({"Cc", "Cf", "Cn", "Co", "Cs"})


def visible_text(text: str) -> str:
    r"""Return a text as a person sees it.

    Every separator of lines becomes a line feed. Invisible characters (zero width, joiners,
    variation selectors, tags, marks of direction) are removed. Characters that change the order
    of others (embeddings, overrides and isolates), and all other control, private, unassigned and
    surrogate code points, are written as their number: ``[U+202E]``. The result can be encoded.

    Example:
        >>> visible_text("ig\u200bnore\r\nme \u202eabc")
        'ignore\nme [U+202E]abc'
    """
    lines = text.replace("\r\n", "\n").translate(_NEWLINES)
    return "".join(map(_visible, lines))


def _visible(character: str) -> str:
    if character in "\n\t" or " " <= character <= "~":
        return character
    number = ord(character)
    if any(number in span for span in _INVISIBLE):
        return ""
    if unicodedata.category(character) in _NAMED:
        return f"[U+{number:04X}]"
    return character
