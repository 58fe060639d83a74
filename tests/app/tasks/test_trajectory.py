"""Trajectories that agents leave: summed where they can be read, else one note."""

import json
import tarfile
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from agon.app.containers import AgentOutcome
from agon.app.tasks import trajectory
from agon.app.tasks.agents import Usage
from agon.app.tasks.budget import Budget
from agon.app.tasks.formats.discovery import read_tasks
from agon.app.tasks.prices import PriceTable, TokenPrice, read_prices
from agon.app.tasks.run import plan_of, run_tasks
from agon.app.tasks.trajectory import NoTrajectory, collect, read_trajectory
from agon.errors import AgonError
from agon.runners.agents.commands import CommandAgent
from app.tasks.folders import harbor
from app.tasks.test_run import ticking
from fakes.containers import FakeContainers

MEMBER = "logs/agent/trajectory.json"


def metrics(read: int, written: int, **others: Any) -> dict[str, Any]:
    """Return the metrics of a step."""
    return {"prompt_tokens": read, "completion_tokens": written, **others}


def atif(*steps: dict[str, Any], **others: Any) -> dict[str, Any]:
    """Return a trajectory."""
    agent = {"name": "x", "version": "1", "model_name": "provider/m"}
    rows = [{"step_id": n, "message": "", **step} for n, step in enumerate(steps, 1)]
    return {"schema_version": "ATIF-v1.6", "agent": agent, "steps": rows, **others}


CALLS = [{"tool_call_id": "1", "function_name": "bash", "arguments": {"command": "ls"}}]
WHOLE = atif(
    {"source": "user", "message": "Do it."},
    {
        "source": "agent",
        "message": [{"type": "text", "text": "I look."}, {"type": "image", "source": {}}],
        "tool_calls": CALLS,
        "observation": {"results": [{"source_call_id": "1", "content": "a.txt"}]},
        "metrics": metrics(100, 20, cached_tokens=60, cost_usd=0.25),
        "unknown": 3,
    },
    {"source": "agent", "message": "Done.", "metrics": metrics(200, 5)},
)


def read(page: Any) -> trajectory.Trajectory:
    """Read a trajectory."""
    return read_trajectory(json.dumps(page).encode())


def test_steps_and_sums_of_a_trajectory() -> None:
    """Tokens and cost are added over the steps; a command stands for its call."""
    done = read(WHOLE)
    assert [(step.source, step.calls, step.outputs) for step in done.steps] == [
        ("user", (), ()), ("agent", ("ls",), ("a.txt",)), ("agent", (), ()),
    ]  # fmt: skip
    assert done.steps[1].text == "I look.\n[no text]"
    assert done.usage == Usage(
        steps=1, input_tokens=300, output_tokens=25, cached_tokens=60, cost_usd=0.25,
        source="trajectory",
    )  # fmt: skip
    assert done.model == "provider/m"


def test_final_metrics_count_if_they_are_more() -> None:
    """An agent may call models beside its steps; less than its steps is no sum."""
    more = {"total_prompt_tokens": 900, "total_completion_tokens": 1, "total_cost_usd": 3}
    used = read({**WHOLE, "final_metrics": more}).usage
    assert (used.input_tokens, used.output_tokens, used.cost_usd) == (900, 25, 3)


def test_a_trajectory_of_mini_swe_agent_is_read() -> None:
    """It is what that agent writes; a cost of 0 stands for an unknown price."""
    response = {"model": "m", "usage": metrics(10, 3, total_tokens=13)}
    calls = {"actions": [{"command": "ls", "tool_call_id": "c"}], "response": response}
    page = {
        "trajectory_format": "mini-swe-agent-1.1",
        "info": {"model_stats": {"instance_cost": 0.0, "api_calls": 1}},
        "messages": [
            {"role": "system", "content": "s"},
            {"role": "user", "content": "u"},
            {"role": "assistant", "content": "I look.", "extra": calls},
            {"role": "tool", "content": "a.txt", "extra": {"returncode": 0}},
            {"role": "exit", "content": "", "extra": {}},
        ],
    }
    done = read(page)
    assert done.usage == Usage(steps=1, input_tokens=10, output_tokens=3, source="trajectory")
    assert (done.model, done.steps[2].calls, done.steps[3].outputs) == ("m", ("ls",), ("a.txt",))


