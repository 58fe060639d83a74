"""Connect ports with adapters; no other module imports both."""

import secrets
import socket
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, get_args

from agon.app.sandbox import Mode, Sandbox, SandboxEscape
from agon.errors import Unavailable

if TYPE_CHECKING:
    from agon.app.arena.judging.choice import Judge, ServedModel
    from agon.app.arena.judging.model_judge import ModelJudge
    from agon.app.arena.live.network.ports import ArenaPorts
    from agon.app.arena.live.network.transport import BotTransport
    from agon.app.challenge.weight_setting import WeightSetter
    from agon.app.containers import Containers
    from agon.app.service import Service
    from agon.app.tasks.agents import Agent
    from agon.app.tasks.task import Files, Task
    from agon.app.webhooks.delivery import WebhookTransport
    from agon.settings import Settings
    from agon.store.session import Store
    from agon.store.watch import Watch

MODES: Final[tuple[Mode, ...]] = get_args(Mode)
"""All modes of isolation, the default first."""


def sandbox(mode: Mode = "bwrap", *, workers: int | None = None) -> Sandbox:
    """Open a sandbox; the caller closes it.

    Args:
        mode: its isolation (:data:`agon.app.sandbox.Mode`).
        workers: number of programs that run together; by default one for each processor.

    Raises:
        Unavailable: this machine does not support the mode; the missing package is named.
    """
    from agon.runners.sandbox import open_sandbox

    return open_sandbox(mode, workers=workers)


def any_sandbox() -> Sandbox:
    """Return the best sandbox of this machine: with namespaces, else without them.

    It is for demonstrations; judging names the required mode. ``Sandbox.mode`` is the mode in use.

    Raises:
        Unavailable: neither is available.
        SandboxEscape: the better one is available but does not isolate; the other is not tried.
    """
    try:
        return sandbox("bwrap")
    except SandboxEscape:
        raise
    except Unavailable:
        return sandbox("degraded")


def containers(engine: str = "", *, runtime: str = "", build_network: str = "") -> "Containers":
    """Open a container engine; the caller closes it.

    Args:
        engine: ``podman``, ``docker`` or a path to one; empty: the first that works.
        runtime: the OCI runtime (``runsc`` for gVisor); empty: the engine's own.
        build_network: the network of builds; empty: that of the environment, else none.

    Raises:
        Unavailable: no engine works; the packages to install are named.
    """
    from agon.runners.containers import open_containers

    return open_containers(engine, runtime=runtime, build_network=build_network)


def addresses_of(host: str) -> list[str]:
    """Return the addresses of a host's name.

    Raises:
        OSError: it has none.
    """
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in found]


def base_image(tasks: Iterable["Task"], engine: str = "") -> None:
    """Import the image of busybox if a task is based on it; it is in no registry.

    Raises:
        Unavailable: there is no static busybox, or no engine.
    """
    from agon.runners.containers import provide_base_image
    from agon.runners.containers.images.base_image import NAME

    files = (task.files for task in tasks)
    if any(NAME in (candidate.image or _dockerfile(candidate)) for candidate in files):
        provide_base_image(engine)


def _dockerfile(files: "Files") -> str:
    if files.context is None:
        return ""
    return (files.context / files.dockerfile).read_text(encoding="utf-8")


def weight_setter() -> "WeightSetter":
    """Return the adapter that sets weights on a Bittensor chain.

    Raises:
        Unavailable: its SDK is not installed.
    """
    from agon.runners.bittensor import open_bittensor

    return open_bittensor()


def png(svg: str) -> bytes:
    """Render SVG as PNG.

    Raises:
        Unavailable: the renderer is not installed, or there is no font.
    """
    from agon.runners.png import png as drawn

    return drawn(svg)


def new_id() -> str:
    """Return a unique id."""
    return secrets.token_hex(8)


def open_store(settings: "Settings", *, create: bool = True) -> "Store":
    """Open the database of the settings; the caller closes it.

    Raises:
        Unavailable: it cannot be reached, or has the schema of another version of agon.
    """
    from agon.store import open_store as opened

    return opened(
        settings.database,
        create=create,
        lock_timeout_s=settings.database_lock_seconds,
        idle_timeout_s=settings.database_idle_seconds,
    )


def open_service(settings: "Settings", *, create: bool = True) -> "Service":
    """Open the service; the caller closes its ``store``.

    The key files are created at the first start, if ``create`` allows it.

    Raises:
        Unavailable: the database cannot be reached, or has the schema of another version of agon.
        NotFound: a key file is missing and must not be created.
        Conflict, Unreadable: a key file is readable by other users, or is not a key.
    """
    from agon.app.arena.judging.choice import pause_reason
    from agon.app.replay.replica_cache import ReplicaCache
    from agon.app.service import Service, SigningKey
    from agon.settings.keys import load_key

    signing = load_key(settings.signing_key_path, make=create)
    server = load_key(settings.server_key_path, make=create)
    return Service(
        store=open_store(settings, create=create),
        clock=now,
        new_id=sortable_id,
        signer=SigningKey(signing),
        replicas=ReplicaCache(),
        lease_span=timedelta(seconds=settings.lease_seconds),
        network_key=server,
        tasks=lambda: task_names(settings.tasks_folder),
        snapshots_kept=settings.snapshots_kept,
        scan_pause=timedelta(minutes=settings.findings_minutes) or None,
        jobs_kept=timedelta(days=settings.ended_jobs_days) or None,
        check_endpoint=lambda url, secret: check_endpoint(settings, url, secret),
        round_pause=timedelta(minutes=settings.arena_round_minutes) or None,
        has_model_judge=settings.model_judge("judge") is not None,
        public_url=settings.public_url,
        model_pause=partial(pause_reason, settings.model_limits),
    )


