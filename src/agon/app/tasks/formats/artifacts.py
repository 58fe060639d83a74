"""Read what a task collects after its agent: commands, and the paths that its tests receive."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from agon.app.containers import AGENT_LOGS
from agon.app.containers.collection import ServicePath
from agon.app.containers.home_settings import within_or_at
from agon.app.tasks.formats.settings_reader import DAY_S, SettingsReader
from agon.app.tasks.task import CollectCommand

PLAIN_PATH: Final = re.compile(r"(/(?!\.\.?(/|$))[A-Za-z0-9_.][A-Za-z0-9_.+@-]*)+/?")
MAIN: Final = "main"
"""The name of the agent's service."""
_USER: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,31}")
_NOT_OF_AGENT: Final = frozenset({"tests", "logs", "proc", "sys", "dev"})
_PATHS: Final = 'list absolute paths of letters, digits and _.+@-, such as ["/app/a.txt"]'


@dataclass(frozen=True, kw_only=True)
class Artifacts:
    """The paths that a task declares.

    Attributes:
        outputs: those of the agent's container.
        of_services: those of services' containers.
        excluded: folders of the first, each with the patterns of what is left out below it.
    """

    outputs: tuple[str, ...] = ()
    of_services: tuple[ServicePath, ...] = ()
    excluded: tuple[tuple[str, tuple[str, ...]], ...] = ()


def read_artifacts(keys: SettingsReader) -> Artifacts:
    """Return the paths in ``artifacts``; errors are added to the reader's."""
    outputs: dict[str, tuple[str, ...]] = {}
    services: dict[str, ServicePath] = {}
    for artifact in _as_list(keys.anything("artifacts", [])):
        row = artifact if isinstance(artifact, Mapping) else {"source": artifact}
        service, patterns = row.get("service") or MAIN, row.get("exclude") or []
        path = _path(row.get("source"))
        if not isinstance(service, str):
            keys.add_issue("artifacts.service", service, "give the name of a service")
        elif not isinstance(patterns, list) or not all(isinstance(one, str) for one in patterns):
            keys.add_issue("artifacts.exclude", patterns, 'list patterns, such as ["*.pyc"]')
        elif not path:
            keys.add_issue("artifacts", artifact, _PATHS)
        elif path.split("/")[1] in _NOT_OF_AGENT and not (
            path in AGENT_LOGS or (service == MAIN and _is_logged(path))
        ):
            remedy = "leave out what belongs to the verifier or the system"
            keys.add_issue("artifacts", artifact, remedy)
        elif service == MAIN:
            if patterns or not _is_logged(path) or path in AGENT_LOGS:  # handed over as a whole
                outputs[path] = tuple(patterns)
        elif other := next((one for one in services if _overlap(one, path)), ""):
            remedy = f"leave it out: {other} is taken from {services[other].service} as well"
            keys.add_issue("artifacts", artifact, remedy)
        else:
            services[path] = ServicePath(service=service, path=path, excluded=tuple(patterns))
    return Artifacts(
        outputs=tuple(outputs),
        of_services=tuple(services.values()),
        excluded=tuple((path, patterns) for path, patterns in outputs.items() if patterns),
    )


def refuse_overlap(keys: SettingsReader, own: Artifacts, of_task: Artifacts) -> None:
    """Add an error for each path of a service that a step and its task both declare."""
    for place in own.of_services:
        for other in of_task.of_services:
            if _overlap(place.path, other.path):
                remedy = f"leave it out: the task takes {other.path} from {other.service} as well"
                keys.add_issue("artifacts", place.path, remedy)


def _is_logged(path: str) -> bool:
    """Return whether a path is in the agent's own logs, which are handed over in any case."""
    return any(within_or_at(path, folder) for folder in AGENT_LOGS)


def collect_commands(verifier: SettingsReader) -> tuple[CollectCommand, ...]:
    """Return the commands that run after the agent; errors are added to the reader's."""
    commands = []
    for row in _as_list(verifier.anything("collect", [])):
        row = row if isinstance(row, Mapping) else {}  # noqa: PLW2901
        command, seconds = row.get("command"), row.get("timeout_sec", 60.0)
        service = row.get("service") or MAIN
        fits = isinstance(seconds, int | float) and 0 < seconds <= DAY_S
        if not isinstance(command, str) or not command.strip() or not fits:
            remedy = 'write [[verifier.collect]] with a command, such as "cp /app/a /app/b"'
            verifier.add_issue("collect", row, remedy)
        elif not isinstance(service, str):
            verifier.add_issue("collect.service", service, "give the name of a service")
        else:
            commands.append(
                CollectCommand(
                    command=command,
                    timeout_s=float(seconds),
                    user=read_user(verifier, row.get("user"), key="collect.user"),
                    service="" if service == MAIN else service,
                )
            )
    return tuple(commands)


def read_user(keys: SettingsReader, value: object, *, key: str = "user") -> str:
    """Return the name or the number of a user as text; empty: the image's."""
    text = "" if value is None else str(value)
    if isinstance(value, bool | float | list | Mapping) or (text and not _USER.fullmatch(text)):
        keys.add_issue(key, value, 'give a name or a number, such as "agent" or 1000')
        return ""
    return text


def _path(path: object) -> str:
    """Return a declared path, without the end that a shell would not read; empty: it is none."""
    if isinstance(path, str) and " " in path:  # what holds it is handed over
        path = path[: path.index(" ")].rpartition("/")[0]
    return path.rstrip("/") if isinstance(path, str) and PLAIN_PATH.fullmatch(path) else ""


def _overlap(one: str, other: str) -> bool:
    return within_or_at(one, other) or within_or_at(other, one)


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
