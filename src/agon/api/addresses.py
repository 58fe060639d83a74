"""Write ids into the paths of addresses: any id, whatever characters it has."""

from collections.abc import Mapping
from string import Formatter
from typing import Any
from urllib.parse import quote


def segment(value: object) -> str:
    """Return a value as one segment of a path, percent-encoded.

    A segment of dots would be taken as a step between folders, so dots are encoded there.

    Example:
        >>> segment("a/b?c"), segment(".."), segment("π")
        ('a%2Fb%3Fc', '%2E%2E', '%CF%80')
    """
    text = str(value)
    return quote(text, safe="") if text.strip(".") else text.replace(".", "%2E")


def fill(template: str, values: Mapping[str, Any]) -> str:
    """Return a path whose placeholders are replaced by values, each as one segment.

    Example:
        >>> fill("/contests/{contest}/cases/{id}", {"contest": "spring", "id": "a b"})
        '/contests/spring/cases/a%20b'
    """
    return _SegmentFormatter().vformat(template, (), values)


class _SegmentFormatter(Formatter):
    """Formats every value as a segment."""

    def format_field(self, value: Any, format_spec: str) -> Any:  # noqa: ARG002 (Formatter's signature)
        """Percent-encode a value, so that a slash or a dot in it stays within its segment."""
        return segment(value)
