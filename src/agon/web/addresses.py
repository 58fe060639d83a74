"""Addresses of the site's pages; they are a contract."""

import re
from collections.abc import Callable, Iterable
from typing import Any, Final
from urllib.parse import quote, unquote, urlencode

from agon.disciplines import discipline

STATIC: Final = "/static"

FORMATS: Final = ("json", "csv", "ndjson", "parquet")
"""The formats of the data of pages, each an ending of their addresses."""

_HOME_DATA: Final = "/index"

_IN_ADDRESSES: Final = "/?%:@!$&'()*+,;=~-._[]"
_LONE_PERCENT: Final = re.compile("%(?![0-9A-Fa-f]{2})")

_UNRESERVED: Final = re.compile(r"[A-Za-z0-9._~-]*")
"""Text that stays as it is when it is percent-encoded."""


def home() -> str:
    """Return the address of the list of contests."""
    return "/"


def contest(contest_id: str) -> str:
    """Return the address of a contest, which shows its default board."""
    return f"/c/{quote(contest_id, safe='')}"


def part(contest_id: str, name: str) -> str:
    """Return the address of a page that the navigation of a contest names.

    Example:
        >>> part("spring", "rules")
        '/c/spring/rules'
    """
    return f"{contest(contest_id)}/{name}"


def board(contest_id: str, name: str, **query: Any) -> str:
    """Return the address of a board; parameters that are None or empty are left out.

    Example:
        >>> board("spring", "problem:ab/1", q="ada", cursor=None)
        '/c/spring/boards/problem%3Aab%2F1?q=ada'
    """
    return _with_query(f"{contest(contest_id)}/boards/{_last(name)}", query)


def person(contest_id: str, participant: str, **query: Any) -> str:
    """Return the address of a participant's page."""
    return _with_query(f"{contest(contest_id)}/people/{_last(participant)}", query)


def judge(contest_id: str, participant: str, **query: Any) -> str:
    """Return the address of a judge's page."""
    return _with_query(f"{contest(contest_id)}/judges/{_last(participant)}", query)


def row(
    contest_id: str,
    participant: str,
    *,
    board: str,
    discipline_name: str,
    as_of: str | int | None = None,
    since: int | None = None,
) -> str:
    """Return the address of the page of a board's row: that of a judge, or of a participant.

    With ``since`` it shows what changed since that position; ``of`` is the contest's discipline.

    Example:
        >>> row("spring", "ada", board="judges", discipline_name="arena")
        '/c/spring/judges/ada'
        >>> row("spring", "ada", board="bots", discipline_name="arena", as_of="7")
        '/c/spring/people/ada?board=bots&as_of=7'
    """
    address = rows(contest_id, board=board, discipline_name=discipline_name, as_of=as_of)(
        participant
    )
    if since is None:
        return address
    return f"{address}{'&' if '?' in address else '?'}{urlencode({'since': since})}"


def rows(
    contest_id: str, *, board: str, discipline_name: str, as_of: str | int | None = None
) -> Callable[[str], str]:
    """Return the function from a participant to the address that :func:`row` returns."""
    rounds = discipline(discipline_name).rounds
    if rounds is not None and board == rounds.judges:
        before, after = judge(contest_id, ""), _with_query("", {"as_of": as_of})
    else:
        before, after = person(contest_id, ""), _with_query("", {"board": board, "as_of": as_of})
    return lambda participant: f"{before}{_last(participant)}{after}"


def distribution(contest_id: str, **query: Any) -> str:
    """Return the address of the distribution of a board's scores."""
    return _with_query(f"{contest(contest_id)}/distribution", query)


def epoch_row(
    contest_id: str,
    participant: str,
    *,
    board: str,
    epoch: int | None = None,
    as_of: str | int | None = None,
) -> str:
    """Return the address of why a row of a board is as it is in an epoch; None: the scored one.

    Example:
        >>> epoch_row("spring", "5", board="weights", epoch=3)
        '/c/spring/people/5?board=weights&rule.epoch=3#what-if'
    """
    if epoch is None:
        return person(contest_id, participant, board=board, as_of=as_of)
    query = {"board": board, "rule.epoch": epoch, "as_of": as_of}
    return f"{person(contest_id, participant, **query)}#what-if"


def matrix(contest_id: str, **query: Any) -> str:
    """Return the address of who solved which problem."""
    return _with_query(f"{contest(contest_id)}/matrix", query)


