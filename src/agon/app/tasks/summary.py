"""Summarize a run: pass rate, interval, pass@k, the matrix of tasks and trials, cost and time."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from agon.app.tasks.folder import Plan
from agon.app.tasks.trials import TrialResult
from agon.kernel.statistics import wilson

_CONFIDENCE = 0.95


def summarize(plan: Plan, results: Iterable[TrialResult]) -> dict[str, Any]:
    """Return the content of ``summary.json``.

    S = passed / total over the trials that have a score; unscored trials are in neither and are
    counted separately. ``bounds`` has the rates if they all failed and if they all passed. A run
    without any score has ``pass_rate`` null and a ``reason``.

    Source: seed 001, Benchmark Score; interfaces, Program and task tools.
    """
    by_task: dict[str, list[TrialResult]] = {name: [] for name in plan.tasks}
    for result in results:
        by_task[result.task].append(result)
    scored = {name: [one for one in made if one.scored] for name, made in by_task.items()}
    counts = {
        name: (sum(one.result == "passed" for one in made), len(made))
        for name, made in scored.items()
        if made
    }
    passed = sum(count for count, _ in counts.values())
    total = sum(number for _, number in counts.values())
    everything = [one for made in by_task.values() for one in made]
    summary: dict[str, Any] = {
        "pass_rate": passed / total if total else None,
        "passed": passed,
        "total": total,
        "unscored": len(everything) - total,
        "bounds": _bounds(passed, total, len(everything)),
        "tasks": {
            name: _task(by_task[name], *counts.get(name, (0, 0))) for name in sorted(by_task)
        },
        "interval": _interval(passed, total, len(counts)),
        "pass_at_k": _pass_at_k(list(counts.values())),
        "agent": plan.agent,
        "agent_settings": dict(plan.settings),
        "run": plan.run,
        "trials": plan.trials,
        "usage": _usage(everything),
        "started_at": plan.started_at,
        "finished_at": max((one.finished_at for one in everything), default=None),
        "seconds": _seconds(everything),
    }
    return summary if total else summary | {"reason": "no trial has a score"}


def _task(made: Sequence[TrialResult], passed: int, scored: int) -> dict[str, Any]:
    """Return a task's row: counts, each trial's result, and why the first that did not pass."""
    reasons = [one.reason or one.result for one in made if one.result != "passed"]
    return {
        "passed": passed,
        "trials": scored,
        "reason": reasons[0] if reasons else "",
        "unscored": len(made) - scored,
        "results": {str(one.number): one.result for one in made},
        "seconds": _sum(one.timings["total_s"] for one in made),
    }


def _bounds(passed: int, scored: int, trials: int) -> dict[str, float | None]:
    """Return the pass rates of all trials if those without a score failed, and if they passed."""
    if not trials:
        return {"low": None, "high": None}
    return {"low": passed / trials, "high": (passed + trials - scored) / trials}


def _interval(passed: int, total: int, tasks: int) -> dict[str, Any]:
    """Return Wilson's interval of the pass rate, with the tasks as the sample.

    Trials of one task are similar, so more of them say little about other tasks: the interval is
    that of ``tasks`` draws with the same rate. With one trial per task it is the usual one.
    """
    interval = wilson(passed / total * tasks if total else 0, trials=tasks, confidence=_CONFIDENCE)
    return {"low": interval.low, "high": interval.high, "confidence": _CONFIDENCE, "sample": tasks}


def pass_at_k(*, passed: int, trials: int, k: int) -> float:
    """Return the estimated chance that at least one of k trials passes: 1 - C(n - c, k) / C(n, k).

    Unbiased for c passes in n ≥ k trials of one task.

    Raises:
        ValueError: when not 0 ≤ passed ≤ trials and 1 ≤ k ≤ trials.

    Example:
        >>> pass_at_k(passed=1, trials=4, k=2)  # of six pairs, three hold the pass
        0.5
    """
    if not 0 <= passed <= trials or not 1 <= k <= trials:
        raise ValueError(f"{passed} of {trials} trials passed, k = {k}: give 1 ≤ k ≤ trials")
    return 1 - math.comb(trials - passed, k) / math.comb(trials, k)


def _pass_at_k(counts: Sequence[tuple[int, int]]) -> dict[str, float]:
    """Return the mean of :func:`pass_at_k` over tasks, for each k that every task has trials for.

    k is each number up to ten, then powers of two, and the number of trials itself.
    """
    fewest = min((trials for _, trials in counts), default=0)
    powers = {1 << bit for bit in range(fewest.bit_length())}
    return {
        str(k): math.fsum(pass_at_k(passed=c, trials=n, k=k) for c, n in counts) / len(counts)
        for k in sorted({*range(1, min(fewest, 10) + 1), *powers, fewest} - {0})
    }


def _usage(made: Sequence[TrialResult]) -> dict[str, Any]:
    """Return the total usage of the agents; cost is null when no trial has one."""
    used = [one.usage for one in made if one.usage is not None]
    costs = [one.cost_usd for one in used if one.cost_usd is not None]
    return {
        "steps": sum(one.steps for one in used),
        "input_tokens": sum(one.input_tokens for one in used),
        "output_tokens": sum(one.output_tokens for one in used),
        "cost_usd": math.fsum(costs) if costs else None,
    }


def _seconds(made: Sequence[TrialResult]) -> Mapping[str, float]:
    """Return the seconds of each part, summed over all trials."""
    return {
        name: _sum(one.timings[f"{name}_s"] for one in made)
        for name in ("build", "agent", "verifier", "total")
    }


def _sum(seconds: Iterable[float]) -> float:
    return round(math.fsum(seconds), 3)
