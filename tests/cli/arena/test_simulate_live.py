"""Leagues of simulated bots play on a real server, in processes of their own."""

import asyncio
import json
import subprocess
from typing import Any

import pytest

from agon.cli.arena.simulate_live import summary
from agon.client.connection import Connection
from agon.client.league.league import League, PlayedRound
from agon.client.league.participants import LeagueBots
from agon.disciplines.arena.simulation.population import Population
from agon.errors import Unavailable
from cli.command import Cli
from cli.targets import Server


@pytest.mark.exhaustive
def test_a_league_plays_on_a_server_goes_on_and_ends_with_its_processes(
    agon: Cli, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bots with endpoints and bots that ask for work; the same command continues the league."""
    started: list[subprocess.Popen[str]] = []
    begin = subprocess.Popen.__init__

    def recorded(process: Any, *arguments: Any, **options: Any) -> None:
        begin(process, *arguments, **options)
        started.append(process)

    monkeypatch.setattr(subprocess.Popen, "__init__", recorded)
    options = ("--bots", "7", "--judges", "6", "--dishonest", ".4", "--pull", ".3", "--seed", "5")
    target = ("--server", server.url, "--token-file", server.token_file)

    def simulate(contest: str, *more: str) -> Any:
        return agon("arena", "simulate-live", contest, *options, *target, *more)

    first = simulate("rehearsal", "--matches", "6", "--format", "json")
    assert first.code == 0, first.err
    figures = first.json()
    assert (figures["rounds"], figures["matches"], figures["forfeits"]) == (2, 6, 0)
    assert sum(figures["waited"].values()) == 2
    assert -1 <= figures["spearman"]["elo"] <= 1
    assert -1 <= figures["spearman"]["bradley_terry"] <= 1
    counts = {name: of["judges"] for name, of in figures["judges_below_50"].items()}
    assert counts == {"honest": 4, "always wrong": 1, "coin flip": 1}
    assert figures["latency_ms"]["answer"]["count"] == 12
    assert figures["latency_ms"]["vote"]["count"] == 18
    assert summary(figures)[1].startswith("Spearman with true strength: Elo ")
    assert simulate("rehearsal", "--seed", "6").code == 4  # the bots are those of another seed
    play_round = League._play_round

    def press_ctrl_c(league: League) -> PlayedRound:
        monkeypatch.setattr(League, "_play_round", interrupted)
        return play_round(league)

    def interrupted(_: League) -> PlayedRound:
        raise KeyboardInterrupt

    monkeypatch.setattr(League, "_play_round", press_ctrl_c)
    again = simulate("rehearsal")
    assert again.code == 130
    assert "round 3: 3 matches" in again.err
    assert len(started) == 2
    assert all(process.poll() is not None for process in started)
    assert agon("arena", "simulate-live", "rehearsal").code == 2  # without a server
    crowd = agon("arena", "simulate-live", "rehearsal", *target, "--bots", "3", "--judges", "4")
    assert crowd.code == 2


class SettledRounds(Connection):
    """A server whose rounds have three matches each, of which some are void."""

    def __init__(self, *void: int) -> None:
        self.void = list(void)

    def send(self, *_: Any, **__: Any) -> Any:
        """Begin a round at once."""
        return {"state": "done"}

    def get(self, *_: Any, **__: Any) -> Any:
        """Return the newest round, which is settled."""
        void = self.void.pop(0)
        shown = {"number": 1, "state": "settled", "matches": 3, "void": void, "waiting": []}
        return {"items": [shown]}


def test_matches_that_are_void_are_not_counted() -> None:
    """Rounds are played until so many matches are recorded, as long as some are."""
    population = Population.draw(bots=2, judges=1, dishonest=0, seed="1")

    def play(matches: int, *void: int) -> list[int]:
        league = League(SettledRounds(*void), "spring", population, pull=1.0, patience=60)
        return [each.matches for each in league.play(matches, report=lambda _: None)]

    assert play(4, 0, 3, 2, 0) == [3, 0, 1]
    with pytest.raises(Unavailable, match="all matches of the last 3 rounds are void; agon arena"):
        play(4, 0, 3, 3, 3)


def test_a_ping_is_answered_at_once() -> None:
    """A league of 200 bots that need a second for an answer is registered within seconds."""
    population = Population.draw(bots=2, judges=1, dishonest=0, seed="1")
    slow = LeagueBots(population, "http://127.0.0.1", None, delay=3600)
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"body": json.dumps({"kind": "ping", "nonce": "n"}).encode()}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"path": "/1", "headers": []}
    asyncio.run(asyncio.wait_for(slow.serve(scope, receive, send), 60))
    assert (sent[0]["status"], json.loads(sent[1]["body"])) == (200, {"nonce": "n"})
