"""Run an agent on tasks: trials in parallel, each once; an interrupted run continues."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Event, Lock
from typing import Any

from agon.app.containers import AgentTrial, BuildFailed, Containers, Egress, Image
from agon.app.containers.pass_rule import BY_EXIT_CODE
from agon.app.tasks.agents import Agent
from agon.app.tasks.budget import Budget, CountedAgent, Spending, total_usage
from agon.app.tasks.prices import PriceTable
from agon.app.tasks.results.folder import RunFolder, RunPlan, open_run_folder
from agon.app.tasks.results.summary import summarize
from agon.app.tasks.services import build
from agon.app.tasks.task import Task
from agon.app.tasks.trials import Clock, TrialResult, TrialRunner
from agon.errors import InvalidRule, NotScorable
from agon.kernel.times import written_time

ATTEMPTS = 3
"""Maximum number of attempts at a trial before it stays unscored."""


@dataclass(frozen=True, kw_only=True)
class RunProgress:
    """The progress of a run.

    Attributes:
        done: number of finished trials, including those of earlier runs in the same folder.
        total: number of all trials.
        result: the result of the trial that just ended; None at the beginning.
    """

    done: int
    total: int
    result: TrialResult | None = None


def plan_of(
    tasks: Sequence[Task], agent: Agent, *, trials: int, run: str, now: Clock, **about: Any
) -> RunPlan:
    """Return the plan of a run; ``about`` is further attributes of :class:`RunPlan`.

    Raises:
        NotScorable: the agent cannot work on some of the tasks, with the reason for each.
    """
    missing = [f"{task.name}: {why}" for task in tasks if (why := agent.missing_for(task))]
    if missing:
        reasons = "\n".join(missing)
        raise NotScorable(f"the agent {agent.name} cannot work on all tasks\n{reasons}")
    return RunPlan(
        run=run,
        agent=agent.name,
        settings=dict(agent.settings),
        tasks={task.name: task.sha256 for task in tasks},
        reward_sources={task.name: task.reward_source for task in tasks},
        pass_rules={
            task.name: {"threshold": rule.threshold, "key": rule.key}
            for task in tasks
            if (rule := task.settings.pass_rule) != BY_EXIT_CODE
        },
        trials=trials,
        started_at=written_time(now(), to="milliseconds"),
        **about,
    )


def run_tasks(  # noqa: PLR0913 (a run has so many parts)
    tasks: Sequence[Task],
    agent: Agent,
    *,
    plan: RunPlan,
    containers: Containers,
    out: Path,
    jobs: int,
    now: Clock,
    watch: Callable[[RunProgress], None] = lambda _: None,
    budget: Budget | None = None,
) -> dict[str, Any]:
    """Run the trials of a plan; write the summary to ``out`` and return it.

    Finished trials in ``out`` are not run again. Trials without a score, and those interrupted by
    the end of the process, are run again in an emptied folder. A run whose budget is used up has
    the reason as ``stopped`` in its summary, and goes on with a larger one; trials whose agent was
    ended by it have no score.

    Raises:
        Conflict: ``out`` contains something else, or another process runs in it.
        NotScorable: a task cannot run with what agents reach.
        Unavailable: the engine does not work, or lacks what the agent's network needs.
    """
    containers.require_egress(plan.egress)
    _require_reachable(tasks, plan.egress)
    with open_run_folder(out, plan) as folder:
        if folder.continued:
            containers.clean(folder.plan.run)
        finished = {key: trial for key, trial in folder.results.items() if trial.scored}
        planned = [(task, n) for n in range(1, folder.plan.trials + 1) for task in tasks]
        waiting = [(task, n) for task, n in planned if (task.name, n) not in finished]
        watch(RunProgress(done=len(finished), total=len(planned)))
        planned_trials = _PlannedTrials(agent, containers, folder, now, budget or Budget())
        with _trial_pool(jobs, containers, planned_trials) as pool:
            running = [pool.submit(planned_trials.trial, task, number) for task, number in waiting]
            for done, result in enumerate(_results(running), len(finished) + 1):
                finished[result.task, result.number] = result
                watch(RunProgress(done=done, total=len(planned), result=result))
        ended = folder.results | finished  # those that a used-up budget did not let run again
        is_whole = sum(one.scored for one in ended.values()) == len(planned)
        summary = summarize(
            folder.plan,
            (ended[key] for key in sorted(ended)),
            stopped="" if is_whole else planned_trials.spending.end,
        )
        folder.summarize(summary)
        return summary


def _require_reachable(tasks: Iterable[Task], egress: Egress) -> None:
    """Require that no task has steps in one network with services where agents reach more.

    Raises:
        NotScorable: one has. Its tests would share the network of the agents of later steps.
    """
    names = [task.name for task in tasks if task.settings.steps and task.files.services]
    if names and egress.mode != "none":
        raise NotScorable(
            f"{', '.join(names)}: a task with steps and services has one network, which its tests "
            f"share; run it without --agent-network {egress.mode}, apart from the others"
        )


def _results(running: Iterable["Future[TrialResult | None]"]) -> Iterator[TrialResult]:
    for future in as_completed(running):
        if (result := future.result()) is not None:
            yield result


@contextmanager
def _trial_pool(
    jobs: int, containers: Containers, planned_trials: "_PlannedTrials"
) -> Iterator[ThreadPoolExecutor]:
    """Yield a pool of threads; if the block raises, running trials end unrecorded."""
    with ThreadPoolExecutor(jobs, thread_name_prefix="trial") as pool:
        try:
            yield pool
        except BaseException:
            planned_trials.closed.set()
            pool.shutdown(wait=False, cancel_futures=True)
            containers.close()
            raise


class _PlannedTrials:
    """Runs single trials of one run; its methods may be called from any thread."""

    def __init__(
        self,
        agent: Agent,
        containers: Containers,
        folder: RunFolder,
        now: Clock,
        budget: Budget,
    ) -> None:
        self._agent = agent
        self._containers = containers
        self._folder = folder
        self._now = now
        self._lock = Lock()
        self._images: dict[str, Future[Image]] = {}
        kind = agent.settings.get("kind", "")
        self.spending = Spending(budget, kind=kind, results=folder.results.values())
        self.closed = Event()

    def trial(self, task: Task, number: int) -> TrialResult | None:
        """Run a trial until it has a score, at most :data:`ATTEMPTS` times.

        None: it was interrupted, or the budget of the run is used up.
        """
        if self.spending.end:
            return None
        result: TrialResult | None = None
        before = self._folder.results.get((task.name, number))
        used = None if before is None else before.usage
        for attempt in range(1, ATTEMPTS + 1):
            place = self._folder.clear(task.name, number)
            plan = self._folder.plan
            trial = AgentTrial(
                run=plan.run,
                name=place.name,
                folder=place,
                test_network=plan.test_network,
                keep_servers=plan.keep_servers,
                egress=plan.egress,
                agent_timeout=plan.agent_timeout,
            )
            try:
                image = self._image(task)
            except (BuildFailed, InvalidRule) as failed:  # the same files would fail again
                result = self._build_failure(task, number, str(failed))
                break
            result = TrialRunner(
                number=number,
                agent=CountedAgent(
                    self._agent,
                    end=lambda: self.spending.end,
                    count=partial(self.spending.add_call, task.name, number, attempt),
                ),
                containers=self._containers,
                image=image,
                now=self._now,
                attempts=attempt,
                prices=PriceTable.from_dict(plan.prices),
            ).run(task, trial)
            calls = self.spending.calls(task.name, number, attempt)
            used = total_usage((used, result.usage or calls))
            if result.scored or self.closed.is_set() or self.spending.end:
                break
        if result is None or self.closed.is_set():
            return None
        result = replace(result, usage=used)  # of all attempts: each of them was paid
        self._folder.finish(result)
        self.spending.finish(result)
        return result

    def _build_failure(self, task: Task, number: int, cause: str) -> TrialResult:
        timestamp = written_time(self._now(), to="milliseconds")
        return TrialResult(
            task=task.name,
            task_sha256=task.sha256,
            number=number,
            run=self._folder.plan.run,
            agent=self._agent.name,
            result="unscored",
            reason=f"the image cannot be built: {cause}",
            reward_source=task.reward_source,
            started_at=timestamp,
            finished_at=timestamp,
            timings=dict.fromkeys(("build_s", "agent_s", "verifier_s", "total_s"), 0.0),
        )

    def _image(self, task: Task) -> Image:
        """Return a task's image, built by the first trial that needs it (in its ``build_s``)."""
        with self._lock:
            future = self._images.get(task.name)
            is_first = future is None
            if future is None:
                future = self._images[task.name] = Future()
        if is_first:
            try:
                image = build(task, self._containers)
            except BaseException as failed:
                future.set_exception(failed)
                raise
            future.set_result(replace(image, cached=True))
            return image
        return future.result()
