"""Read the settings of a task in Harbor's layout: ``task.toml``, current and older.

:mod:`agon.app.tasks.formats.keys` says of every key whether it is read, refused or harmless; what
is read becomes :class:`~agon.app.tasks.task.TaskSettings`. What agon does not support is an error,
so that no task is scored as another one. ``environment/docker-compose.yaml`` describes further
services (:mod:`agon.app.tasks.formats.compose`); the agent's is called ``main``.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from agon.app.containers import HealthCheck, RewardSource
from agon.app.containers.pass_rule import PassRule
from agon.app.files import FileIssue, InvalidPackage
from agon.app.tasks.files import read_text
from agon.app.tasks.formats.artifacts import (
    PLAIN_PATH,
    Artifacts,
    collect_commands,
    read_artifacts,
    read_user,
    refuse_overlap,
)
from agon.app.tasks.formats.keys import keys_in, refused_keys, row_of
from agon.app.tasks.formats.settings_reader import DAY_S, SettingsReader
from agon.app.tasks.formats.step_keys import check_step_name, min_rewards, step_seconds
from agon.app.tasks.formats.variables import TEMPLATE
from agon.app.tasks.task import StepSettings, TaskLimits, TaskMetadata, TaskSettings

SETTINGS = "task.toml"
MIB_OF_TIB = 1 << 20

_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([KMGT])i?B?\s*", re.IGNORECASE)
_MIB = {"K": 1 / 1024, "M": 1.0, "G": 1024.0, "T": 1024.0 * 1024.0}
_PUBLIC = "public"
"""The network mode of an environment that states none."""
_SOURCES: tuple[RewardSource, ...] = ("exit_code", "reward_file", "both")


def read_settings(folder: Path, issues: list[FileIssue]) -> TaskSettings:
    """Return the settings in ``task.toml``; errors are added to ``issues``, with defaults instead.

    Raises:
        InvalidPackage: there is no such file, or it is not TOML.
    """
    where = f"{folder.name}/{SETTINGS}"
    content = _read_toml(folder / SETTINGS, where)
    keys = SettingsReader(content, where=where, issues=issues)
    agent, verifier, environment = map(keys.table, ("agent", "verifier", "environment"))
    metadata = keys.table("metadata")
    _reject_unsupported(keys, environment, content)
    of_tests = _of_tests(verifier)
    env, own = _variables(environment), {**_variables(of_tests), **_variables(verifier)}
    solution = _variables(keys.table("solution"))
    times = TaskLimits(
        agent_s=_seconds(agent, "timeout_sec", TaskLimits.agent_s),
        verifier_s=_seconds(verifier, "timeout_sec", TaskLimits.verifier_s),
        build_s=_seconds(environment, "build_timeout_sec", TaskLimits.build_s),
    )
    bounds, artifacts = _sizes(environment, times), read_artifacts(keys)
    return TaskSettings(
        bounds=bounds,
        verifier_bounds=_sizes(of_tests, bounds),
        verifier_workdir=_workdir(of_tests),
        outputs=artifacts.outputs,
        service_outputs=artifacts.of_services,
        excluded=artifacts.excluded,
        separate=_is_separate(verifier),
        reward_source=_reward_source(verifier),
        pass_rule=PassRule(
            threshold=verifier.number("pass_threshold", default=1.0, low=0, high=1e9),
            key=verifier.text("reward_key"),
        ),
        image=environment.text("docker_image"),
        verifier_image=of_tests.text("docker_image"),
        agent_env=env,
        verifier_env={**env, **own},
        solution_env=solution,
        templates=_templates(env, own, solution),
        agent_user=read_user(agent, agent.anything("user")),
        verifier_user=read_user(verifier, verifier.anything("user")),
        workdir=_workdir(environment),
        preparation=_health(environment),
        steps=_steps(keys, where, issues, artifacts=artifacts, bounds=bounds),
        strategy="final" if _strategy(keys) == "final" else "mean",
        collected=collect_commands(verifier),
        keys=tuple(dict.fromkeys(path for path, _ in keys_in(content))),
        keep_servers=verifier.flag("keep_servers"),
        allowed_hosts=(*_hosts(agent), *_hosts(environment, default=_PUBLIC)),
        about=TaskMetadata(
            difficulty=metadata.text("difficulty"),
            category=metadata.text("category"),
            tags=metadata.texts("tags"),
        ),
        extra=keys.rest(),
        notes=tuple(_notes_of(content, where, misspelled_keys=list(keys.misspelled_keys()))),
    )


def _templates(*variables: Mapping[str, str]) -> frozenset[str]:
    """Return the names of variables whose value is a template."""
    return frozenset(
        name for values in variables for name, value in values.items() if TEMPLATE.search(value)
    )


def _read_toml(file: Path, where: str) -> dict[str, Any]:
    try:
        return tomllib.loads(read_text(file, where=where))
    except tomllib.TOMLDecodeError as wrong:
        raise InvalidPackage(FileIssue(where, f"is not TOML ({wrong})", "correct it")) from None


def _notes_of(content: Mapping[str, Any], where: str, *, misspelled_keys: list[str]) -> list[str]:
    """Return what the operator of the task must know of its keys."""
    rows = [row_of(path) for path, value in keys_in(content) if value not in ("", [], None)]
    noted = {row.path: row.why for row in rows if row.handling == "noted"}
    misspelled = {note.split(": ")[1].split()[0] for note in misspelled_keys}
    unknown = {
        row.path: "is unknown and ignored"
        for row in rows
        if row.handling == "unknown" and row.path not in misspelled
    }
    return [
        *misspelled_keys,
        *(f"{where}: {path}: {why}" for path, why in noted.items()),
        *(f"{where}: {path} {why}" for path, why in unknown.items()),
    ]


def _workdir(environment: SettingsReader) -> str:
    """Return the folder in which agent and tests begin; empty: the image's."""
    path = environment.text("workdir")
    if path and not PLAIN_PATH.fullmatch(path):
        environment.add_issue("workdir", path, "give an absolute path without blanks")
        return ""
    return path.rstrip("/")


