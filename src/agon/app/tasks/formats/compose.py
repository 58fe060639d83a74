"""Read a task's compose file: the service of the agent, and further services of the trial.

All services have one network, without a way out: each knows the others by name, at the address of
this machine, so two of them cannot listen on the same port. What would reach the host, or give
rights, is an error with the key, the value and the remedy. ``$$`` is a dollar sign,
``${NAME:-text}`` its text. In ``environment`` of a file of Harbor ``${NAME}`` is what an operator
hands in (:mod:`agon.app.tasks.formats.variables`); no other variable of the host is read.
"""

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from agon.app.containers import Condition, HealthCheck
from agon.app.tasks.formats.idle_commands import only_waits
from agon.app.tasks.formats.settings_reader import SettingsReader
from agon.app.tasks.task import TaskService

if TYPE_CHECKING:
    from agon.app.files import FileIssue

_NAME: Final = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9_.-]{0,62}")
_VOLUME: Final = re.compile(r"([a-zA-Z0-9][a-zA-Z0-9_.-]*):(/[^:]+)(:rw)?")
_VARIABLE: Final = re.compile(r"\$(?:(\$)|\{(\w+)(?::?-([^}]*))?\}|(\w+))")
_OF_RUNNERS: Final = re.compile(r"\$\{(?:T_BENCH|HOST|ENV)_")
_KNOWN_VARIABLES: Final = {"T_BENCH_TEST_DIR": "/tests", "TEST_DIR": "/tests"}
_DURATION: Final = re.compile(r"(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+)ms)?")
_IGNORED: Final = frozenset({
    "build", "image", "cpus", "deploy", "init", "labels", "logging", "mem_limit", "networks",
    "platform", "pull_policy", "restart", "shm_size", "stdin_open", "stop_grace_period",
    "stop_signal", "tty",
})  # fmt: skip
"""Keys that are read elsewhere, or that change nothing in a trial."""
_OF_THE_NETWORK: Final = frozenset({"container_name", "depends_on", "expose", "hostname"})
"""Keys of the agent's service that change nothing: it begins last, and is known by its name."""
_TOP: Final = frozenset({"name", "networks", "services", "version", "volumes"})
_CONDITIONS: Final[dict[str, Condition]] = {
    "service_started": "started",
    "service_healthy": "healthy",
    "service_completed_successfully": "completed",
}
_REMEDIES: Final = {
    "ports": "remove it: services reach each other without, and nothing is published",
    "privileged": "remove it: no container has rights on the host",
    "network_mode": "remove it: all services have one network, without a way out",
    "devices": "remove it: no container has a device of the host",
    "cap_add": "remove it: services have the rights of the agent's container",
    "command": "let it wait (sleep infinity), and the image's ENTRYPOINT do what comes first",
    "entrypoint": "write it into the Dockerfile, as ENTRYPOINT",
    "healthcheck": "write it into task.toml, as [environment.healthcheck]",
}


@dataclass(frozen=True, kw_only=True)
class Compose:
    """The content of a compose file.

    Attributes:
        main: the name of the agent's service.
        build: what it is built from, as written; None when the file does not say.
        context: of an overlay, the folder that it is built from; None when the file does not say.
        dockerfile: the name of its Dockerfile there.
        workdir: the folder in which its commands begin; empty: that of its image.
        environment: the variables of the agent's service.
        templates: those of them whose values name others, which an operator hands in.
        services: the others, each after those that it depends on.
        notes: keys of the agent's service that are not read.
    """

    main: str = ""
    build: Any = None
    context: Path | None = None
    dockerfile: str = "Dockerfile"
    workdir: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    templates: frozenset[str] = frozenset()
    services: tuple[TaskService, ...] = ()
    notes: tuple[str, ...] = ()


