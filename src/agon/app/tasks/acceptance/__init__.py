"""Accept tasks into a contest: oracle, no action, cheat, forged programs, weaknesses, remedies."""

from agon.app.tasks.acceptance.check import accept_tasks, rejected_task
from agon.app.tasks.acceptance.results import (
    Acceptance,
    AcceptanceCheck,
    ProbeResult,
    Remedy,
    Weakness,
)
from agon.app.tasks.acceptance.trials import AcceptanceAgents, Step, TrialOptions

__all__ = [
    "Acceptance",
    "AcceptanceAgents",
    "AcceptanceCheck",
    "ProbeResult",
    "Remedy",
    "Step",
    "TrialOptions",
    "Weakness",
    "accept_tasks",
    "rejected_task",
]
