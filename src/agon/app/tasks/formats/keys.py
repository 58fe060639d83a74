"""Classify every key of the task format: read, refused with a remedy, or harmless with a reason.

A key that changes what a task asks for is never ignored. The table is tested against the model of
the format that its publisher ships (``tests/app/tasks/formats/harbor_keys.txt``).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

Handling: TypeAlias = Literal["read", "noted", "refused", "harmless", "unknown"]
"""What agon does with a key. ``noted``: kept, and shown to the operator of the task."""


@dataclass(frozen=True)
class TaskKey:
    """A key of ``task.toml``, with all keys below it that have no row of their own.

    Attributes:
        path: the key with its tables, such as ``environment.workdir``.
        handling: what agon does with it.
        why: what it is read as, why it changes nothing, or the remedy where it is refused.
    """

    path: str
    handling: Handling
    why: str


def _is_within(path: str, other: str) -> bool:
    """Return whether a key is another one, or below it.

    Example:
        >>> _is_within("artifacts.source", "artifacts"), _is_within("artifacts2", "artifacts")
        (True, False)
    """
    return path == other or path.startswith(f"{other}.")


_LIMIT: Final = "a limit of the trial"
_LIMIT_OF_TESTS: Final = "a limit of the tests' container, else that of [environment]"
_NETWORK: Final = "a trial has no network but what the operator gives it; nothing opens by itself"
_OF_AGENTS: Final = "concerns agents alone: the reference does nothing with that of the tests"
_HOSTS: Final = "hosts of the agent, where the operator allows them (--allow-task-hosts)"
_ABOUT: Final = "says what the task is about; no trial reads it"
_HEALTH: Final = "runs in the agent's container before the agent, until it exits with 0"
_AGENT_USER: Final = "who the agent is; entrypoint, health check and collecting stay the image's"
_OF_TESTS: Final = (
    "leave it out: the tests have their own image, limits, variables and workdir alone"
)

_OF_STEPS: Final = "leave it out: it can be said of the whole task only"

_KEYS: Final = (
    TaskKey("schema_version", "harmless", "every published version is read alike"),
    TaskKey("version", "harmless", "the older name of schema_version"),
    TaskKey("task", "harmless", _ABOUT),
    TaskKey("metadata", "harmless", _ABOUT),
    TaskKey("source", "harmless", "where the task was downloaded from"),
    TaskKey("agent", "read", "the agent's part"),
    TaskKey("agent.timeout_sec", "read", _LIMIT),
    TaskKey("agent.user", "read", _AGENT_USER),
    TaskKey("agent.network_mode", "harmless", _NETWORK),
    TaskKey("agent.allowed_hosts", "read", _HOSTS),
    TaskKey("verifier", "read", "the tests' part"),
    TaskKey("verifier.timeout_sec", "read", _LIMIT),
    TaskKey("verifier.env", "read", "variables of the tests; ${NAME} is what --verifier-env gives"),
    TaskKey("verifier.environment_mode", "read", "whether the tests receive artifacts alone"),
    TaskKey("verifier.reward_source", "read", "agon's own key: what makes a trial a pass"),
    TaskKey("verifier.pass_threshold", "read", "agon's own key: the least reward that passes (1)"),
    TaskKey("verifier.reward_key", "read", "agon's own key: which of several rewards counts"),
    TaskKey("verifier.keep_servers", "read", "agon's own key: whether servers go on"),
    TaskKey("verifier.user", "read", "who runs the tests"),
    TaskKey("verifier.network_mode", "harmless", _NETWORK),
    TaskKey("verifier.allowed_hosts", "harmless", _NETWORK),
    TaskKey("verifier.collect", "read", "commands after the agent, in its container or a service"),
    TaskKey("verifier.collect.command", "read", "a command of the shell"),
    TaskKey("verifier.collect.timeout_sec", "read", "seconds of the command"),
    TaskKey("verifier.collect.service", "read", "the service in which the command runs"),
    TaskKey("verifier.collect.user", "read", "who runs the command; the image's user otherwise"),
    TaskKey("verifier.environment", "refused", _OF_TESTS),
    TaskKey("verifier.environment.docker_image", "read", "the image in which the tests run"),
    TaskKey("verifier.environment.cpus", "read", _LIMIT_OF_TESTS),
    TaskKey("verifier.environment.memory", "read", _LIMIT_OF_TESTS),
    TaskKey("verifier.environment.memory_mb", "read", _LIMIT_OF_TESTS),
    TaskKey("verifier.environment.storage", "read", _LIMIT_OF_TESTS),
    TaskKey("verifier.environment.storage_mb", "read", _LIMIT_OF_TESTS),
    TaskKey("verifier.environment.env", "read", "variables of the tests, as verifier.env"),
    TaskKey("verifier.environment.workdir", "read", "the folder in which the tests begin"),
    TaskKey("verifier.environment.build_timeout_sec", "harmless", "the images' own limit holds"),
    TaskKey("verifier.environment.os", "read", "linux"),
    TaskKey("verifier.environment.gpus", "read", "0"),
    TaskKey("verifier.environment.gpu_types", "harmless", "says which GPU, and there is none"),
    TaskKey("verifier.environment.healthcheck", "harmless", _OF_AGENTS),
    TaskKey("verifier.environment.mcp_servers", "harmless", _OF_AGENTS),
    TaskKey("verifier.environment.skills_dir", "harmless", _OF_AGENTS),
    TaskKey("verifier.environment.network_mode", "harmless", _NETWORK),
    TaskKey("verifier.environment.allowed_hosts", "harmless", _NETWORK),
    TaskKey("verifier.environment.allow_internet", "harmless", _NETWORK),
    TaskKey("environment", "read", "the image and the limits"),
    TaskKey("environment.build_timeout_sec", "read", _LIMIT),
    TaskKey("environment.docker_image", "read", "the image, where there is no Dockerfile"),
    TaskKey("environment.os", "read", "linux; another one is refused"),
    TaskKey("environment.cpus", "read", _LIMIT),
    TaskKey("environment.memory", "read", _LIMIT),
    TaskKey("environment.memory_mb", "read", _LIMIT),
    TaskKey("environment.storage", "read", _LIMIT),
    TaskKey("environment.storage_mb", "read", _LIMIT),
    TaskKey("environment.gpus", "read", "0; more are refused: a trial has no GPU"),
    TaskKey("environment.gpu_types", "harmless", "says which GPU, and there is none"),
    TaskKey("environment.tpu", "refused", "leave it out: a trial has no TPU"),
    TaskKey("environment.env", "read", "variables of agent and tests; ${NAME} is what --env gives"),
    TaskKey("environment.workdir", "read", "the folder in which agent and tests begin"),
    TaskKey("environment.healthcheck", "read", _HEALTH),
    TaskKey("environment.mcp_servers", "noted", "no built-in agent is told of it"),
    TaskKey("environment.skills_dir", "noted", "no built-in agent is told of it"),
    TaskKey("environment.network_mode", "harmless", _NETWORK),
    TaskKey("environment.allowed_hosts", "read", _HOSTS),
    TaskKey("environment.allow_internet", "harmless", _NETWORK),
    TaskKey("solution", "read", "the oracle's part"),
    TaskKey("solution.env", "read", "variables of the oracle; ${NAME} is what --agent-env gives"),
    TaskKey("artifacts", "read", "paths that the tests receive"),
    TaskKey("artifacts.source", "read", "a path that the tests receive"),
    TaskKey("artifacts.destination", "harmless", "where a copy is stored on the host"),
    TaskKey("artifacts.exclude", "read", "patterns of what is left out, as tar --exclude"),
    TaskKey("artifacts.service", "read", "the service from whose container the path is taken"),
    TaskKey("steps", "refused", _OF_STEPS),
    TaskKey("steps.name", "read", "the folder of the step in steps/"),
    TaskKey("steps.min_reward", "read", "the least reward, or rewards by key, to go on with"),
    TaskKey("steps.agent", "refused", _OF_STEPS),
    TaskKey("steps.agent.user", "read", "who the step's agent is, else [agent]'s user"),
    TaskKey("steps.agent.timeout_sec", "read", "seconds of the step's agent, else [agent]'s"),
    TaskKey("steps.agent.network_mode", "harmless", _NETWORK),
    TaskKey("steps.verifier", "refused", _OF_STEPS),
    TaskKey("steps.verifier.timeout_sec", "read", "seconds of its tests, else [verifier]'s"),
    TaskKey("steps.verifier.env", "read", "further variables of its tests"),
    TaskKey("steps.verifier.user", "read", "who runs its tests, else [verifier]'s user"),
    TaskKey("steps.verifier.network_mode", "harmless", _NETWORK),
    TaskKey("steps.verifier.allowed_hosts", "harmless", _NETWORK),
    TaskKey("steps.healthcheck", "read", "after the task's own health check, before the agent"),
    TaskKey("multi_step_reward_strategy", "read", "mean (of the steps that ran) or final"),
)
_OF_EACH_STEP: Final = (
    "artifacts", "verifier.collect", "verifier.environment", "verifier.environment_mode",
)  # fmt: skip
"""Keys that a step has as the task has them; lists of both count."""

KEYS: Final = (
    *_KEYS,
    *(
        TaskKey(f"steps.{key.path}", key.handling, key.why)
        for key in _KEYS
        if any(_is_within(key.path, other) for other in _OF_EACH_STEP)
    ),
)
"""Every key of the format, the parents before the keys below them."""

_BY_PATH: Final = {key.path: key for key in KEYS}


def row_of(path: str) -> TaskKey:
    """Return the row of a key: its own, else that of the table it is in.

    Example:
        >>> row_of("environment.workdir").handling, row_of("steps.agent.env").handling
        ('read', 'refused')
        >>> row_of("metadata.author").handling, row_of("enviroment").handling
        ('harmless', 'unknown')
    """
    parts = path.split(".")
    for end in range(len(parts), 0, -1):
        if key := _BY_PATH.get(".".join(parts[:end])):
            is_open = key.path in _OPEN or end == len(parts)
            return key if is_open else TaskKey(path, "unknown", "not a key of the format")
    return TaskKey(path, "unknown", "not a key of the format")


_OPEN: Final = frozenset(
    {
        "task", "metadata", "steps", "steps.agent", "steps.verifier", "steps.min_reward",
        "steps.verifier.env", "steps.healthcheck", "environment.env", "verifier.env",
        "solution.env",
        "environment.healthcheck", "environment.mcp_servers", "environment.tpu",
        "verifier.environment", "verifier.environment.env", "verifier.environment.healthcheck",
        "verifier.environment.mcp_servers", "steps.verifier.environment.healthcheck",
        "steps.verifier.environment.mcp_servers",
        "steps.verifier.environment", "steps.verifier.environment.env",
    }
)  # fmt: skip
"""Keys whose row holds for all that is below them; below the others each key has its row."""


def keys_in(content: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each key of a settings file with its value; of tables and lists of them, the inner."""
    for name, value in content.items():
        full = f"{path}{name}"
        tables = value if isinstance(value, list) else [value]
        inner = [table for table in tables if isinstance(table, Mapping) and table]
        if not inner or full in {"metadata", "task"}:
            yield full, value
        for table in inner if full not in {"metadata", "task"} else ():
            yield from keys_in(table, f"{full}.")


def refused_keys(content: Mapping[str, Any]) -> list[tuple[TaskKey, str, Any]]:
    """Return the keys that change a task and are not supported, with their values."""
    refused = []
    for path, value in keys_in(content):
        key = row_of(path)
        is_default = value in (None, [], {})
        if key.handling == "refused" and not is_default:
            refused.append((key, path, value))
    return refused
