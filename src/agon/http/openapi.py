"""Write the API's description (OpenAPI 3.1) as it is in the repository.

``python -m agon.http.openapi docs/reference/openapi.json`` writes it; a test compares it.
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

import orjson

from agon.http.app import create_app
from agon.settings import Settings

if TYPE_CHECKING:
    from agon.app.service import Service


def document() -> bytes:
    """Return the description as it is in the repository: sorted, indented, one final newline.

    It is independent of databases and settings.
    """
    app = create_app(cast("Service", None), Settings())
    return orjson.dumps(app.openapi(), option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS) + b"\n"


def main(arguments: list[str]) -> None:
    """Write the description to a file, or to stdout."""
    if arguments:
        Path(arguments[0]).write_bytes(document())
    else:
        sys.stdout.buffer.write(document())


if __name__ == "__main__":
    main(sys.argv[1:])
