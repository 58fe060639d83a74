"""Runs without containers: each trial once, unscored ones again, and a summary that adds up."""

import errno
import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from agon.app.containers import AgentTrial, TrialVerification
from agon.app.tasks.formats.discovery import read_readable_tasks, read_tasks
from agon.app.tasks.results.folder import RunPlan, open_run_folder, read_plan, read_results
from agon.app.tasks.run import RunProgress, plan_of, run_tasks
from agon.errors import Conflict, NotScorable, Unavailable, Unreadable
from agon.runners.agents.builtin import NopAgent, OracleAgent
from agon.runners.agents.commands import CommandAgent
from app.tasks.folders import TOML, harbor, terminal_bench, write
from fakes.containers import FakeContainers


def ticking() -> Callable[[], datetime]:
    """Return a clock that goes on a second each time it is looked at."""
    seconds = count()
    start = datetime(2026, 11, 21, tzinfo=UTC)
    return lambda: start + timedelta(seconds=next(seconds))


def run(
    tasks: Path | Sequence[Path],
    out: Path,
    containers: FakeContainers,
    *,
    agent: Any = None,
    trials: int = 1,
    jobs: int = 1,
    watch: Callable[[RunProgress], None] = lambda _: None,
) -> dict[str, Any]:
    """Run an agent (doing nothing) on a folder of tasks."""
    read = read_tasks([tasks] if isinstance(tasks, Path) else tasks)
    chosen = agent or NopAgent()
    now = ticking()
    return run_tasks(
        read,
        chosen,
        plan=plan_of(read, chosen, trials=trials, run="r1", now=now),
        containers=containers,
        out=out,
        jobs=jobs,
        now=now,
        watch=watch,
    )


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    """Hold two tasks, a and b."""
    for name in ("a", "b"):
        harbor(tmp_path / "tasks" / name)
    return tmp_path / "tasks"


def test_the_summary_is_the_contract(tasks: Path, tmp_path: Path) -> None:
    """Outside checks read these names."""
    verdict = FakeContainers(verdict=lambda name, _: "passed" if name[0] == "a" else "failed")
    summary = run(tasks, tmp_path / "out", verdict)
    assert summary == json.loads((tmp_path / "out/summary.json").read_text())
    assert {key: summary[key] for key in ("pass_rate", "passed", "total", "unscored")} == {
        "pass_rate": 0.5, "passed": 1, "total": 2, "unscored": 0,
    }  # fmt: skip
    rows = {
        name: {key: row[key] for key in ("passed", "trials", "reason")}
        for name, row in summary["tasks"].items()
    }
    assert rows == {
        "a": {"passed": 1, "trials": 1, "reason": ""},
        "b": {"passed": 0, "trials": 1, "reason": "tests: set to be failed"},
    }


def test_every_trial_leaves_a_folder_with_its_result(tasks: Path, tmp_path: Path) -> None:
    """Result, times, output files, exit code and limits hit."""
    run(tasks, tmp_path / "out", FakeContainers(), trials=2, jobs=2)
    folders = sorted(path.name for path in (tmp_path / "out").iterdir() if path.is_dir())
    assert folders == ["a__1", "a__2", "b__1", "b__2"]
    result = json.loads((tmp_path / "out/a__2/result.json").read_text())
    assert (result["task"], result["trial"], result["result"]) == ("a", 2, "passed")
    assert (result["score"], result["exit_code"], result["limits_hit"]) == (1.0, 0, [])
    assert set(result["timings"]) == {"build_s", "agent_s", "verifier_s", "total_s"}
    stdout = result["parts"]["verifier"]["stdout"]
    assert (tmp_path / "out/a__2" / stdout["file"]).read_bytes() == b"said\n"


def test_results_read_back_as_they_were(tasks: Path, tmp_path: Path) -> None:
    """A continued run and an import see what the first one saw."""
    seen: list[RunProgress] = []
    run(tasks, tmp_path / "out", FakeContainers(), trials=2, watch=seen.append)
    as_json = [json.loads(json.dumps(one.result.to_dict())) for one in seen if one.result]
    read = {(one.task, one.number): one.to_dict() for one in read_results(tmp_path / "out")}
    assert [read[one["task"], one["trial"]] for one in as_json] == as_json


def test_a_finished_trial_never_runs_twice(tasks: Path, tmp_path: Path) -> None:
    """Whether it passed or failed."""
    first = FakeContainers(verdict=lambda name, _: "failed" if name[0] == "a" else "passed")
    summary = run(tasks, tmp_path / "out", first)
    again = FakeContainers()
    assert run(tasks, tmp_path / "out", again) == summary
    assert again.ran == []


