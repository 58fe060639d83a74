"""Run agents and tests in containers, over the command line of ``podman`` or ``docker``.

:func:`open_containers` returns an implementation of
:class:`agon.app.containers.Containers`. ``docs/methods/containers.md``
describes the isolation flags.
"""

import os

from agon.app.containers import Containers


def open_containers(engine: str = "", *, runtime: str = "", build_network: str = "") -> Containers:
    """Open a container engine; the caller closes it.

    Containers and networks that a killed process left are removed.

    Args:
        engine: ``podman``, ``docker`` or a path to one of them; empty: ``AGON_CONTAINER_ENGINE``,
            else the first that works.
        runtime: the OCI runtime, for example ``runsc`` for gVisor; empty:
            ``AGON_CONTAINER_RUNTIME``, else the engine's own.
        build_network: the network of Dockerfiles while they are built (``host``, ``bridge``),
            where their authors are trusted with one; base images are then pulled. Empty:
            ``AGON_CONTAINER_BUILD_NETWORK``, else ``none``.

    Raises:
        Unavailable: no engine works, with the Debian packages to install.
    """
    from agon.runners.containers.abandoned import remove_abandoned
    from agon.runners.containers.backend import CommandLineContainers
    from agon.runners.containers.engine import find_engine

    command_line = find_engine(
        engine or os.environ.get("AGON_CONTAINER_ENGINE", ""),
        runtime=runtime or os.environ.get("AGON_CONTAINER_RUNTIME", ""),
    )
    remove_abandoned(command_line)
    network = build_network or os.environ.get("AGON_CONTAINER_BUILD_NETWORK", "") or "none"
    return CommandLineContainers(command_line, build_network=network)


def provide_base_image(engine: str = "") -> str:
    """Import the small base image of the examples, unless it exists; return its name.

    Raises:
        Unavailable: no engine works, or there is no static busybox.
    """
    from agon.runners.containers.engine import find_engine
    from agon.runners.containers.images.base_image import import_base_image

    return import_base_image(find_engine(engine or os.environ.get("AGON_CONTAINER_ENGINE", "")))
