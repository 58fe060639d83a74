"""Summarize a run: pass rate, interval, pass@k, the matrix of tasks and trials, cost and time."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from agon.app.tasks.results.folder import RunPlan
from agon.app.tasks.trials import TrialResult
from agon.kernel.statistics import wilson

_CONFIDENCE = 0.95


def summarize(
    plan: RunPlan, results: Iterable[TrialResult], *, stopped: str = ""
) -> dict[str, Any]:
    """Return the content of ``summary.json``.

    S = passed / total over the trials that have a score; unscored trials are in neither and are
    counted separately. ``bounds`` has the rates if they all failed and if they all passed. A run
    without any score has ``pass_rate`` null and a ``reason``. ``stopped`` says why a run ended
    before all its trials did.

    Source: document 001, Benchmark Score; interfaces, Program and task tools.
    """
    by_task: dict[str, list[TrialResult]] = {name: [] for name in plan.tasks}
    for result in results:
        by_task[result.task].append(result)
    counts = _counts(by_task)
    passed = sum(count for count, _ in counts.values())
    total = sum(number for _, number in counts.values())
    trials = [trial for results in by_task.values() for trial in results]
    summary: dict[str, Any] = {
        "pass_rate": passed / total if total else None,
        "passed": passed,
        "total": total,
        "unscored": len(trials) - total,
        "bounds": _bounds(passed, total, len(trials)),
        "tasks": {
            name: _task(by_task[name], *counts.get(name, (0, 0))) for name in sorted(by_task)
        },
        "interval": _interval(passed, total, len(counts)),
        "pass_at_k": _pass_at_k(list(counts.values())),
        "rewards": _mean_rewards(trials),
        "reward_sources": _reward_sources(plan),
        "agent": plan.agent,
        "agent_settings": dict(plan.settings),
        "run": plan.run,
        "build_network": plan.build_network,
        "test_network": plan.test_network,
        "keep_servers": plan.keep_servers,
        "agent_network": plan.agent_network,
        "allowed_hosts": sorted(plan.allowed_hosts),
        "unreadable": dict(plan.unreadable),
        "variables": dict(plan.variables),
        "overrides": dict(plan.overrides),
        "agent_timeout": plan.agent_timeout,
        "trials": plan.trials,
        "usage": _usage(trials),
        "prices": dict(plan.prices),
        "started_at": plan.started_at,
        "finished_at": max((trial.finished_at for trial in trials), default=None),
        "seconds": _seconds(trials),
    }
    if stopped:
        summary["stopped"] = stopped
    return summary if total else summary | {"reason": "no trial has a score"}


def _counts(by_task: Mapping[str, Sequence[TrialResult]]) -> dict[str, tuple[int, int]]:
    """Return how many trials of each task passed and have a score; tasks without one are absent."""
    scored = {
        name: [trial for trial in results if trial.scored] for name, results in by_task.items()
    }
    return {
        name: (sum(trial.result == "passed" for trial in results), len(results))
        for name, results in scored.items()
        if results
    }


def _mean_rewards(results: Sequence[TrialResult]) -> dict[str, float]:
    """Return the mean of each reward over the scored trials; a trial without it counts as 0."""
    scored = [trial for trial in results if trial.scored]
    keys = sorted({key for trial in scored for key in trial.rewards})
    return {
        key: math.fsum(trial.rewards.get(key, 0.0) for trial in scored) / len(scored)
        for key in keys
    }


def _reward_sources(plan: RunPlan) -> dict[str, list[str]]:
    """Return the tasks by what made a trial of them a pass (rule ``reward_source``)."""
    tasks: dict[str, list[str]] = {}
    for name, source in sorted(plan.reward_sources.items()):
        tasks.setdefault(source, []).append(name)
    return dict(sorted(tasks.items()))


def _task(results: Sequence[TrialResult], passed: int, scored: int) -> dict[str, Any]:
    """Return a task's row: counts, each trial's result, and why the first that did not pass."""
    reasons = [trial.why or trial.result for trial in results if trial.result != "passed"]
    return {
        "passed": passed,
        "trials": scored,
        "reason": reasons[0] if reasons else "",
        "unscored": len(results) - scored,
        "results": {str(trial.number): trial.result for trial in results},
        "seconds": _sum(trial.timings["total_s"] for trial in results),
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


def _usage(results: Sequence[TrialResult]) -> dict[str, Any]:
    """Return the total usage of the agents; cost is null when no trial has one."""
    used = [trial.usage for trial in results if trial.usage is not None]
    costs = [usage.cost_usd for usage in used if usage.cost_usd is not None]
    return {
        "steps": sum(usage.steps for usage in used),
        "input_tokens": sum(usage.input_tokens for usage in used),
        "output_tokens": sum(usage.output_tokens for usage in used),
        "cached_tokens": sum(usage.cached_tokens for usage in used),
        "cost_usd": math.fsum(costs) if costs else None,
    }


def _seconds(results: Sequence[TrialResult]) -> Mapping[str, float]:
    """Return the seconds of each part, summed over all trials."""
    return {
        name: _sum(trial.timings.get(f"{name}_s", 0.0) for trial in results)
        for name in ("build", "setup", "agent", "verifier", "total")
    }


def _sum(seconds: Iterable[float]) -> float:
    return round(math.fsum(seconds), 3)
