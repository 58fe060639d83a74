"""Create and remove the networks that lead out of a trial, and what its agent needs for them."""

from contextlib import suppress
from typing import Final

from agon.app.containers import AgentTrial
from agon.runners.containers.engine import CommandLine, EngineError
from agon.runners.containers.isolation import LABEL, labels

_OUTSIDE: Final = {"podman": "podman", "docker": "bridge"}
_LOCAL: Final = "localhost,127.0.0.1,::1"


def outside(engine: CommandLine) -> str:
    """Return the engine's network that leads to everything."""
    return _OUTSIDE[engine.named.name]


def create_network(engine: CommandLine, name: str, trial: AgentTrial, *, owner: str) -> None:
    """Create a network that leads nowhere.

    Raises:
        EngineError: the engine fails.
    """
    engine.ask("network", "create", "--internal", *labels(trial, owner=owner, phase="egress"), name)


def remove_networks(engine: CommandLine, run: str | None) -> None:
    """Remove the networks of a run, or of all, that no container uses.

    Raises:
        EngineError: the engine does not list them.
    """
    label = f"{LABEL}.run" if run is None else f"{LABEL}.run={run}"
    listed = engine.ask("network", "ls", "--quiet", f"--filter=label={label}")
    for name in listed.split():
        remove_network(engine, name)


def remove_network(engine: CommandLine, name: str) -> None:
    """Remove a network; one that is in use stays for :func:`remove_networks`."""
    with suppress(EngineError):
        engine.ask("network", "rm", name)


def proxy_variables(proxy: str) -> tuple[tuple[str, str], ...]:
    """Return the variables by which programs find the proxy; none without one.

    Example:
        >>> dict(proxy_variables("http://10.89.0.2:3128"))["HTTPS_PROXY"], proxy_variables("")
        ('http://10.89.0.2:3128', ())
    """
    if not proxy:
        return ()
    names = ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")
    local = (("NO_PROXY", _LOCAL), ("no_proxy", _LOCAL))
    return (*((name, proxy) for name in names), *local)


def only_route(address: str) -> str:
    """Return shell commands that leave one route in a network: to an address next to it.

    An engine may give the machine itself an address in a network that leads nowhere.
    """
    return f"ip route flush table main && ip route add {address}/32 dev eth0 && "
