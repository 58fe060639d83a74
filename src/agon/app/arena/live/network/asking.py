"""Send work to endpoints: all of a round at the same time, each until its deadline."""

from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from queue import SimpleQueue
from typing import Final

from agon.app.arena.live.entrants.bots import secrets_of
from agon.app.arena.live.network.ports import ArenaPorts
from agon.app.arena.live.network.results import (
    body_at,
    fault_result,
    reply_result,
    seconds_left,
    store_results,
)
from agon.app.arena.live.network.transport import BotReply, Endpoint
from agon.app.service import Service
from agon.disciplines.arena.rounds.faults import Fault
from agon.entities.arena import LiveBot, Work
from agon.entities.contests import Contest

FIRST_PAUSE: Final = 0.25
"""Seconds before a bot that could not be reached is asked again; doubled each time."""


def ask_endpoints(
    service: Service,
    ports: ArenaPorts,
    contest: Contest,
    round_id: str,
    *,
    check: Callable[[], object],
) -> int:
    """Send all work of a round that has no result to endpoints; return how much it was.

    A reply is stored at once; those that arrive meanwhile are stored together.

    Args:
        service: the service.
        ports: the network.
        contest: the contest.
        round_id: the round.
        check: raises an error if the job was lost; called before results are stored.
    """
    with service.store.read() as session:
        items = session.arena.work_to_send(contest.no, round_id)
        bots = session.arena.bots_named(contest.no, {item.assignee for item in items})

    def ask(item: Work) -> Work:
        return _ask(service, ports, bots[item.assignee], item)

    def store(done: Iterable[Work]) -> None:
        check()
        store_results(service, contest, list(done))

    if not items:
        return 0
    if ports.threads == 1:
        for item in items:
            store([ask(item)])
        return len(items)
    ended = SimpleQueue[Future[Work]]()
    with ThreadPoolExecutor(min(len(items), ports.threads), "arena") as pool:
        for item in items:
            pool.submit(ask, item).add_done_callback(ended.put)
        remaining = len(items)
        while remaining:
            together = [ended.get()]
            while not ended.empty():
                together.append(ended.get())
            store(future.result() for future in together)
            remaining -= len(together)
    return len(items)


def _ask(service: Service, ports: ArenaPorts, bot: LiveBot, item: Work) -> Work:
    """Return one piece of work with its result, and the time of the reply.

    What did not arrive is sent again until the same deadline.
    """
    if bot.endpoint is None:
        return _done(service, item, Fault("bot", "invalid", "the bot has no endpoint any more"))
    endpoint = Endpoint(bot.endpoint, secrets_of(service, bot))
    attempt, pause = 1, FIRST_PAUSE
    last: Fault | None = None
    while (seconds := seconds_left(item, service.clock())) > 0:
        body = {**body_at(item, service.clock()), "attempt": attempt}
        reply = ports.transport.ask(endpoint, body, seconds=seconds)
        if isinstance(reply, BotReply):
            return _done(service, item, reply)
        last = reply
        if reply.owner != "transport" or reply.code == "address-refused":
            break
        if pause >= seconds_left(item, service.clock()):
            break
        ports.pause(pause)
        attempt, pause = attempt + 1, pause * 2
    return _done(service, item, last or Fault("ours", "ours-worker", "no worker asked in time"))


def _done(service: Service, item: Work, reply: BotReply | Fault) -> Work:
    if isinstance(reply, Fault):
        return replace(item, result=fault_result(reply), result_at=service.clock())
    return replace(
        item,
        result=reply_result(reply, item),
        result_at=service.clock(),
        latency_ms=reply.latency_ms,
    )
