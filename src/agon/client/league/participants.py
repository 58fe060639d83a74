"""Run some bots of a simulated league: a web server for those with endpoints, polls for the others.

``python -m agon.client.league.participants`` reads JSON lines: first what all its bots share, then
a line for each bot that was registered. It prints the port of the endpoints, and ends with its
input, so that it never outlives the process that started it.
"""

import asyncio
import json
import logging
import socket
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import httpx2
import uvicorn

from agon.app.webhooks.signatures import parse_secret
from agon.disciplines.arena.simulation.population import Population
from agon.errors import CheckFailed
from agon.runners.bots.reference import MessageVerification

POLL_S: Final = 25
"""Seconds for which a bot without an endpoint waits for work."""

_PAUSE_S: Final = 0.5
_MAX_PAUSE_S: Final = 5.0
_BACKLOG: Final = 2048
_OK: Final = 200


@dataclass
class LeagueBots:
    """The bots of one process, by their number in the population.

    Attributes:
        population: all bots and judges.
        url: the contest's URL.
        token: the token that bots without an endpoint ask with.
        delay: seconds that a bot takes for an answer or a vote, as a model would; none for a ping.
        verifications: of each bot with an endpoint; it rejects what is not signed for it.
    """

    population: Population
    url: str
    token: str | None
    delay: float = 0.0
    verifications: dict[int, MessageVerification] = field(default_factory=dict)

    def reply(self, bot: int, work: Mapping[str, Any]) -> dict[str, str]:
        """Answer a prompt, vote, or repeat the nonce of a ping, as the work asks."""
        if work["kind"] == "ping":
            return {"nonce": work["nonce"]}
        if work["kind"] == "vote":
            return {"vote": self.population.vote(bot, work["match"], work["answers"])}
        return {"text": self.population.answer(bot, work["match"])}

    async def serve(self, scope: Mapping[str, Any], receive: Any, send: Any) -> None:
        """Answer a request at ``/NUMBER`` (an ASGI application)."""
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        status, content = await self._response(scope, body)
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(content)).encode()),
        ]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": content})

    async def _response(self, scope: Mapping[str, Any], body: bytes) -> tuple[int, bytes]:
        """Return status and body; until a bot has its secret, it answers pings only."""
        try:
            bot, work = int(scope["path"][1:]), json.loads(body)
            headers = {name.decode(): value.decode() for name, value in scope["headers"]}
            self._require_valid(bot, work["kind"], headers, body)
            if work["kind"] != "ping":
                await asyncio.sleep(self.delay)
            return _OK, json.dumps(self.reply(bot, work)).encode()
        except CheckFailed as error:
            return 401, json.dumps({"error": str(error)}).encode()
        except (ValueError, KeyError, IndexError) as error:
            return 400, json.dumps({"error": repr(error)}).encode()

    def _require_valid(self, bot: int, kind: str, headers: Mapping[str, str], body: bytes) -> None:
        verification = self.verifications.get(bot)
        if verification is not None:
            verification.require_valid(headers, body)
        elif kind != "ping":
            raise CheckFailed("the bot is not registered yet")

    async def poll(self, client: httpx2.AsyncClient, bot: int, bot_id: str) -> None:
        """Ask for the work of a bot and do it, without end."""
        pause = _PAUSE_S
        while True:
            try:
                path = f"{self.url}/bots/{bot_id}/work"
                response = await client.get(path, params={"wait": POLL_S})
                response.raise_for_status()
                for work in response.json()["items"]:
                    reply = self.reply(bot, work)
                    await asyncio.sleep(self.delay)
                    await client.post(f"{self.url}/work/{work['id']}", json=reply)
                pause = _PAUSE_S
            except httpx2.HTTPError:  # the server is busy, limits the rate, or is being restarted
                await asyncio.sleep(pause)
                pause = min(2 * pause, _MAX_PAUSE_S)


async def run() -> None:
    """Run the bots until the input ends."""
    lines = await _input()
    shared = json.loads(await lines.readline())
    population = Population(shared["strengths"], shared["characters"], shared["seed"])
    participants = LeagueBots(population, shared["url"], shared["token"], delay=shared["delay"])
    with socket.create_server(("127.0.0.1", 0), backlog=_BACKLOG) as listening:
        config = uvicorn.Config(
            participants.serve,
            interface="asgi3", http="h11", loop="asyncio", ws="none", lifespan="off",
            log_config=None, access_log=False, server_header=False, date_header=False,
            backlog=_BACKLOG,
        )  # fmt: skip
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        print(json.dumps({"port": listening.getsockname()[1]}), flush=True)  # noqa: T201 (the protocol)
        token = participants.token
        headers = {} if token is None else {"authorization": f"Bearer {token}"}
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=None)
        async with httpx2.AsyncClient(headers=headers, timeout=2 * POLL_S, limits=limits) as client:
            polls = []
            while line := await lines.readline():
                bot = json.loads(line)
                if bot["secret"] is None:
                    polls.append(
                        asyncio.create_task(participants.poll(client, bot["number"], bot["id"]))
                    )
                else:
                    secret = parse_secret(bot["secret"])
                    participants.verifications[bot["number"]] = MessageVerification([secret])
            for poll in polls:
                poll.cancel()
            await asyncio.gather(*polls, return_exceptions=True)
        server.should_exit = True
        await serving


async def _input() -> asyncio.StreamReader:
    """Return the standard input as a stream."""
    reader = asyncio.StreamReader(limit=1 << 24)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    return reader


if __name__ == "__main__":
    logging.getLogger("uvicorn").setLevel(logging.CRITICAL)
    asyncio.run(run())
