"""A site with contests of all disciplines and with visitors of all roles."""

from dataclasses import dataclass, field
from functools import cached_property

from fakes.instance import Instance
from sizes import ALL
from web.browser import Browser
from web.crawl import PER_KIND, Visited, crawl

ROLES = ("anonymous", "participant", "judge", "organiser", "operator", "organiser of another")

CRAWLING = ROLES if ALL else ("anonymous", "organiser")
"""The roles that follow links: those without a session, and who sees most of a contest."""


@dataclass
class Site:
    """The contests of :mod:`fakes.contests`, served.

    Attributes:
        instance: the service, and a client in the same process.
        origin: the address for the browser.
    """

    instance: Instance
    origin: str
    _cookies: dict[str, str] = field(default_factory=dict)

    def cookie(self, role: str) -> str:
        """Return the cookie of a session of a role; none for anonymous."""
        if role == "anonymous":
            return ""
        if role not in self._cookies:
            browser = Browser(self.instance)
            if role == ROLES[-1]:
                token = self.instance.token("organiser", contests=("autumn",))
                browser.send("/sign-in", {"token": token, "next": "/"})
            else:
                browser.sign_in(role)
            self._cookies[role] = browser.cookie
        return self._cookies[role]

    @cached_property
    def visited(self) -> dict[str, dict[str, Visited]]:
        """What each role finds by following links: role → address → response.

        Some roles follow one link of each kind; all follow two with TEST_ALL_SIZES.
        """
        return {
            role: crawl(
                self.instance,
                {"cookie": cookie} if (cookie := self.cookie(role)) else {},
                PER_KIND if ALL else 1,
            )
            for role in CRAWLING
        }
