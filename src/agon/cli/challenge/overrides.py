"""Options that change what tasks say: variables that are handed in, and limits."""

from typing import TYPE_CHECKING

import click

from agon.cli.shared.commands import option, together

if TYPE_CHECKING:
    from agon.app.tasks.formats.variables import VariableNames
    from agon.app.tasks.overrides import Overrides

_DAY_S = 86_400


def _variable_names(
    env: tuple[str, ...], agent_env: tuple[str, ...], verifier_env: tuple[str, ...]
) -> "VariableNames":
    from agon.app.tasks.formats.variables import VariableNames

    return VariableNames(both=env, agent=agent_env, verifier=verifier_env)


variables = together(
    "variables",
    _variable_names,
    option(
        "--env",
        multiple=True,
        metavar="NAME",
        help="Hand a variable of your environment to agents and tests (repeatable).",
    ),
    option("--agent-env", multiple=True, metavar="NAME", help="The same to agents alone."),
    option("--verifier-env", multiple=True, metavar="NAME", help="The same to tests alone."),
)
"""Adds ``--env``, ``--agent-env`` and ``--verifier-env``; they arrive as ``variables``."""


def _overrides(
    *,
    timeout_multiplier: float | None,
    override_agent_timeout: float | None,
    override_verifier_timeout: float | None,
    override_cpus: float | None,
    override_memory_mb: int | None,
    override_storage_mb: int | None,
) -> "Overrides":
    from agon.app.tasks.overrides import Overrides

    return Overrides(
        timeout_multiplier=timeout_multiplier,
        agent_timeout=override_agent_timeout,
        verifier_timeout=override_verifier_timeout,
        cpus=override_cpus,
        memory_mb=override_memory_mb,
        storage_mb=override_storage_mb,
    )


overrides = together(
    "overrides",
    _overrides,
    option(
        "--timeout-multiplier",
        type=click.FloatRange(0.01, 1000),
        metavar="X",
        help="Factor of all times of the tasks: agent, tests, build.",
    ),
    option(
        "--override-agent-timeout",
        type=click.FloatRange(0.1, _DAY_S),
        metavar="SECONDS",
        help="The agent's time instead of what each task says.",
    ),
    option(
        "--override-verifier-timeout",
        type=click.FloatRange(0.1, _DAY_S),
        metavar="SECONDS",
        help="The same of the tests.",
    ),
    option(
        "--override-cpus",
        type=click.FloatRange(0.01, 1024),
        metavar="N",
        help="Processors instead of what each task says.",
    ),
    option(
        "--override-memory-mb",
        type=click.IntRange(16, 1 << 20),
        metavar="MIB",
        help="The same of memory.",
    ),
    option(
        "--override-storage-mb",
        type=click.IntRange(1, 1 << 20),
        metavar="MIB",
        help="The same of storage.",
    ),
)

"""Adds the options about limits; they arrive as ``overrides``."""