def test_an_unfinished_trial_is_cleaned_up_and_repeated(tasks: Path, tmp_path: Path) -> None:
    """What a killed process left is removed, containers first."""
    first = FakeContainers()
    run(tasks, tmp_path / "out", first)
    assert first.cleaned == []
    (tmp_path / "out/a__1/result.json").unlink()
    (tmp_path / "out/a__1/half").write_text("")
    again = FakeContainers()
    run(tasks, tmp_path / "out", again)
    assert again.ran == ["a__1"]
    assert again.cleaned == ["r1"]
    assert not (tmp_path / "out/a__1/half").exists()


def test_a_run_cut_off_before_its_summary_continues(tasks: Path, tmp_path: Path) -> None:
    """The summary is made of the results, wherever they ran."""
    complete = run(tasks, tmp_path / "out", FakeContainers())
    (tmp_path / "out/summary.json").unlink()
    (tmp_path / "out/.summary.json-0a1b").write_text("{")
    assert run(tasks, tmp_path / "out", FakeContainers()) == complete


def test_a_run_of_before_a_key_existed_continues(tasks: Path, tmp_path: Path) -> None:
    """A key that a plan or a result lacks has the value that every run had then."""
    complete = run(tasks, tmp_path / "out", FakeContainers())
    later = {"variables", "overrides", "agent_timeout", "pass_rules", "unreadable"}
    for path in ((tmp_path / "out/run.json"), *(tmp_path / "out").glob("*/result.json")):
        content = json.loads(path.read_text())
        remaining = {name: value for name, value in content.items() if name not in later}
        path.write_text(json.dumps(remaining))
    assert run(tasks, tmp_path / "out", idle := FakeContainers()) == complete
    assert idle.ran == []


def test_more_trials_may_be_added_later(tasks: Path, tmp_path: Path) -> None:
    """The first ones stand."""
    run(tasks, tmp_path / "out", FakeContainers())
    more = FakeContainers()
    summary = run(tasks, tmp_path / "out", more, trials=3)
    assert sorted(more.ran) == ["a__2", "a__3", "b__2", "b__3"]
    assert (summary["total"], summary["trials"]) == (6, 3)
    assert run(tasks, tmp_path / "out", FakeContainers(), trials=1)["total"] == 6


def test_an_unscored_trial_is_repeated_and_then_left_without_a_score(
    tasks: Path, tmp_path: Path
) -> None:
    """An internal error is not a 0: the rate is over scored trials (challenge, Running tasks)."""
    faulty = FakeContainers(agent=lambda name, _: "unscored" if name[0] == "a" else "finished")
    summary = run(tasks, tmp_path / "out", faulty)
    assert faulty.ran.count("a__1") == 3
    assert (summary["passed"], summary["total"], summary["unscored"]) == (1, 1, 1)
    assert summary["pass_rate"] == 1.0
    result = json.loads((tmp_path / "out/a__1/result.json").read_text())
    assert (result["result"], result["attempts"]) == ("unscored", 3)
    assert "score" not in result
    assert summary["tasks"]["a"] == {
        "passed": 0, "trials": 0, "reason": "agent: set to be unscored", "unscored": 1,
        "results": {"1": "unscored"}, "seconds": 1.0,
    }  # fmt: skip


def test_a_repetition_that_succeeds_counts(tasks: Path, tmp_path: Path) -> None:
    """A temporary failure of the engine costs no agent a point."""
    hiccup = FakeContainers(agent=lambda _, attempt: "unscored" if attempt == 1 else "finished")
    summary = run(tasks, tmp_path / "out", hiccup)
    assert (summary["passed"], summary["unscored"]) == (2, 0)
    assert {one.attempts for one in read_results(tmp_path / "out")} == {2}


def test_a_trial_left_unscored_is_tried_again_by_the_next_call(tasks: Path, tmp_path: Path) -> None:
    """It says nothing of the agent, so it is not finished."""
    run(tasks, tmp_path / "out", FakeContainers(agent=lambda *_: "unscored"))
    healed = run(tasks, tmp_path / "out", FakeContainers())
    assert (healed["passed"], healed["unscored"]) == (2, 0)


