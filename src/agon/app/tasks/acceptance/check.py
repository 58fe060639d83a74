"""Accept a task into a contest: its oracle passes, doing nothing fails, its cheat fails.

A task that fails its oracle cannot be solved; one that passes an agent that does nothing measures
nothing; one that passes its cheat can be forged. (challenge, Running tasks.)
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import BoundedSemaphore
from typing import Final

from agon.app.containers import BuildFailed, Containers
from agon.app.files import FileIssue
from agon.app.tasks.acceptance.probes import NOTHING_SEEN, limit_of, observe
from agon.app.tasks.acceptance.programs import files_of
from agon.app.tasks.acceptance.remedies import with_tried_sources
from agon.app.tasks.acceptance.results import (
    Acceptance,
    AcceptanceCheck,
    Part,
)
from agon.app.tasks.acceptance.texts import clues_in, texts_of_tests
from agon.app.tasks.acceptance.trials import (
    AcceptanceAgents,
    CheckStep,
    RecordingAgent,
    TaskTrials,
    TrialOptions,
)
from agon.app.tasks.acceptance.weaknesses import find_weaknesses
from agon.app.tasks.agents import Agent, AgentWork
from agon.app.tasks.formats.discovery import writes_reward
from agon.app.tasks.services import build
from agon.app.tasks.task import Task
from agon.app.tasks.trials import Clock
from agon.errors import InvalidRule

_DEFAULTS: Final = TrialOptions()


def accept_tasks(
    tasks: Sequence[Task],
    acceptance_agents: AcceptanceAgents,
    *,
    containers: Containers,
    run: str,
    jobs: int,
    now: Clock,
    options: TrialOptions = _DEFAULTS,
    watch: Callable[[CheckStep], None] = lambda _: None,
) -> Iterator[Acceptance]:
    """Check each task with all three agents; return the results in the order of the tasks.

    Where the oracle passes and doing nothing fails, the tests run again on the solution with forged
    programs, and under another condition of a pass where that may be a remedy.

    Args:
        tasks: the tasks to check.
        acceptance_agents: the agents.
        containers: the container engine.
        run: a label for the containers.
        jobs: number of trials at a time.
        now: returns the time in seconds.
        options: what the operator allows.
        watch: is called after each trial, from any thread.

    Raises:
        Unavailable: the engine does not work.
    """
    trials_of = partial(
        TaskTrials,
        containers=containers,
        run=run,
        now=now,
        options=options,
        slots=BoundedSemaphore(jobs),
        watch=watch,
    )
    with (
        TemporaryDirectory(prefix="agon-check-") as place,
        ThreadPoolExecutor(jobs, thread_name_prefix="probe") as probes,
        ThreadPoolExecutor(jobs, thread_name_prefix="task") as pool,
    ):
        accept = partial(
            _accept_task,
            place=Path(place),
            trials_of=trials_of,
            containers=containers,
            agents=acceptance_agents,
            probes=probes,
        )
        try:
            yield from pool.map(accept, range(len(tasks)), tasks)
        except BaseException:
            for executor in (pool, probes):
                executor.shutdown(wait=False, cancel_futures=True)
            containers.close()
            raise


def _accept_task(
    number: int,
    task: Task,
    *,
    place: Path,
    trials_of: Callable[..., TaskTrials],
    containers: Containers,
    agents: AcceptanceAgents,
    probes: Executor,
) -> Acceptance:
    """Build the images of a task and check it, in a folder of its own."""
    try:
        image = build(task, containers)
    except (BuildFailed, InvalidRule) as failed:
        return replace(
            _rejection(task.name, str(failed)),
            reward_source=task.reward_source,
            notes=task.settings.notes,
        )
    folder = place / str(number)
    folder.mkdir()
    return _accept(trials_of(task=task, image=image, folder=folder), agents, probes)


def rejected_task(task: str, issues: Sequence[FileIssue]) -> Acceptance:
    """Return that a folder is no task that can be read, with its errors."""
    return _rejection(task, "; ".join(map(str, issues)))


def _rejection(task: str, reason: str) -> Acceptance:
    """Return the result of a task whose oracle cannot even start."""
    proof = AcceptanceCheck(part="oracle", result=None, reason=reason, holds=False)
    return Acceptance(task=task, proofs=(proof,))


def _accept(trials: TaskTrials, agents: AcceptanceAgents, pool: Executor) -> Acceptance:
    task, texts = trials.task, texts_of_tests(trials.task)
    proofs: list[AcceptanceCheck] = []
    works: dict[Part, AgentWork] = {}
    limit_s = 0.0
    who: tuple[tuple[Part, Agent], ...] = (
        ("oracle", agents.oracle),
        ("nothing", agents.nothing),
        ("cheat", agents.cheat),
    )
    for part, agent in who:
        if why := agent.missing_for(task):
            if part == "oracle":
                proofs.append(AcceptanceCheck(part=part, result=None, reason=why, holds=False))
            continue
        recording = RecordingAgent(agent)
        result = trials.try_agent(part, recording)
        if recording.work_done is not None:
            works[part] = recording.work_done
        if part == "oracle":
            limit_s = limit_of(result.timings["verifier_s"], clues_in(texts))
        wanted = ("passed",) if part == "oracle" else ("failed", "timeout")
        proofs.append(
            AcceptanceCheck(
                part=part,
                result=result.result,
                reason=result.why,
                holds=result.result in wanted,
            )
        )
    observation, solution = NOTHING_SEEN, None
    holding = {proof.part for proof in proofs if proof.holds}
    probed = trials.options.probes and {"oracle", "nothing"} <= holding and _can_repeat(task, works)
    bounded = trials.with_limit(limit_s) if probed else trials
    if probed:
        observation, solution = observe(bounded, works["oracle"], works["nothing"], texts, pool)
    outputs = works["oracle"].run.outputs if "oracle" in works else None
    files = files_of(outputs.path) if outputs else {}
    weaknesses = find_weaknesses(task, trials.image, files, texts, observation)
    if probed:
        rewarded = writes_reward(task.files.tests)
        weaknesses = with_tried_sources(weaknesses, bounded, works, solution, rewarded=rewarded)
    return Acceptance(
        task=task.name,
        reward_source=task.reward_source,
        proofs=tuple(proofs),
        notes=task.settings.notes,
        programs=observation.programs,
        runs=observation.runs,
        probes=observation.results,
        weaknesses=weaknesses,
    )


def _can_repeat(task: Task, works: Mapping[Part, AgentWork]) -> bool:
    """Return whether the tests can run again on what an agent left: it is all in its files."""
    return not task.files.services and not any(work.run.servers for work in works.values())
