"""Convert SVG to PNG with resvg, without a browser or a network."""

from importlib import import_module
from typing import Any

from agon.errors import Unavailable

ZOOM = 2.0
"""Pixels per unit of the SVG; 2 suits high-resolution screens."""


def png(svg: str) -> bytes:
    """Return an SVG as PNG, in its light colors.

    Raises:
        Unavailable: resvg is missing, or no font is installed.
    """
    try:
        resvg: Any = import_module("resvg_py")
    except ImportError:
        raise Unavailable(
            "PNG needs a renderer: pip install 'agon-engine[plots]'; SVG needs nothing"
        ) from None
    image = bytes(resvg.svg_to_bytes(svg_string=svg, zoom=ZOOM))
    # Without a font the renderer omits all text silently.
    if image == bytes(resvg.svg_to_bytes(svg_string=svg, zoom=ZOOM, skip_system_fonts=True)):
        raise Unavailable("no font is installed: apt-get install fonts-dejavu-core")
    return image
