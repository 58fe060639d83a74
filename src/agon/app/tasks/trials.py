"""Run one trial: an agent works on a task, then the tests judge its outputs.

Exit 0 of the tests scores 1.0, another 0.0, a timeout 0.0; an internal error: none (document 001).
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from functools import reduce
from typing import Any, Final, TypeAlias

from agon.app.containers import (
    AgentRun,
    AgentTrial,
    ContainerResult,
    Containers,
    Image,
    Outcome,
    Outputs,
    TrialVerification,
)
from agon.app.tasks.agent_failure import AgentFailure
from agon.app.tasks.agents import Agent, AgentEnvironment, AgentWork, Usage
from agon.app.tasks.downloads import downloads
from agon.app.tasks.preparation import in_workdir, of_task, only_if_begun, outputs
from agon.app.tasks.prices import PriceTable
from agon.app.tasks.step_trials import StepOutcome, decide, rewards_of, run_steps
from agon.app.tasks.task import Task
from agon.app.tasks.trajectory import collect
from agon.app.tasks.trial_network import (
    InNetwork,
    agent_limits,
    collect_from_services,
    in_network,
    network_of_servers,
    networks_of_steps,
)
from agon.app.tasks.trial_parts import parts_of, timings_of
from agon.app.tasks.verification import OF_TRIAL, verify
from agon.errors import AgonError
from agon.kernel.times import written_time

Clock: TypeAlias = Callable[[], datetime]

SCORES: Final = {"passed": 1.0, "failed": 0.0, "timeout": 0.0}
"""The score of each outcome; ``unscored`` has none."""


@dataclass(frozen=True, kw_only=True)
class TrialResult:
    """The result of one trial; it is written once and never changed.

    Attributes:
        task: the task's name.
        task_sha256: the hash of the task's folder.
        number: the number of the trial of that task, from 1.
        run: the run it belongs to.
        agent: the agent's name.
        result: the outcome.
        reason: the reason in one line; empty for a pass.
        reward: the number in the reward file that counts, if there was one.
        rewards: all numbers in it, by key.
        reward_source: what counts as a pass.
        exit_code: that of the tests; None when they did not finish.
        limits_hit: limits that the agent or the tests reached.
        attempts: the number of attempts.
        test_network: the network of the tests; ``none`` unless they download something and the
            operator allows it, or ``services`` or ``agent``: that of the task's services, or of
            processes of the agent, which went on.
        agent_timeout: ``fail``, or ``verify``: the tests judge an agent whose time was up.
        agent_network: what the agent could reach: ``none``, ``allowlist`` (of the run) or
            ``public``.
        started_at: when it started.
        finished_at: when it ended.
        timings: seconds of its parts: ``build_s`` (0 when the image existed), ``agent_s`` and
            ``verifier_s`` (the commands alone), ``total_s``.
        parts: ``agent`` and ``verifier``: the results of their containers.
        usage: the agent's usage, when that is known.
        notes: what was ignored, such as a file that is no trajectory.
        agent_failure: how the agent's own command failed; None: it did not, or it has none.
        steps: the results of the steps that ran, where the task has steps.
    """

    task: str
    task_sha256: str
    number: int
    run: str
    agent: str
    result: Outcome
    reason: str
    reward: float | None = None
    rewards: dict[str, float] = field(default_factory=dict)
    reward_source: str
    exit_code: int | None = None
    limits_hit: tuple[str, ...] = ()
    attempts: int = 1
    test_network: str = "none"
    agent_timeout: str = "fail"
    agent_network: str = "none"
    started_at: str
    finished_at: str
    timings: dict[str, float]
    parts: dict[str, Any] = field(default_factory=dict, repr=False)
    usage: Usage | None = None
    notes: tuple[str, ...] = ()
    agent_failure: AgentFailure | None = None
    steps: tuple[dict[str, Any], ...] = ()

    @property
    def scored(self) -> bool:
        """Whether it has a score."""
        return self.result != "unscored"

    @property
    def why(self) -> str:
        """Return why it did not pass, and how the agent's own command failed, in one line."""
        if self.result == "passed" or self.agent_failure is None:
            return self.reason
        return f"{self.reason}; {self.agent_failure.text}"

    def to_dict(self) -> dict[str, Any]:
        """Return the content of ``result.json``; ``score`` is in it when there is one."""
        rest = asdict(self) | {"limits_hit": list(self.limits_hit), "notes": list(self.notes)}
        steps = rest.pop("steps")
        rest |= {"steps": list(steps)} if steps else {}
        first = {"task": rest.pop("task"), "trial": rest.pop("number"), "result": self.result}
        score = {"score": SCORES[self.result]} if self.scored else {}
        return first | score | rest

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> "TrialResult":
        """Return the result that :meth:`to_dict` wrote."""
        not_fields = {"trial", "score", "name"}  # a step of a task has its name beside them
        rest = {key: value for key, value in row.items() if key not in not_fields}
        usage = Usage(**row["usage"]) if row.get("usage") else None
        tuples = {name: tuple(row.get(name, ())) for name in ("limits_hit", "notes", "steps")}
        failure = AgentFailure.from_dict(row.get("agent_failure"))
        same = {"number": row["trial"], "usage": usage, "agent_failure": failure}
        return cls(**{**rest, **tuples, **same})


