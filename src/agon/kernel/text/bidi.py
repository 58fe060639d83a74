"""Keep the direction that a text sets inside it: names of people stand beside other text."""

import re
from typing import Final

_PDF, _PDI = "\u202c", "\u2069"
_EMBEDDINGS: Final = frozenset("\u202a\u202b\u202d\u202e")
_ISOLATES: Final = frozenset("\u2066\u2067\u2068")
_CONTROL: Final = re.compile("[\u202a-\u202e\u2066-\u2069]")


def has_controls(text: str) -> bool:
    """Return whether a text has controls of direction: embeddings, overrides or isolates."""
    return not text.isascii() and _CONTROL.search(text) is not None


def closed_text(text: str) -> str:
    r"""Return a text in which every control of direction that it opens is closed.

    Whatever closes nothing of its own is left out, because it would close what stands around it
    (Unicode Standard Annex 9, 3.1.2).

    Example:
        >>> ascii(closed_text("Ada \u202elived")), closed_text("Zoë")
        ("'Ada \\u202elived\\u202c'", 'Zoë')
        >>> ascii(closed_text("\u2067a\u202bb\u2069c\u2069"))
        "'\\u2067a\\u202bb\\u202c\\u2069c'"
    """
    if not has_controls(text):
        return text
    closing: list[str] = []  # the innermost last

    def write(match: re.Match[str]) -> str:
        control = match[0]
        if control in _EMBEDDINGS or control in _ISOLATES:
            closing.append(_PDF if control in _EMBEDDINGS else _PDI)
            return control
        if control == _PDF:  # it does not reach out of an isolate
            return closing.pop() if closing[-1:] == [_PDF] else ""
        if _PDI not in closing:
            return ""
        ended = ""
        while not ended.endswith(_PDI):
            ended += closing.pop()
        return ended

    inside = _CONTROL.sub(write, text)
    return inside + "".join(reversed(closing))


def escape_controls(text: str) -> str:
    r"""Return JSON, or code, with the escapes of its controls of direction.

    Example:
        >>> print(escape_controls('{"name": "\u202eb"}'))
        {"name": "\u202eb"}
    """
    return _CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def isolated_text(text: str) -> str:
    """Return a text with marks that isolate its direction from what stands around it.

    Example:
        >>> isolated_text("Ada"), [hex(ord(one)) for one in isolated_text("Zoë")][::4]
        ('Ada', ['0x2068', '0x2069'])
    """
    return text if text.isascii() else f"\u2068{closed_text(text)}{_PDI}"