def one(**step: Any) -> dict[str, Any]:
    """Return a trajectory of one step of the agent."""
    return atif({"source": "agent", **step})


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        ([], "it is no object"),
        ({}, "schema_version is None"),
        ({"schema_version": "ATIF-v2.0", "steps": []}, "schema_version is 'ATIF-v2.0'"),
        ({"schema_version": "ATIF-v1.2", "steps": {}}, "steps is no list"),
        (atif({"source": "dog"}), "source is 'dog'"),
        ({**WHOLE, "steps": [3]}, r"steps\[1\] is no object"),
        (one(tool_calls=3), r"steps\[1\].tool_calls is no list"),
        (one(metrics=3), "the metrics are no object"),
        (one(metrics=metrics(-1, 0)), "prompt_tokens is -1"),
        (one(metrics=metrics(10**30, 0)), "not from 0 to"),
        (one(metrics={"cost_usd": float("nan")}), "cost_usd is nan"),
        (one(metrics={"cost_usd": "much"}), "cost_usd is 'much'"),
        ({**WHOLE, "final_metrics": {"total_cost_usd": True}}, "total_cost_usd is True"),
        ({"trajectory_format": "mini-swe-agent-1.1", "messages": 3}, "messages is no list"),
    ],
)
def test_what_is_no_trajectory_is_said(page: Any, reason: str) -> None:
    """With the place."""
    with pytest.raises(NoTrajectory, match=reason):
        read(page)


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"{", b"[" * 100_000, b"null"])
def test_nonsense_is_no_trajectory(content: bytes) -> None:
    """Whatever the bytes are."""
    with pytest.raises(NoTrajectory):
        read_trajectory(content)


def archive(path: Path, content: bytes = b"", **about: Any) -> Path:
    """Write outputs with a trajectory."""
    with tarfile.open(path, "w") as file:
        entry = tarfile.TarInfo(MEMBER)
        entry.size = len(content)
        for name, value in about.items():
            setattr(entry, name, value)
        file.addfile(entry, (path.parent / "content").open("rb") if content else None)
    return path


def test_a_huge_trajectory_is_refused_by_its_size(tmp_path: Path) -> None:
    """A gigabyte is never read: here it does not even exist."""
    path = tmp_path / "outputs.tar"
    entry = tarfile.TarInfo(MEMBER)
    entry.size = 1 << 30
    path.write_bytes(entry.tobuf())
    done = collect(path, tmp_path, PriceTable())
    assert done.usage is None
    assert done.note.startswith("/logs/agent/trajectory.json has 1,073,741,824 bytes")


@pytest.mark.parametrize("value", [b"[],", b'{"a":1},', b"1,"])
def test_a_file_of_many_small_values_is_refused_before_it_is_parsed(value: bytes) -> None:
    """As values, 32 MiB of these would take more memory than everything else of a run."""
    content = b'{"schema_version":"ATIF-v1.6","steps":[' + value * 3_000_000 + b"1]}"
    tracemalloc.start()
    with pytest.raises(NoTrajectory, match="commas, colons and brackets, more than 3,000,000"):
        read_trajectory(content)
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()


def test_a_link_is_no_trajectory(tmp_path: Path) -> None:
    """It may lead anywhere."""
    path = archive(tmp_path / "outputs.tar", type=tarfile.SYMTYPE, linkname="/etc/passwd")
    assert "is no file" in collect(path, tmp_path, PriceTable()).note


def run_with(
    tmp_path: Path, text: str, *, ending: AgentOutcome = "finished", **about: Any
) -> dict[str, Any]:
    """Run an agent that leaves a trajectory on two tasks; return the summary."""
    for name in ("a", "b"):
        if not (tmp_path / "tasks" / name).exists():
            harbor(tmp_path / "tasks" / name)
    tasks = read_tasks([tmp_path / "tasks"])
    agent, now = CommandAgent("run"), ticking()
    prices = about.pop("prices", PriceTable())
    containers = FakeContainers(
        agent=lambda _, __: ending, left=lambda _: {MEMBER: text} if text else {}
    )
    return run_tasks(
        tasks, agent, containers=containers,
        plan=plan_of(tasks, agent, trials=1, run="r", now=now, prices=prices.to_dict()),
        out=tmp_path / "out", jobs=1, now=now, **about,
    )  # fmt: skip


