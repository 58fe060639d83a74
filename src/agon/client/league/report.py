"""Measure what a simulated league shows: how well ratings find strengths, and who lost credibility.

The boards are those that the server published after the last round.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, get_args

from agon.client.connection import Connection
from agon.client.league.league import League, PlayedRound
from agon.disciplines.arena.simulation.population import Character
from agon.errors import Unavailable
from agon.kernel.statistics import spearman

BOARDS: Final = {"elo": "bots", "bradley_terry": "bradley-terry"}

_PUBLISHED_S: Final = 120.0
_POLL_S: Final = 0.05
_CONFIDENCE: Final = 0.95
_MIN_PAIRS: Final = 3
_LEVEL: Final = 50
"""Credibility of the figure ``judges_below_50``."""


def measure(
    league: League,
    played: Sequence[PlayedRound],
    *,
    bots: Iterable[Mapping[str, Any]],
    latencies: Iterable[Mapping[str, Any]],
) -> dict[str, Any]:
    """Return the figures of a league.

    Args:
        league: the league.
        played: the rounds of this run.
        bots: a row for every bot, as in ``agon arena report``.
        latencies: summaries of latencies, as there.
    """
    wait_for_boards(league.connection, league.contest)
    rows = list(bots)
    seconds = sum(each.seconds for each in played)
    matches = sum(each.matches for each in played)
    return {
        "bots": len(league.population.strengths),
        "judges": len(league.population.characters),
        "rounds": len(played),
        "matches": matches,
        "seconds": round(seconds, 1),
        "matches_per_minute": round(60 * matches / seconds, 1),
        "spearman": {name: _spearman(league, board) for name, board in BOARDS.items()},
        "judges_below_50": _judges(league),
        "latency_ms": {
            each["kind"]: {name: each[name] for name in ("count", "p50", "p95", "p99")}
            for each in latencies
            if each["participant"] is None
        },
        "forfeits": sum(row["forfeits"] for row in rows),
        "faults": {
            owner: sum(row[f"faults_{owner}"] for row in rows)
            for owner in ("bot", "transport", "ours")
        },
        "waited": {row["bot"]: row["waited"] for row in rows if row["waited"]},
        "longest_wait": max((row["longest_wait"] for row in rows), default=0),
    }


def wait_for_boards(connection: Connection, contest: str) -> None:
    """Wait until the boards of a contest are published with all that changes them.

    Their positions do not show that: a round whose matches are all played again changes no board.

    Raises:
        Unavailable: they are not in two minutes, or cannot be.
    """
    end = time.monotonic() + _PUBLISHED_S
    while True:
        jobs = connection.get("jobs", contest=contest, kind="publish", limit=1)["items"]
        if not jobs or jobs[0]["state"] == "done":
            return
        if jobs[0]["state"] not in {"queued", "leased"}:
            causes = jobs[0]["causes"] or [{"cause": f"the job is {jobs[0]['state']}"}]
            raise Unavailable(f"the boards cannot be published: {causes[-1]['cause']}")
        if time.monotonic() > end:
            raise Unavailable("the boards are not published; is a worker running?")
        time.sleep(_POLL_S)


def _spearman(league: League, board: str) -> float | None:
    """Return the rank correlation of a board with the true strengths; None if it has few rows."""
    numbers = {bot_id: number for number, bot_id in league.ids.items()}
    rows = [row for row in _rows(league, board) if row["id"] in numbers]
    if len(rows) < _MIN_PAIRS:
        return None
    true = [league.population.strengths[numbers[row["id"]]] for row in rows]
    correlation = spearman(true, [row["score"] for row in rows], confidence=_CONFIDENCE)
    return round(correlation.value, 4)


def _judges(league: League) -> dict[str, dict[str, float]]:
    """Return for each character the number of judges, their votes, and how many are below 50."""
    rows = {row["id"]: row for row in _rows(league, "judges")}
    counts: dict[str, dict[str, float]] = {
        name: {"judges": 0, "below": 0, "votes": 0} for name in get_args(Character)
    }
    for number, character in enumerate(league.population.characters):
        row = rows.get(league.ids[number], {"credibility": _LEVEL, "votes": 0})
        figures = counts[character]
        figures["judges"] += 1
        figures["below"] += row["credibility"] < _LEVEL
        figures["votes"] += row["votes"]
    return {name: figures for name, figures in counts.items() if figures["judges"]}


def _rows(league: League, board: str) -> Iterable[dict[str, Any]]:
    cursor = None
    while True:
        path = ("contests", league.contest, "boards", board)
        page = league.connection.get(*path, limit=500, cursor=cursor)
        yield from page["rows"]
        cursor = page["next"]
        if cursor is None:
            return
