"""Keep the direction that a text of people sets within its place on a page."""

import re
from typing import Final

from agon.kernel.text.bidi import closed_text, has_controls

_ISOLATED: Final = re.compile('\u2068[^<>"\u202a-\u202e\u2066-\u2069]*\u2069')
"""A name in the marks of :mod:`agon.kernel.text.bidi`, as most pages have them alone."""

_TAG: Final = re.compile(r"(<[^>]*>)")
_SHOWN: Final = re.compile(r'(?<= )(alt|aria-label|content|label|placeholder|title)="([^"]*)"')
"""Attributes that are read or heard. The others are sent back, or looked up, as they are."""


def closed_html(page: str) -> str:
    r"""Return a page in which each text closes the controls of direction that it opens.

    An element isolates its text for the eye only as long as the text does not end the isolation.
    What a form sends back stays as it is.

    Args:
        page: HTML in which no tag has ``>`` in an attribute, as escaped text has not.

    Example:
        >>> ascii(closed_html("<p title=\"\u202eb\">\u202ea</p><textarea>\u202e</textarea>"))
        '\'<p title="\\u202eb\\u202c">\\u202ea\\u202c</p><textarea>\\u202e</textarea>\''
    """
    if page.isascii() or not has_controls(_ISOLATED.sub("", page)):
        return page
    parts = _TAG.split(page)  # text and tags in turn
    is_sent = False
    for index, part in enumerate(parts):
        if index % 2:
            is_sent = part.startswith("<textarea")
            parts[index] = _SHOWN.sub(_closed_attribute, part)
        elif not is_sent:
            parts[index] = closed_text(part)
    return "".join(parts)


def _closed_attribute(match: re.Match[str]) -> str:
    return f'{match[1]}="{closed_text(match[2])}"'
