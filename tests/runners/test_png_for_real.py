"""PNG by the renderer itself: a picture of the requested size, with text in it."""

import struct

from agon.runners.png import ZOOM, png

SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="120" height="40" font-family="DejaVu Sans">'
    '<rect width="120" height="40" fill="#ffffff"/>{}</svg>'
)


def test_a_drawing_becomes_a_png_with_its_words() -> None:
    """The header has the size; a drawing with text differs from one without."""
    said = png(SVG.format('<text x="4" y="20">burn</text>'))
    assert said.startswith(b"\x89PNG\r\n\x1a\n")
    assert struct.unpack(">II", said[16:24]) == (120 * ZOOM, 40 * ZOOM)
    assert said != png(SVG.format('<text x="4" y="20">weights</text>'))
