"""Change the limits of tasks for a run: slow machines need time, small ones less memory."""

from dataclasses import asdict, dataclass, replace

from agon.app.tasks.task import Task, TaskLimits

_LONGEST_S = 86_400.0


@dataclass(frozen=True, kw_only=True)
class Overrides:
    """What a run takes instead of the limits of its tasks; None: what each task says.

    Attributes:
        timeout_multiplier: factor of all times: agent, tests, build.
        agent_timeout: seconds of the agent, before the factor.
        verifier_timeout: seconds of the tests, before the factor.
        cpus: processors.
        memory_mb: memory in MiB.
        storage_mb: MiB of each writable folder.
    """

    timeout_multiplier: float | None = None
    agent_timeout: float | None = None
    verifier_timeout: float | None = None
    cpus: float | None = None
    memory_mb: int | None = None
    storage_mb: int | None = None

    def to_dict(self) -> dict[str, float]:
        """Return what differs from the tasks, as a run's record has it.

        Example:
            >>> Overrides(timeout_multiplier=2, cpus=1).to_dict()
            {'timeout_multiplier': 2, 'cpus': 1}
        """
        return {name: value for name, value in asdict(self).items() if value is not None}


def with_overrides(task: Task, overrides: Overrides) -> Task:
    """Return a task with the limits of a run; no time is longer than a day."""
    bounds, factor = task.settings.bounds, overrides.timeout_multiplier or 1.0

    def seconds(time_s: float) -> float:
        return min(max(time_s * factor, 0.1), _LONGEST_S)

    def sizes(limits: TaskLimits) -> TaskLimits:
        return replace(
            limits,
            cpus=overrides.cpus or limits.cpus,
            memory_mb=overrides.memory_mb or limits.memory_mb,
            storage_mb=overrides.storage_mb or limits.storage_mb,
        )

    changed = replace(
        task.settings,
        bounds=replace(
            sizes(bounds),
            agent_s=seconds(overrides.agent_timeout or bounds.agent_s),
            verifier_s=seconds(overrides.verifier_timeout or bounds.verifier_s),
            build_s=seconds(bounds.build_s),
        ),
        verifier_bounds=sizes(task.settings.verifier_bounds),
        steps=tuple(
            replace(
                step,
                agent_s=step.agent_s and seconds(overrides.agent_timeout or step.agent_s),
                verifier_s=step.verifier_s
                and seconds(overrides.verifier_timeout or step.verifier_s),
                verifier_bounds=step.verifier_bounds and sizes(step.verifier_bounds),
            )
            for step in task.settings.steps
        ),
    )
    return replace(task, settings=changed)
