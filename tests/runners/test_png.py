"""PNG: the call of the renderer, and the errors where it is missing or has no font."""

import sys
from typing import Any

import pytest

from agon.errors import Unavailable
from agon.runners.png import png


class Resvg:
    """Mirror resvg_py: words are drawn only where there is a font, and nothing is said."""

    def __init__(self, *, fonts: bool) -> None:
        self._fonts = fonts

    def svg_to_bytes(
        self, *, svg_string: str, zoom: float, skip_system_fonts: bool = False
    ) -> list[int]:
        """Return the picture as numbers, as some of its versions do."""
        drawn = svg_string if self._fonts and not skip_system_fonts else ""
        return list(f"PNG {zoom:g} {drawn}".encode())


def test_a_picture_is_drawn_at_twice_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sharp on screens of today."""
    renderer: Any = Resvg(fonts=True)
    monkeypatch.setitem(sys.modules, "resvg_py", renderer)
    assert png("<svg/>") == b"PNG 2 <svg/>"


def test_a_picture_without_words_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server without fonts would draw bars without names."""
    renderer: Any = Resvg(fonts=False)
    monkeypatch.setitem(sys.modules, "resvg_py", renderer)
    with pytest.raises(Unavailable, match="no font"):
        png("<svg/>")


def test_without_the_renderer_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """And that SVG needs nothing."""
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(Unavailable, match=r"pip install 'agon-engine\[plots\]'; SVG needs nothing"):
        png("<svg/>")
