"""Tag answers by what they are made of, so that nobody is sent what they have."""

import hashlib

from starlette.requests import Request


def etag(*parts: object) -> str:
    """Return a strong ETag over the hash of a board and everything that shapes its page.

    Example:
        >>> etag("ab12", 50) == etag("ab12", 50), etag("ab12", 50) == etag("ab12", 51)
        (True, False)
    """
    digest = hashlib.blake2b(repr(parts).encode(), digest_size=16)
    return f'"{digest.hexdigest()}"'


def is_known(request: Request, tag: str) -> bool:
    """Tell whether the client has this already (``If-None-Match``)."""
    given = request.headers.get("if-none-match")
    if given is None:
        return False
    listed = {one.strip().removeprefix("W/") for one in given.split(",")}
    return "*" in listed or tag in listed
