"""Remove containers and networks of processes that have ended without doing it themselves.

The cleanup process does so at once; where it was killed too, the next process that opens the
engine does. Each container and network states the process that it belongs to.
"""

from collections.abc import Iterator
from contextlib import suppress

from agon.runners.containers.engine import CommandLine, EngineError
from agon.runners.containers.isolation import PROCESS_LABEL
from agon.runners.containers.networks.egress_networks import remove_network
from agon.runners.containers.owner_process import has_ended


def remove_abandoned(engine: CommandLine) -> None:
    """Remove containers, then networks, whose process has ended.

    An engine that fails here leaves them for the next time.
    """
    with suppress(EngineError):
        engine.remove(list(_leftovers(engine, engine.containers(PROCESS_LABEL), "container")))
    with suppress(EngineError):
        listed = engine.ask("network", "ls", "--quiet", f"--filter=label={PROCESS_LABEL}").split()
        for network in _leftovers(engine, listed, "network"):
            remove_network(engine, network)


def _leftovers(engine: CommandLine, names: list[str], what: str) -> Iterator[str]:
    """Yield the containers or networks whose process has ended."""
    labels = ".Config.Labels" if what == "container" else ".Labels"
    form = f'--format={{{{index {labels} "{PROCESS_LABEL}"}}}}'
    for name in names:
        with suppress(EngineError):  # another process has removed it meanwhile
            if has_ended(engine.ask(what, "inspect", form, name).strip()):
                yield name
