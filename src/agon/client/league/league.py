"""Prepare a simulated league on a server, and play its rounds."""

import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from agon.client.connection import Connection
from agon.client.league.processes import ParticipantProcess
from agon.client.uploads import NDJSON
from agon.disciplines.arena.rounds.draws import uniform
from agon.disciplines.arena.simulation.population import SYLLABLES, Population
from agon.errors import Conflict, NotFound, Unavailable, Unreadable

RULES: Final[Mapping[str, Any]] = {"judge_min_matches": 0, "bradley_terry_regularisation": 0.1}
"""Rules of a contest that is created for a league: judges vote in the first round already, and a
bot that won or lost all its matches has a Bradley–Terry rating."""

PROMPTS: Final = 100

_LONG_AGO: Final = "2020-01-01T00:00:00Z"
"""When accounts were created and bots qualified: another run of a league adds the same records."""

_POLL_S: Final = 0.05
_NAME_PARTS: Final = 5
_MAX_VOID_ROUNDS: Final = 3  # in a row


@dataclass(frozen=True)
class PlayedRound:
    """A settled round.

    Attributes:
        number: its number.
        matches: number of its matches that were recorded; those that are void are not.
        waiting: number of bots without an opponent.
        seconds: from the request for it until it was settled.
    """

    number: int
    matches: int
    waiting: int
    seconds: float


