"""``agon serve``: the complete service on one machine."""

import os
import socket
import sys
from typing import TYPE_CHECKING, Any

import click

from agon.cli.shared import interrupts
from agon.cli.shared.algebra import use_one_thread
from agon.cli.shared.commands import Command, option

if TYPE_CHECKING:
    from agon.app.service import Service
    from agon.settings import Settings

_GRACE = 30.0
_FIRST = "operator"
_OF_CLIENTS = frozenset({"AGON_SERVER", "AGON_WORKER_SERVER", "AGON_TOKEN"})
"""Variables that name a server to clients: its own workers use the database directly."""


@click.command("serve", cls=Command)
@option("--host", metavar="ADDRESS", help="Address to listen on (default: setting host).")
@option("--port", type=click.IntRange(0, 65535), help="Port; 0: any free one.")
@option("--database", metavar="URL", help="The database (default: setting database).")
@option("--workers", type=click.IntRange(0, 64), metavar="N", help="Worker processes.")
@option("--processes", type=click.IntRange(1, 64), metavar="N", help="Server processes.")
@option(
    "--auth",
    type=click.Choice(["required", "open"]),
    help="Authentication; open works on loopback only and makes every client an operator.",
)
def command(**options: Any) -> None:
    """Serve contests over HTTP, with workers that judge, score and publish.

    The first start creates the database and an operator's token, which is shown once. All settings
    can also be given in agon.toml and as AGON_… variables (agon config show --origin). SIGTERM or
    Ctrl-C stops it cleanly: running requests are answered, jobs return to the queue.

      agon serve
      agon serve --port 9000 --workers 2 --database postgresql://agon@localhost/agon
    """
    from agon.app.arena.live.schedule import plan_rounds
    from agon.cli.service.supervisor import Supervisor
    from agon.records.spill_folders import remove_abandoned
    from agon.settings import load, require_auth_if_public
    from agon.wiring import open_service

    settings = load(options)
    require_auth_if_public(settings)
    remove_abandoned()
    service = open_service(settings)
    try:
        # Listen first: the token is shown once and must not be lost because the port is taken.
        listening = listen(settings.host, settings.port)
        token = None if settings.auth == "open" else first_token(service)
        plan_rounds(service)
        disabled = protections_off(service)
    finally:
        service.store.close()
    port = listening.getsockname()[1]
    site = address(settings, port)
    report(f"agon serves at {site} ({settings.auth} authentication); its API is at {site}/api/v1")
    if token is not None:
        report(f"operator's token, shown only once: {token}")
    for line in disabled:
        report(line)
    environment = {
        **{name: value for name, value in os.environ.items() if name not in _OF_CLIENTS},
        **{
            f"AGON_{name.upper()}": str(value)
            for name, value in options.items()
            if value is not None
        },
        "AGON_PORT": str(port),
    }
    use_one_thread(environment)
    supervisor = Supervisor(
        processes(settings, listening), environment=environment, grace=_GRACE, report=report
    )
    with listening:
        supervisor.run()
    if not interrupts.is_noted():
        report("agon stopped")


def processes(settings: "Settings", listening: socket.socket) -> list[Any]:
    """Return the processes to run: servers and workers."""
    from agon.cli.service.supervisor import ManagedProcess

    handle = listening.fileno()
    python = sys.executable
    servers = [
        ManagedProcess(
            name=f"process {number}",
            command=[python, "-m", "agon.http", str(handle)],
            needed=True,
            sockets=[handle],
        )
        for number in range(1, settings.processes + 1)
    ]
    name = socket.gethostname()
    workers = [
        ManagedProcess(
            name=f"worker {number}",
            command=[python, "-m", "agon", "worker", "--name", f"{name}-{os.getpid()}-{number}"],
            needed=False,
        )
        for number in range(1, settings.workers + 1)
    ]
    return [*servers, *workers]


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens on an address; clients wait until the processes have started.

    Raises:
        Unavailable: the address is in use or not of this machine.
    """
    from agon.errors import Unavailable

    try:
        [(family, kind, protocol, _, place), *_] = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        listening = socket.socket(family, kind, protocol)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(place)
        listening.listen(2048)
    except OSError as error:
        raise Unavailable(
            f"cannot listen on {host} port {port}: {error.strerror}; choose another with --port"
        ) from None
    return listening


def first_token(service: "Service") -> str | None:
    """Create the first operator and return its token; None when there are users already."""
    from agon.app.access.permissions import LOCAL
    from agon.app.access.tokens import Grant, create_token
    from agon.app.access.users import create_user, users
    from agon.entities.access import Everywhere

    if users(service, limit=1):
        return None
    create_user(service, user=_FIRST, by=LOCAL)
    grant = Grant(user=_FIRST, role="operator", contests=Everywhere.ALL, label="first start")
    return create_token(service, grant, by=LOCAL)[1]


def protections_off(service: "Service") -> list[str]:
    """Return a line for each protection of an arena that its rules promise and that is off."""
    from agon.app.arena.live.protections import arenas_off
    from agon.cli.arena.report import off_text

    return [f"{contest.id}: {off_text(vars(each))}" for contest, each in arenas_off(service)]


def address(settings: "Settings", port: int) -> str:
    """Return the URL of the service."""
    return settings.model_copy(update={"port": port}).url


def report(text: str) -> None:
    """Show a message to the user who started the service."""
    click.echo(text, err=True)
