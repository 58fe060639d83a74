"""Limits of tokens and cost hold within a trial that calls its model, not only between trials."""

import json
from pathlib import Path
from typing import Any

import pytest

from agon.app.tasks.agents import Usage
from agon.app.tasks.budget import Budget, Spending
from agon.app.tasks.formats.discovery import read_tasks
from agon.app.tasks.prices import TokenPrice
from agon.app.tasks.results.folder import read_results
from agon.app.tasks.run import plan_of, run_tasks
from agon.runners.agents.chat import Chat
from agon.runners.agents.model import ModelAgent
from app.tasks.folders import harbor, stepped
from app.tasks.loopback import Endpoint, completion, serving
from app.tasks.test_run import ticking
from fakes.containers import FakeContainers, FakeShell

LOOKS = "```sh\nls\n```"
PRICE = TokenPrice(input=10_000, output=10_000)  # 0.13 USD for a call of 13 tokens


def run(
    tmp_path: Path,
    endpoint: Endpoint,
    budget: Budget,
    *,
    price: TokenPrice | None = None,
    jobs: int = 1,
) -> dict[str, Any]:
    """Run the loop on two tasks; each call reads 10 tokens and writes 3."""
    for name in ("a", "b"):
        harbor(tmp_path / "tasks" / name)
    tasks = read_tasks([tmp_path / "tasks"])
    agent, now = ModelAgent(Chat(endpoint.url, "m"), price=price), ticking()
    return run_tasks(
        tasks, agent, containers=FakeContainers(shell=FakeShell({})), out=tmp_path / "out",
        plan=plan_of(tasks, agent, trials=1, run="r", now=now), jobs=jobs, now=now, budget=budget,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("budget", "reason"),
    [
        (Budget(tokens=30), "39 tokens are used, of 30"),
        (Budget(cost_usd=0.3), "0.3900 USD are spent, of 0.3000"),
    ],
)
def test_a_trial_ends_after_the_call_that_reaches_a_limit(
    tmp_path: Path, budget: Budget, reason: str
) -> None:
    """A model that never says it is done would otherwise go on to its last step; no retry."""
    with serving(LOOKS) as endpoint:
        summary = run(tmp_path, endpoint, budget, price=PRICE)
    assert len(endpoint.requests) == 3
    assert (summary["stopped"], summary["total"], summary["unscored"]) == (reason, 0, 1)
    assert (summary["usage"]["input_tokens"], summary["usage"]["output_tokens"]) == (30, 9)
    (result,) = read_results(tmp_path / "out")
    assert (result.result, result.attempts) == ("unscored", 1)
    assert result.reason == f"agent: ended by the limit of its run: {reason}"
    transcript = (tmp_path / "out/a__1/transcript.ndjson").read_text().splitlines()
    assert json.loads(transcript[-1])["content"] == f"the limit of the run is reached: {reason}"


def test_a_trial_that_is_done_by_the_last_call_counts(tmp_path: Path) -> None:
    """It needs no further call: nothing was taken from it."""
    with serving(LOOKS, "DONE") as endpoint:
        summary = run(tmp_path, endpoint, Budget(tokens=20))
    assert (summary["total"], summary["passed"], summary["unscored"]) == (1, 1, 0)
    assert summary["stopped"] == "26 tokens are used, of 20"


def test_no_step_begins_to_call_once_a_limit_is_reached(tmp_path: Path) -> None:
    """The first step is done by the call that reaches it; the second asks nothing."""
    tasks = read_tasks([stepped(tmp_path / "t")])
    now = ticking()
    with serving("DONE") as endpoint:
        agent = ModelAgent(Chat(endpoint.url, "m"))
        summary = run_tasks(
            tasks, agent, containers=FakeContainers(shell=FakeShell({}), rewards={"reward": 1.0}),
            out=tmp_path / "out", plan=plan_of(tasks, agent, trials=1, run="r", now=now), jobs=1,
            now=now, budget=Budget(tokens=10),
        )  # fmt: skip
    assert len(endpoint.requests) == 1
    assert (summary["stopped"], summary["unscored"]) == ("13 tokens are used, of 10", 1)


def test_a_larger_limit_runs_the_trial_again_and_counts_what_was_paid(tmp_path: Path) -> None:
    """The tokens of the ended trial stay in the sum, of its result and of the limit."""
    with serving(LOOKS, LOOKS, LOOKS, "DONE") as endpoint:
        run(tmp_path, endpoint, Budget(tokens=30))
        again = run(tmp_path, endpoint, Budget(tokens=39))
        assert len(endpoint.requests) == 3
        whole = run(tmp_path, endpoint, Budget(tokens=1000))
    assert (again["stopped"], again["unscored"]) == ("39 tokens are used, of 39", 1)
    assert ("stopped" in whole, whole["passed"], whole["unscored"]) == (False, 2, 0)
    assert whole["usage"]["input_tokens"] == 30 + 2 * 10


def test_trials_at_a_time_share_a_limit(tmp_path: Path) -> None:
    """Each ends with the call that it was in: at most one call of each is over."""
    with serving(LOOKS) as endpoint:
        summary = run(tmp_path, endpoint, Budget(tokens=100), jobs=2)
    used = summary["usage"]["input_tokens"] + summary["usage"]["output_tokens"]
    assert used == 13 * len(endpoint.requests)
    assert 100 <= used < 100 + 2 * 13
    assert summary["stopped"].endswith("tokens are used, of 100")


@pytest.mark.parametrize(
    ("usage", "budget", "reason"),
    [
        (
            {"prompt_tokens": 0, "completion_tokens": 0},
            Budget(tokens=1000),
            "what a__1 used is not known: the endpoint reports nothing",
        ),
        (
            {},
            Budget(cost_usd=5),
            "what a__1 cost is not known; give the model's price with --prices or --price",
        ),
    ],
)
def test_a_call_whose_use_is_not_known_ends_the_run(
    tmp_path: Path, usage: dict[str, int], budget: Budget, reason: str
) -> None:
    """The limit would limit nothing; the first call shows it, not the end of the first trial."""
    with serving((200, completion(LOOKS, **usage), {})) as endpoint:
        summary = run(tmp_path, endpoint, budget)
    assert (len(endpoint.requests), summary["stopped"]) == (1, reason)


def test_without_a_limit_nothing_ends() -> None:
    """Nor where agents that call no model run under one."""
    for budget, kind in ((Budget(), "openai"), (Budget(tokens=1), "oracle")):
        spending = Spending(budget, kind=kind, results=())
        assert spending.add_call("a", 1, 1, Usage(input_tokens=10**9)) == ""
