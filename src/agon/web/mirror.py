"""Write the public pages of a contest as files that open from a disk, without a server."""

import asyncio
import hashlib
import posixpath
import re
from collections.abc import MutableMapping
from html import escape, unescape
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl, quote, urlencode, urljoin, urlsplit

from starlette.applications import Starlette

from agon.app.service import Service
from agon.errors import AgonError, NotFound
from agon.web import addresses
from agon.web.site import site_routes

_KEPT: Final = frozenset({"board", "cursor"})
"""Parameters of pages that are files of their own; links with others lead to the page without."""

_LINK: Final = re.compile(r' (href|src)="([^"]*)"')
_SERVED: Final = re.compile(
    r'<form\b.*?</form>|<script\b.*?</script>|<link rel="alternate"[^>]*>'
    r'|<meta property="og:image[^>]*>| data-stream="[^"]*" data-kinds="[^"]*"',
    re.DOTALL,
)
"""What works with a server only."""

_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]")
_MAX_NAME: Final = 100
_HOST: Final = "http://mirror.invalid"


def write_site(service: Service, contest: str, out: Path) -> int:
    """Write the pages that the public can reach from a contest's page; return how many.

    Args:
        service: the service.
        contest: its id.
        out: the folder, whose ``index.html`` becomes the contest's default board.

    Raises:
        NotFound: the public sees no such contest.
    """
    return asyncio.run(_Mirror(service, contest, out).write())


class _Mirror:
    """Pages of a contest, each loaded as by a visitor who is not signed in.

    Args:
        service: the service.
        contest: the contest's id.
        out: the folder.
    """

    def __init__(self, service: Service, contest: str, out: Path) -> None:
        self._app = Starlette(routes=site_routes(service))
        self._root = addresses.contest(contest)
        self._out = out
        self._files: dict[str, str | None] = {}
        self._coming: list[str] = []

    async def write(self) -> int:
        """Follow all links and write what they lead to; return the number of pages."""
        content, _ = await self._load(self._root)
        self._store(self._root, "index.html", content)
        pages = 0
        while self._coming:
            address = self._coming.pop()
            file = self._out / str(self._files[address])
            if file.suffix == ".html":
                pages += 1
                text = await self._rewrite(file.read_text("utf-8"), address)
                file.write_text(text, "utf-8")
        return pages

    def _store(self, address: str, name: str, content: bytes) -> None:
        """Write a file as it was loaded; its links are rewritten later."""
        file = self._out / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        self._files[address] = name
        self._coming.append(address)

    async def _rewrite(self, page: str, address: str) -> str:
        """Return a page with relative links, without what needs a server."""
        page = _SERVED.sub("", page)
        own = self._files[address] or ""
        targets = {}
        for _, link in _LINK.findall(page):
            target = urlsplit(urljoin(_HOST + address, unescape(link)))
            name = await self._name(target.path, target.query)
            if name is not None:
                relative = posixpath.relpath(name, posixpath.dirname(own) or ".")
                fragment = f"#{target.fragment}" if target.fragment else ""
                targets[link] = escape(quote(relative) + fragment)

        def replace(match: re.Match[str]) -> str:
            target = targets.get(match[2])
            return f' {match[1]}="{target}"' if target is not None else ""

        return _LINK.sub(replace, page)

    async def _name(self, path: str, query: str) -> str | None:
        """Return the file of an address; None: it is not in the mirror."""
        if path == addresses.home():
            return "index.html"
        parameters = urlencode([pair for pair in parse_qsl(query) if pair[0] in _KEPT])
        is_static = path.startswith(f"{addresses.STATIC}/")
        if not is_static and path != self._root and not path.startswith(f"{self._root}/"):
            return None
        address = f"{path}?{parameters}" if parameters else path
        if address not in self._files:
            self._files[address] = None
            try:
                content, media_type = await self._load(address)
            except AgonError:
                return None
            name = _file_name(path.removeprefix(self._root), parameters, media_type)
            self._store(address, name, content)
        return self._files[address]

    async def _load(self, address: str) -> tuple[bytes, str]:
        """Return the content and the media type of an address.

        Raises:
            AgonError: the public has no such page.
        """
        target = urlsplit(address)
        path = addresses.route_path(target.path)
        scope: MutableMapping[str, Any] = {
            "type": "http", "method": "GET", "path": path, "raw_path": target.path.encode(),
            "query_string": target.query.encode(), "headers": [(b"host", b"mirror.invalid")],
            "scheme": "http", "http_version": "1.1", "agon.data": _no_data,
        }  # fmt: skip
        messages: list[MutableMapping[str, Any]] = []

        async def receive() -> MutableMapping[str, Any]:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: MutableMapping[str, Any]) -> None:
            messages.append(message)

        await self._app(scope, receive, send)
        headers = dict(messages[0]["headers"])
        if messages[0]["status"] != 200:  # noqa: PLR2004 (of HTTP)
            raise NotFound(f"{address} is not a page of the mirror")
        body = b"".join(message.get("body", b"") for message in messages[1:])
        return body, headers[b"content-type"].decode()


async def _no_data(address: str, *_: Any) -> None:
    raise NotFound(f"the mirror has pages only, not {address}")


def _file_name(path: str, query: str, media_type: str) -> str:
    """Return the name of a file for an address; two addresses have different names.

    Example:
        >>> _file_name("/boards/users", "", "text/html")
        'boards/users.html'
    """
    name = path.strip("/") + (f"-{query}" if query else "")
    clean = "/".join(_UNSAFE.sub("_", part)[:_MAX_NAME].lstrip(".") for part in name.split("/"))
    if clean != name:
        clean += f"-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
    return f"{clean}.html" if media_type.startswith("text/html") else clean
