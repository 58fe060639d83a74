"""Build the images of tasks, each content once; nothing is pulled unless builds have a network.

Two steps: the task's own Dockerfile gives an image; a layer on top of it saves the content of the
writable folders, because those are mounted empty and filled again at each start. Writable are the
working folder and all folders in ``/`` and ``/var`` that do not belong to the system.
"""

import json
import posixpath
import re
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any, Final

from agon.app.containers import BuildFailed, Image, ImageSpec
from agon.app.containers.home_settings import settings_of_home, within_or_at
from agon.errors import InvalidRule, Unavailable
from agon.runners.containers.archive_filter import printable
from agon.runners.containers.descendants import end
from agon.runners.containers.engine import CommandLine, EngineError, is_unsettled
from agon.runners.containers.first_process import PRIVATE, SAVE_FOLDERS
from agon.runners.containers.isolation import LABEL, build_ulimits
from agon.runners.containers.staging import content_hash
from agon.runners.containers.unfinished_builds import host_of_build, remove_unfinished_builds

ALWAYS_WRITABLE: Final = ("/app", "/home", "/root", "/run", "/tmp", "/var/tmp")  # noqa: S108  # the container's
_LAYOUT: Final = f"agon image 4 {sha256(SAVE_FOLDERS.encode()).hexdigest()}"
"""Changes with the layer's content, so that older images are not used."""
_PLAIN_PATH: Final = re.compile(r"(/(?!\.\.?(/|$))[A-Za-z0-9_.][A-Za-z0-9_.+@-]*)+")
_CLOSED: Final = (
    "/bin", "/boot", "/dev", "/etc/alternatives", "/etc/ld.so.conf.d", "/etc/ld.so.preload",
    "/etc/pam.d", "/etc/profile", "/etc/profile.d", "/etc/security", "/etc/sudoers.d", "/lib",
    "/lib32", "/lib64", "/libx32", "/logs", "/proc", "/sbin", "/sys", "/tests", "/usr/bin",
    "/usr/lib", "/usr/sbin", PRIVATE,
)  # fmt: skip
_SYSTEM: Final = (
    *_CLOSED, "/agent", "/cheat", "/etc", "/instruction.md", "/lost+found", "/nix", "/opt", "/run",
    "/snap", "/solution", "/usr", "/var/lock", "/var/run",
)  # fmt: skip
"""Folders that are writable only where an image or a task says so, and what agon mounts."""
_TEMPORARY: Final = ("/run", "/tmp", "/var/cache", "/var/lock", "/var/run", "/var/tmp")  # noqa: S108  # the container's
"""Folders that are not handed over by themselves."""
_LISTED: Final = "listed"
_LIST_FOLDERS: Final = f"""\
echo "$HOME"
for folder in /*/ /var/*/; do
    folder=${{folder%/}}
    [ -L "$folder" ] || [ ! -d "$folder" ] || echo "$folder"
done
echo {_LISTED}
"""
_FROM = re.compile(r"^\s*FROM\s+(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?", re.IGNORECASE | re.MULTILINE)
_LOG_LINES: Final = 12
_LOG_COLUMNS: Final = 1000
_MAX_REPEATS: Final = 4
"""Maximum number of further attempts at a build that met what another client changed."""
_PULL_S: Final = 1800.0
_LISTING_MIB: Final = 256


