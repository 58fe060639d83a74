"""Run an agent on tasks: trials in parallel, each once; an interrupted run continues."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event, Lock
from typing import Any

from agon.app.containers import BuildFailed, Containers, Image, Trial
from agon.app.tasks.agents import Agent
from agon.app.tasks.folder import Plan, RunFolder, opened
from agon.app.tasks.summary import summarize
from agon.app.tasks.task import Task
from agon.app.tasks.trials import Clock, TrialResult, build, run_trial
from agon.errors import InvalidRule, NotScorable
from agon.kernel.times import written_time

ATTEMPTS = 3
"""How often a trial is tried before it stays unscored."""


@dataclass(frozen=True, kw_only=True)
class Progress:
    """Tell how far a run is.

    Attributes:
        done: trials that have ended, those of earlier runs in the same folder included.
        total: all trials.
        result: what just ended; None at the beginning.
    """

    done: int
    total: int
    result: TrialResult | None = None


def plan_of(
    tasks: Sequence[Task], agent: Agent, *, trials: int, run: str, now: Clock, **about: Any
) -> Plan:
    """Plan a run; ``about`` is submission, miner_uid and validator of :class:`Plan`.

    Raises:
        NotScorable: the agent cannot work on some of the tasks, with each and why.
    """
    lacking = [f"{task.name}: {why}" for task in tasks if (why := agent.lacks(task))]
    if lacking:
        told = "\n".join(lacking)
        raise NotScorable(f"the agent {agent.name} cannot work on all tasks\n{told}")
    return Plan(
        run=run,
        agent=agent.name,
        settings=dict(agent.settings),
        tasks={task.name: task.sha256 for task in tasks},
        reward_sources={task.name: task.reward_source for task in tasks},
        trials=trials,
        started_at=written_time(now(), to="milliseconds"),
        **about,
    )


def run_tasks(
    tasks: Sequence[Task],
    agent: Agent,
    *,
    plan: Plan,
    containers: Containers,
    out: Path,
    jobs: int,
    now: Clock,
    watch: Callable[[Progress], None] = lambda _: None,
) -> dict[str, Any]:
    """Run what a plan says and return the summary, which ``out`` holds too.

    Trials that are finished in ``out`` are not run again; those that have no score, or that an
    end of the process cut off, are, after whatever they left was removed.

    Raises:
        Conflict: ``out`` holds something else, or somebody runs in it.
        Unavailable: the engine does not work.
    """
    with opened(out, plan) as folder:
        if folder.continued:
            containers.clean(folder.plan.run)
        finished = {key: one for key, one in folder.results.items() if one.scored}
        wanted = [(task, n) for n in range(1, folder.plan.trials + 1) for task in tasks]
        waiting = [(task, n) for task, n in wanted if (task.name, n) not in finished]
        watch(Progress(done=len(finished), total=len(wanted)))
        workshop = _TrialRunner(agent, containers, folder, now)
        with _working(jobs, containers, workshop) as pool:
            running = [pool.submit(workshop.trial, task, number) for task, number in waiting]
            for done, result in enumerate(_results(running), len(finished) + 1):
                finished[result.task, result.number] = result
                watch(Progress(done=done, total=len(wanted), result=result))
        summary = summarize(folder.plan, (finished[key] for key in sorted(finished)))
        folder.summarize(summary)
        return summary


def _results(running: Iterable["Future[TrialResult | None]"]) -> Iterator[TrialResult]:
    for future in as_completed(running):
        if (result := future.result()) is not None:
            yield result


@contextmanager
def _working(
    jobs: int, containers: Containers, workshop: "_TrialRunner"
) -> Iterator[ThreadPoolExecutor]:
    """Give a pool of threads; if anything ends the block early, trials under way end unrecorded."""
    with ThreadPoolExecutor(jobs, thread_name_prefix="trial") as pool:
        try:
            yield pool
        except BaseException:
            workshop.closed.set()
            pool.shutdown(wait=False, cancel_futures=True)
            containers.close()
            raise


class _TrialRunner:
    """Run single trials of one run, from any thread."""

    def __init__(self, agent: Agent, containers: Containers, folder: RunFolder, now: Clock) -> None:
        self._agent = agent
        self._containers = containers
        self._folder = folder
        self._now = now
        self._lock = Lock()
        self._images: dict[str, Future[Image]] = {}
        self.closed = Event()

    def trial(self, task: Task, number: int) -> TrialResult | None:
        """Run a trial until it has a score or was tried often enough; None when interrupted."""
        result: TrialResult | None = None
        for attempt in range(1, ATTEMPTS + 1):
            place = self._folder.clear(task.name, number)
            trial = Trial(run=self._folder.plan.run, name=place.name, folder=place)
            try:
                image = self._image(task)
            except (BuildFailed, InvalidRule) as failed:  # the same files would fail again
                result = self._not_built(task, number, str(failed))
                break
            result = run_trial(
                task,
                number,
                self._agent,
                containers=self._containers,
                image=image,
                trial=trial,
                now=self._now,
                attempts=attempt,
            )
            if result.scored or self.closed.is_set():
                break
        if result is None or self.closed.is_set():
            return None
        self._folder.finish(result)
        return result

    def _not_built(self, task: Task, number: int, cause: str) -> TrialResult:
        moment = written_time(self._now(), to="milliseconds")
        return TrialResult(
            task=task.name,
            task_sha256=task.sha256,
            number=number,
            run=self._folder.plan.run,
            agent=self._agent.name,
            result="unscored",
            reason=f"the image cannot be built: {cause}",
            reward_source=task.reward_source,
            started_at=moment,
            finished_at=moment,
            timings=dict.fromkeys(("build_s", "agent_s", "verifier_s", "total_s"), 0.0),
        )

    def _image(self, task: Task) -> Image:
        """Build a task's image once, whoever asks first; that trial bears the time it took."""
        with self._lock:
            future = self._images.get(task.name)
            mine = future is None
            if future is None:
                future = self._images[task.name] = Future()
        if mine:
            try:
                image = build(task, self._containers)
            except BaseException as failed:
                future.set_exception(failed)
                raise
            future.set_result(replace(image, cached=True))
            return image
        return future.result()