def test_a_run_sums_what_agents_say_they_used(tmp_path: Path) -> None:
    """By the trajectory's cost, or by the price of its model; the copy is in the trial's folder."""
    cheap = PriceTable(models={"m": TokenPrice(input=2, output=10, cached=1)}, date="2026-11-01")
    page = json.loads(json.dumps(WHOLE))
    del page["steps"][1]["metrics"]["cost_usd"]
    summary = run_with(tmp_path, json.dumps(page), prices=cheap)
    assert summary["usage"] == {
        "steps": 2, "input_tokens": 600, "output_tokens": 50, "cached_tokens": 120,
        "cost_usd": pytest.approx(2 * (240 * 2 + 60 * 1 + 25 * 10) / 1e6),
    }  # fmt: skip
    assert summary["prices"]["date"] == "2026-11-01"
    result = json.loads((tmp_path / "out/a__1/result.json").read_text())
    assert (result["usage"]["source"], result["notes"]) == ("trajectory", [])
    assert json.loads((tmp_path / "out/a__1/trajectory.json").read_text()) == page


def test_the_trajectory_of_an_agent_whose_time_was_up_is_collected(tmp_path: Path) -> None:
    """It says what the time and the tokens were spent on; the trial fails all the same."""
    summary = run_with(tmp_path, json.dumps(WHOLE), ending="timeout")
    assert (summary["passed"], summary["usage"]["input_tokens"]) == (0, 600)
    result = json.loads((tmp_path / "out/a__1/result.json").read_text())
    assert (result["result"], result["usage"]["source"]) == ("timeout", "trajectory")
    assert json.loads((tmp_path / "out/a__1/trajectory.json").read_text()) == WHOLE


def test_nonsense_of_an_agent_is_a_note_and_changes_no_result(tmp_path: Path) -> None:
    """A trial's tests alone decide."""
    summary = run_with(tmp_path, "[]")
    assert summary["passed"] == 2
    result = json.loads((tmp_path / "out/a__1/result.json").read_text())
    assert result["notes"] == ["/logs/agent/trajectory.json is no trajectory: it is no object"]
    assert result["usage"] is None


@pytest.mark.parametrize(
    ("budget", "reason"),
    [
        (Budget(tokens=300), "325 tokens are used, of 300"),
        (Budget(cost_usd=0.2), "0.2500 USD are spent, of 0.2000"),
    ],
)
def test_a_budget_ends_a_run_which_a_larger_one_goes_on_with(
    tmp_path: Path, budget: Budget, reason: str
) -> None:
    """The trial that crosses it counts; no other one starts."""
    summary = run_with(tmp_path, json.dumps(WHOLE), budget=budget)
    assert (summary["stopped"], summary["total"]) == (reason, 1)
    again = run_with(tmp_path, json.dumps(WHOLE), budget=budget)
    assert (again["stopped"], again["total"]) == (reason, 1)
    whole = run_with(tmp_path, json.dumps(WHOLE), budget=Budget(tokens=10**6))
    assert ("stopped" in whole, whole["total"]) == (False, 2)


def test_a_budget_ends_a_run_whose_use_is_not_known(tmp_path: Path) -> None:
    """It would limit nothing."""
    assert "a__1 used is not known" in run_with(tmp_path, "", budget=Budget(tokens=5))["stopped"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "date is None"),
        ("date = 2026-11-01", "no table models"),
        ("date = 'soon'\n[models.m]\ninput=1\noutput=1", "date is 'soon'"),
        ("date = 2026-11-01\n[models.m]\ninput=1", "output is None"),
        ("date = 2026-11-01\n[models.m]\ninput=-1\noutput=1", "input is -1"),
        ("date = 2026-11-01\n[models.m]\ninput=1\noutput=nan", "output is nan"),
        ("date = 2026-11-01\n[models.m]\ninput=1\noutput=1\nouput=1", "ouput is no key"),
        ("date = 2026-11-01\ncurrency='EUR'\n[models.m]\ninput=1\noutput=1", "currency is no key"),
        ("date = ", "no TOML"),
    ],
)
def test_prices_that_are_wrong_are_refused(tmp_path: Path, text: str, reason: str) -> None:
    """A wrong price is a wrong number in every record."""
    (tmp_path / "prices.toml").write_text(text)
    with pytest.raises(AgonError, match=reason):
        read_prices(tmp_path / "prices.toml")


def test_prices_are_read_with_their_date(tmp_path: Path) -> None:
    """As written in the message of an error."""
    (tmp_path / "prices.toml").write_text("")
    with pytest.raises(AgonError) as caught:
        read_prices(tmp_path / "prices.toml")
    (tmp_path / "prices.toml").write_text(str(caught.value).split("as in\n")[1])
    table = read_prices(tmp_path / "prices.toml")
    assert table.date == "2026-11-01"
    assert PriceTable.from_dict(table.to_dict()) == table
