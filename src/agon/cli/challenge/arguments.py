"""Options that the commands about tasks share."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import click

from agon.cli.shared.commands import option, together

if TYPE_CHECKING:
    from agon.app.containers.egress import EgressMode
    from agon.app.tasks.task import Task

tasks = click.argument(
    "tasks", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="TASKS..."
)
jobs = option(
    "--jobs",
    type=click.IntRange(1, 1024),
    metavar="N",
    help="How many at a time (default: one for each processor).",
)
reward_source = option(
    "--reward-source",
    type=click.Choice(["exit_code", "reward_file", "both"]),
    help="The condition of a pass (default: both if the tests write a reward, else exit_code).",
)
pass_threshold = option(
    "--pass-threshold",
    type=click.FloatRange(min=0),
    metavar="X",
    help="The least reward that passes; 0: any above 0 (default: what each task says, else 1).",
)
reward_key = option(
    "--reward-key",
    metavar="KEY",
    help="Which of several rewards counts (default: what each task says, else reward, else the "
    "smallest).",
)
agent_timeout = option(
    "--agent-timeout",
    type=click.Choice(["fail", "verify"]),
    default="fail",
    show_default=True,
    help="An agent whose time is up fails, or the tests judge what it left.",
)
_engine = option(
    "--engine",
    metavar="E",
    default="",
    help="podman, docker or a path to one (default: the first that works).",
)
_runtime = option(
    "--runtime",
    metavar="R",
    default="",
    help="What starts containers, such as runsc for gVisor (default: the engine's own).",
)

_build_network = option(
    "--build-network",
    "build",
    metavar="NET",
    default="",
    help="Network of builds, such as bridge or host; base images are pulled (default: none).",
)
_test_network = option(
    "--test-network",
    "tests",
    metavar="NET",
    default="none",
    show_default=True,
    help="Network of tests whose scripts download something.",
)
_keep_servers = option(
    "--keep-servers",
    is_flag=True,
    help="Let servers of the agent go on for tests that connect to this machine.",
)


@dataclass(frozen=True)
class EngineChoice:
    """The container engine and runtime to use; empty: the installed engine, its default."""

    engine: str
    runtime: str


@dataclass(frozen=True)
class Networks:
    """The networks of builds (empty: as configured) and of tests.

    Attributes:
        build: that of builds.
        tests: that of tests that download something.
        keep_servers: whether servers of the agent go on for tests that connect to one.
    """

    build: str
    tests: str
    keep_servers: bool


engine = together("where", EngineChoice, _engine, _runtime)
"""Adds ``--engine`` and ``--runtime``; they arrive as ``where``."""

networks = together(
    "networks",
    Networks,
    _build_network,
    _test_network,
    _keep_servers,
)
"""Adds the options about networks; they arrive as ``networks``."""

_agent_network = option(
    "--agent-network",
    "network",
    type=click.Choice(["none", "allowlist", "public"]),
    default="none",
    show_default=True,
    help="What the agent's containers reach: nothing, the hosts of --allow-host, or everything.",
)
_allow_host = option(
    "--allow-host",
    "hosts",
    multiple=True,
    metavar="HOST[:PORT]",
    help="A host that --agent-network allowlist lets through (port 443 by default); repeatable.",
)
_allow_task_hosts = option(
    "--allow-task-hosts",
    "of_tasks",
    is_flag=True,
    help="Let the hosts through as well that the tasks list (allowed_hosts).",
)


@dataclass(frozen=True)
class AgentReach:
    """What agents reach.

    Attributes:
        network: ``none``, ``allowlist`` or ``public``.
        hosts: the hosts that the operator lists.
        of_tasks: whether those that tasks list are allowed as well.
    """

    network: "EgressMode"
    hosts: tuple[str, ...]
    of_tasks: bool


egress = together(
    "reach",
    AgentReach,
    _agent_network,
    _allow_host,
    _allow_task_hosts,
)
"""Adds the options about what agents reach; they arrive as ``reach``."""


def hosts_of(reach: AgentReach, tasks: "Iterable[Task]") -> dict[str, list[str]]:
    """Return the hosts that agents reach, each with its addresses.

    Raises:
        Unreadable: a host is an address, a pattern or private, or the options do not fit.
        Unavailable: a host has no address.
    """
    from agon.app.containers.egress import read_hosts, resolve_hosts
    from agon.errors import Unreadable
    from agon.wiring import addresses_of

    if reach.network != "allowlist":
        if reach.hosts or reach.of_tasks:
            raise Unreadable(
                f"hosts are allowed, but the agent's network is {reach.network}; "
                "add --agent-network allowlist"
            )
        return {}
    named = [("", text) for text in reach.hosts]
    if reach.of_tasks:
        named += [
            (f"{task.name}/task.toml: allowed_hosts: ", text)
            for task in tasks
            for text in task.settings.allowed_hosts
        ]
    listed = read_hosts(named)
    if not listed:
        raise Unreadable("--agent-network allowlist lists no host; add --allow-host HOST[:PORT]")
    return {str(host): list(host.addresses) for host in resolve_hosts(listed, addresses_of)}


def notes_of(tasks: "Iterable[Task]", networks: Networks) -> Iterator[str]:
    """Yield what a person should know about tasks: ignored settings, networks of their tests."""
    from agon.app.tasks.downloads import downloads
    from agon.app.tasks.servers import connections, keeps_servers

    for task in tasks:
        yield from task.settings.notes
        if networks.tests == "none" and (places := downloads(task)):
            yield (
                f"{task.name}: its tests download something ({places[0]}), and tests have no "
                "network; install it in the Dockerfile, or allow it with --test-network"
            )
        if (
            not networks.keep_servers
            and keeps_servers(task, allowed=True)
            and not keeps_servers(task, allowed=False)
        ):
            yield (
                f"{task.name}: its tests connect to a server ({connections(task)[0]}), and one "
                "that the agent starts ends with it; have the tests start it, or let it go on "
                "with --keep-servers"
            )


def at_a_time(jobs: int | None) -> int:
    """Return how many run at a time."""
    return jobs or len(os.sched_getaffinity(0))


class RecordNames(TypedDict):
    """The names of a run in the records made from it."""

    submission: str
    miner_uid: int
    validator: str


def _record_names(submission: str, miner_uid: int, validator: str) -> RecordNames:
    return RecordNames(submission=submission, miner_uid=miner_uid, validator=validator)


record_options = together(
    "recorded",
    _record_names,
    option("--submission", default="", metavar="ID", help="The agent's id in the records."),
    option(
        "--miner-uid",
        type=click.IntRange(0, 65_535),
        default=1,
        show_default=True,
        metavar="UID",
        help="Whose submission it is, in the records.",
    ),
    option(
        "--validator",
        default="local",
        show_default=True,
        metavar="ID",
        help="Who runs it, in the records.",
    ),
)


"""Adds ``--submission``, ``--miner-uid`` and ``--validator``; they arrive as ``recorded``."""