def read_compose(keys: SettingsReader, *, folder: Path, main: str, overlay: bool) -> Compose:
    """Return the content of a compose file; its errors are collected by the reader.

    Args:
        keys: the file's mapping.
        folder: the folder that it is in.
        main: the name of the agent's service.
        overlay: whether the file adds to a service that is described elsewhere, so that it need not
            name it, and its variables may name others; otherwise a single service may have
            another name.
    """
    table = keys.table("services")
    names = list(table.rest())
    if main not in names and not (overlay and names):
        if len(names) != 1:
            remedy = f"call the agent's service {main}: the tests run in its container"
            keys.add_issue("services", names, remedy)
            return Compose()
        main = names[0]
    own = table.table(main)
    workdir = _text(own, "working_dir")
    if len(names) == 1 and not overlay:
        build, environment = own.anything("build"), _known_variables(own)
        notes = tuple(own.note(key, "is not read") for key in _unread_keys(own))
        return Compose(
            main=main, build=build, environment=environment, workdir=workdir, notes=notes
        )
    for key, value in keys.rest().items():
        if key not in _TOP and not key.startswith("x-"):
            keys.add_issue(key, value, "remove it: a trial's services do not need it")
    environment, templates = _environment(own, filled=overlay)
    context, dockerfile = _build(own, folder) if overlay else (None, "Dockerfile")
    _reject_others(own, main=True)
    read = [_service(name, table.table(name), folder, overlay) for name in names if name != main]
    _reject_shared(read, keys)
    return Compose(
        main=main, build=own.anything("build"), context=context, dockerfile=dockerfile,
        workdir=workdir, environment=environment, templates=templates,
        services=_order(read, main, table),
    )  # fmt: skip


def _unread_keys(own: SettingsReader) -> Iterator[str]:
    """Yield the keys of the agent's service that would change it, and are not read."""
    for key, value in own.rest().items():
        is_idle = key == "command" and only_waits(value)
        of_runner = key == "volumes" and all(_OF_RUNNERS.match(str(one)) for one in value or [])
        if value and key not in _IGNORED | _OF_THE_NETWORK and not is_idle and not of_runner:
            yield key


def _service(name: str, keys: SettingsReader, folder: Path, overlay: bool) -> TaskService:  # noqa: FBT001  # of read_compose
    if not _NAME.fullmatch(name):
        keys.add_issue("name", name, "use letters, digits and _ . -")
    context, dockerfile = _build(keys, folder)
    image = _text(keys, "image")
    if context is None and not image:
        keys.add_issue("build", None, "say what the service is built from, or name its image")
    environment, templates = _environment(keys, filled=overlay)
    service = TaskService(
        name=name,
        context=context,
        dockerfile=dockerfile,
        image="" if context is not None else image,
        entrypoint=_command(keys, "entrypoint"),
        command=_command(keys, "command"),
        workdir=_text(keys, "working_dir"),
        environment=environment,
        templates=templates,
        aliases=tuple(filter(None, (_text(keys, "hostname"), _text(keys, "container_name")))),
        depends_on=_depends_on(keys),
        health=_health(keys.anything("healthcheck"), keys),
        folders=_folders(keys),
        ports=tuple(str(port).partition("/")[0] for port in keys.anything("expose", []) or []),
    )
    _reject_others(keys, main=False)
    return service


def _build(keys: SettingsReader, folder: Path) -> tuple[Path | None, str]:
    """Return the folder that a service is built from, and the name of its Dockerfile."""
    build, name = keys.anything("build"), "Dockerfile"
    if build is None:
        return None, name
    if isinstance(build, Mapping):
        parts = keys.table("build")
        build, name = parts.text("context", default="."), parts.text("dockerfile", default=name)
        for key, value in parts.rest().items():
            parts.add_issue(key, value, "remove it: only context and dockerfile are read")
    context = (folder / str(build)).resolve()
    if not context.is_relative_to(folder.resolve()):
        keys.add_issue("build", str(build), "build from inside the task's folder")
    elif not (context / name).is_file():
        keys.add_issue("build", str(build), f"put {name} there")
    return context, name


def _text(keys: SettingsReader, key: str) -> str:
    return _fill(keys.text(key), keys, key)


