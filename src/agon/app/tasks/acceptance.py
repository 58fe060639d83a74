"""Accept a task into a contest: its oracle passes, doing nothing fails, its cheat fails.

A task that fails its oracle cannot be solved; one that passes an agent that does nothing measures
nothing; one that passes its cheat can be forged. (challenge, Running tasks.)
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, TypeAlias

from agon.app.containers import BuildFailed, Containers, Outcome, Trial
from agon.app.files import FileIssue
from agon.app.tasks.agents import Agent
from agon.app.tasks.services import build
from agon.app.tasks.task import Task
from agon.app.tasks.trials import Clock, run_trial
from agon.app.tasks.weaknesses import find_weaknesses
from agon.errors import InvalidRule

Part: TypeAlias = Literal["oracle", "nothing", "cheat"]


@dataclass(frozen=True, kw_only=True)
class AcceptanceCheck:
    """The result of one of the three agents that check a task.

    Attributes:
        part: which agent.
        result: its outcome; None when it could not run.
        reason: why, in one line.
        holds: whether an acceptable task gives this outcome.
    """

    part: Part
    result: Outcome | None
    reason: str
    holds: bool


@dataclass(frozen=True, kw_only=True)
class Acceptance:
    """Whether a task can be accepted, with its checks; a task without a cheat has two.

    Attributes:
        task: which.
        proofs: the checks with the oracle, with no action, with the cheat.
        notes: settings that are ignored though they look like misspelled ones.
        weaknesses: designs with which an agent may pass without solving it, with the remedy.
    """

    task: str
    proofs: tuple[AcceptanceCheck, ...]
    notes: tuple[str, ...] = ()
    weaknesses: tuple[str, ...] = ()

    @property
    def accepted(self) -> bool:
        """Whether every check holds."""
        return all(proof.holds for proof in self.proofs)

    def to_dict(self) -> dict[str, Any]:
        """Return a plain value for JSON."""
        return {
            "task": self.task,
            "accepted": self.accepted,
            **{
                proof.part: {"result": proof.result, "reason": proof.reason, "holds": proof.holds}
                for proof in self.proofs
            },
            "notes": list(self.notes),
            "weaknesses": list(self.weaknesses),
        }


@dataclass(frozen=True, kw_only=True)
class TrialOptions:
    """What the operator allows the trials of all tasks.

    Attributes:
        test_network: the network of tests that download something.
        keep_servers: whether the processes of agents go on while tests run that connect to a
            server.
    """

    test_network: str = "none"
    keep_servers: bool = False


@dataclass(frozen=True, kw_only=True)
class AcceptanceAgents:
    """The three agents that check a task."""

    oracle: Agent
    nothing: Agent
    cheat: Agent


def accept_tasks(
    tasks: Sequence[Task],
    acceptance_agents: AcceptanceAgents,
    *,
    containers: Containers,
    run: str,
    jobs: int,
    now: Clock,
    options: TrialOptions = TrialOptions(),
) -> Iterator[Acceptance]:
    """Check each task with all three agents; return the results in the order of the tasks.

    Args:
        tasks: the tasks to check.
        acceptance_agents: the agents.
        containers: the container engine.
        run: a label for the containers.
        jobs: number of tasks at a time.
        now: returns the time in seconds.
        options: what the operator allows.

    Raises:
        Unavailable: the engine does not work.
    """
    with ThreadPoolExecutor(jobs, thread_name_prefix="task") as pool:
        try:
            yield from pool.map(
                lambda task: _accept(
                    task,
                    acceptance_agents,
                    containers,
                    run=run,
                    now=now,
                    options=options,
                ),
                tasks,
            )
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            containers.close()
            raise


def rejected_task(task: str, issues: Sequence[FileIssue]) -> Acceptance:
    """Return that a folder is no task that can be read, with its errors."""
    reason = "; ".join(map(str, issues))
    proof = AcceptanceCheck(part="oracle", result=None, reason=reason, holds=False)
    return Acceptance(task=task, proofs=(proof,))


def _accept(
    task: Task,
    acceptance_agents: AcceptanceAgents,
    containers: Containers,
    *,
    run: str,
    now: Clock,
    options: TrialOptions,
) -> Acceptance:
    notes = task.settings.notes
    try:
        image = build(task, containers)
    except (BuildFailed, InvalidRule) as failed:
        proof = AcceptanceCheck(part="oracle", result=None, reason=str(failed), holds=False)
        return Acceptance(task=task.name, proofs=(proof,), notes=notes)
    proofs = []
    who: tuple[tuple[Part, Agent], ...] = (
        ("oracle", acceptance_agents.oracle),
        ("nothing", acceptance_agents.nothing),
        ("cheat", acceptance_agents.cheat),
    )
    with TemporaryDirectory(prefix="agon-check-") as place:
        for part, agent in who:
            if why := agent.missing_for(task):
                if part == "oracle":
                    proofs.append(AcceptanceCheck(part=part, result=None, reason=why, holds=False))
                continue
            folder = Path(place) / part
            folder.mkdir()
            trial = Trial(
                run=run,
                name=f"{task.name}__{part}",
                folder=folder,
                test_network=options.test_network,
                keep_servers=options.keep_servers,
            )
            result = run_trial(
                task,
                1,
                agent,
                containers=containers,
                image=image,
                trial=trial,
                now=now,
            )
            wanted = ("passed",) if part == "oracle" else ("failed", "timeout")
            proofs.append(
                AcceptanceCheck(
                    part=part,
                    result=result.result,
                    reason=result.reason,
                    holds=result.result in wanted,
                )
            )
        archive = Path(place) / "oracle" / "agent" / "outputs.tar"
        weaknesses = find_weaknesses(task, image, archive)
    return Acceptance(task=task.name, proofs=tuple(proofs), notes=notes, weaknesses=weaknesses)
