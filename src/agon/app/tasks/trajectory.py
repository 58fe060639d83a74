"""Read what an agent says it did: ``/logs/agent/trajectory.json``, or the loop's transcript.

The file is in the Agent Trajectory Interchange Format (ATIF), or mini-swe-agent's own. An agent
writes it itself, so everything in it may be wrong: it is bounded, what is no trajectory is one
note, and it never decides a trial.
"""

import json
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from agon.app.tasks.agents import Usage
from agon.app.tasks.prices import PriceTable

TRAJECTORY: Final = "trajectory.json"
"""The file's name in ``/logs/agent`` of a container, and in the folder of a trial."""
MAX_BYTES: Final = 32 << 20
"""Maximum size of a trajectory; a larger one is not read."""
MAX_MARKS: Final = 3_000_000
"""Maximum number of commas, colons and opening brackets, which bounds the memory of the values:
a file of 32 MiB with nothing else would take more than 1 GiB."""
_MEMBER: Final = f"logs/agent/{TRAJECTORY}"
_VERSION: Final = "ATIF-v1"
_MINI: Final = "mini-swe-agent-1"
_MAX_TOKENS: Final = 10**12
_SOURCES: Final = ("system", "user", "agent")


class NoTrajectory(Exception):
    """A file is no trajectory; the message says where."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step of a trajectory.

    Attributes:
        source: ``system``, ``user`` or ``agent``; ``note`` in a transcript.
        text: the message.
        calls: the calls of tools, each as one text: a command, or a name with arguments.
        outputs: what they returned.
        usage: tokens and cost of the step.
    """

    source: str
    text: str
    calls: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, kw_only=True)
class Trajectory:
    """What an agent says it did.

    Attributes:
        steps: its steps.
        usage: the sums: the file's own, or those over the steps.
        model: the model's name; may be empty.
    """

    steps: tuple[Step, ...]
    usage: Usage
    model: str = ""


@dataclass(frozen=True, kw_only=True)
class AgentAccount:
    """A trajectory that an agent left, or why it is none.

    Attributes:
        usage: what the agent used by its own account; None without a trajectory.
        note: why there is none, if there is a file.
    """

    usage: Usage | None = None
    note: str = ""


def collect(archive: Path, folder: Path, prices: PriceTable) -> AgentAccount:
    """Copy the trajectory in an agent's outputs to the trial's folder, and return its sums.

    Args:
        archive: the outputs (``outputs.tar``).
        folder: the folder of the trial.
        prices: the prices for a trajectory without a cost.
    """
    with tarfile.open(archive, encoding="utf-8", errors="surrogateescape") as opened:
        member = next((one for one in opened if one.name.lstrip("./") == _MEMBER), None)
        if member is None:
            return AgentAccount()
        if not member.isfile():
            return AgentAccount(note=f"/{_MEMBER} is no file; it is not read")
        if member.size > MAX_BYTES:
            return AgentAccount(
                note=f"/{_MEMBER} has {member.size:,} bytes, more than {MAX_BYTES:,}; "
                "it is not read"
            )
        source = opened.extractfile(member)
        content = source.read(MAX_BYTES) if source else b""
    try:
        trajectory = read_trajectory(content)
    except NoTrajectory as wrong:
        return AgentAccount(note=f"/{_MEMBER} is no trajectory: {wrong}")
    (folder / TRAJECTORY).write_bytes(content)
    used = trajectory.usage
    price = prices.price(trajectory.model)
    if used.cost_usd is None and price is not None:
        used = price.with_cost(used)
    return AgentAccount(usage=used)


def read_trajectory(content: bytes) -> Trajectory:
    """Return the trajectory in a file of ATIF, version 1, or of mini-swe-agent, version 1.

    Keys that are not known are ignored: minor versions add some.

    Raises:
        NoTrajectory: it is none; the message says where.
    """
    if (marks := sum(map(content.count, (b",", b":", b"[", b"{")))) > MAX_MARKS:
        raise NoTrajectory(f"it has {marks:,} commas, colons and brackets, more than {MAX_MARKS:,}")
    try:
        page = json.loads(content)
    except (ValueError, RecursionError) as wrong:
        raise NoTrajectory(f"it is no JSON ({' '.join(str(wrong).split())[:100]})") from None
    if not isinstance(page, dict):
        raise NoTrajectory("it is no object")
    if str(page.get("trajectory_format")).startswith(_MINI):
        return _of_mini(page)
    version = page.get("schema_version")
    if not isinstance(version, str) or not version.startswith(_VERSION):
        raise NoTrajectory(f"schema_version is {_excerpt(version)}, not {_VERSION}.…")
    rows = page.get("steps")
    if not isinstance(rows, list):
        raise NoTrajectory("steps is no list")
    steps = tuple(_step(row, number) for number, row in enumerate(rows, 1))
    return Trajectory(
        steps=steps,
        usage=_sums(steps, _metrics(page.get("final_metrics"), "total_", "final_metrics")),
        model=_text(_table(page.get("agent")).get("model_name")),
    )


