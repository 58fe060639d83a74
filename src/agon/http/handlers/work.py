"""Wait for the work of bots and judges, without occupying a thread."""

import asyncio
from typing import Any, Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from agon.api.models.work import WorkItems
from agon.api.operation import ContestContext
from agon.api.operations.work import get_bot_work, get_judge_work

_FIRST_PAUSE: Final = 0.1
_MAX_PAUSE: Final = 1.0


async def bot_work(
    request: Request, _response: Response, ctx: ContestContext, *, bot: str, wait: float = 0
) -> WorkItems:
    """Return the work of a bot as soon as there is some."""
    return await _wait(request, wait, get_bot_work.function, ctx, bot)


async def judge_work(
    request: Request, _response: Response, ctx: ContestContext, *, wait: float = 0
) -> WorkItems:
    """Return the work of a judge as soon as there is some."""
    return await _wait(request, wait, get_judge_work.function, ctx)


async def _wait(request: Request, seconds: float, get: Any, *arguments: Any) -> WorkItems:
    loop = asyncio.get_running_loop()
    end, pause = loop.time() + seconds, _FIRST_PAUSE
    while True:
        items: WorkItems = await run_in_threadpool(get, *arguments)
        remaining = end - loop.time()
        if items.items or remaining <= 0 or await request.is_disconnected():
            return items
        await asyncio.sleep(min(pause, remaining))
        pause = min(pause * 2, _MAX_PAUSE)