def _fill(text: str, keys: SettingsReader, key: str, *, later: set[str] | None = None) -> str:
    """Return a text with its variables replaced.

    Args:
        text: the text.
        keys: collects the errors.
        key: the key that it is the value of.
        later: collects the names of variables that are filled in later, and stay in the text;
            None: there are none.
    """

    def value(match: re.Match[str]) -> str:
        if match[1]:
            return "$"
        name = match[2] or match[4]
        is_known = name in _KNOWN_VARIABLES or _OF_RUNNERS.match(f"${{{name}")
        if later is not None and not is_known:
            later.add(name)
            return f"${{{name}}}" if match[3] is None else f"${{{name}:-{match[3]}}}"
        if match[3] is not None:
            return match[3]
        if not is_known:
            remedy = "write the value, or name the variable in environment and use it as $$NAME"
            keys.add_issue(key, text, f"{remedy}: no variable of the host is read")
        return _KNOWN_VARIABLES.get(name, "")

    filled = _VARIABLE.sub(value, text)
    if later and "$$" in text:
        keys.add_issue(key, text, "use either $$ or variables in one value")
    return filled


def _command(keys: SettingsReader, key: str) -> tuple[str, ...] | None:
    value = keys.anything(key)
    if value is None:
        return None
    try:
        words = shlex.split(value) if isinstance(value, str) else [str(word) for word in value]
    except (TypeError, ValueError):
        keys.add_issue(key, value, "write a command as text, or as a list of words")
        return None
    return tuple(_fill(word, keys, key) for word in words)


def _environment(
    keys: SettingsReader, *, filled: bool = False
) -> tuple[dict[str, str], frozenset[str]]:
    """Return the variables of a service, and those whose values name others if that may be."""
    value = keys.anything("environment") or {}
    if isinstance(value, list):
        value = {name: text for name, _, text in (str(line).partition("=") for line in value)}
    if not isinstance(value, Mapping):
        keys.add_issue("environment", value, "write NAME: value lines")
        return {}, frozenset()
    variables, templates = {}, set()
    for name, text in value.items():
        later: set[str] | None = set() if filled else None
        text = "" if text is None else _scalar(text)  # noqa: PLW2901
        variables[str(name)] = _fill(text, keys, "environment", later=later)
        if later:
            templates.add(str(name))
    for name, text in variables.items():
        if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) or not text.isprintable():
            keys.add_issue("environment", {name: text}, "write NAME: value in one line each")
    return variables, frozenset(templates)


def _scalar(value: object) -> str:
    """Return a value of YAML as its text: ``true`` is no Python."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _known_variables(keys: SettingsReader) -> dict[str, str]:
    """Return the variables of a single service; none if one of them needs the host's."""
    issues: list[FileIssue] = []
    content = {"environment": keys.anything("environment")}
    variables, _ = _environment(SettingsReader(content, where="", issues=issues))
    return {} if issues else variables


def _depends_on(keys: SettingsReader) -> tuple[tuple[str, Condition], ...]:
    value = keys.anything("depends_on") or {}
    if isinstance(value, list):
        value = {name: {} for name in value}
    if not isinstance(value, Mapping):
        keys.add_issue("depends_on", value, "list the services")
        return ()
    pairs: list[tuple[str, Condition]] = []
    for name, about in value.items():
        text = (about or {}).get("condition", "service_started")
        if text not in _CONDITIONS:
            keys.add_issue("depends_on", {name: text}, f"give one of {', '.join(_CONDITIONS)}")
            continue
        pairs.append((str(name), _CONDITIONS[text]))
    return tuple(pairs)


def _health(value: Any, keys: SettingsReader) -> HealthCheck | None:
    if value is None or (isinstance(value, Mapping) and value.get("disable")):
        return None
    test = value.get("test") if isinstance(value, Mapping) else None
    if isinstance(test, str):
        test = ["CMD-SHELL", test]
    if test == ["NONE"]:
        return None
    if not isinstance(test, list) or len(test) < 2 or test[0] not in {"CMD", "CMD-SHELL"}:  # noqa: PLR2004  # a word and a command
        remedy = "write test: [CMD, program, …] or [CMD-SHELL, line]"
        keys.add_issue("healthcheck", value, remedy)
        return None
    words = [_fill(str(word), keys, "healthcheck") for word in test[1:]]
    times = {
        key: _seconds(value.get(key), default, keys)
        for key, default in (("interval", 30.0), ("timeout", 30.0), ("start_period", 0.0))
    }
    retries = value.get("retries", 3)
    return HealthCheck(
        command=tuple(words) if test[0] == "CMD" else ("/bin/sh", "-c", words[0]),
        interval_s=times["interval"],
        timeout_s=times["timeout"],
        patience_s=times["start_period"]
        + (retries if isinstance(retries, int) else 3) * (times["interval"] + times["timeout"]),
    )


