"""Read a whole request body before work begins on it."""

import tempfile
from typing import IO, Final

from starlette.requests import Request

_IN_MEMORY: Final = 1 << 20


async def spooled(request: Request) -> IO[bytes]:
    """Return the whole body, in memory or, when it is large, in a file; the caller closes it.

    Work begins only then, so that a slow client never holds a transaction open.
    """
    file: IO[bytes] = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115 (the caller closes it)
    try:
        async for chunk in request.stream():
            file.write(chunk)
    except BaseException:
        file.close()
        raise
    file.seek(0)
    return file
