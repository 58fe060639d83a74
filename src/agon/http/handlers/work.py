"""Wait for the work of bots and judges, without occupying a thread."""

import asyncio
from typing import Any, Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from agon.api.models.work import WorkItems
from agon.api.operation import ContestContext
from agon.api.operations.work import get_bot_work, get_judge_work
from agon.http.server_context import serving
from agon.http.work_waits import Assignee

_LOOK_FOR_CLIENT_S: Final = 1.0
"""Seconds between two looks whether the client is still there."""


async def bot_work(
    request: Request, _response: Response, ctx: ContestContext, *, bot: str, wait: float = 0
) -> WorkItems:
    """Return the work of a bot as soon as there is some."""
    return await _wait(request, wait, (ctx.contest.no, bot), get_bot_work.function, ctx, bot)


async def judge_work(
    request: Request, _response: Response, ctx: ContestContext, *, wait: float = 0
) -> WorkItems:
    """Return the work of a judge as soon as there is some."""
    judge = ctx.caller.user or ""  # without a user, the operation raises an error
    return await _wait(request, wait, (ctx.contest.no, judge), get_judge_work.function, ctx)


async def _wait(
    request: Request, seconds: float, assignee: Assignee, get: Any, *arguments: Any
) -> WorkItems:
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    items: WorkItems = await run_in_threadpool(get, *arguments)
    while not items.items and (remaining := end - loop.time()) > 0:
        if await serving(request).work_waits.wait(assignee, min(remaining, _LOOK_FOR_CLIENT_S)):
            return WorkItems.model_validate(await run_in_threadpool(get, *arguments))
        if await request.is_disconnected():
            break
    return items