class Images:
    """The images of one engine: built once for each content."""

    def __init__(self, engine: CommandLine, *, network: str, owner: str) -> None:
        self._engine = engine
        self._host = host_of_build(owner)
        self.network = network
        self._lock = Lock()

    def build(self, recipe: ImageSpec) -> Image:
        """Return an image, built or cached (:meth:`agon.app.containers.Containers.build`).

        Raises:
            BuildFailed: the Dockerfile fails, or one of its base images is missing.
            Unavailable: the engine fails.
            InvalidRule: a folder cannot be writable.
        """
        with self._lock:
            try:
                return self._build_again(recipe)
            except EngineError as wrong:
                raise Unavailable(f"{self._engine.named.name}: {wrong}") from None

    def remove_all(self) -> int:
        """Remove all images built here that no container uses; return their number."""
        names = self._engine.images(f"{LABEL}.writable")
        for name in names:
            self._engine.ask("rmi", "-f", name)
        return len(names)

    def _build_again(self, recipe: ImageSpec) -> Image:
        """Build, again where podman met an image that another client adds or removes.

        Further attempts use no cached layers, because the search for them reads all images.
        """
        begin = time.monotonic()
        options: tuple[str, ...] = ()
        for _ in range(_MAX_REPEATS if self._engine.named.name == "podman" else 0):
            try:
                return self._build(recipe, begin, options)
            except (BuildFailed, EngineError) as error:
                if not is_unsettled(str(error).splitlines()[-1]):
                    raise
            options = ("--layers=false",)
        return self._build(recipe, begin, options)

    def _build(self, recipe: ImageSpec, begin: float, options: tuple[str, ...]) -> Image:
        writable = writable_folders(recipe.writable)
        content = self._content(recipe, writable)
        tag = f"localhost/agon-task:{content[:32]}"
        details = self._engine.inspect("image", tag)
        if details is None:
            with tempfile.TemporaryDirectory(prefix="agon-build-") as folder:
                base = self._own(recipe, begin, options, Path(folder))
                self._add_layer(base, tag, recipe, writable, begin, Path(folder))
            built = self._engine.inspect("image", tag)
            if built is None:
                raise EngineError(f"{tag}: image not known")
            return _image(built, content, begin, cached=False)
        return _image(details, content, begin, cached=True)

    def _content(self, recipe: ImageSpec, writable: tuple[str, ...]) -> str:
        """Return the hash of what the image depends on; base images count by their content."""
        known = (_LAYOUT, *writable, "", *recipe.optional)
        if recipe.context is None:
            return content_hash(None, *known, self._id(recipe.image))
        dockerfile = recipe.context / "Dockerfile"
        try:
            text = dockerfile.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as wrong:
            raise BuildFailed(f"{dockerfile} cannot be read ({wrong}); write one") from None
        return content_hash(recipe.context, *known, *map(self._id, base_images(text)))

    def _id(self, image: str) -> str:
        details = self._engine.inspect("image", image)
        if details is None and self.network != "none":
            try:
                self._engine.ask("pull", "-q", image, patience_s=_PULL_S)
            except EngineError as error:
                raise BuildFailed(f"the image {image} cannot be pulled: {error}") from None
            details = self._engine.inspect("image", image)
        if details is None:
            raise BuildFailed(
                f"the image {image} does not exist here and nothing is pulled: import it first"
            )
        return str(details["Id"])

    def _own(self, recipe: ImageSpec, begin: float, options: tuple[str, ...], scratch: Path) -> str:
        """Return the id of the task's image, built or named."""
        if recipe.context is None:
            return recipe.image
        context = str(recipe.context.resolve())
        return self._run_build(recipe, begin, context, scratch / "own", options)

    def _add_layer(
        self, base: str, tag: str, recipe: ImageSpec, writable: tuple[str, ...], begin: float,
        scratch: Path,
    ) -> None:  # fmt: skip
        """Build agon's layer as root, and restore the image's user."""
        details = self._engine.inspect("image", base)
        if details is None:
            raise EngineError(f"{base}: image not known")
        config = details.get("Config") or {}
        home, present = self._list_folders(base)
        work = _workdir(config)
        tools = _tools(config)
        system = (*_SYSTEM, *("/" + tool.split("/")[1] for tool in tools), "/var")
        candidates = (*(path for path in (*present, *recipe.optional) if path not in system),
                 _plain_part(work), home)  # fmt: skip
        folders = writable_folders(
            (*writable, *(config.get("Volumes") or ()), *filter(_may_be_writable, candidates))
        )
        user = config.get("User") or "0"
        outputs = _default_outputs(folders, _plain_part(work), tools)
        known = {"writable": ":".join(folders), "workdir": work, "home": home,
                 "outputs": ":".join(outputs)}  # fmt: skip
        run = json.dumps(["/bin/sh", "-c", SAVE_FOLDERS, "agon", *folders])
        known_lines = (f"LABEL {LABEL}.{key}={json.dumps(value)}" for key, value in known.items())
        lines = (f"FROM {base}", "USER 0", f"RUN {run}", f"USER {user}", *known_lines)
        context = scratch / "context"
        context.mkdir()
        (context / "Dockerfile").write_text("\n".join(lines) + "\n", encoding="utf-8")
        one_layer = ("--layers=false",) if self._engine.named.name == "podman" else ()
        further = (f"--tag={tag}", *one_layer)
        self._run_build(recipe, begin, str(context), scratch / "layer", further)

    def _list_folders(self, image: str) -> tuple[str, list[str]]:
        """Return the home folder of an image's user, and its folders in ``/`` and ``/var``."""
        printed = self._engine.run(
            "--rm", f"--label={LABEL}.run=build", "--network=none", "--cap-drop=ALL",
            "--security-opt=no-new-privileges", "--read-only", "--pull=never", "--workdir=/",
            *build_ulimits(), f"--memory={_LISTING_MIB}m", "--pids-limit=64",
            "--entrypoint=/bin/sh", image, "-c", _LIST_FOLDERS, ending=_LISTED,
        )  # fmt: skip
        home, *folders = printed.splitlines()
        return (home if _PLAIN_PATH.fullmatch(home) else "/root"), folders

    def _run_build(
        self, recipe: ImageSpec, begin: float, context: str, image_id: Path, further: Sequence[str]
    ) -> str:
        """Build a context and return the image's id."""
        command = (
            *self._engine.command, "build", f"--network={self.network}",
            f"--iidfile={image_id}", f"--label={LABEL}.image=1", "--force-rm", *build_ulimits(),
            *self._of_podman(recipe), *further, context,
        )  # fmt: skip
        try:
            lines = self._build_log(command, image_id, begin + recipe.timeout_s)
        except subprocess.TimeoutExpired:
            raise BuildFailed(f"building took more than {recipe.timeout_s:g} s") from None
        if lines:
            tail = "\n  ".join(lines[-_LOG_LINES:])
            raise BuildFailed(f"the image of {context} cannot be built:\n  {tail}")
        return image_id.read_text(encoding="ascii").strip()

    def _build_log(self, command: Sequence[str], image_id: Path, deadline: float) -> list[str]:
        """Build once; return the last lines of the log, none when it succeeds.

        Raises:
            TimeoutExpired: the deadline passed.
        """
        with subprocess.Popen(  # noqa: S603  # the engine found, agon's own arguments
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            start_new_session=True, cwd=image_id.parent,
        ) as process:  # fmt: skip
            try:
                log, _ = process.communicate(timeout=deadline - time.monotonic())
            finally:
                end(process)
                if not image_id.exists():  # podman ends a build at SIGTERM with exit code 0
                    remove_unfinished_builds(self._engine, host=self._host)
        if not process.returncode:
            return []
        lines = [
            printable(line, longest=_LOG_COLUMNS)
            for line in log[-8192:].splitlines()
            if line.strip()
        ]
        return lines or [f"exit code {process.returncode} and no output"]

    def _of_podman(self, recipe: ImageSpec) -> tuple[str, ...]:
        if self._engine.named.name != "podman":
            return ("--pull=false",)
        return (
            "--pull=never", "--http-proxy=false", f"--memory={recipe.memory_mib}m",
            f"--add-host={self._host}:127.0.0.1",
        )  # fmt: skip


