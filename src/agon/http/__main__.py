"""Be one HTTP server process: ``python -m agon.http FD``, where FD is a socket that listens.

Garbage is collected from when it serves (``Server.startup``): loading it leaves none, and looking
for it would take a fifth of the start.
"""

import gc
import sys

gc.disable()

from agon.extras import hide_pandas  # noqa: E402
from agon.http.process import run  # noqa: E402

if __name__ == "__main__":
    hide_pandas()
    run(sys.argv[1:])
