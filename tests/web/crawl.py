"""Follow the links of the site as a visitor does."""

from collections import Counter, deque
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any
from urllib.parse import urljoin, urlsplit

from starlette.routing import compile_path

from agon.web.site import PAGES
from fakes.instance import Instance
from web.markup import Markup

PER_KIND = 2
"""Maximum number of addresses of a kind that are visited unless a test says another."""

ENTRANCES = ("/", "/join", "/sign-in")
"""Where visitors come from elsewhere: the home page, an invitation, a session that ended."""

_PATTERNS = {path: compile_path(path)[0] for path, _ in PAGES}


@dataclass(frozen=True)
class Visited:
    """A response to a visitor.

    Attributes:
        address: of the page, without a fragment.
        status: of the response.
        body: the text.
        headers: of the response.
        referrer: the page that links to it.
    """

    address: str
    status: int
    body: str
    headers: Any
    referrer: str

    @property
    def is_page(self) -> bool:
        """Whether it is HTML."""
        return str(self.headers["content-type"]).startswith("text/html")

    @cached_property
    def markup(self) -> Markup:
        """The parsed page."""
        return Markup(self.body)


def crawl(
    instance: Instance, headers: dict[str, str], per_kind: int = PER_KIND, below: str = "/"
) -> dict[str, Visited]:
    """Return the pages that links lead to, with the links of each kind limited.

    Args:
        instance: the service.
        headers: of every request, such as the cookie of a session.
        per_kind: how many addresses of a kind are visited.
        below: what the addresses that are visited begin with, entrances aside.

    Raises:
        AssertionError: a link leads to another host, or to a part of a page that does not exist.
    """
    visited: dict[str, Visited] = {}
    kinds: Counter[Any] = Counter()
    fragments: set[tuple[str, str, str]] = set()
    coming = deque((address, "") for address in ENTRANCES)
    while coming:
        address, referrer = coming.popleft()
        if address in visited or (referrer and not address.startswith(below)):
            continue
        kinds[kind(address)] += 1
        if kinds[kind(address)] > per_kind:
            continue
        response = instance.client.get(address, headers=headers)
        page = Visited(address, response.status_code, response.text, response.headers, referrer)
        visited[address] = page
        if not page.is_page:
            continue
        for link in [*page.markup.links, *page.markup.resources]:
            target = urlsplit(urljoin(f"http://site{address}", link))
            assert target.netloc == "site", (address, link)
            following = target.path + (f"?{target.query}" if target.query else "")
            coming.append((following, address))
            if target.fragment:
                fragments.add((following, target.fragment, address))
    missing = [
        (referrer, address, fragment)
        for address, fragment, referrer in fragments
        if address in visited and visited[address].is_page
        and fragment not in visited[address].markup.ids
    ]  # fmt: skip
    assert missing == []
    return visited


@cache
def route(address: str) -> str | None:
    """Return the pattern of a page's address; None: not a page of the site."""
    path = urlsplit(address).path
    return next((path_ for path_, pattern in _PATTERNS.items() if pattern.match(path)), None)


@cache
def kind(address: str) -> tuple[str, ...]:
    """Return the kind of an address: its page, contest and parameters."""
    target = urlsplit(address)
    parts = target.path.split("/")
    names = [item.partition("=")[0] for item in target.query.split("&")]
    found = route(address)
    if found is not None:
        return (found, *parts[2:3], *names)
    return (*parts[1:2], *parts[4:6], *names)