def base_images(dockerfile: str) -> list[str]:
    r"""Return the base images of a Dockerfile in order, without its own stages.

    Example:
        >>> base_images("FROM a:1 AS one\nRUN true\nFROM one\nFROM --platform=x b\nFROM scratch")
        ['a:1', 'b']
    """
    images: list[str] = []
    own = {"scratch"}
    for image, stage in _FROM.findall(dockerfile):
        if image.lower() not in own:
            images.append(image)
        own.add(stage.lower())
    return list(dict.fromkeys(images))


def writable_folders(further: Sequence[str]) -> tuple[str, ...]:
    """Return all writable folders, without those inside others.

    Raises:
        InvalidRule: a folder is not an absolute plain path, or must stay read-only.

    Example:
        >>> writable_folders(("/srv/data", "/app/cache"))
        ('/app', '/home', '/root', '/run', '/srv/data', '/tmp', '/var/tmp')
    """
    for path in further:
        require_plain(path, "a writable folder")
        if any(closed == path or within(closed, path) or within(path, closed)
               for closed in _CLOSED):  # fmt: skip
            raise InvalidRule(f"{path} cannot be writable: the commands in it must not change")
    all_of_them = sorted({*ALWAYS_WRITABLE, *further})
    return tuple(
        path for path in all_of_them if not any(within(path, other) for other in all_of_them)
    )


