"""Numbers of a run: they add up, and pass@k is what counting all draws gives."""

from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agon.app.containers import Outcome
from agon.app.tasks.agents import Usage
from agon.app.tasks.results.folder import RunPlan
from agon.app.tasks.results.summary import pass_at_k, summarize
from agon.app.tasks.trials import TrialResult
from agon.kernel.statistics import wilson
from sizes import size

OUTCOMES: list[Outcome] = ["passed", "failed", "timeout", "unscored"]


def result(task: str, number: int, outcome: Outcome, *, usage: Usage | None = None) -> TrialResult:
    """Make one trial's result."""
    return TrialResult(
        task=task,
        task_sha256="",
        number=number,
        run="r",
        agent="a",
        result=outcome,
        reason="" if outcome == "passed" else f"why {number}",
        reward_source="exit_code",
        started_at="2026-11-21T10:00:00.000Z",
        finished_at=f"2026-11-21T10:00:0{number}.000Z",
        timings={"build_s": 0.0, "agent_s": 1.0, "verifier_s": 0.5, "total_s": 2.0},
        usage=usage,
    )


def plan(*tasks: str, trials: int = 1) -> RunPlan:
    """Make the plan of a run."""
    return RunPlan(
        run="r",
        agent="a",
        settings={},
        tasks=dict.fromkeys(tasks, ""),
        reward_sources={},
        trials=trials,
    )


@settings(max_examples=size(50), deadline=None)
@given(st.data())
def test_pass_at_k_counts_the_draws_that_hold_a_pass(data: st.DataObject) -> None:
    """The formula against all subsets of k trials, one by one."""
    trials = data.draw(st.integers(1, 8))
    passed = data.draw(st.integers(0, trials))
    k = data.draw(st.integers(1, trials))
    draws = list(combinations(range(trials), k))
    expected = sum(any(one < passed for one in draw) for draw in draws) / len(draws)
    assert pass_at_k(passed=passed, trials=trials, k=k) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("passed", "trials", "k"), [(3, 2, 1), (-1, 2, 1), (1, 2, 3), (1, 2, 0)])
def test_pass_at_k_of_nonsense_is_refused(passed: int, trials: int, k: int) -> None:
    """More draws than trials cannot be estimated."""
    with pytest.raises(ValueError, match="give 1 ≤ k"):
        pass_at_k(passed=passed, trials=trials, k=k)


@settings(max_examples=size(50), deadline=None)
@given(st.lists(st.tuples(st.sampled_from("xyz"), st.sampled_from(OUTCOMES)), max_size=20))
def test_a_summary_adds_up(made: list[tuple[str, Outcome]]) -> None:
    """Passed and total are sums of the tasks' own; every trial is counted once."""
    results = [result(task, 1 + at % 9, outcome) for at, (task, outcome) in enumerate(made)]
    summary = summarize(plan("x", "y", "z"), results)
    rows = summary["tasks"].values()
    assert summary["passed"] == sum(row["passed"] for row in rows)
    assert summary["total"] == sum(row["trials"] for row in rows)
    assert summary["total"] + summary["unscored"] == len(made)
    if summary["total"]:
        assert summary["pass_rate"] == summary["passed"] / summary["total"]
        bounds = summary["bounds"]
        assert bounds["low"] <= summary["pass_rate"] <= bounds["high"]
        assert (bounds["low"] == bounds["high"]) == (summary["unscored"] == 0)
        interval = summary["interval"]
        assert interval["low"] <= summary["pass_rate"] <= interval["high"]
    else:
        assert summary["pass_rate"] is None
        assert summary["reason"]


def test_the_interval_is_wilsons_over_the_tasks() -> None:
    """Ten trials of one task are not ten tasks."""
    once = summarize(plan("x", "y"), [result("x", 1, "passed"), result("y", 1, "failed")])
    often = summarize(
        plan("x", "y", trials=4),
        [result(task, n, "passed" if task == "x" else "failed")
         for task in "xy" for n in range(1, 5)],
    )  # fmt: skip
    expected = wilson(1, trials=2, confidence=0.95)
    for summary in (once, often):
        assert summary["interval"]["low"] == pytest.approx(expected.low)
        assert summary["interval"]["high"] == pytest.approx(expected.high)
        assert summary["interval"]["sample"] == 2