def check_endpoint(settings: "Settings", url: str, secret: bytes) -> None:
    """Require that a bot's endpoint repeats a nonce; imported here, most commands need no bots.

    Raises:
        Unreadable: the endpoint cannot be reached, or returns something else.
    """
    from agon.app.arena.live.network.pinging import endpoint_check

    check = endpoint_check(bot_transport(settings), random=secrets.token_bytes, new_id=sortable_id)
    check(url, secret)


def task_names(folder: str) -> tuple[str, ...]:
    """Return the names of the tasks in a folder, sorted; empty if the folder does not exist."""
    if not folder or not Path(folder).is_dir():
        return ()
    return tuple(
        sorted(
            path.name
            for path in Path(folder).iterdir()
            if not path.name.startswith(".")
            and any((path / file).is_file() for file in _TASK_FILES)
        )
    )


_TASK_FILES: Final = ("task.toml", "task.yaml")


def now() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(UTC)


def sortable_id() -> str:
    """Return a unique id that cannot be guessed; later ids sort after earlier ones.

    Twelve hex digits of the time in milliseconds, then twenty random ones.
    """
    return f"{time.time_ns() // 1_000_000:012x}{secrets.token_hex(10)}"


def watch(settings: "Settings", *, pause: Callable[[float], object]) -> "Watch":
    """Return a watch that notices writes to the database; the caller closes it.

    Args:
        settings: the settings with the database.
        pause: sleeps; when it returns True the wait is over.
    """
    from agon.store.watch import Watch

    return Watch(settings.database, pause=pause)


def submitted_agent(command: str, files: Path) -> "Agent":
    """Return the agent of a submission: always a command, never a built-in agent.

    Raises:
        Unreadable: the command is empty, or a placeholder is misspelled.
    """
    from agon.runners.agents.commands import CommandAgent

    return CommandAgent(command, files=files)


def post(settings: "Settings") -> "WebhookTransport":
    """Return the adapter that sends webhooks, to the addresses that the settings allow."""
    from agon.app.webhooks.delivery import WebhookTransport
    from agon.runners.webhooks import HttpSender, resolve

    return WebhookTransport(
        sender=HttpSender(), resolve=resolve, allow_private=settings.webhook_allow_private
    )


def separate_judge(
    model: "ServedModel", *, question: str | None = None, allow_tie: bool = False
) -> "ModelJudge":
    """Return a model judge without a service: its usage is not limited and not stored.

    Args:
        model: the model.
        question: what it is asked; None: the arena's question.
        allow_tie: whether it may prefer neither answer.

    Raises:
        Unreadable: the URL or the key cannot be used.
        Unavailable: the libraries of the service are not installed.
    """
    try:
        from agon.app.arena.judging.choice import QUESTION
        from agon.runners.judges.opening import open_separate_judge
    except ModuleNotFoundError:
        raise Unavailable(
            "model judges belong to the service; install it: pip install 'agon-engine[serve]'"
        ) from None
    return open_separate_judge(model, question=question or QUESTION, allow_tie=allow_tie)


def model_judge(settings: "Settings", judge: "Judge", store: "Store") -> "ModelJudge | None":
    """Return the model judge of a section of the settings; None if there is none.

    Args:
        settings: the settings.
        judge: ``judge`` for ``[arena.judge]``, ``audit`` for ``[arena.audit]``.
        store: the database, where its usage is counted.

    Raises:
        Unreadable: the URL or the key cannot be used.
    """
    from agon.runners.judges.opening import open_stored_judge

    choice = settings.model_judge(judge)
    return None if choice is None else open_stored_judge(judge, choice, store=store, clock=now)


def bot_transport(settings: "Settings") -> "BotTransport":
    """Return the adapter that sends work to bots, at the addresses that the settings allow."""
    from agon.runners.bots.http import HttpBots

    return HttpBots(allow_private=settings.allow_private_bots)


def arena_ports(settings: "Settings", store: "Store") -> "ArenaPorts":
    """Connect the rounds of arenas with the network: bots, and models where configured.

    Raises:
        Unreadable: the URL or the key of a model cannot be used.
    """
    from agon.app.arena.live.network.ports import ArenaPorts

    return ArenaPorts(
        transport=bot_transport(settings),
        judge=model_judge(settings, "judge", store),
        audit=model_judge(settings, "audit", store),
    )
