"""A league over HTTP: matches a minute against what its calls alone allow, and the time of a vote.

``agon serve`` runs as an operator starts it, with one worker; bots and judges are web servers in
processes of their own, as in ``agon arena simulate-live``. After each round the same numbers of
answers and votes are asked of equal bots by the same transport, with nothing else.
"""

import argparse
import http.client
import os
import secrets
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson
import report  # type: ignore[import-not-found]  # of this folder
from databases import KINDS, database  # type: ignore[import-not-found]  # of this folder
from service_change import serving  # type: ignore[import-not-found]  # of this folder

from agon.app.arena.live.network.ports import ArenaPorts
from agon.app.arena.live.network.transport import BotReply, Endpoint
from agon.app.webhooks.signatures import format_secret
from agon.client.connection import Connection
from agon.client.league.league import League
from agon.client.league.processes import participant_processes
from agon.client.league.report import measure
from agon.client.league.run import process_count
from agon.disciplines.arena.simulation.population import Population
from agon.runners.bots.http import HttpBots

SHARE = 0.8
"""Matches a minute that the specification wants, as a share of what the calls alone allow."""

VOTE_SECONDS = 0.025
"""The specification's limit for one vote, from its request to the committed entry."""

VOTERS = 40
ROUND_TIMEOUT_S = 600.0


