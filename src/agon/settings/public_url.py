"""The address at which visitors reach the service: a host, or a path of a host."""

import re
from typing import Final
from urllib.parse import urlsplit

OWN_SEGMENTS: Final = frozenset(
    {"account", "api", "c", "desk", "healthz", "index", "join", "metrics", "readyz", "sign-in",
     "sign-out", "static", "styleguide", "theme"}
)  # fmt: skip
"""What the service's own paths begin with. A public path of this name could not be told from them:
proxies may remove the public path from requests, or leave it."""

_PATH: Final = re.compile(r"(/[A-Za-z0-9._~-]+)*/*")


def checked_public_url(value: str) -> str:
    """Return a public URL without a slash at its end.

    Raises:
        ValueError: it is not the address of a site.
    """
    if not value:
        return value
    parts = urlsplit(value)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
        raise ValueError("write the address visitors type, such as https://agon.example")
    if parts.username or parts.password:
        raise ValueError("leave the user and the password out; this address is public")
    if _PATH.fullmatch(parts.path) is None or {".", ".."} & set(parts.path.split("/")):
        raise ValueError("write a path of letters, digits and . _ ~ -, such as /agon, or none")
    if parts.path.strip("/").partition("/")[0] in OWN_SEGMENTS:
        raise ValueError(
            f"the path {parts.path} is that of pages of the service; write another, such as /agon"
        )
    return value.rstrip("/")


def public_path(public_url: str) -> str:
    """Return the path of a public URL, empty for a host of its own.

    Example:
        >>> public_path("https://example.org/contests/agon")
        '/contests/agon'
    """
    return urlsplit(public_url).path.rstrip("/")
