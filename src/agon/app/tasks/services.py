"""Build the images of a task, and say how the services of a trial run."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from agon.app.containers import BuildFailed, Containers, Image, ImageSpec, Limits, ServiceSpec
from agon.app.tasks.outputs import named_folders, writable_folders
from agon.app.tasks.task import Task, TaskService

_LEAST: Final = Limits(memory_mib=16, storage_mib=1)


def build(task: Task, containers: Containers) -> Image:
    """Build a task's image, or return the cached one.

    A task of Terminal-Bench 1 is built from its whole folder without its solution.

    Raises:
        BuildFailed: its Dockerfile fails.
        Unavailable: the engine does not work.
    """
    recipe = ImageSpec(
        context=task.files.context,
        image=task.files.image,
        timeout_s=task.settings.bounds.build_s,
        writable=writable_folders(
            (
                *task.settings.outputs,
                *(place.path for place in task.settings.service_outputs),
                *_inside(task.settings.workdir),
            )
        ),
        optional=named_folders(task),
    )
    with _context(task, task.files.context, task.files.dockerfile) as context:
        return containers.build(replace(recipe, context=context))


def _inside(workdir: str) -> tuple[str, ...]:
    """Return a path in the task's working folder, which makes that folder writable."""
    return (f"{workdir}/.",) if workdir else ()


def service_specs(task: Task, containers: Containers, seconds: float) -> tuple[ServiceSpec, ...]:
    """Return the services of a task, with their images built by the same rules as its own.

    They share the budget of one further container: each has an equal part of the task's memory and
    processes.

    Args:
        task: the task.
        containers: the container engine.
        seconds: how long they run at most.

    Raises:
        BuildFailed: a Dockerfile fails, two images listen on one port, or there is no command.
        Unavailable: the engine does not work.
    """
    bounds, services = task.settings.bounds, task.files.services
    limits = Limits(
        timeout_s=seconds,
        memory_mib=max(_LEAST.memory_mib, bounds.memory_mb // max(1, len(services))),
        storage_mib=bounds.storage_mb,
        cpus=bounds.cpus,
        processes=max(32, Limits.processes // max(1, len(services))),
    )
    owners: dict[str, str] = {}
    specs = []
    for service in services:
        image = _build_service(task, service, containers)
        for port in {*service.ports, *image.ports}:
            if (other := owners.setdefault(port, service.name)) != service.name:
                raise BuildFailed(
                    f"the services {other} and {service.name} both listen on port {port}; use "
                    "different ports, since all services have one network"
                )
        specs.append(_spec(service, image, limits))
    return tuple(specs)


def _spec(service: TaskService, image: Image, limits: Limits) -> ServiceSpec:
    entrypoint = image.entrypoint if service.entrypoint is None else service.entrypoint
    command = service.command
    if command is None:
        command = image.command if service.entrypoint is None else ()
    if not entrypoint + command:
        raise BuildFailed(f"the service {service.name} has no command; say what it runs")
    return ServiceSpec(
        name=service.name,
        image=replace(image, workdir=service.workdir or image.workdir),
        command=entrypoint + command,
        limits=limits,
        environment=tuple(service.environment.items()),
        aliases=service.aliases,
        depends_on=service.depends_on,
        health=service.health,
    )


def _build_service(task: Task, service: TaskService, containers: Containers) -> Image:
    recipe = ImageSpec(
        context=service.context,
        image=service.image,
        timeout_s=task.settings.bounds.build_s,
        writable=tuple(folder for _, folder in service.folders),
    )
    with _context(task, service.context, service.dockerfile) as context:
        return containers.build(replace(recipe, context=context))


@contextmanager
def _context(task: Task, context: Path | None, dockerfile: str) -> Iterator[Path | None]:
    """Yield a build context whose Dockerfile has that name, without the task's solution."""
    solution = task.files.solution
    hides = context is not None and solution is not None and solution.is_relative_to(context)
    if context is None or (dockerfile == "Dockerfile" and not hides):
        yield context
        return
    with TemporaryDirectory(prefix="agon-context-") as place:
        copy = Path(place) / "context"
        hidden = shutil.ignore_patterns("solution.sh", "solution.yaml")
        shutil.copytree(context, copy, symlinks=True, ignore=hidden if hides else None)
        if dockerfile != "Dockerfile":
            shutil.copyfile(copy / dockerfile, copy / "Dockerfile")
        yield copy