def test_a_full_disk_is_not_the_agents(tasks: Path, tmp_path: Path) -> None:
    """A trial whose files cannot be written has no score; it is tried again."""

    class Full(FakeContainers):
        def verify(self, *args: Any, trial: AgentTrial, **options: Any) -> TrialVerification:
            if trial.name == "a__1" and self.ran.count("a__1") < 3:
                raise OSError(errno.ENOSPC, "No space left on device", "logs.tar")
            return super().verify(*args, trial=trial, **options)

    containers = Full()
    summary = run(tasks, tmp_path / "out", containers)
    assert containers.ran.count("a__1") == 3
    assert (summary["passed"], summary["unscored"]) == (2, 0)


def test_a_run_without_any_score_says_so(tasks: Path, tmp_path: Path) -> None:
    """Neither 0 nor a number that is none."""
    summary = run(tasks, tmp_path / "out", FakeContainers(agent=lambda *_: "unscored"))
    assert summary["pass_rate"] is None
    assert summary["reason"] == "no trial has a score"
    assert (summary["interval"]["low"], summary["interval"]["high"]) == (0.0, 1.0)


@pytest.mark.parametrize("end", ["timeout", "failed"])
def test_an_agent_that_does_not_finish_fails_without_tests(
    tasks: Path, tmp_path: Path, end: Any
) -> None:
    """Time that is up is 0.0 (document 001, Test Execution)."""
    containers = FakeContainers(agent=lambda *_: end)
    summary = run(tasks, tmp_path / "out", containers)
    assert (summary["passed"], summary["total"]) == (0, 2)
    assert containers.tests == []
    assert json.loads((tmp_path / "out/a__1/result.json").read_text())["score"] == 0.0


def test_an_image_that_cannot_be_built_leaves_its_task_unscored(
    tasks: Path, tmp_path: Path
) -> None:
    """The others run; the same file would fail again, so it is not tried again."""
    containers = FakeContainers(unbuildable=["a"])
    summary = run(tasks, tmp_path / "out", containers, trials=2)
    assert summary["tasks"]["a"]["reason"].startswith("the image cannot be built: RUN false")
    assert (summary["passed"], summary["total"], summary["unscored"]) == (2, 2, 2)
    assert len(containers.recipes) == 2


def test_each_image_is_built_once(tasks: Path, tmp_path: Path) -> None:
    """However many trials stand on it, from however many threads."""
    containers = FakeContainers()
    run(tasks, tmp_path / "out", containers, trials=5, jobs=4)
    assert len(containers.recipes) == 2
    built = [one.timings["build_s"] for one in read_results(tmp_path / "out")]
    assert sorted(built)[-2:] == [0.5, 0.5]
    assert sum(built) == 1.0


def test_limits_and_variables_of_a_task_reach_its_containers(tmp_path: Path) -> None:
    """What task.toml says is what the isolation_flags are."""
    variables = "[environment.env]\nA = '1'\n[verifier.env]\nB = '2'\n"
    harbor(tmp_path / "t", toml=TOML + variables)
    containers = FakeContainers()
    run(tmp_path / "t", tmp_path / "out", containers)
    agent, verifier = containers.limits
    assert (agent.timeout_s, verifier.timeout_s) == (30, 20)
    assert (agent.memory_mib, agent.storage_mib, agent.cpus) == (64, 16, 1)
    assert containers.environments == [{"A": "1"}, {"A": "1", "B": "2"}]


def test_outputs_outside_of_app_are_made_writable(tmp_path: Path) -> None:
    """An agent must be able to write what it is asked to hand over."""
    harbor(tmp_path / "t", toml='artifacts = ["/srv/data/out.txt", "/app/x", "/data"]\n')
    containers = FakeContainers()
    run(tmp_path / "t", tmp_path / "out", containers)
    assert containers.recipes[0].writable == ("/srv/data", "/data")


def test_terminal_bench_1_runs_its_script_in_the_folder_of_its_tests(tmp_path: Path) -> None:
    """``/tests`` holds both; the image is built without the solution."""
    containers = FakeContainers()
    run(terminal_bench(tmp_path / "t"), tmp_path / "out", containers)
    assert containers.tests == [["look.sh", "run-tests.sh", "test.sh"]]
    assert containers.contexts == [["Dockerfile", "run-tests.sh", "task.yaml", "tests"]]
    assert containers.environments[-1] == {"TEST_DIR": "/tests"}


