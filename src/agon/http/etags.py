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
    return given is not None and names(given, tag)


def names(given: str, tag: str) -> bool:
    """Tell whether an ``If-None-Match`` header names a tag.

    Example:
        >>> names('"a", W/"b"', '"b"'), names("*", '"b"'), names('"a"', '"b"')
        (True, True, False)
    """
    listed = {one.strip().removeprefix("W/") for one in given.split(",")}
    return "*" in listed or tag in listed
