"""Views of recorded matches: result, votes, texts, rating changes."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from agon.app.access.permissions import View
from agon.app.arena.live import views
from agon.app.arena.live.scored import live_rules
from agon.app.arena.scored import arena_of
from agon.app.contests.boards.stored_rows import shown_names
from agon.app.contests.ledgers.positions import require_storable_name, snapshot_at
from agon.app.service import Service
from agon.disciplines.arena.facts import Facts, parse_time
from agon.disciplines.arena.formulas import NONE
from agon.disciplines.arena.records import KINDS, RESULTS
from agon.disciplines.arena.scoring import ScoredArena
from agon.entities.arena_reports import CopiedAnswer
from agon.entities.contests import Snapshot
from agon.errors import NotFound, Unreadable
from agon.records import Records
from agon.records.raw import literal

MatchKind = Literal["rated", "honeypot", "skipped"]
"""Whether a match is rated, a control of judges, or not played."""

_SIDES: Final = ("a", "b")


@dataclass(frozen=True, kw_only=True)
class MatchFilter:
    """Which matches are wanted; None: all.

    Attributes:
        bot: those of this bot.
        judge: those that this judge voted on.
        kind: those of this kind.

    Raises:
        Unreadable: there is no such kind.
    """

    bot: str | None = None
    judge: str | None = None
    kind: MatchKind | None = None

    def __post_init__(self) -> None:
        if self.kind is not None and self.kind not in KINDS:
            raise Unreadable(f"kind: expected {', '.join(KINDS)}, got {self.kind[:80]!r}")

    def wanted(self, facts: Facts) -> npt.NDArray[np.bool_]:
        """Return for each match of an arena whether it is wanted."""
        listed = facts.matches
        wanted = np.ones(len(listed), dtype=np.bool_)
        if self.bot is not None:
            number = _index(facts.bots.ids, self.bot)
            wanted &= ((listed.bot_a == number) | (listed.bot_b == number)) & (number != NONE)
        if self.judge is not None:
            wanted &= np.isin(
                np.arange(len(listed)),
                facts.votes.match[facts.votes.judge == _index(facts.judges.ids, self.judge)],
            )
        if self.kind is not None:
            wanted &= listed.kind == KINDS.index(self.kind)
        return wanted


def matches(
    service: Service,
    view: View,
    filters: MatchFilter,
    *,
    as_of: str | None = None,
    before: int | None = None,
    limit: int = 100,
) -> list[dict[str, Any]]:
    """Return the matches of the published boards' position, those played last first.

    Args:
        service: the service.
        view: what the caller may see.
        filters: which matches are wanted.
        as_of: a position of the ledger in digits or a time; None: the newest.
        before: only matches with a lower ``index``.
        limit: maximum number of matches.

    Raises:
        NotFound: nothing was published yet.
        Unreadable: ``as_of`` is neither a position nor a time.
    """
    with open_arena(service, view, as_of) as (arena, _, snapshot):
        wanted = filters.wanted(arena.facts)
        places = np.flatnonzero(wanted[:before])[::-1][:limit].tolist()
        summaries = [_summary(arena, place) for place in places]
    return _with_names(service, view, summaries, at=snapshot.seq)


def match_of(
    service: Service, view: View, match_id: str, *, as_of: str | None = None
) -> dict[str, Any]:
    """Return a match: its state; everything once it is settled, or if it was recorded elsewhere.

    Matches of rounds have the draw and its proof; recorded ones have what their records say. The
    result and the changes of ratings are those of the published boards.

    Raises:
        NotFound: there is no such match.
        Unreadable: ``as_of`` is neither a position nor a time.
    """
    require_storable_name(match_id)
    try:
        match = views.match_of(service, view, match_id)
    except NotFound:
        live_rules(view.contest)
        return _record_of(service, view, match_id, as_of)
    if match["state"] == "settled":
        try:
            recorded = _record_of(service, view, match["id"], as_of)
        except NotFound:  # not published yet
            return match
        match["result"] = recorded["result"]
        if match["copies"]:
            match["copies"] = _with_name(service, view, match["copies"], as_of=as_of)
    return match


def _record_of(service: Service, view: View, match_id: str, as_of: str | None) -> dict[str, Any]:
    """Return a match as its records say."""
    with open_arena(service, view, as_of) as (arena, records, snapshot):
        place = _index(arena.facts.matches.ids, match_id)
        if place == NONE:
            raise NotFound(f"there is no match {match_id!r}; see the list of matches")
        row, votes = _row(records, match_id), tuple(_votes(records, match_id))
        judges = [vote["judge_id"] for vote in votes]
        summaries = [_summary(arena, place)]
        return {
            "id": match_id,
            "round": None,
            "state": "settled",
            "outcome": row["kind"],
            "prompt": _prompt(service, view, row["prompt_id"]),
            "answers": {
                side: {"text": row[f"response_{side}"]}
                for side in _SIDES
                if row[f"response_{side}"] is not None
            },
            "votes": votes,
            "faults": (),
            "draw": None,
            "proof": None,
            "result": _with_names(service, view, summaries, at=snapshot.seq, judges=judges)[0],
        }


def _with_names(
    service: Service,
    view: View,
    summaries: Sequence[dict[str, Any]],
    *,
    at: int,
    judges: Sequence[str] = (),
) -> list[dict[str, Any]]:
    """Return summaries with the names that the boards of a position show of bots and judges."""
    named = [[*(summary[f"bot_{side}"] for side in _SIDES), *judges] for summary in summaries]
    ids = sorted({one for several in named for one in several if one is not None})
    with service.store.read() as session:
        names = shown_names(session, view.contest, ids, at=at) or {}
    return [
        {**summary, "names": {one: names[one] for one in several if one in names}}
        for summary, several in zip(summaries, named, strict=True)
    ]


def _with_name(
    service: Service, view: View, copies: Sequence[CopiedAnswer], *, as_of: str | None
) -> tuple[CopiedAnswer, ...]:
    """Return copies with the names that the published boards show of the bots copied from."""
    with service.store.read() as session:
        seq = snapshot_at(session, view, None, as_of).seq
        ids = sorted({each.bot for each in copies})
        names = shown_names(session, view.contest, ids, at=seq) or {}
    return tuple(replace(each, name=names.get(each.bot)) for each in copies)


def _prompt(service: Service, view: View, prompt_id: object) -> str | None:
    """Return the text of a prompt; its id where the organizer did not add it."""
    if prompt_id is None:
        return None
    with service.store.read() as session:
        texts = {prompt.id: prompt.text for prompt in session.arena.prompts(view.contest.no)}
    return texts.get(str(prompt_id), str(prompt_id))


@contextmanager
def open_arena(
    service: Service, view: View, as_of: str | None
) -> Iterator[tuple[ScoredArena, Records, Snapshot]]:
    """Lend the scores and the records of an arena at its published boards, and the board itself.

    Raises:
        NotFound: nothing was published yet.
        Conflict: the contest is no arena.
        NotScorable: the records cannot be scored.
        Unreadable: ``as_of`` is neither a position nor a time.
    """
    live_rules(view.contest)
    with service.store.read() as session:
        snapshot = snapshot_at(session, view, None, as_of)
    with service.replicas.current(service.store, view.contest) as replica:
        result = replica.result(at=snapshot.seq)
        yield arena_of(result.scored), result.records, snapshot


def _summary(arena: ScoredArena, place: int) -> dict[str, Any]:
    """Return the result of a match, and how it changed the ratings of its bots."""
    facts, listed = arena.facts, arena.facts.matches
    rated = int(np.searchsorted(arena.ratings.match, place))
    is_rated = rated < len(arena.ratings.match) and int(arena.ratings.match[rated]) == place
    bots = {
        side: None if (number := int(bot[place])) == NONE else str(facts.bots.ids[number])
        for side, bot in (("a", listed.bot_a), ("b", listed.bot_b))
    }
    panel = int(arena.results.panel[place])
    final = int(arena.results.final[place])
    return {
        "id": listed.names([place])[0],
        "index": place,
        "played_at": parse_time(int(listed.played[place])),
        "kind": KINDS[int(listed.kind[place])],
        "bot_a": bots["a"],
        "bot_b": bots["b"],
        "votes": dict(zip(RESULTS, listed.counts[place].tolist(), strict=True)),
        "panel": None if panel == NONE else RESULTS[panel],
        "winner": None if final == NONE else RESULTS[final],
        "audit": _choice(RESULTS, int(listed.audit[place])),
        "honeypot_real": _choice(_SIDES, int(listed.real[place])),
        "rating": _changes(arena, rated) if is_rated else None,
    }


def _changes(arena: ScoredArena, rated: int) -> dict[str, dict[str, float]]:
    """Return the rating of both bots before a rated match, and what it changed."""
    history, ratings = arena.rating_history, arena.ratings
    return {
        "a": {"before": float(history.before_a[rated]), "change": float(ratings.change_a[rated])},
        "b": {"before": float(history.before_b[rated]), "change": float(ratings.change_b[rated])},
    }


def _choice(names: tuple[str, ...], code: int) -> str | None:
    return None if code == NONE else names[code]


def _index(ids: pa.Array, name: str) -> int:
    """Return the index of an id, −1 if there is none; ids may be texts or integers."""
    return int(pc.index(pc.cast(ids, pa.string()), pa.scalar(name, pa.string())).as_py())


def _row(records: Records, match_id: str) -> Mapping[str, Any]:
    rows = records.sql(
        f"SELECT kind, prompt_id, response_a, response_b FROM matches "
        f"WHERE id::VARCHAR = {literal(match_id)}"
    ).to_pylist()
    row: Mapping[str, Any] = rows[0]
    return row


def _votes(records: Records, match_id: str) -> list[dict[str, Any]]:
    """Return the votes of a match in the order of their times."""
    rows: list[dict[str, Any]] = records.sql(
        f"SELECT judge_id::VARCHAR AS judge_id, shown_first, vote, voted_at FROM votes "
        f"WHERE match_id::VARCHAR = {literal(match_id)} ORDER BY voted_at, judge_id"
    ).to_pylist()
    return rows
