"""Requests that wait for work end when their work was assigned, and share one look at it."""

import asyncio
from pathlib import Path

from agon.http.work_waits import WorkWaits
from fakes.arena import Model, league

LONG = 300.0


def test_those_whose_work_was_assigned_go_on_and_the_others_wait(tmp_path: Path) -> None:
    """Nobody is woken for the work of another; a stop of the process ends all waits."""
    played = league(tmp_path, bots=2, pulling=("b1",))
    played.model = Model()
    bot = played.bot("b1")

    async def wait() -> tuple[list[bool], int, bool, int]:
        waits = WorkWaits(played.service, poll=0.001)
        assert not await waits.wait((bot.contest_no, bot.id), 0.01)
        own = [asyncio.create_task(waits.wait((bot.contest_no, bot.id), LONG)) for _ in range(3)]
        other = asyncio.create_task(waits.wait((bot.contest_no, "judy"), LONG))
        await asyncio.sleep(0)  # all of them begin
        assert len(waits) == len(own) + 1
        assert await asyncio.to_thread(played.play) == []
        ended = await asyncio.gather(*own)
        waiting = len(waits)
        waits.close()
        return ended, waiting, await other, len(waits)

    assert asyncio.run(asyncio.wait_for(wait(), LONG)) == ([True] * 3, 1, True, 0)
    played.service.store.close()