def _may_be_writable(path: str) -> bool:
    """Return whether a folder that is found in an image or a task can be made writable."""
    return bool(_PLAIN_PATH.fullmatch(path)) and not any(
        closed == path or within(closed, path) or within(path, closed) for closed in _CLOSED
    )


def _workdir(config: Mapping[str, Any]) -> str:
    """Return the folder in which an image's commands run."""
    folder = posixpath.normpath(config.get("WorkingDir") or "/")
    return folder if folder.strip("/") and folder.isprintable() and "$" not in folder else "/app"


def _tools(config: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the folders of the image's programs outside of its working folder, by its ``PATH``.

    Those among the settings of a home folder are protected by themselves.
    """
    variables = dict(_variable(line) for line in config.get("Env") or ())
    work = _workdir(config)
    entries = map(posixpath.normpath, variables.get("PATH", "").split(":"))
    return tuple(
        entry
        for entry in entries
        if entry.startswith("/") and not within_or_at(entry, work) and not settings_of_home(entry)
    )


def _plain_part(path: str) -> str:
    """Return a path, or the folder above the first part of it that is not plain.

    Example:
        >>> _plain_part("/work/my files/x"), _plain_part("/work")
        ('/work', '/work')
    """
    while path.strip("/") and not _PLAIN_PATH.fullmatch(path):
        path = posixpath.dirname(path)
    return path


def _default_outputs(writable: Sequence[str], work: str, tools: Sequence[str]) -> tuple[str, ...]:
    """Return the folders that are handed over unless a task declares others.

    Temporary folders and folders that hold programs on the path are not, but the working folder.
    """
    outputs = [
        folder
        for folder in writable
        if not any(within_or_at(folder, other) for other in _TEMPORARY)
        and not any(within_or_at(tool, folder) for tool in tools)
    ]
    is_covered = any(within_or_at(work, folder) for folder in outputs)
    if not is_covered and any(within_or_at(work, folder) for folder in writable):
        outputs.append(work)
    return tuple(outputs)


def require_plain(path: str, what: str) -> None:
    """Require a path that a shell and tar read literally.

    Raises:
        InvalidRule: it is not absolute, or not made of plain names.
    """
    if not _PLAIN_PATH.fullmatch(path):
        raise InvalidRule(
            f"{path!r} cannot be {what}: give an absolute path of letters, digits and _ . + @ -"
        )


def within(path: str, folder: str) -> bool:
    """Return whether a path is below a folder.

    Example:
        >>> within("/app/a", "/app"), within("/app", "/app"), within("/apple", "/app")
        (True, False, False)
    """
    return path.startswith(f"{folder}/")


def _image(details: Mapping[str, Any], content: str, begin: float, *, cached: bool) -> Image:
    config = details["Config"]
    labels = config["Labels"]
    return Image(
        reference=str(details["Id"]),
        content=content,
        user=str(config.get("User") or ""),
        writable=tuple(labels[f"{LABEL}.writable"].split(":")),
        cached=cached,
        seconds=time.monotonic() - begin,
        environment=tuple(_variable(line) for line in config.get("Env") or ()),
        workdir=labels[f"{LABEL}.workdir"],
        outputs=tuple(labels[f"{LABEL}.outputs"].split(":")),
        home=labels[f"{LABEL}.home"],
        entrypoint=tuple(config.get("Entrypoint") or ()),
        command=tuple(config.get("Cmd") or ()),
        ports=tuple(port.partition("/")[0] for port in config.get("ExposedPorts") or ()),
    )


def _variable(line: str) -> tuple[str, str]:
    name, _, value = line.partition("=")
    return name, value