@pytest.mark.parametrize(
    ("mode", "is_built", "mounted"),
    [
        ("", False, ["Dockerfile", "cheat.sh", "test.sh"]),
        ("separate", True, []),
        ("shared", False, ["Dockerfile", "cheat.sh", "test.sh"]),
    ],
)
def test_an_image_of_separate_tests_brings_them(
    tmp_path: Path, mode: str, mounted: list[str], *, is_built: bool
) -> None:
    """A mount would hide what the image built of them; shared tests have no image of their own."""
    line = f'environment_mode = "{mode}"\n' if mode else ""
    folder = harbor(tmp_path / "tasks/a", toml=f"[verifier]\n{line}")
    (folder / "tests/Dockerfile").write_text("FROM x\nCOPY . /tests\nRUN make -C /tests\n")
    containers = FakeContainers()
    run(tmp_path / "tasks", tmp_path / "out", containers, trials=1)
    assert (folder / "tests" in [one.context for one in containers.recipes]) is is_built
    assert containers.tests == [mounted]


def test_the_oracle_sees_the_solution_and_others_do_not(tmp_path: Path) -> None:
    """Its folder is shown to the oracle alone; a single script as a single file."""
    harbor(tmp_path / "new")
    terminal_bench(tmp_path / "old")
    containers = FakeContainers()
    run([tmp_path / "new", tmp_path / "old"], tmp_path / "out", containers, agent=OracleAgent())
    shown = [(mount.source.name, mount.target) for mount in containers.mounts]
    assert shown == [("solution", "/solution"), ("solution.sh", "/solution/solution.sh")]
    nothing = FakeContainers()
    run([tmp_path / "new"], tmp_path / "other", nothing)
    assert nothing.mounts == []


def test_an_oracle_without_a_solution_is_refused_before_anything_runs(tmp_path: Path) -> None:
    """All such tasks are named."""
    for name in ("a", "b"):
        harbor(tmp_path / name, leave_out="solution/solve.sh")
    with pytest.raises(NotScorable, match=r"a: it has no solution/solve.sh.*\nb: "):
        run(tmp_path, tmp_path / "out", FakeContainers(), agent=OracleAgent())
    assert not (tmp_path / "out").exists()


def test_another_agent_or_changed_task_needs_another_folder(tasks: Path, tmp_path: Path) -> None:
    """Half of one run and half of another would be a number about nothing."""
    run(tasks, tmp_path / "out", FakeContainers())
    with pytest.raises(Conflict, match='agent was "nop", is "true"'):
        run(tasks, tmp_path / "out", FakeContainers(), agent=CommandAgent("true"))
    write(tasks / "b", {"instruction.md": "Something else.\n"})
    with pytest.raises(Conflict, match="tasks was"):
        run(tasks, tmp_path / "out", FakeContainers())


def test_an_agent_with_other_files_needs_another_folder(tasks: Path, tmp_path: Path) -> None:
    """Another program of the same name, in the same place, is another agent."""
    files = write(tmp_path / "agent", {"solve.sh": "exit 1\n", "lib/data": "1\n"})

    def again() -> dict[str, Any]:
        agent = CommandAgent("sh /agent/solve.sh", files=files)
        return run(tasks, tmp_path / "out", FakeContainers(), agent=agent)

    first = again()
    assert again() == first
    assert len(read_plan(tmp_path / "out").settings["files_sha256"]) == 64
    for name, text in (("solve.sh", "exit 0\n"), ("lib/data", "2\n"), ("lib/more", "")):
        content = (files / name).read_text() if (files / name).exists() else None
        write(files, {name: text})
        with pytest.raises(Conflict, match="files_sha256"):
            again()
        (files / name).unlink() if content is None else write(files, {name: content})
    assert again() == first


def test_a_folder_with_something_else_in_it_is_refused(tasks: Path, tmp_path: Path) -> None:
    """Nothing of other people's is overwritten."""
    write(tmp_path / "out", {"precious.txt": ""})
    with pytest.raises(Conflict, match="does not contain a run"):
        run(tasks, tmp_path / "out", FakeContainers())
    (tmp_path / "file").write_text("")
    with pytest.raises(Conflict, match="is a file"):
        run(tasks, tmp_path / "file", FakeContainers())


@pytest.mark.parametrize("content", ["{}", '{"run": "x"}', "[]", "{"])
def test_files_that_are_not_ours_are_refused(tasks: Path, tmp_path: Path, content: str) -> None:
    """And named, with what to do."""
    run(tasks, tmp_path / "out", FakeContainers())
    result = tmp_path / "out/a__1/result.json"
    text = result.read_text()
    result.write_text(content)
    with pytest.raises(Unreadable, match=r"a__1/result\.json"):
        run(tasks, tmp_path / "out", FakeContainers())
    result.write_text(text)
    (tmp_path / "out/run.json").write_text(content)
    with pytest.raises(Unreadable, match=r"run\.json"):
        read_plan(tmp_path / "out")