def _seconds(value: Any, default: float, keys: SettingsReader) -> float:
    if value is None:
        return default
    match = _DURATION.fullmatch(str(value))
    if match is None or not any(match.groups()):
        keys.add_issue("healthcheck", value, "write times such as 5s or 1m30s")
        return default
    hours, minutes, seconds, thousandths = (float(part or 0) for part in match.groups())
    return hours * 3600 + minutes * 60 + seconds + thousandths / 1000


def _folders(keys: SettingsReader) -> tuple[tuple[str, str], ...]:
    """Return the volumes of a service with their folders; one without a name is its own."""
    folders = []
    for volume in keys.anything("volumes", []) or []:
        match = _VOLUME.fullmatch(volume) if isinstance(volume, str) else None
        if match:
            folders.append((match[1], match[2].rstrip("/")))
        elif isinstance(volume, str) and volume.startswith("/") and ":" not in volume:
            folders.append(("", volume.rstrip("/")))
        else:
            remedy = "name a volume (data:/folder); put files of the task into the image"
            keys.add_issue("volumes", volume, remedy)
    temporary = keys.anything("tmpfs", []) or []
    paths = [temporary] if isinstance(temporary, str) else temporary
    folders += [("", str(path).partition(":")[0].rstrip("/")) for path in paths]
    return tuple(folders)


def _reject_others(keys: SettingsReader, *, main: bool) -> None:
    """Collect an error for each key that changes what a trial is."""
    if main:
        for key in _OF_THE_NETWORK:
            keys.anything(key)
        if only_waits(keys.rest().get("command", "sh")):
            keys.anything("command")
        for volume in keys.anything("volumes", []) or []:
            if not (isinstance(volume, str) and _OF_RUNNERS.match(volume)):
                remedy = "remove it: the agent's container shares no folder with another"
                keys.add_issue("volumes", volume, remedy)
    for key, value in keys.rest().items():
        if key not in _IGNORED and value not in (False, None, [], {}):
            remedy = _REMEDIES.get(key, "remove it: a service of a trial cannot have it")
            keys.add_issue(key, value, remedy)


def _reject_shared(services: list[TaskService], keys: SettingsReader) -> None:
    """Collect an error for volumes and ports that two services have."""
    for kind, claims in (
        ("volumes", [(name, s.name) for s in services for name, _ in s.folders if name]),
        ("expose", [(port, s.name) for s in services for port in s.ports]),
    ):
        owners: dict[str, str] = {}
        for claim, name in claims:
            other = owners.setdefault(claim, name)
            if other != name:
                remedy = (
                    "send the files over the network: services share none" if kind == "volumes"
                    else "use different ports: all services have one network"
                )  # fmt: skip
                keys.add_issue("services", {name: {kind: claim}, other: {kind: claim}}, remedy)


def _order(services: list[TaskService], main: str, keys: SettingsReader) -> tuple[TaskService, ...]:
    """Return services so that each is after those that it depends on; the agent's is last."""
    by_name = {service.name: service for service in services}
    ordered: dict[str, TaskService] = {}

    def visit(service: TaskService, above: tuple[str, ...]) -> Iterator[str]:
        if service.name in above:
            yield service.name
            return
        for name, _ in service.depends_on:
            if name in by_name:
                yield from visit(by_name[name], (*above, service.name))
        own = tuple(pair for pair in service.depends_on if pair[0] in by_name)
        ordered.setdefault(service.name, replace(service, depends_on=own))

    for service in services:
        for name, _ in service.depends_on:
            if name != main and name not in by_name:
                keys.add_issue("depends_on", name, "name a service of this file")
        for name in visit(service, ()):
            keys.add_issue("depends_on", name, "remove the circle")
            return ()
    return tuple(ordered.values())
