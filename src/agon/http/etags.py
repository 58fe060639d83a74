"""Tag answers by what they are made of, so that nobody is sent what they have."""

import hashlib

from starlette.requests import Request


def etag(*parts: object) -> str:
    """Return a strong ETag over the hash of a board and everything that shapes its page.

    Example:
        >>> etag("ab12", 50) == etag("ab12", 50), etag("ab12", 50) == etag("ab12", 51)
        (True, False)
    """
    return etag_of(repr(parts).encode())


def etag_of(body: bytes) -> str:
    """Return a strong ETag over an answer's very bytes.

    Example:
        >>> etag_of(b"{}")
        '"2afb9b83f9314e5d029766197f539792"'
    """
    digest = hashlib.blake2b(body, digest_size=16)
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
