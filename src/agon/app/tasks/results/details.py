"""Read what happened in a trial from its folder: steps, commands, outputs, results of tests.

Everything that agents and tests wrote is data: bounded, with the characters that do not show
replaced by their escapes, so that a command reads as it ran.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, Final

import orjson
from pydantic import TypeAdapter

from agon.app.tasks.results.summary_text import MARKS, usage_text
from agon.app.tasks.trajectory import (
    MAX_BYTES,
    TRAJECTORY,
    NoTrajectory,
    Step,
    Trajectory,
    read_trajectory,
    read_transcript,
)
from agon.app.tasks.trials import TrialResult
from agon.entities.trials import PrintedText, TrajectoryStep, TrialPart
from agon.kernel.text.visible import visible_text

MAX_TEXT: Final = 20_000
"""Characters of one text: its beginning and its end."""
MAX_STEPS: Final = 200
"""Steps of one part of a trial: the first and the last ones."""
MAX_CALLS: Final = 50
"""Calls of one step, and outputs: the first ones."""
_SMALLER: Final = ((4_000, 200), (1_000, 100), (300, 50), (100, 10))
"""Characters of a text and steps of a part that are tried where details are too long."""
_COLORS: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_FILES: Final = ("network.log",)
_PARTS: Final = TypeAdapter(tuple[TrialPart, ...])


def read_details(folder: Path, result: TrialResult) -> tuple[TrialPart, ...]:
    """Return the parts of a trial: the whole, and the steps of its task, if it has steps.

    Args:
        folder: the trial's folder.
        result: its result.
    """
    if not result.steps:
        return (_part(folder, "", result),)
    steps, unreadable = [], 0
    for row in result.steps:
        try:
            name, one = str(row["name"]), TrialResult.from_dict(row)
            part = _part(folder, name, one)
        except (TypeError, KeyError, ValueError, AttributeError):
            unreadable += 1
            continue
        if one.result in MARKS:
            steps.append(part)
        else:
            unreadable += 1
    notes = ("a step of the task cannot be read",) * unreadable
    return (_facts_of("", result, notes), *steps)


def shorten_details(parts: tuple[TrialPart, ...], *, max_bytes: int) -> tuple[TrialPart, ...]:
    """Return details whose JSON has a maximum size: texts are cut, then steps are left out."""
    if len(details_json(parts)) <= max_bytes:
        return parts
    for characters, steps in _SMALLER:
        shorter = tuple(_shortened(part, characters, steps) for part in parts)
        if len(details_json(shorter)) <= max_bytes:
            return shorter
    note = "its steps and outputs are too long to be shown"
    bare = [
        replace(_shortened(part, *_SMALLER[-1]), notes=(note,), steps=(), printed=())
        for part in parts
    ]
    while len(bare) > 1 and len(details_json(tuple(bare))) > max_bytes:
        del bare[len(bare) // 2 :]
    return tuple(bare)


def details_json(parts: tuple[TrialPart, ...]) -> bytes:
    """Return details as JSON."""
    return orjson.dumps([asdict(part) for part in parts])


def details_of_json(text: str | bytes) -> tuple[TrialPart, ...]:
    """Return the details that :func:`details_json` wrote, or somebody else.

    Raises:
        ValueError: they are none.
    """
    parts = _PARTS.validate_json(text, strict=True)
    if not parts:
        raise ValueError("there is no part")
    return tuple(_each_text(part, lambda text: visible_text(text, lines=True)) for part in parts)


def _each_text(value: Any, change: Callable[[str], str]) -> Any:
    """Return details with every text in them changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, tuple):
        return tuple(_each_text(one, change) for one in value)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(
            value,
            **{one.name: _each_text(getattr(value, one.name), change) for one in fields(value)},
        )
    return value


def _shortened(part: TrialPart, characters: int, steps: int) -> TrialPart:
    """Return a part with shorter texts, and fewer steps and lines."""
    fewer = replace(
        part,
        facts=part.facts[:MAX_CALLS],
        notes=part.notes[:MAX_CALLS],
        steps=tuple(
            replace(step, calls=step.calls[: MAX_CALLS + 1], outputs=step.outputs[: MAX_CALLS + 1])
            for step in _ends(part.steps, steps)
        ),
        printed=part.printed[:MAX_CALLS],
    )
    half = characters // 2
    shorter: TrialPart = _each_text(
        fewer,
        lambda text: text if len(text) <= characters else f"{text[:half]}\n…\n{text[-half:]}",
    )
    return shorter


def _ends(steps: tuple[TrajectoryStep, ...], count: int) -> tuple[TrajectoryStep, ...]:
    """Return the first and the last steps."""
    half = count // 2
    return steps if len(steps) <= count else (*steps[:half], *steps[-half:])


def _part(folder: Path, name: str, result: TrialResult) -> TrialPart:
    """Return a trial without steps of its task, or one of these."""
    own = f"steps/{name}/" if name else ""
    notes: tuple[str, ...] = ()
    steps: tuple[TrajectoryStep, ...] = ()
    try:
        trajectory = _trajectory(folder, own, result)
        steps = () if trajectory is None else tuple(_steps(trajectory))
    except (NoTrajectory, OSError) as wrong:
        notes = (f"its steps cannot be read: {visible_text(str(wrong))}",)
    part = _facts_of(name, result, notes)
    return replace(part, steps=steps, printed=tuple(_printed(folder, own, result)))