def _of_mini(page: Mapping[str, Any]) -> Trajectory:
    """Return a trajectory of mini-swe-agent: messages, with the model's response in each."""
    rows = page.get("messages")
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise NoTrajectory("messages is no list of objects")
    steps, model = [], ""
    for number, row in enumerate(rows, 1):
        where, extra = f"messages[{number}]", _table(row.get("extra"))
        response = _table(extra.get("response"))
        model = _text(response.get("model")) or model
        used = _table(response.get("usage"))
        cached = _table(used.get("prompt_tokens_details")).get("cached_tokens")
        role, text = row.get("role"), _text(row.get("content"))
        steps.append(
            Step(
                source="agent" if role == "assistant" else "user" if role == "tool" else str(role),
                text="" if role == "tool" else text,
                calls=tuple(
                    _text(_table(one).get("command")) for one in _list(extra, "actions", where)
                ),
                outputs=(text,) if role == "tool" else (),
                usage=_metrics({**used, "cached_tokens": cached}, "", where),
            )
        )
    cost = _table(_table(page.get("info")).get("model_stats")).get("instance_cost")
    # 0 stands for a model whose price the agent does not know.
    own = _metrics({"total_cost_usd": cost or None}, "total_", "info.model_stats")
    return Trajectory(steps=tuple(steps), usage=_sums(steps, own), model=model)


def _table(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _step(row: object, number: int) -> Step:
    where = f"steps[{number}]"
    if not isinstance(row, dict):
        raise NoTrajectory(f"{where} is no object")
    if row.get("source") not in _SOURCES:
        raise NoTrajectory(f"{where}.source is {_excerpt(row.get('source'))}, none of {_SOURCES}")
    calls = [_call(one) for one in _list(row, "tool_calls", where)]
    observation = row.get("observation")
    results = _list(observation, "results", where) if isinstance(observation, dict) else []
    return Step(
        source=row["source"],
        text=_text(row.get("message")),
        calls=tuple(calls),
        outputs=tuple(_text(one.get("content")) for one in results if isinstance(one, dict)),
        usage=_metrics(row.get("metrics"), "", where),
    )


def _list(table: Mapping[str, Any], key: str, where: str) -> Sequence[Any]:
    value = table.get(key)
    if value is None:
        return ()
    if not isinstance(value, list):
        raise NoTrajectory(f"{where}.{key} is no list")
    return value


def _call(row: object) -> str:
    """Return a call as text: the command alone if it is the only argument."""
    if not isinstance(row, dict):
        return _excerpt(row)
    arguments = row.get("arguments")
    if isinstance(arguments, dict) and len(arguments) == 1:
        (only,) = arguments.values()
        if isinstance(only, str):
            return only
    return f"{_text(row.get('function_name'))} {json.dumps(arguments)}"


def _text(value: object) -> str:
    """Return a message: text, or parts of which the texts count."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(
            str(part["text"]) if isinstance(part, dict) and "text" in part else "[no text]"
            for part in value
        )
    return "" if value is None else json.dumps(value)


def _metrics(row: object, prefix: str, where: str) -> Usage:
    """Return tokens and cost; ``prefix`` is in front of their names."""
    if row is None:
        return Usage(source="trajectory")
    if not isinstance(row, dict):
        raise NoTrajectory(f"{where}: the metrics are no object")
    tokens = {
        name: _number(row.get(f"{prefix}{key}"), f"{where}.{prefix}{key}")
        for name, key in (
            ("input_tokens", "prompt_tokens"),
            ("output_tokens", "completion_tokens"),
            ("cached_tokens", "cached_tokens"),
        )
    }
    cost_key = f"{prefix}cost_usd"
    cost = row.get(cost_key)
    return Usage(
        **{name: int(value) for name, value in tokens.items()},
        cost_usd=None if cost is None else _number(cost, f"{where}.{cost_key}"),
        source="trajectory",
    )


def _number(value: object, where: str) -> float:
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise NoTrajectory(f"{where} is {_excerpt(value)}, no number")
    if not 0 <= value <= _MAX_TOKENS:  # also rejects a NaN
        raise NoTrajectory(f"{where} is {_excerpt(value)}, not from 0 to {_MAX_TOKENS:.0e}")
    return value


def _sums(steps: Sequence[Step], own: Usage) -> Usage:
    """Return the sums of a trajectory: over the steps, or the file's own if these are larger.

    An agent that calls a model beside its steps reports more at the end; less is no sum.
    """
    total = Usage(source="trajectory")
    for step in steps:
        total = total.plus(step.usage)
    costs = [cost for cost in (total.cost_usd, own.cost_usd) if cost is not None]
    return replace(
        total,
        steps=sum(len(step.calls) for step in steps),
        input_tokens=max(total.input_tokens, own.input_tokens),
        output_tokens=max(total.output_tokens, own.output_tokens),
        cached_tokens=max(total.cached_tokens, own.cached_tokens),
        cost_usd=max(costs) if costs else None,
    )


def read_transcript(path: Path) -> Trajectory:
    """Return the steps in the transcript of the loop (:mod:`agon.runners.agents.model`).

    Raises:
        NoTrajectory: it is none.
    """
    return Trajectory(steps=tuple(_lines(path)), usage=Usage())


def _lines(path: Path) -> Iterator[Step]:
    with path.open(encoding="utf-8", errors="replace") as file:
        for line in file:
            try:
                row = json.loads(line)
            except ValueError:
                raise NoTrajectory("a line of it is no JSON") from None
            if not isinstance(row, dict):
                raise NoTrajectory("a line of it is no object")
            role = str(row.get("role"))
            yield Step(
                source="agent" if role == "assistant" else role,
                text=_text(row.get("content")),
                usage=Usage(
                    input_tokens=int(row.get("input_tokens", 0)),
                    output_tokens=int(row.get("output_tokens", 0)),
                    cached_tokens=int(row.get("cached_tokens", 0)),
                ),
            )


def _excerpt(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"  # noqa: PLR2004  # a line