def _hosts(keys: SettingsReader, *, default: str = "") -> tuple[str, ...]:
    """Return the hosts of a table, which its network mode must be about, as in the format.

    A table without a mode of its own has no list either, not even an empty one; ``[environment]``
    always has a mode.
    """
    hosts, mode = keys.texts("allowed_hosts"), keys.text("network_mode", default=default)
    is_stated = keys.anything("allowed_hosts") is not None
    if (hosts and mode != "allowlist") or (is_stated and not mode):
        keys.add_issue("allowed_hosts", list(hosts), 'write network_mode = "allowlist" beside it')
    return hosts


def _health(environment: SettingsReader) -> HealthCheck | None:
    """Return the health check; None where there is none."""
    if "healthcheck" not in environment:
        return None
    check = environment.table("healthcheck")
    command = check.text("command")
    if not command.strip():
        check.add_issue("command", command, "give the command that exits with 0 when all is ready")
    interval = check.number("interval_sec", default=5.0, low=0, high=DAY_S)
    seconds = check.number("timeout_sec", default=30.0, low=0.1, high=DAY_S)
    start = check.number("start_period_sec", default=0.0, low=0, high=DAY_S)
    check.number("start_interval_sec", default=5.0, low=0, high=DAY_S)
    retries = check.integer("retries", default=3, low=1, high=1000)
    return HealthCheck(
        command=("sh", "-c", command),
        interval_s=interval,
        timeout_s=seconds,
        patience_s=start + retries * interval,
    )


def _steps(
    keys: SettingsReader,
    where: str,
    issues: list[FileIssue],
    *,
    artifacts: Artifacts,
    bounds: TaskLimits,
) -> tuple[StepSettings, ...]:
    """Return the rows of ``[[steps]]``.

    Args:
        keys: the settings.
        where: the file, for messages.
        issues: errors are added to it.
        artifacts: what the whole task declares.
        bounds: the limits of its agent.
    """
    rows = keys.anything("steps", [])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        keys.add_issue("steps", rows, "write a table [[steps]] for each step")
        return ()
    steps, taken = [], set[str]()
    for row in rows:
        step = SettingsReader(row, where=where, issues=issues, path="steps.")
        agent, verifier, own = step.table("agent"), step.table("verifier"), read_artifacts(step)
        of_tests = _of_tests(verifier)
        steps.append(
            StepSettings(
                name=check_step_name(step, taken),
                agent_s=step_seconds(agent),
                agent_user=read_user(agent, agent.anything("user")),
                verifier_s=step_seconds(verifier),
                verifier_user=read_user(verifier, verifier.anything("user")),
                verifier_env=tuple({**_variables(of_tests), **_variables(verifier)}.items()),
                min_reward=min_rewards(step),
                health=_health(step),
                outputs=tuple(dict.fromkeys((*artifacts.outputs, *own.outputs))),
                service_outputs=(*artifacts.of_services, *own.of_services),
                excluded=(*artifacts.excluded, *own.excluded),
                collected=collect_commands(verifier),
                separate=_is_separate(verifier) if _names_mode(verifier) else None,
                verifier_image=of_tests.text("docker_image"),
                verifier_bounds=_sizes(of_tests, bounds) if "environment" in verifier else None,
                verifier_workdir=_workdir(of_tests),
            )
        )
        for name, value in steps[-1].verifier_env:
            if TEMPLATE.search(value):
                verifier.add_issue(f"env.{name}", value, "name it in [verifier.env] of the task")
        refuse_overlap(step, own, artifacts)
    return tuple(steps)