def test_pass_at_k_is_averaged_over_tasks_with_enough_trials() -> None:
    """As far as every task has trials with a score."""
    outcomes: dict[str, list[Outcome]] = {
        "x": ["passed", "failed", "failed"],
        "y": ["failed", "failed", "unscored"],
    }
    made = [result(task, n, one) for task, all_of_it in outcomes.items()
            for n, one in enumerate(all_of_it, 1)]  # fmt: skip
    summary = summarize(plan("x", "y", trials=3), made)
    assert summary["pass_at_k"] == {"1": pytest.approx(1 / 6), "2": pytest.approx(1 / 3)}


def test_pass_at_k_of_many_trials_stays_short() -> None:
    """All k to ten, then powers of two, then all trials."""
    made = [result("x", n, "passed") for n in range(1, 51)]
    chances = summarize(plan("x", trials=50), made)["pass_at_k"]
    assert list(map(int, chances)) == [*range(1, 11), 16, 32, 50]
    assert set(chances.values()) == {1.0}


def test_a_task_reports_why_its_first_trial_did_not_pass() -> None:
    """One line for people; the rest stands in the trials' folders."""
    made = [result("x", 1, "passed"), result("x", 2, "timeout"), result("x", 3, "failed")]
    row = summarize(plan("x", trials=3), made)["tasks"]["x"]
    assert row["reason"] == "why 2"
    assert row["results"] == {"1": "passed", "2": "timeout", "3": "failed"}


def test_cost_is_reported_only_where_it_is_known() -> None:
    """Nobody's price is no price of zero."""
    free = summarize(plan("x"), [result("x", 1, "passed")])
    assert free["usage"]["cost_usd"] is None
    used = [
        result("x", 1, "passed", usage=Usage(steps=2, input_tokens=9, output_tokens=4)),
        result("y", 1, "failed", usage=Usage(steps=1, input_tokens=1, cost_usd=0.25)),
    ]
    assert summarize(plan("x", "y"), used)["usage"] == {
        "steps": 3, "input_tokens": 10, "output_tokens": 4, "cached_tokens": 0, "cost_usd": 0.25,
    }  # fmt: skip


def test_times_are_added_up() -> None:
    """Of each part, over all trials."""
    summary = summarize(plan("x", "y"), [result("x", 1, "passed"), result("y", 2, "unscored")])
    assert summary["seconds"] == {
        "build": 0.0,
        "setup": 0.0,
        "agent": 2.0,
        "verifier": 1.0,
        "total": 4.0,
    }
    assert summary["finished_at"] == "2026-11-21T10:00:02.000Z"


def test_a_summary_names_what_made_a_trial_a_pass() -> None:
    """Two tasks of one run may differ in their reward_source; the last lines name both."""
    sources = {"b": "both", "a": "exit_code", "c": "both"}
    made = summarize(replace(plan("a", "b", "c"), reward_sources=sources), [])
    assert made["reward_sources"] == {"both": ["b", "c"], "exit_code": ["a"]}


def test_all_rewards_have_their_mean_beside_the_pass_rate() -> None:
    """A trial that left no such reward counts as 0; one without a score does not count."""
    trials = [
        replace(result("a", 1, "passed"), rewards={"reward": 1.0, "style": 0.5}),
        replace(result("a", 2, "failed"), rewards={"reward": 0.5}),
        result("a", 3, "timeout"),
        replace(result("a", 4, "unscored"), rewards={"reward": 1.0}),
    ]
    made = summarize(plan("a", trials=4), trials)
    assert made["rewards"] == pytest.approx({"reward": 0.5, "style": 0.5 / 3})
    assert TrialResult.from_dict(trials[0].to_dict()) == trials[0]
