"""What operations cost: the kinds of work whose slots their requests wait for.

Each operation states its kind. ``quick`` ones take milliseconds and at most about a MiB: they read
or change one thing, or a page of some; pages of boards are among them, and take a slot for a search
(``reads``) or a download (``streams``). Events, and requests that wait for work, are quick as well:
they only wait, and have limits of their own.

- ``passwords``: a hash fills 64 MiB for a quarter of a second.
- ``reads``: reads records of a contest, or as much of a board as a search does.
- ``boards``: reads all rows of a board, or writes all files of a contest.
- ``bodies``: parses and validates records; the slot is taken when the body has arrived. Requests
  with bodies beyond :data:`SMALL_BODY` are of this kind in addition to what is stated.
- ``endpoints``: sends a request to the address that the caller names, and waits for its response.
- ``streams``: parts of a stream wait for slots one by one.
- ``pages``, ``forms``, ``pictures``: of the site.
"""

from typing import Final, Literal, TypeAlias

Kind: TypeAlias = Literal[
    "quick",
    "passwords",
    "reads",
    "boards",
    "pages",
    "forms",
    "pictures",
    "bodies",
    "endpoints",
    "streams",
]
"""Kinds of work that have slots of their own, and ``quick``, which needs none."""

QUICK: Final = "quick"

SMALL_BODY: Final = 64 << 10
"""Largest body in bytes whose value may be parsed without a slot."""