def main() -> None:
    """Measure on each kind of database, with bots that reply at once and with slower ones."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bots", type=int, default=200)
    parser.add_argument("--judges", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--votes", type=int, default=240, help="votes that are timed")
    parser.add_argument("--delay", type=float, action="append", help="seconds a bot needs (0, 1)")
    parser.add_argument("--database", choices=KINDS, action="append")
    options = parser.parse_args()
    report.header("fastapi", "uvicorn", "sqlalchemy", "psycopg", "httpcore2")
    os.environ |= {"AGON_ALLOW_PRIVATE_BOTS": "true"}
    for kind in options.database or KINDS:
        with (
            database(kind) as url,
            TemporaryDirectory() as folder,
            serving(url, Path(folder)) as port,
            closing(Connection(f"http://127.0.0.1:{port}")) as connection,
        ):
            for delay in options.delay or (0.0, 1.0):
                play(kind, connection, delay, options)
            time_votes(kind, connection, port, options.votes)


def play(kind: str, connection: Connection, delay: float, options: Any) -> None:
    """Play rounds, and make the calls of a round after each."""
    population = Population.draw(
        bots=options.bots, judges=options.judges, dishonest=0.2, seed=f"bench{delay:g}"
    )
    name = f"league-{delay:g}".replace(".", "-")
    league = League(connection, name, population, 0.0, ROUND_TIMEOUT_S, delay)
    count, bare = process_count(options.bots), []
    progress(f"{kind}, {name}: registering {options.bots} bots")
    league.open_contest()
    with (
        participant_processes(count, league.common_input(None)) as processes,
        callable_bots(league, count) as endpoints,
    ):
        league.register(processes)
        rounds = []
        for _ in range(options.rounds):
            (of,) = league.play(1, report=lambda _: None)
            rounds.append(of)
            bare.append(call(endpoints, population, matches=of.matches))
            progress(
                f"{kind}, {name}: round {of.number}, {of.matches} matches in {of.seconds:.2f} s, "
                f"the calls alone {bare[-1]:.2f} s"
            )
    items = connection.get("contests", name, "latencies")["items"]
    figures = measure(league, rounds, bots=(), latencies=items)
    alone = 60 * figures["matches"] / sum(bare)
    label = f"{kind}, {options.bots} bots, {options.judges} judges, replies after {delay:g} s"
    print(
        f"{label}: {figures['matches']} matches in {figures['rounds']} rounds, "
        f"{figures['matches_per_minute']:,.0f} matches a minute; the calls alone {alone:,.0f}; "
        f"load {os.getloadavg()[0]:.1f}\n  {figures}",
        flush=True,
    )
    report.compare(
        f"rounds, {label}", figures["seconds"], "the HTTP calls alone", sum(bare), SHARE, SHARE
    )


def progress(text: str) -> None:
    """Print what was done."""
    print(text, file=sys.stderr, flush=True)


@contextmanager
def callable_bots(league: League, count: int) -> Iterator[Sequence[Endpoint]]:
    """Run equal bots that this process asks itself; their endpoints are lent."""
    with participant_processes(count, league.common_input(None)) as processes:
        endpoints = []
        for number in range(len(league.population.strengths)):
            process, secret = processes[number % count], secrets.token_bytes(32)
            process.add(number, f"bare-{number}", format_secret(secret))
            endpoints.append(Endpoint(process.endpoint(number), (secret,)))
        yield endpoints


def call(endpoints: Sequence[Endpoint], population: Population, *, matches: int) -> float:
    """Ask for the answers and then for the votes of so many matches; return the seconds."""
    bots = HttpBots(allow_private=True)
    judges = len(population.characters)
    threads = ArenaPorts(transport=bots).threads

    def ask(number: int, kind: str, match: str) -> None:
        work = {
            "id": secrets.token_hex(16), "kind": kind, "match": match, "prompt": "Why?",
            "max_chars": 400, "attempt": 1, "protocol": "agon-arena-1", "deadline_ms": 30_000,
            "answers": {"A": population.answer(0, match), "B": population.answer(1, match)},
        }  # fmt: skip
        reply = bots.ask(endpoints[number], work, seconds=30)
        assert isinstance(reply, BotReply), reply

    begin = time.perf_counter()
    for kind, calls in (
        ("answer", [(at, f"m{at // 2}") for at in range(2 * matches)]),
        ("vote", [(at % judges, f"m{at // 3}") for at in range(3 * matches)]),
    ):
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(lambda each, kind=kind: ask(each[0], kind, each[1]), calls))
    return time.perf_counter() - begin


class NoProcess:
    """Bots without a process: this one does their work."""

    port = 0

    def endpoint(self, number: int) -> str:
        """Return no endpoint, since all of them ask for work."""
        raise AssertionError(number)

    def add(self, number: int, bot_id: str, secret: str | None) -> None:
        """Start nothing."""


def time_votes(kind: str, connection: Connection, port: int, votes: int) -> None:
    """Hand in answers and votes as bots that ask for work; time each vote."""
    progress(f"{kind}: {votes} votes, one by one")
    population = Population.draw(bots=VOTERS, judges=VOTERS, dishonest=0, seed="votes")
    league = League(connection, "votes", population, 1.0, ROUND_TIMEOUT_S)
    league.open_contest()
    league.register([NoProcess()])  # type: ignore[list-item]  # has what register uses
    seconds: list[float] = []
    with closing(http.client.HTTPConnection("127.0.0.1", port)) as voting:
        while len(seconds) < votes:
            begin_round(connection)
            while newest_round(connection)["state"] != "settled":
                seconds += hand_in_all(league, voting)
    p50, p95 = statistics.median(seconds), statistics.quantiles(seconds, n=20)[-1]
    print(
        f"{kind}: one of {len(seconds)} votes, from its request to its commit: p50 "
        f"{1000 * p50:.1f} ms, p95 {1000 * p95:.1f} ms, longest {1000 * max(seconds):.1f} ms; load "
        f"{os.getloadavg()[0]:.1f}",
        flush=True,
    )
    report.compare(f"one vote, p95, {kind}", p95, "limit", VOTE_SECONDS, 1, 1)


def hand_in_all(league: League, connection: http.client.HTTPConnection) -> list[float]:
    """Do all work that waits; return the seconds of each request that handed in a vote."""
    seconds: list[float] = []
    for number, bot in league.ids.items():
        path = f"/api/v1/contests/votes/bots/{bot}/work"
        for work in request(connection, "GET", path)["items"]:
            match, answers = work["match"], work["answers"]
            if answers is None:
                reply = {"text": league.population.answer(number, match)}
            else:
                reply = {"vote": league.population.vote(number, match, answers)}
            begin = time.perf_counter()
            request(connection, "POST", f"/api/v1/contests/votes/work/{work['id']}", reply)
            if answers is not None:
                seconds.append(time.perf_counter() - begin)
    return seconds


def request(
    connection: http.client.HTTPConnection, method: str, path: str, value: Any = None
) -> Any:
    """Return the JSON of a response."""
    body = None if value is None else orjson.dumps(value)
    connection.request(method, path, body, {"content-type": "application/json"})
    response = connection.getresponse()
    content = response.read()
    assert response.status < 300, content[:500]
    return orjson.loads(content)


def begin_round(connection: Connection) -> None:
    """Begin a round."""
    job = connection.send("POST", "contests", "votes", "matches")
    while job["state"] in {"queued", "leased"}:
        time.sleep(0.02)
        job = connection.get("jobs", job["id"])
    assert job["state"] == "done", job


def newest_round(connection: Connection) -> Any:
    """Return the newest round."""
    (newest,) = connection.get("contests", "votes", "rounds", limit=1)["items"]
    return newest


if __name__ == "__main__":
    main()
