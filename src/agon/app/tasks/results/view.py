"""Draw a run as one page: tasks and trials, and of each trial its steps, outputs and tests.

Everything that agents and tests wrote is data: escaped, bounded, with control and bidirectional
characters replaced by their escapes, so that a command reads as it ran.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from agon.app.charts.markup import element, words
from agon.app.charts.standalone_page import standalone_page
from agon.app.tasks.results.folder import RunPlan, read_plan, read_results
from agon.app.tasks.results.summary import summarize
from agon.app.tasks.results.summary_text import MARKS, reach_text, usage_text
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
from agon.errors import NotFound
from agon.kernel.text.captions import count_text

MAX_TEXT: Final = 20_000
"""Characters of one text on the page: its beginning and its end."""
MAX_STEPS: Final = 200
"""Steps of one trial on the page: the first and the last ones."""
MAX_PAGE: Final = 32 << 20
"""Characters of all trials' details; later trials are in the table alone."""
_COLORS: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_FILES: Final = ("network.log",)


def view_page(folder: Path) -> str:
    """Return a run's page, which needs no other file and no network.

    Raises:
        NotFound: there is no such folder.
        InvalidPackage, Unreadable: it holds no run.
    """
    if not folder.is_dir():
        raise NotFound(f"{folder}: no such folder of a run; give what --out of a run was")
    plan, results = read_plan(folder), read_results(folder)
    summary = summarize(plan, [result for result in results if result.task in plan.tasks])
    sections = [
        ("Tasks and trials", [_matrix(plan, results)]),
        ("Left out", [_left_out(plan)] if plan.unreadable else []),
        ("Trials", list(_trials(folder, results))),
    ]
    title = f"{plan.submission or plan.agent} on {count_text(len(plan.tasks), 'task')}"
    return standalone_page(title, _intro(plan, summary), sections)


def _intro(plan: RunPlan, summary: Mapping[str, Any]) -> str:
    """Return what the run is, and its rate with what the rate leaves out."""
    lines = [_rate(plan, summary)]
    used = summary["usage"]
    if used["steps"] or used["input_tokens"]:
        lines.append(usage_text(used, summary["prices"]))
    settings = "agent: " + " · ".join(f"{key} {value}" for key, value in plan.settings.items())
    lines += [
        f"{reach_text(plan.agent_network, sorted(plan.allowed_hosts))} · started {plan.started_at}",
        settings,
    ]
    return "".join(element("p", [words(_visible(line))]) for line in lines)


def _rate(plan: RunPlan, summary: Mapping[str, Any]) -> str:
    planned = len(plan.tasks) * plan.trials
    done = summary["total"] + summary["unscored"]
    rate = summary["pass_rate"]
    parts = [
        "no trial has a score"
        if rate is None
        else f"pass rate {rate:.3f} ({summary['passed']} of {summary['total']})"
    ]
    if summary["unscored"]:
        parts.append(f"{count_text(summary['unscored'], 'trial')} unscored")
    if done < planned:
        parts.append(f"{planned - done} of {planned} trials not finished")
    if plan.unreadable:
        parts.append(f"{count_text(len(plan.unreadable), 'folder')} left out")
    parts += [f"mean {key} {value:.3f}" for key, value in summary["rewards"].items()]
    return " · ".join(parts)


def _matrix(plan: RunPlan, results: Sequence[TrialResult]) -> str:
    """Return the table of tasks and trials; each cell leads to its trial."""
    by_place = {(result.task, result.number): result for result in results}
    numbers = range(1, plan.trials + 1)
    head = element("tr", [element("th", [words(name)], scope="col")
                          for name in ("task", *map(str, numbers))])  # fmt: skip
    rows = [
        element("tr", [
            element("th", [words(_visible(task))], scope="row"),
            *(element("td", [_cell(by_place.get((task, number)))]) for number in numbers),
        ])
        for task in sorted(plan.tasks)
    ]  # fmt: skip
    caption = element("caption", [words("trials of each task; ✓ passed, ✗ failed, t time was up, "
                                        "? unscored")])  # fmt: skip
    return element("div", [element("table", [caption, head, *rows])], class_="data")


def _cell(result: TrialResult | None) -> str:
    if result is None:
        return words("not finished")
    rewards = [f"{key} {value:g}" for key, value in sorted(result.rewards.items())]
    cost = result.usage.cost_usd if result.usage else None
    facts = [
        *rewards,
        f"{result.timings['total_s']:.1f} s",
        *([] if cost is None else [f"{cost:.4f} USD"]),
    ]
    link = element("a", [words(f"{MARKS[result.result]} {result.result}")], href=f"#{_id(result)}")
    return link + element("div", [words(_visible(" · ".join(facts)))])


def _id(result: TrialResult) -> str:
    return f"trial-{result.task}-{result.number}"


def _left_out(plan: RunPlan) -> str:
    items = [element("li", [words(_visible(issue))]) for issue in plan.unreadable.values()]
    return element("ul", items)


def _trials(folder: Path, results: Sequence[TrialResult]) -> Iterator[str]:
    """Yield the details of each trial, as long as the page is not too long."""
    size, left_out = 0, 0
    for result in results:
        if size > MAX_PAGE:
            left_out += 1
            continue
        drawn = _trial(folder / f"{result.task}__{result.number}", result)
        size += len(drawn)
        yield drawn
    if left_out:
        yield element("p", [words(f"{left_out} further trials are in their folders alone.")])


