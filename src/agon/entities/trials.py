"""The trials of a submitted agent: one job for each task, what it came to, and its details."""

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
        agent_stderr: the last lines that it wrote to stderr then; for those who see its details.
        rewards: the rewards that its tests wrote, by key.
        agent_network: what the agent could reach; None: nothing has run.
        attempts: number of attempts so far; None: unknown.
        progress: the part that is done, from 0 to 1, as last reported.
        seconds: how long the whole trial took; None: unknown.
        tokens: tokens that the agent read and wrote, by its own account; None: unknown.
        cost_usd: its cost in US dollars, by its own account; None: unknown.
        ended_at: when the job ended.
        details: whether its steps and outputs are stored and the caller sees them: organizers, and
            those whom the rule ``trial_details`` names.
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
    details: bool


@dataclass(frozen=True, kw_only=True)
class TrialRun:
    """The run of a submitted agent: all its trials, and their sums.

    Attributes:
        submission: the submission's id, which is that of its row on the board.
        user: who sent it; None: the caller sees the run because it is public.
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
    user: str | None
    miner_uid: int
    at: datetime
    total: int
    ended: int
    counts: Mapping[str, int]
    seconds: float
    tokens: int | None
    cost_usd: float | None
    trials: tuple[Trial, ...]


@dataclass(frozen=True, kw_only=True)
class TrajectoryStep:
    """One step of an agent, from its trajectory or from the transcript of its model.

    Attributes:
        number: its number among all steps, from 1; steps in between may be left out.
        source: who wrote the message: ``system``, ``user`` or ``agent``; ``note`` in a transcript.
        text: the message.
        calls: the calls of tools, each as one text: a command, or a name with arguments.
        outputs: what they returned.
        input_tokens: tokens that the model read; 0: unknown.
        output_tokens: tokens that it wrote; 0: unknown.
    """

    number: int
    source: str
    text: str
    calls: tuple[str, ...]
    outputs: tuple[str, ...]
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, kw_only=True)
class PrintedText:
    """What the agent, its tests or the proxy of its network printed.

    Attributes:
        name: what printed it, such as ``Tests: stdout``.
        text: its beginning and its end.
    """

    name: str
    text: str


@dataclass(frozen=True, kw_only=True)
class TrialPart:
    """A trial as a whole, or one of the steps that its task has.

    Attributes:
        name: the name of the task's step; empty: the trial as a whole.
        result: passed, failed, timeout or unscored.
        reason: why it did not pass; empty for a pass.
        facts: seconds, exit codes, rewards, limits and tokens, in lines.
        notes: what was ignored or cannot be shown.
        steps: the steps of the agent.
        printed: what agent and tests printed.
    """

    name: str
    result: str
    reason: str
    facts: tuple[str, ...]
    notes: tuple[str, ...]
    steps: tuple[TrajectoryStep, ...]
    printed: tuple[PrintedText, ...]


@dataclass(frozen=True, kw_only=True)
class TrialDetails:
    """What happened in a trial of a submitted agent: steps, commands, outputs, results of tests.

    All texts are untrusted, bounded, and have no character that does not show.

    Attributes:
        submission: the submission's id.
        task: the task's name.
        parts: the trial as a whole, and the steps of its task, if it has steps.
    """

    submission: str
    task: str
    parts: tuple[TrialPart, ...]


@dataclass(frozen=True, kw_only=True)
class VisibleRun:
    """A run of a submitted agent that a caller may see.

    Attributes:
        id: the submission's id.
        miner_uid: the miner it is for.
        at: when it was received.
    """

    id: str
    miner_uid: int
    at: datetime
