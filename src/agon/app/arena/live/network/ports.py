"""Collect what rounds need of the network: bots, and models that judge and audit."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from agon.app.arena.judging.port import JudgeModel
from agon.app.arena.live.network.transport import BotTransport


@dataclass(frozen=True, kw_only=True)
class ArenaPorts:
    """What rounds need of the network.

    Attributes:
        transport: sends work to endpoints.
        judge: judges matches with fewer eligible judges than the rule; None: there is none.
        audit: audits matches; None: there is none.
        pause: sleeps some seconds before a bot that could not be reached is asked again.
        threads: maximum number of endpoints that are asked at the same time; bots that answer
            slowly must not use up the deadline of others.
        model_threads: maximum number of matches that models judge at the same time.
    """

    transport: BotTransport
    judge: JudgeModel | None = None
    audit: JudgeModel | None = None
    pause: Callable[[float], object] = time.sleep
    threads: int = 512
    model_threads: int = 8