def _strategy(keys: SettingsReader) -> str:
    return keys.text("multi_step_reward_strategy", default="mean", choices=("mean", "final"))


def _seconds(keys: SettingsReader, key: str, default: float) -> float:
    return keys.number(key, default=default, low=0.1, high=DAY_S)


def _sizes(keys: SettingsReader, default: TaskLimits) -> TaskLimits:
    """Return limits with the processors, memory and storage of a table, where it has them."""
    return replace(
        default,
        cpus=keys.number("cpus", default=default.cpus, low=0.01, high=1024),
        memory_mb=_mebibytes(keys, "memory", default=default.memory_mb, low=16),
        storage_mb=_mebibytes(keys, "storage", default=default.storage_mb, low=1),
    )


def _mebibytes(keys: SettingsReader, key: str, *, default: int, low: int) -> int:
    """Return ``<key>_mb``, or ``<key>`` as a text with a unit; both are allowed if they agree."""
    number = keys.integer(f"{key}_mb", default=default, low=low, high=MIB_OF_TIB)
    text = keys.anything(key)
    if text is None:
        return number
    match = _SIZE.fullmatch(text) if isinstance(text, str) else None
    size = int(float(match[1]) * _MIB[match[2].upper()]) if match else 0
    if not low <= size <= MIB_OF_TIB:
        keys.add_issue(key, text, f'give a size such as "4G" or "512M", from {low}M to 1T')
        return number
    if f"{key}_mb" in keys and number != size:
        keys.add_issue(key, text, f"give the same as {key}_mb, or leave one of them out")
    return size


def _variables(keys: SettingsReader) -> dict[str, str]:
    """Return ``env``: names and texts, with the ``${NAME}`` that an operator hands in."""
    variables = {}
    table = keys.table("env")
    for name in sorted(table.rest()):
        value = table.text(name)
        if not value.isprintable():
            table.add_issue(name, value, "write it in one line")
        elif not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
            table.add_issue(name, value, "name variables with letters, digits and _")
        variables[name] = value
    return variables


def _of_tests(verifier: SettingsReader) -> SettingsReader:
    """Return the environment of the tests; neither part may list hosts in vain."""
    environment = verifier.table("environment")
    _hosts(verifier)
    _hosts(environment, default=_PUBLIC)
    return environment


def _is_separate(verifier: SettingsReader) -> bool:
    """Return whether the tests receive artifacts alone.

    The task says so, or describes an environment of its tests and says nothing else. A shared one
    has no description of its own.
    """
    has_own = "environment" in verifier
    default = "separate" if has_own else "shared"
    mode = verifier.text("environment_mode", default=default, choices=("shared", "separate"))
    if has_own and mode == "shared":
        remedy = 'leave out [verifier.environment], or write "separate"'
        verifier.add_issue("environment_mode", mode, remedy)
    return mode == "separate"


def _names_mode(verifier: SettingsReader) -> bool:
    return "environment_mode" in verifier or "environment" in verifier


def _reward_source(verifier: SettingsReader) -> RewardSource | None:
    name = verifier.text("reward_source", choices=_SOURCES)
    return next((source for source in _SOURCES if source == name), None)


def _reject_unsupported(
    keys: SettingsReader, environment: SettingsReader, content: Mapping[str, Any]
) -> None:
    for row, path, value in refused_keys(content):
        keys.add_issue(path, value, row.why)
    if environment.integer("gpus", default=0, low=0, high=1024):
        environment.add_issue("gpus", environment.anything("gpus"), "use 0: a trial has no GPU")
    if environment.text("os", default="linux").lower() != "linux":
        environment.add_issue("os", environment.anything("os"), "use linux")
