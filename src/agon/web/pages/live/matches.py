"""The pages of an arena's matches: the list with its rounds, and one match."""

from collections.abc import Mapping
from itertools import islice
from typing import Any, Final

from agon.api.models.rounds import Match
from agon.app.arena.live.matches import side_of
from agon.errors import NotFound
from agon.kernel.text.bidi import isolated_text
from agon.web import addresses
from agon.web.page import SitePage, Visit
from agon.web.pages.empty import has_no_board
from agon.web.pages.live.arena import arena, votes_by_side

KINDS: Final = ("rated", "honeypot", "skipped")
_ROWS: Final = 50
_MAX_ROWS: Final = 500
_MAX_PLACE: Final = 1_000_000_000
_ROUNDS: Final = 5


def matches(visit: Visit) -> SitePage:
    """Return the matches that were played last, with the rounds that are played now."""
    contest, _ = arena(visit)
    filters: dict[str, Any] = {
        name: visit.query.get(name) or None for name in ("bot", "judge", "kind")
    }
    limit = visit.number("limit", default=_ROWS, highest=_MAX_ROWS)
    before = visit.number("before", default=0, highest=_MAX_PLACE) or None
    results = visit.api.rounds.results(contest.id, **filters, as_of=visit.as_of, before=before)
    has_board = True
    try:
        listed = list(islice(results, limit + 1))
    except NotFound:
        if not has_no_board(visit):
            raise
        listed, has_board = [], False
    is_first = before is None and visit.as_of is None and not any(filters.values())
    goes_on = is_first and not contest.is_over
    rounds = list(islice(visit.api.rounds.list(contest.id), _ROUNDS)) if is_first else []
    return SitePage(
        template="matches.html",
        title=f"Matches · {contest.title}",
        values={
            "contest": contest,
            "matches": listed[:limit],
            "next": listed[limit - 1].index if len(listed) > limit else None,
            "has_times": any(each.played_at for each in listed),
            "rounds": rounds,
            "due": visit.api.rounds.next(contest.id) if goes_on else None,
            "protections": visit.api.rounds.protections(contest.id).items if goes_on else (),
            "filters": filters,
            "kinds": KINDS,
            "as_of": visit.as_of,
            "limit": visit.query.get("limit"),
        },
        data=addresses.api(
            "contests", contest.id, "results", **filters, as_of=visit.as_of, before=before,
            limit=visit.query.get("limit"),
        ) if has_board else None,
    )  # fmt: skip


def match(visit: Visit) -> SitePage:
    """Return a match: its state only until it is settled, then all of it."""
    contest, _ = arena(visit)
    shown: Match = visit.api.rounds.match(contest.id, visit.path["id"], as_of=visit.as_of)
    votes = shown.votes or ()
    return SitePage(
        template="match.html",
        title=f"Match {isolated_text(shown.id)} · {contest.title}",
        values={
            "contest": contest,
            "match": shown,
            "result": shown.result,
            "bots": _bots(shown),
            "votes": [(vote, side_of(vote)) for vote in votes],
            "panel": votes_by_side(votes),
            "as_of": visit.as_of,
        },
        data=addresses.api("contests", contest.id, "matches", shown.id, as_of=visit.as_of),
    )


def _bots(shown: Match) -> Mapping[str, Any]:
    """Return the bot on each side, as the boards or the draw state it."""
    if shown.result is not None:
        return {"a": shown.result.bot_a, "b": shown.result.bot_b}
    drawn: Mapping[str, Any] = shown.draw or {}
    return {"a": drawn.get("bot_a"), "b": drawn.get("bot_b")}
