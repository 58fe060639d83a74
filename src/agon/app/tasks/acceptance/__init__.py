"""Accept tasks into a contest: oracle, no action, cheat, forged programs, weaknesses, remedies."""

from agon.app.tasks.acceptance.check import accept_tasks, rejected_task
from agon.app.tasks.acceptance.results import (
    Acceptance,
    AcceptanceCheck,
    ProbeResult,
    Remedy,
    Weakness,
)
from agon.app.tasks.acceptance.trials import AcceptanceAgents, CheckStep, TrialOptions

__all__ = [
    "Acceptance",
    "AcceptanceAgents",
    "AcceptanceCheck",
    "CheckStep",
    "ProbeResult",
    "Remedy",
    "TrialOptions",
    "Weakness",
    "accept_tasks",
    "rejected_task",
]
