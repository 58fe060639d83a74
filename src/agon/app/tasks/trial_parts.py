"""Write the parts of a trial, agent and verifier, as plain values for its record."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import Any

from agon.app.containers import ContainerResult, Image, Stream, TrialVerification
from agon.app.tasks.agents import AgentWork


def timings_of(
    image: Image,
    accounts: Mapping[str, ContainerResult | None],
    total: timedelta,
    work: AgentWork | None,
) -> dict[str, float]:
    """Return the seconds of the parts of a trial; a set-up is no part of the agent's time."""
    setup_s = 0.0 if work is None else work.setup_s
    seconds = {
        "build_s": 0.0 if image.cached else round(image.seconds, 3),
        **{
            f"{name}_s": round(account.command_ms / 1000, 3) if account else 0.0
            for name, account in accounts.items()
        },
        "total_s": round(total.total_seconds(), 3),
    }
    if setup_s:
        seconds["setup_s"] = round(setup_s, 3)
        seconds["agent_s"] = round(max(0.0, seconds["agent_s"] - setup_s), 3)
    return seconds


def parts_of(
    work: AgentWork | None, verdict: TrialVerification | None, folder: Path
) -> dict[str, Any]:
    """Return both parts as plain values; files are named relative to the trial's folder."""
    parts: dict[str, Any] = {}
    if work is not None:
        parts["agent"] = {
            "outcome": work.run.outcome,
            "reason": work.run.reason,
            **_account(work.run.account, folder),
        }
        if work.transcript is not None:
            parts["agent"]["transcript"] = _relative(work.transcript, folder)
        if work.logs:
            parts["agent"]["logs"] = [_relative(path, folder) for path in work.logs]
        if (outputs := work.run.outputs) is not None:
            parts["outputs"] = asdict(outputs) | {"path": _relative(outputs.path, folder)}
    if verdict is not None:
        parts["verifier"] = {
            "outcome": verdict.outcome,
            "reason": verdict.reason,
            **_account(verdict.account, folder),
            "logs": None if verdict.logs is None else _relative(verdict.logs, folder),
        }
    return parts


def _account(account: ContainerResult, folder: Path) -> dict[str, Any]:
    return {
        **asdict(account),
        "stdout": _stream(account.stdout, folder),
        "stderr": _stream(account.stderr, folder),
    }


def _stream(stream: Stream, folder: Path) -> dict[str, Any]:
    return {"file": _relative(stream.path, folder), "kept": stream.stored, "total": stream.total}


def _relative(path: Path, folder: Path) -> str:
    return str(path.relative_to(folder)) if path.is_relative_to(folder) else path.name