def test_one_process_at_a_time_works_in_a_folder(tasks: Path, tmp_path: Path) -> None:
    """Two would run the same trial twice."""
    plan = RunPlan(run="r", agent="nop", settings={}, tasks={}, reward_sources={}, trials=1)
    with (
        open_run_folder(tmp_path / "out", plan),
        pytest.raises(Conflict, match="another agon process is running"),
    ):
        run(tasks, tmp_path / "out", FakeContainers())


@pytest.mark.exhaustive
def test_an_interrupt_leaves_no_half_result(tasks: Path, tmp_path: Path) -> None:
    """What was under way is repeated next time; the engine is closed at once."""

    def interrupt(progress: RunProgress) -> None:
        if progress.result:
            raise KeyboardInterrupt

    containers = FakeContainers()
    with pytest.raises(KeyboardInterrupt):
        run(tasks, tmp_path / "out", containers, trials=50, watch=interrupt)
    assert containers.closed
    finished = len(read_results(tmp_path / "out"))
    again = FakeContainers()
    summary = run(tasks, tmp_path / "out", again, trials=50)
    assert len(again.ran) == 100 - finished
    assert summary["total"] == 100


def test_an_engine_that_is_gone_ends_the_run(tasks: Path, tmp_path: Path) -> None:
    """Hundreds of unscored trials would show nothing more."""

    class Gone(FakeContainers):
        def build(self, recipe: Any) -> Any:  # noqa: ARG002 (the protocol's signature)
            raise Unavailable("no engine")

    with pytest.raises(Unavailable):
        run(tasks, tmp_path / "out", Gone())
    assert read_results(tmp_path / "out") == []


def test_progress_counts_what_was_there(tasks: Path, tmp_path: Path) -> None:
    """A continued run begins where the first one stopped."""
    run(tasks, tmp_path / "out", FakeContainers())
    seen: list[RunProgress] = []
    run(tasks, tmp_path / "out", FakeContainers(), trials=2, watch=seen.append)
    assert [(one.done, one.total) for one in seen] == [(2, 4), (3, 4), (4, 4)]


def test_only_tests_that_download_get_the_network_of_the_run(tmp_path: Path) -> None:
    """The plan, the summary and each result say which network there was."""
    harbor(tmp_path / "tasks" / "fetch", test="#!/bin/sh\npip install pytest\n")
    harbor(tmp_path / "tasks" / "plain")
    containers = FakeContainers()
    read = read_tasks([tmp_path / "tasks"])
    now = ticking()
    plan = plan_of(read, NopAgent(), trials=1, run="r1", now=now, test_network="bridge")
    summary = run_tasks(
        read, NopAgent(), plan=plan, containers=containers, out=tmp_path / "out", jobs=1, now=now
    )
    assert containers.networks == ["bridge", "none"]
    assert (summary["test_network"], summary["build_network"]) == ("bridge", "none")
    written = {
        name: json.loads((tmp_path / f"out/{name}__1/result.json").read_text())["test_network"]
        for name in ("fetch", "plain")
    }
    assert written == {"fetch": "bridge", "plain": "none"}


def test_folders_that_cannot_be_read_do_not_stop_the_others(tmp_path: Path) -> None:
    """The plan and the summary name them with the first error of each."""
    harbor(tmp_path / "tasks" / "good one (2)")
    harbor(tmp_path / "tasks" / "broken", leave_out="instruction.md")
    read, unreadable = read_readable_tasks([tmp_path / "tasks"])
    assert [task.name for task in read] == ["good one (2)"]
    assert list(unreadable) == ["broken"]
    assert "instruction.md" in str(unreadable["broken"][0])
    now = ticking()
    plan = plan_of(
        read, NopAgent(), trials=1, run="r1", now=now, unreadable={"broken": "no instruction"}
    )
    summary = run_tasks(
        read, NopAgent(), plan=plan, containers=FakeContainers(), out=tmp_path / "out", jobs=1,
        now=now,
    )  # fmt: skip
    assert (summary["passed"], summary["unreadable"]) == (1, {"broken": "no instruction"})
    assert (tmp_path / "out" / "good one (2)__1" / "result.json").is_file()
