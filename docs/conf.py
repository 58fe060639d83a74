"""Build the documentation; ``generate.py`` writes what is made from the code."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "agon"
author = "the agon developers"
extensions = [
    "myst_parser",
    "mathml",
]
html_math_renderer = "mathml"
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = "agon"
exclude_patterns = ["_build", "_ext"]
nitpicky = False
