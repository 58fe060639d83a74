"""The trials of a submitted agent: one job for each task, and what it came to."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from agon.entities.jobs import JobState


@dataclass(frozen=True, kw_only=True)
class Trial:
    """A trial of an agent on one task.

    Attributes:
        task: the task's name.
        job: the job that runs it; None: it is deleted, and the records have the rest.
        state: the state of that job; without one: done.
        result: passed, failed or timeout; None: there is none that the caller may see yet.
        reason: why it did not pass, or why its job failed; empty: nothing is to be said.
        agent_exit_code: the exit code of the agent's own command, where it failed.
        agent_stderr: the last lines that it wrote to stderr then; for organizers, and for who sent
            the agent where the rule ``agent_stderr`` is ``author``.
        rewards: the rewards that its tests wrote, by key.
        agent_network: what the agent could reach; None: nothing has run.
        attempts: number of attempts so far; None: unknown.
        progress: the part that is done, from 0 to 1, as last reported.
        seconds: how long the whole trial took; None: unknown.
        tokens: tokens that the agent read and wrote, by its own account; None: unknown.
        cost_usd: its cost in US dollars, by its own account; None: unknown.
        ended_at: when the job ended.
    """

    task: str
    job: str | None
    state: JobState
    result: str | None
    reason: str
    agent_exit_code: int | None
    agent_stderr: tuple[str, ...]
    rewards: Mapping[str, float]
    agent_network: str | None
    attempts: int | None
    progress: float | None
    seconds: float | None
    tokens: int | None
    cost_usd: float | None
    ended_at: datetime | None


@dataclass(frozen=True, kw_only=True)
class TrialRun:
    """The run of a submitted agent: all its trials, and their sums.

    Attributes:
        submission: the submission's id, which is that of its row on the board.
        user: who sent it.
        miner_uid: the miner it is for.
        at: when it was received.
        total: number of trials: those whose jobs are stored, and, once all of these have ended,
            those that the records have.
        ended: how many of them have ended.
        counts: number of trials by result; ``unscored`` are those whose job failed.
        seconds: how long the trials took together.
        tokens: the sum of the tokens that are known; None: none is.
        cost_usd: the sum of the costs that are known; None: none is.
        trials: the trials by task.
    """

    submission: str
    user: str
    miner_uid: int
    at: datetime
    total: int
    ended: int
    counts: Mapping[str, int]
    seconds: float
    tokens: int | None
    cost_usd: float | None
    trials: tuple[Trial, ...]