@dataclass
class League:
    """A population that plays in a contest on a server.

    Attributes:
        connection: the server, with an organizer's token.
        contest: the contest's id.
        population: the bots and judges.
        pull: the share of bots that ask for work; the others have endpoints.
        patience: seconds a round may take.
        delay: seconds that a bot takes for an answer or a vote.
        ids: of the bots that were registered, by their number.
    """

    connection: Connection
    contest: str
    population: Population
    pull: float
    patience: float
    delay: float = 0.0
    ids: dict[int, str] = field(default_factory=dict)

    def common_input(self, token: str | None) -> dict[str, Any]:
        """Return the input that all processes with bots share.

        Args:
            token: the token that bots without an endpoint ask for work with.
        """
        return {
            "strengths": list(self.population.strengths),
            "characters": list(self.population.characters),
            "seed": self.population.seed,
            "url": f"{self.connection.url}/api/v1/contests/{self.contest}",
            "token": token,
            "delay": self.delay,
        }

    def open_contest(self) -> None:
        """Create and open the contest if there is none.

        Raises:
            Unreadable: it is not an arena.
            Conflict: it has bots of others, which would not answer.
        """
        try:
            contest = self.connection.get("contests", self.contest)
        except NotFound:
            new = {
                "id": self.contest, "discipline": "arena",
                "title": self.contest.replace("-", " ").capitalize(),
                "description": "Simulated bots and judges.", "overrides": RULES,
            }  # fmt: skip
            contest = self.connection.send("POST", "contests", body=new)
        if contest["discipline"] != "arena":
            raise Unreadable(
                f"contest {self.contest} is not an arena but of {contest['discipline']}; name an "
                "arena, or a contest "
                "that does not exist yet"
            )
        if contest["state"] == "draft":
            self._send("open")
        owners = {self._owner(number) for number in range(len(self.population.strengths))}
        others = sorted(bot["owner"] for bot in self._list("bots") if bot["owner"] not in owners)
        if others:
            raise Conflict(
                f"{self.contest} has bots of others, the first of {others[0]}; name another "
                "contest, or repeat the --bots, --judges and --seed of the earlier run"
            )

    def register(self, processes: list[ParticipantProcess]) -> None:
        """Register and qualify all bots, and start each in its process.

        Bots that an earlier run registered get their new endpoints, and go on.
        """
        known = {bot["owner"]: bot for bot in self._list("bots")}
        count = len(self.population.strengths)
        self._add_records("owners", [self._owner_row(number) for number in range(count)])
        prompts = [{"id": f"p{index}", "text": f"Prompt {index}: why?"} for index in range(PROMPTS)]
        self._send_lines("prompts", rows=prompts)
        for number in range(count):
            process = processes[number % len(processes)]
            bot = known.get(self._owner(number))
            if bot is None:
                endpoint = None if self._is_pulling(number) else process.endpoint(number)
                bot = self._send("bots", body=self._new_bot(number, endpoint))
                secret = bot["secret"]
            elif bot["answers"] == "pull":
                secret = None
            else:
                secret = self._renew(bot, process.endpoint(number))
            self.ids[number] = bot["id"]
            process.add(number, bot["id"], secret)
        qualified = [self._bot_row(number) for number in range(count)]
        self._add_records("bots", qualified, replace="true")

    def play(self, matches: int, *, report: Callable[[PlayedRound], object]) -> list[PlayedRound]:
        """Play rounds until there are so many matches; return them.

        Raises:
            Conflict: a round cannot begin, with the cause.
            Unavailable: a round is not settled in time, with what it waits for; or all matches of
                several rounds are void.
        """
        played: list[PlayedRound] = []
        while sum(each.matches for each in played) < matches:
            played.append(self._play_round())
            report(played[-1])
            last = played[-_MAX_VOID_ROUNDS:]
            if len(last) == _MAX_VOID_ROUNDS and not any(each.matches for each in last):
                raise Unavailable(
                    f"all matches of the last {_MAX_VOID_ROUNDS} rounds are void; "
                    f"agon arena report {self.contest} says who failed"
                )
        return played

    def _play_round(self) -> PlayedRound:
        began = time.monotonic()
        job = self._send("matches")
        end = began + self.patience
        while job["state"] in {"queued", "leased"}:
            _wait_until(end, "the round does not begin; is a worker running?")
            job = self.connection.get("jobs", job["id"])
        if job["state"] != "done":
            raise Conflict(job["causes"][-1]["cause"] if job["causes"] else "no round began")
        (newest,) = self.connection.get("contests", self.contest, "rounds", limit=1)["items"]
        number = newest["number"]
        while newest["state"] != "settled":
            cause = newest["waits_for"] or f"it is {newest['state']}, missing {newest['missing']}"
            _wait_until(end, f"round {number} is not settled: {cause}")
            newest = self.connection.get("contests", self.contest, "rounds", str(number))
        return PlayedRound(
            number=number,
            matches=newest["matches"] - (newest["void"] or 0),
            waiting=len(newest["waiting"]),
            seconds=time.monotonic() - began,
        )

    def _is_pulling(self, number: int) -> bool:
        return uniform(self.population.seed, "pull", str(number)) < self.pull

    def _owner(self, number: int) -> str:
        return f"{self.population.seed}-owner-{number}"

    def _owner_row(self, number: int) -> dict[str, Any]:
        """Return the record of an owner; handles that resemble each other would be findings."""
        seed = self.population.seed
        handle = "".join(
            SYLLABLES[int(uniform(seed, "handle", str(number), str(index)) * len(SYLLABLES))]
            for index in range(_NAME_PARTS)
        )
        return {"id": self._owner(number), "handle": handle, "account_created_at": _LONG_AGO}

    def _bot_row(self, number: int) -> dict[str, Any]:
        return {
            "id": self.ids[number],
            "owner_id": self._owner(number),
            "name": f"bot {number}",
            "is_judge": number < len(self.population.characters),
            "qualified_at": _LONG_AGO,
        }

    def _new_bot(self, number: int, endpoint: str | None) -> dict[str, Any]:
        return {
            "name": f"bot {number}",
            "owner": self._owner(number),
            "judges": number < len(self.population.characters),
            "endpoint": endpoint,
        }

    def _renew(self, bot: Mapping[str, Any], endpoint: str) -> str:
        """Give a bot of an earlier run its new endpoint; return a new secret."""
        path = ("contests", self.contest, "bots", bot["id"])
        changes = {"endpoint": endpoint, "paused": False}
        self.connection.send("PATCH", *path, body=changes)
        renewed = self.connection.send("POST", *path, "rotate-secret")
        return str(renewed["secret"])

    def _list(self, *path: str) -> Iterable[dict[str, Any]]:
        cursor = None
        while True:
            page = self.connection.get("contests", self.contest, *path, limit=500, cursor=cursor)
            yield from page["items"]
            cursor = page["next"]
            if cursor is None:
                return

    def _send(self, *path: str, body: Any = None) -> Any:
        return self.connection.send("POST", "contests", self.contest, *path, body=body)

    def _send_lines(self, *path: str, rows: Iterable[Mapping[str, Any]], **query: Any) -> None:
        content = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
        self.connection.send(
            "POST", "contests", self.contest, *path, content=content, kind=NDJSON, **query
        )

    def _add_records(self, table: str, rows: Iterable[Mapping[str, Any]], **query: str) -> None:
        lines = ({"table": table, "row": row} for row in rows)
        self._send_lines("records", rows=lines, **query)


def _wait_until(end: float, message: str) -> None:
    """Sleep a moment; raise Unavailable if the time is over."""
    if time.monotonic() > end:
        raise Unavailable(f"{message}; repeat the command to go on")
    time.sleep(_POLL_S)