def epochs(contest_id: str, **query: Any) -> str:
    """Return the address of the epochs of a challenge."""
    return _with_query(f"{contest(contest_id)}/epochs", query)


def epoch(contest_id: str, number: int, **query: Any) -> str:
    """Return the address of an epoch."""
    return _with_query(f"{contest(contest_id)}/epochs/{number}", query)


def badge(contest_id: str, participant: str, **query: Any) -> str:
    """Return the address of a participant's badge."""
    return _with_query(f"{contest(contest_id)}/badge/{quote(participant, safe='')}.svg", query)


def card(contest_id: str, participant: str, **query: Any) -> str:
    """Return the address of a participant's card."""
    return _with_query(f"{contest(contest_id)}/card/{quote(participant, safe='')}.png", query)


def feed(contest_id: str) -> str:
    """Return the address of a contest's feed."""
    return f"{contest(contest_id)}/feed.xml"


def cases(contest_id: str, case: str = "") -> str:
    """Return the address of the cases about the visitor, or where an appeal of one is sent."""
    return f"{contest(contest_id)}/cases{_path([case])}"


def run(contest_id: str, submission: str) -> str:
    """Return the address of the run of a submitted agent."""
    return f"{contest(contest_id)}/submissions/{_last(submission)}"


def trial(contest_id: str, submission: str, task: str) -> str:
    """Return the address of what happened in a trial of a submitted agent."""
    return f"{contest(contest_id)}/submissions{_path([submission, 'trials', task])}"


def matches(contest_id: str, **query: Any) -> str:
    """Return the address of an arena's matches; parameters that are None or empty are left out."""
    return _with_query(f"{contest(contest_id)}/matches", query)


def match(contest_id: str, match_id: str, **query: Any) -> str:
    """Return the address of a match."""
    return _with_query(f"{matches(contest_id)}/{_last(match_id)}", query)


def bots(contest_id: str) -> str:
    """Return the address of the registered bots of an arena."""
    return f"{contest(contest_id)}/bots"


def bot(contest_id: str, bot_id: str) -> str:
    """Return the address of a registered bot, where its owner changes it."""
    return f"{bots(contest_id)}/{_last(bot_id)}"


def vote(contest_id: str, **query: Any) -> str:
    """Return the address of the page on which judges vote."""
    return _with_query(f"{contest(contest_id)}/vote", query)


def submit(contest_id: str, **query: Any) -> str:
    """Return the address of the page on which participants submit."""
    return _with_query(f"{contest(contest_id)}/submit", query)


def robustness(contest_id: str, **query: Any) -> str:
    """Return the address of how robust the ranks of an arena's bots are."""
    return _with_query(f"{contest(contest_id)}/robustness", query)


def problems(contest_id: str) -> str:
    """Return the address of the problems of a dojo contest."""
    return f"{contest(contest_id)}/problems"


def problem(contest_id: str, problem_id: str) -> str:
    """Return the address of a problem."""
    return f"{problems(contest_id)}/{_last(problem_id)}"


def desks(*segments: str, **query: Any) -> str:
    """Return the address of the desk of all contests, or of one of its pages."""
    return _with_query("/desk" + _path(segments), query)


def desk(contest_id: str, *segments: str, **query: Any) -> str:
    """Return the address of a contest's desk, or of one of its pages or forms.

    Example:
        >>> desk("spring", "records", table="votes", record="m/7")
        '/c/spring/desk/records?table=votes&record=m%2F7'
    """
    return _with_query(f"{contest(contest_id)}/desk{_path(segments)}", query)


def join(*, waits: bool = False) -> str:
    """Return the address of the form that accepts an invitation.

    Args:
        waits: whether it shows that one was accepted and waits for approval.
    """
    return _with_query("/join", {"waits": 1} if waits else {})


def sign_in(following: str = "") -> str:
    """Return the address of the form to sign in, which leads to another page."""
    return _with_query("/sign-in", {"next": following})


def sign_out() -> str:
    """Return the address that ends a session."""
    return "/sign-out"


def styleguide() -> str:
    """Return the address of the page with every component of the design."""
    return "/styleguide"


def theme() -> str:
    """Return the address that stores the visitor's choice of colors."""
    return "/theme"


def events(contest_id: str) -> str:
    """Return the address of the stream of a contest's events."""
    return f"{contest(contest_id)}/events"