def _trial(folder: Path, result: TrialResult) -> str:
    name = f"{MARKS[result.result]} {result.task}__{result.number} {result.result}"
    why = f": {result.why}" if result.why else ""
    parts = _facts(result, _id(result))
    parts += [element("p", [words(_visible(f"note: {note}"))]) for note in result.notes]
    if result.steps:
        parts += [_step_of_task(folder, row) for row in result.steps]
    else:
        parts += [*_steps(folder, "", result), *_outputs(folder, "", result)]
    return element("details", [element("summary", [words(_visible(name + why))]), *parts])


def _step_of_task(folder: Path, row: Mapping[str, Any]) -> str:
    """Return the details of a step of a task with steps."""
    try:
        name, result = str(row["name"]), TrialResult.from_dict(row)
        title = f"{MARKS[result.result]} step {name} {result.result}"
    except (TypeError, KeyError, ValueError, AttributeError):
        return element("p", [words("a step of the task cannot be read")])
    why = f": {result.why}" if result.why else ""
    own = f"steps/{name}/"
    parts = [*_facts(result), *_steps(folder, own, result), *_outputs(folder, own, result)]
    return element("details", [element("summary", [words(_visible(title + why))]), *parts])


def _facts(result: TrialResult, name: str = "") -> list[str]:
    """Return times, exit code, rewards and usage; the first paragraph may have an id."""
    facts = [
        f"{part.removesuffix('_s')} {seconds:.1f} s" for part, seconds in result.timings.items()
    ]
    facts.append("tests not run" if result.exit_code is None else
                 f"exit code of the tests {result.exit_code}")  # fmt: skip
    if result.agent_failure:
        facts.append(f"exit code of the agent {result.agent_failure.exit_code}")
    facts += [f"{key} {value:g}" for key, value in sorted(result.rewards.items())]
    facts += [f"limit reached: {limit}" for limit in result.limits_hit]
    place = {"id": name} if name else {}
    parts = [element("p", [words(_visible(" · ".join(facts)))], **place)]
    if result.usage:
        origin = "" if result.usage.source == "endpoint" else " · by the agent's own account"
        parts.append(element("p", [words(f"{usage_text(asdict(result.usage), {})}{origin}")]))
    return parts


def _steps(folder: Path, own: str, result: TrialResult) -> list[str]:
    """Return the steps of the trajectory or the transcript, if there is one that can be read.

    Args:
        folder: the trial's folder.
        own: where the files of a step of the task lie in it; empty: the task has no steps.
        result: the result of the trial, or of the step.
    """
    try:
        trajectory = _trajectory(folder, own, result)
    except (NoTrajectory, OSError) as wrong:
        return [element("p", [words(_visible(f"its steps cannot be read: {wrong}"))])]
    if trajectory is None or not trajectory.steps:
        return []
    steps = list(enumerate(trajectory.steps, 1))
    half = MAX_STEPS // 2
    shown = steps if len(steps) <= MAX_STEPS else [*steps[:half], *steps[-half:]]
    drawn = [_step(number, step) for number, step in shown]
    if more := len(steps) - len(shown):
        drawn.insert(half, element("p", [words(f"… {more:,} further steps …")]))
    return [element("h3", [words("Steps")]), *drawn]


def _trajectory(folder: Path, own: str, result: TrialResult) -> Trajectory | None:
    if name := result.parts.get("agent", {}).get("transcript"):
        path = _plain(folder, name)
        return None if path is None else read_transcript(path)
    path = _plain(folder, f"{own}{TRAJECTORY}")
    if path is None:
        return None
    with path.open("rb") as file:
        return read_trajectory(file.read(MAX_BYTES + 1)[:MAX_BYTES])


def _step(number: int, step: Step) -> str:
    used = step.usage
    tokens = (
        f" · {used.input_tokens:,} read, {used.output_tokens:,} written"
        if used.input_tokens or used.output_tokens
        else ""
    )
    parts = [element("p", [words(f"{number} · {_visible(step.source)}{tokens}")], class_="step")]
    if step.text.strip():
        parts.append(_pre(step.text))
    parts += [_pre(f"$ {call}") for call in step.calls]
    parts += [_pre(output) for output in step.outputs if output.strip()]
    return "".join(parts)


def _outputs(folder: Path, own: str, result: TrialResult) -> Iterator[str]:
    """Yield what agent and tests printed; the arguments are those of :func:`_steps`."""
    names: dict[str, str] = {}
    for part, title in (("agent", "Agent"), ("verifier", "Tests")):
        account = result.parts.get(part) or {}
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
            yield element("h3", [words(title)]) + _pre(text)


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


def _pre(text: str) -> str:
    return element("pre", [words(_visible(_shorten(_COLORS.sub("", text)), lines=True))])


def _shorten(text: str) -> str:
    if len(text) <= MAX_TEXT:
        return text
    half = MAX_TEXT // 2
    return f"{text[:half]}\n… {len(text) - 2 * half:,} characters …\n{text[-half:]}"


def _visible(text: str, *, lines: bool = False) -> str:
    r"""Return text whose characters all show: others are replaced by their escapes.

    Example:
        >>> _visible("rm \u202e x"), _visible("a\n", lines=True)
        ('rm \\u202e x', 'a\n')
    """
    spared = "\n\t" if lines else ""
    return "".join(
        letter
        if letter.isprintable() or letter in spared
        else letter.encode("unicode_escape", "surrogatepass").decode()
        for letter in text.replace("\r\n", "\n")
    )
