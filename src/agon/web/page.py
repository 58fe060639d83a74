"""A page: what is requested, and what is rendered."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, Any, Final, TypeAlias

from pydantic import ValidationError

from agon.api.invalid_fields import field_lines
from agon.api.models.boards import RowQuery
from agon.api.models.contests import Contest
from agon.app.access.permissions import ANONYMOUS
from agon.app.service import Service
from agon.client.client import Api
from agon.entities.access import Caller
from agon.errors import Unreadable
from agon.web.last_visit import LastVisit

_DIGITS: Final = 9
"""Maximum number of digits of a number in a query."""


class NotAtOnce(Exception):
    """A page needs longer than the milliseconds for which all other requests may wait."""


@dataclass(frozen=True, kw_only=True)
class Link:
    """A link to another page."""

    address: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Visit:
    """A request for a page.

    Attributes:
        service: the service, for signing in and out.
        api: the operations, as the visitor may execute them.
        caller: the visitor.
        session: the token of the visitor's session; None: not signed in.
        sent_session: the token in the visitor's cookie, valid or not; a new session ends this one.
        path: the parameters of the path.
        query: the parameters of the query.
        query_pairs: the same in their order; a parameter may repeat, as checkboxes of a form do.
        form: the fields of a form that was sent.
        origin: scheme and host of the request, for addresses that leave the site.
        files: the uploaded files of a form: field → name and content; they are closed
            when the request ends.
        last_visit: the value of the cookie that states what the visitor has seen.
        at_once: whether all other requests wait meanwhile; what takes longer than milliseconds
            raises NotAtOnce, and the page is made again in a thread.
        links: returns the links of a contest's navigation, as a visitor sees them.
    """

    service: Service
    api: Api
    caller: Caller = ANONYMOUS
    session: str | None = None
    sent_session: str | None = None
    path: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    query_pairs: Sequence[tuple[str, str]] = ()
    form: Mapping[str, str] = field(default_factory=dict)
    origin: str = ""
    files: Mapping[str, tuple[str, IO[bytes]]] = field(default_factory=dict)
    last_visit: str = ""
    at_once: bool = False
    links: Callable[[Contest, Caller], Sequence[Link]] = lambda _contest, _visitor: ()

    @property
    def as_of(self) -> str | None:
        """The position or time the page is wanted for; None: the newest."""
        return self.query.get("as_of") or None

    def contest(self) -> Contest:
        """Return the contest in the path, as of the position or time the page is wanted for.

        Raises:
            NotFound: there is none or was none then, or the visitor may not see it.
            Unreadable, ValidationError: ``as_of`` is neither a position nor a time.
        """
        as_of = RowQuery(as_of=self.as_of).as_of
        return self.api.contests.get(self.path["contest"], as_of=as_of)

    def texts(self, name: str) -> list[str]:
        """Return the texts of a parameter that repeats, has commas between texts, or both."""
        values = (value for key, value in self.query_pairs if key == name)
        return [text for value in values for each in value.split(",") if (text := each.strip())]

    def number(self, name: str, *, default: int, highest: int) -> int:
        """Return a parameter of the query that is a whole number from 1.

        Raises:
            Unreadable: it is another text.
        """
        text = self.query.get(name)
        if not text:
            return default
        is_number = text.isascii() and text.isdigit() and len(text) <= _DIGITS
        if not is_number or not 1 <= int(text) <= highest:
            raise Unreadable(
                f"{name}: expected a whole number from 1 to {highest}, got {text[:80]!r}"
            )
        return int(text)


@dataclass(frozen=True, kw_only=True)
class SitePage:
    """A page before it is rendered.

    Attributes:
        template: name of the template.
        title: the title of the browser's window, without the site's name.
        values: what the template shows.
        data: the address of the same data in the API; the page's own address with an ending such
            as ``.json`` answers the same.
        formats: the formats the data have, which are these endings.
        summary: what messages that link to the page show of it.
        picture: the address of the picture they show.
        status: of the response.
        last_visit: what the visitor has seen of the contest with this page; None: unchanged.
    """

    template: str
    title: str
    values: Mapping[str, Any]
    data: str | None = None
    formats: Sequence[str] = ("json",)
    summary: str = ""
    picture: str = ""
    status: int = 200
    last_visit: LastVisit | None = None


@dataclass(frozen=True, kw_only=True)
class Redirect:
    """Another address, which a form leads to.

    Attributes:
        address: where to go.
        session: the token of a session that begins; empty: the session ends; None: unchanged.
        theme: the choice of colors; None: unchanged.
    """

    address: str
    session: str | None = None
    theme: str | None = None


@dataclass(frozen=True, kw_only=True)
class Document:
    """A resource that is not a page: a picture, a feed.

    Attributes:
        content: its bytes.
        media_type: their type.
        contest: whose it is.
    """

    content: bytes
    media_type: str
    contest: Contest


View: TypeAlias = Callable[[Visit], SitePage | Redirect | Document]
"""Reads what a page shows, or does what a form asks for, through the API."""


def error_texts(error: Exception | None) -> list[str]:
    """Return the lines of an error; of invalid fields one for each."""
    if error is None:
        return []
    if isinstance(error, ValidationError):
        return field_lines(error)
    return str(error).splitlines()