@dataclass(frozen=True, kw_only=True)
class TrialRunner:
    """Runs a trial of any task, or its steps.

    Attributes:
        number: which trial of a task, from 1.
        agent: the agent.
        containers: the container engine.
        image: the image of the task, from :func:`build`.
        now: returns the time.
        attempts: the number of this attempt.
        prices: the prices for what an agent says it used.
    """

    number: int = 1
    agent: Agent
    containers: Containers
    image: Image
    now: Clock
    attempts: int = 1
    prices: PriceTable = field(default_factory=PriceTable)

    def run(self, task: Task, trial: AgentTrial) -> TrialResult:
        """Run one trial; an internal error makes it unscored, with the cause.

        Args:
            task: the task.
            trial: the run, a name within it and an empty folder for its files.
        """
        if task.settings.steps:
            return self._run_steps(task, trial)
        return self._run_one(task, trial)[0]

    def _run_steps(self, task: Task, trial: AgentTrial) -> TrialResult:
        """Run the steps of a task; the result has those of its steps."""
        results: list[TrialResult] = []

        def run(step: Task, placed: AgentTrial) -> tuple[StepOutcome, Outputs | None]:
            result, left = self._run_one(step, placed, placing=placing)
            results.append(result)
            outcome = StepOutcome(
                name=placed.folder.name,
                result=result.result,
                reason=result.reason,
                rewards=rewards_of(result.result, result.rewards, task.reward_source),
                exit_code=result.exit_code,
            )
            return outcome, left

        with networks_of_steps(task, trial) as placing:
            outcomes = run_steps(task, trial, run)
        rule = replace(task.settings.pass_rule, source=task.reward_source)
        result, reason, rewards = decide(outcomes, task.settings, rule)
        used = [one.usage for one in results if one.usage]
        return replace(
            results[-1],
            result=result,
            reason=reason,
            rewards=rewards,
            reward=rule.choose(rewards)[1],
            limits_hit=tuple(dict.fromkeys(hit for one in results for hit in one.limits_hit)),
            started_at=results[0].started_at,
            timings={
                name: round(sum(one.timings.get(name, 0.0) for one in results), 3)
                for name in dict.fromkeys(name for one in results for name in one.timings)
            },
            usage=reduce(Usage.plus, used) if used else None,
            notes=tuple(dict.fromkeys(note for one in results for note in one.notes)),
            agent_failure=next((one.agent_failure for one in results if one.agent_failure), None),
            steps=tuple(
                {"name": outcome.name, **one.to_dict()}
                for outcome, one in zip(outcomes, results, strict=True)
            ),
        )

    def _run_one(
        self, task: Task, trial: AgentTrial, *, placing: InNetwork = in_network
    ) -> tuple[TrialResult, Outputs | None]:
        """Run agent and tests; also return what the agent left, without that of services."""
        image = in_workdir(task, self.image)
        trial = of_task(task, trial, image)
        started = self.now()
        tried = _Try(network=trial.test_network if downloads(task) else "none")
        try:
            with placing(task, self.containers, image, trial, tried.network) as placed:
                tried.work = self._work(task, image, placed)
                _verify(tried, tried.work, task, self.containers, image, trial, placed)
            result, reason = _outcome(tried.work.run, tried.verdict)
        except AgonError as failed:
            result, reason = "unscored", str(failed)
        except OSError as failed:  # of the host's files: containers write none of them
            result, reason = "unscored", f"the host failed: {failed.strerror or failed}"
        finished = self.now()
        work, verdict = tried.work, tried.verdict
        place = trial.folder.parents[1] if task.settings.is_step else trial.folder
        one = TrialResult(
            task=task.name,
            task_sha256=task.sha256,
            number=self.number,
            run=trial.run,
            agent=self.agent.name,
            result=result,
            reason=reason,
            reward=None if verdict is None else verdict.reward,
            rewards={} if verdict is None else dict(verdict.rewards),
            reward_source=task.reward_source,
            exit_code=None if verdict is None else verdict.account.exit_code,
            limits_hit=tried.limits_hit(),
            attempts=self.attempts,
            test_network=tried.network,
            agent_timeout=trial.agent_timeout,
            agent_network=trial.egress.mode,
            started_at=written_time(started, to="milliseconds"),
            finished_at=written_time(finished, to="milliseconds"),
            timings=timings_of(image, tried.accounts(), finished - started, work),
            parts=parts_of(work, verdict, place),
            usage=None if work is None else work.usage,
            notes=() if work is None else work.notes,
            agent_failure=work.failure if work and work.run.outcome == "finished" else None,
        )
        return one, tried.left

    def _work(self, task: Task, image: Image, placed: AgentTrial) -> AgentWork:
        """Let the agent work; what it could reach is closed before any test runs.

        What it used is its own account where nothing was seen from outside, also of an agent whose
        time was up: it says what that time was spent on.
        """
        environment = AgentEnvironment(
            containers=self.containers,
            image=image,
            trial=placed,
            limits=agent_limits(task),
            outputs=outputs(task, image),
        )
        try:
            work = only_if_begun(task, self.agent.work(task, environment))
        finally:
            if placed.egress.mode != "none":
                self.containers.close_egress(placed)
        if work.usage is None and work.run.archive is not None:
            account = collect(work.run.archive, placed.folder, self.prices)
            notes = (account.note,) if account.note else ()
            work = replace(work, usage=account.usage, notes=notes)
        return work


