"""Draw a run as one page: tasks and trials, and of each trial its steps, outputs and tests."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from agon.app.charts.markup import element, words
from agon.app.charts.standalone_page import standalone_page
from agon.app.tasks.results.details import read_details
from agon.app.tasks.results.drawing import draw_details, fold
from agon.app.tasks.results.folder import RunPlan, read_plan, read_results
from agon.app.tasks.results.summary import summarize
from agon.app.tasks.results.summary_text import MARKS, reach_text, usage_text
from agon.app.tasks.trials import TrialResult
from agon.errors import NotFound
from agon.kernel.text.captions import count_text
from agon.kernel.text.visible import visible_text

MAX_PAGE: Final = 32 << 20
"""Characters of all trials' details; later trials are in the table alone."""


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
    return "".join(element("p", [words(visible_text(line))]) for line in lines)


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
            element("th", [words(visible_text(task))], scope="row"),
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
    return link + element("div", [words(visible_text(" · ".join(facts)))])


def _id(result: TrialResult) -> str:
    return f"trial-{result.task}-{result.number}"


def _left_out(plan: RunPlan) -> str:
    items = [element("li", [words(visible_text(issue))]) for issue in plan.unreadable.values()]
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
    parts = read_details(folder, result)
    name = f"{MARKS[result.result]} {result.task}__{result.number} {result.result}"
    return fold(visible_text(name), parts[0].reason, draw_details(parts, name=_id(result)))
