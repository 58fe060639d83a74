"""Send work to endpoints: all of a round at the same time, each until its deadline."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any, Final

from agon.app.arena.live.bots import secrets_of
from agon.app.arena.live.ports import ArenaPorts
from agon.app.arena.live.results import fault_result, reply_result, store_result
from agon.app.arena.live.transport import Endpoint, Reply
from agon.app.service import Service
from agon.disciplines.arena.faults import Fault
from agon.entities.arena import Work
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

    Each result is stored as it arrives.

    Args:
        service: the service.
        ports: the network.
        contest: the contest.
        round_id: the round.
        check: raises an error if the job was lost; called before each result is stored.
    """
    with service.store.read() as session:
        items = [
            item
            for item in session.arena.work_of(contest.no, round_id)
            if item.pushed and item.result is None
        ]

    def ask(item: Work) -> None:
        result, latency = _ask(service, ports, contest, item)
        check()
        store_result(service, contest.id, item, result, latency_ms=latency)

    if ports.threads == 1:
        for item in items:
            ask(item)
    else:
        with ThreadPoolExecutor(ports.threads, "arena") as pool:
            for future in [pool.submit(ask, item) for item in items]:
                future.result()
    return len(items)


def _ask(
    service: Service, ports: ArenaPorts, contest: Contest, item: Work
) -> tuple[dict[str, Any], float | None]:
    """Return the result of one piece of work, and the time of its reply.

    What did not arrive is sent again until the same deadline.
    """
    with service.store.read() as session:
        bot = session.arena.bot(contest.no, item.assignee)
    if bot.endpoint is None:
        return fault_result(Fault("bot", "invalid", "the bot has no endpoint any more")), None
    endpoint = Endpoint(bot.endpoint, secrets_of(service, bot))
    attempt, pause = 1, FIRST_PAUSE
    last: Fault | None = None
    while (seconds := _seconds_until(item.deadline, service.clock())) > 0:
        body = {**item.body, "attempt": attempt, "deadline_ms": round(seconds * 1000)}
        reply = ports.transport.ask(endpoint, body, seconds=seconds)
        if isinstance(reply, Reply):
            return reply_result(reply, item), reply.latency_ms
        last = reply
        if reply.owner != "transport" or reply.code == "address-refused":
            break
        if pause >= _seconds_until(item.deadline, service.clock()):
            break
        ports.pause(pause)
        attempt, pause = attempt + 1, pause * 2
    return fault_result(last or Fault("ours", "ours-worker", "no worker asked in time")), None


def _seconds_until(deadline: datetime, now: datetime) -> float:
    return (deadline - now).total_seconds()