@dataclass
class _Try:
    """What a trial has reached so far, also where an error ends it.

    Attributes:
        network: the network of the tests.
        work: what the agent did.
        left: its outputs, without those of services.
        verdict: the result of the tests.
    """

    network: str
    work: AgentWork | None = None
    left: Outputs | None = None
    verdict: TrialVerification | None = None

    def accounts(self) -> dict[str, ContainerResult | None]:
        """Return the accounts of both containers, None where there is none."""
        return {
            "agent": self.work.run.account if self.work else None,
            "verifier": self.verdict.account if self.verdict else None,
        }

    def limits_hit(self) -> tuple[str, ...]:
        """Return the limits that the agent or the tests reached, each once."""
        accounts = [account for account in self.accounts().values() if account]
        return tuple(dict.fromkeys(hit for account in accounts for hit in account.limits_hit))


def _verify(
    tried: _Try,
    work: AgentWork,
    task: Task,
    containers: Containers,
    image: Image,
    trial: AgentTrial,
    placed: AgentTrial,
) -> None:
    """Let the tests judge what the agent left, if it left anything."""
    if tried.network == "none" and placed.network != "none":
        tried.network = network_of_servers(task, work.run)
    tried.left = work.run.outputs
    if tried.left is None:
        return
    handed = collect_from_services(task, tried.left, containers, placed)
    tried.work = replace(work, run=replace(work.run, outputs=handed))
    tried.verdict = verify(
        task,
        handed,
        containers,
        image=image,
        trial=placed if tried.network in OF_TRIAL else trial,
        network=tried.network,
    )


def _outcome(run: AgentRun, verdict: TrialVerification | None) -> tuple[Outcome, str]:
    """Return the outcome of both parts: the agent's part decides unless the tests ran."""
    if verdict is not None:
        return verdict.outcome, verdict.reason
    outcome: Outcome = "failed" if run.outcome == "finished" else run.outcome
    return outcome, f"agent: {run.reason}" if run.reason else f"the agent's part is {run.outcome}"