def account() -> str:
    """Return the address of the visitor's account."""
    return "/account"


def rules(contest_id: str, **query: Any) -> str:
    """Return the address of the rules of a contest."""
    return _with_query(f"{contest(contest_id)}/rules", query)


def ledger(contest_id: str, **query: Any) -> str:
    """Return the address of the log of a contest."""
    return _with_query(f"{contest(contest_id)}/ledger", query)


def entry(contest_id: str, seq: int) -> str:
    """Return the address of an entry on the page of the ledger, which then ends with it.

    Example:
        >>> entry("spring", 7)
        '/c/spring/ledger?as_of=7#entry-7'
    """
    return f"{ledger(contest_id, as_of=seq)}#entry-{seq}"


def data(path: str, query: str = "", *, form: str = "json") -> str:
    """Return the address of a page's data.

    Args:
        path: of the page, percent-encoded, or its pattern.
        query: of the page.
        form: one of :data:`FORMATS`.

    Example:
        >>> data("/c/spring/people/a%2Fb", "as_of=7"), data("/")
        ('/c/spring/people/a%2Fb.json?as_of=7', '/index.json')
    """
    address = f"{_HOME_DATA if path == home() else path}.{form}"
    return f"{address}?{query}" if query else address


def board_data(contest_id: str, name: str, form: str, **query: Any) -> str:
    """Return the address of a whole board in a format, one of :data:`FORMATS`.

    Example:
        >>> board_data("spring", "users", "csv", as_of=7)
        '/c/spring/boards/users.csv?as_of=7'
    """
    return _with_query(data(board(contest_id, name), form=form), query)


def api(*segments: str, **query: Any) -> str:
    """Return the address of the same data in the API.

    Example:
        >>> api("contests", "spring", "boards", "problem:ab/1", format="csv")
        '/api/v1/contests/spring/boards/problem%3Aab%2F1?format=csv'
    """
    return _with_query(f"/api/v1{_path(segments)}", query)


def _path(segments: Iterable[str]) -> str:
    return "".join(f"/{quote(segment, safe='')}" for segment in segments if segment)


def route_path(sent: str) -> str:
    """Return a path as it is routed: decoded, but within a segment ``/`` and ``%`` stay encoded.

    Example:
        >>> route_path("/c/spring/people/a%2Fb%C3%A9")
        '/c/spring/people/a%2Fbé'
    """
    segments = (
        unquote(segment).replace("%", "%25").replace("/", "%2F") for segment in sent.split("/")
    )
    return "/".join(segments)


def local(address: str) -> str:
    r"""Return an address that a request names, percent-encoded, if it is one of this site.

    Any other leads to the home page. A fragment is left out: it is of the page, not of the request.

    Example:
        >>> local("/c/spring?q=ada#top"), local("/é/€?q=100%&x=%2F")
        ('/c/spring?q=ada', '/%C3%A9/%E2%82%AC?q=100%25&x=%2F')
        >>> local("//evil.example"), local("/\\evil"), local("/\t/evil"), local("https://evil")
        ('/', '/', '/', '/')
    """
    address = address.partition("#")[0]
    # Browsers take a backslash for a slash, and leave out tabs and line ends.
    is_local = address.startswith("/") and address[1:2] != "/" and "\\" not in address
    return percent_encode(address) if is_local and address.isprintable() else home()


def percent_encode(address: str) -> str:
    """Return a path and query in the characters that addresses have; what is encoded stays so.

    Example:
        >>> percent_encode('/a b/"é"?q=%41%')
        '/a%20b/%22%C3%A9%22?q=%41%25'
    """
    return _LONE_PERCENT.sub("%25", quote(address, safe=_IN_ADDRESSES))


def _last(segment: str) -> str:
    """Return the last segment of a path, percent-encoded so that it does not end like a format.

    Example:
        >>> _last("ada.json"), _last("a/b.c")
        ('ada%2Ejson', 'a%2Fb.c')
    """
    is_plain = _UNRESERVED.fullmatch(segment) is not None  # as most ids are
    name, dot, ending = (segment if is_plain else quote(segment, safe="")).rpartition(".")
    return f"{name}%2E{ending}" if dot and ending in FORMATS else f"{name}{dot}{ending}"


def _with_query(path: str, query: dict[str, Any]) -> str:
    values = {name: value for name, value in query.items() if value not in (None, "")}
    return f"{path}?{urlencode(values)}" if values else path