def _facts_of(name: str, result: TrialResult, notes: tuple[str, ...]) -> TrialPart:
    """Return a part with all but steps and outputs."""
    facts = [
        f"{part.removesuffix('_s')} {seconds:.1f} s" for part, seconds in result.timings.items()
    ]
    facts.append("tests not run" if result.exit_code is None else
                 f"exit code of the tests {result.exit_code}")  # fmt: skip
    if result.agent_failure:
        facts.append(f"exit code of the agent {result.agent_failure.exit_code}")
    facts += [f"{key} {value:g}" for key, value in sorted(result.rewards.items())]
    facts += [f"limit reached: {limit}" for limit in result.limits_hit]
    lines = [" · ".join(facts)]
    if result.usage:
        origin = "" if result.usage.source == "endpoint" else " · by the agent's own account"
        lines.append(f"{usage_text(asdict(result.usage), {})}{origin}")
    return TrialPart(
        name=visible_text(name),
        result=result.result,
        reason=_text(result.why, lines=False),
        facts=tuple(_text(line, lines=False) for line in lines),
        notes=(*(_text(note, lines=False) for note in result.notes), *notes),
        steps=(),
        printed=(),
    )


def _trajectory(folder: Path, own: str, result: TrialResult) -> Trajectory | None:
    """Return the trajectory or the transcript of a part, if there is one.

    Args:
        folder: the trial's folder.
        own: where the files of a step of the task lie in it; empty: the task has no steps.
        result: the result of the trial, or of the step.

    Raises:
        NoTrajectory: it cannot be read.
    """
    if name := result.parts.get("agent", {}).get("transcript"):
        path = _plain(folder, name)
        return None if path is None else read_transcript(path)
    path = _plain(folder, f"{own}{TRAJECTORY}")
    if path is None:
        return None
    with path.open("rb") as file:
        return read_trajectory(file.read(MAX_BYTES + 1)[:MAX_BYTES])


def _steps(trajectory: Trajectory) -> Iterator[TrajectoryStep]:
    """Yield the first and the last steps of a trajectory."""
    last = len(trajectory.steps) - MAX_STEPS // 2
    for number, step in enumerate(trajectory.steps, 1):
        if number <= MAX_STEPS // 2 or number > last:
            yield _step(number, step)


def _step(number: int, step: Step) -> TrajectoryStep:
    return TrajectoryStep(
        number=number,
        source=_text(step.source, lines=False),
        text=_text(step.text),
        calls=_few(step.calls, "calls"),
        outputs=_few(tuple(text for text in step.outputs if text.strip()), "outputs"),
        input_tokens=step.usage.input_tokens,
        output_tokens=step.usage.output_tokens,
    )


def _few(texts: tuple[str, ...], what: str) -> tuple[str, ...]:
    more = len(texts) - MAX_CALLS
    shown = tuple(map(_text, texts[:MAX_CALLS]))
    return shown if more <= 0 else (*shown, f"… {more:,} further {what} …")


def _printed(folder: Path, own: str, result: TrialResult) -> Iterator[PrintedText]:
    """Yield what agent and tests printed; the arguments are those of :func:`_trajectory`."""
    names: dict[str, str] = {}
    for part, title in (("agent", "Agent"), ("verifier", "Tests")):
        account: Mapping[str, Any] = result.parts.get(part) or {}
        for name in account.get("logs") or () if part == "agent" else ():
            names[str(name)] = str(name)
        for stream in ("stdout", "stderr"):
            file = (account.get(stream) or {}).get("file")
            if file:
                names[f"{title}: {stream}"] = str(file)
    names |= {name: f"{own}{name}" for name in _FILES}
    for title, name in names.items():
        path = _plain(folder, name)
        text = "" if path is None else _text_of(path)
        if text.strip():
            yield PrintedText(name=visible_text(title), text=_text(text))


def _plain(folder: Path, name: str) -> Path | None:
    """Return a file in a trial's folder; None unless it is a regular file there, and no link."""
    path = folder / name
    inside = path.resolve() == folder.resolve() / name
    return path if inside and path.is_file() and not path.is_symlink() else None


def _text_of(path: Path) -> str:
    """Return a file's beginning and end, never more of it."""
    half = 4 * MAX_TEXT  # bytes of a character, at most
    with path.open("rb") as file:
        content = file.read(2 * half)
        if len(content) < 2 * half or not (rest := path.stat().st_size - 2 * half):
            return content.decode(errors="replace")
        file.seek(max(2 * half, 2 * half + rest - half))
        end = file.read(half)
    return f"{content[:half].decode(errors='replace')}\n…\n{end.decode(errors='replace')}"


def _text(text: str, *, lines: bool = True) -> str:
    """Return a text whose characters show, without colors of a terminal, and not too long."""
    text = _COLORS.sub("", text) if lines else text
    if len(text) > MAX_TEXT:
        half = MAX_TEXT // 2
        text = f"{text[:half]}\n… {len(text) - 2 * half:,} characters …\n{text[-half:]}"
    return visible_text(text, lines=lines)
