"""Build the images of tasks, each content once; nothing is pulled unless builds have a network.

Three steps: the task's own Dockerfile gives an image; a layer on top of it saves the content of the
writable folders, because those are mounted empty and filled again at each start; a further layer,
for the tests alone, makes programs unreadable (:mod:`.protected_programs`).
"""

import json
import posixpath
import re
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any, Final

from agon.app.containers import BuildFailed, Image, ImageSpec
from agon.app.containers.home_settings import settings_of_home, within_or_at
from agon.errors import Unavailable
from agon.runners.containers.archive_filter import printable
from agon.runners.containers.descendants import end
from agon.runners.containers.engine import CommandLine, EngineError, is_unsettled
from agon.runners.containers.images.image_folders import (
    PLAIN_PATH,
    SYSTEM_FOLDERS,
    default_outputs,
    may_be_writable,
    plain_part,
    within,
    writable_folders,
)
from agon.runners.containers.images.saved_folders import SAVE_FOLDERS
from agon.runners.containers.images.unfinished_builds import host_of_build, remove_unfinished_builds
from agon.runners.containers.isolation import LABEL, build_ulimits
from agon.runners.containers.protected_programs import CLOSE_PROGRAMS, LIST_PROGRAMS
from agon.runners.containers.staging import content_hash

_LAYOUT: Final = (
    f"agon image 5 {sha256((SAVE_FOLDERS + LIST_PROGRAMS + CLOSE_PROGRAMS).encode()).hexdigest()}"
)
"""Changes with the layers' content, so that older images are not used."""
_LISTED: Final = "listed"
_PROGRAMS: Final = "programs"
_LIST_FOLDERS: Final = f"""\
echo "$HOME"
for folder in /*/ /var/*/; do
    folder=${{folder%/}}
    [ -L "$folder" ] || [ ! -d "$folder" ] || echo "$folder"
done
echo {_PROGRAMS}
{LIST_PROGRAMS}
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
        cached = details is not None
        with tempfile.TemporaryDirectory(prefix="agon-build-") as folder:
            build = _Build(recipe, begin, Path(folder))
            if details is None:
                base = self._own(build, options)
                self._add_layer(build, base, tag, writable)
                details = self._engine.inspect("image", tag)
            if details is None:
                raise EngineError(f"{tag}: image not known")
            tests = self._of_tests(build, details, tag)
        return _image(details, tests, content, begin, cached=cached)

    def _of_tests(self, build: "_Build", details: Mapping[str, Any], tag: str) -> str:
        """Return the id of the image in which tests run, built if it does not exist."""
        programs = details["Config"]["Labels"].get(f"{LABEL}.programs", "")
        if not programs:
            return str(details["Id"])
        known = self._engine.inspect("image", f"{tag}-tests")
        if known is not None:
            return str(known["Id"])
        run = ("/bin/sh", "-c", CLOSE_PROGRAMS, "agon", *programs.split(":"))
        user = details["Config"].get("User") or "0"
        return self._layer(build, tag, f"{tag}-tests", run, user)

    def _layer(
        self, build: "_Build", base: str, tag: str, run: Sequence[str], user: str,
        further: Sequence[str] = (),
    ) -> str:  # fmt: skip
        """Run a command as root on top of an image, and restore its user; return the new id."""
        lines = (f"FROM {base}", "USER 0", f"RUN {json.dumps(run)}", f"USER {user}", *further)
        scratch = build.scratch / tag.rpartition(":")[2]
        context = scratch / "context"
        context.mkdir(parents=True)
        (context / "Dockerfile").write_text("\n".join(lines) + "\n", encoding="utf-8")
        one_layer = ("--layers=false",) if self._engine.named.name == "podman" else ()
        options = (f"--tag={tag}", *one_layer)
        return self._run_build(build, str(context), scratch / "id", options)

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

    def _own(self, build: "_Build", options: tuple[str, ...]) -> str:
        """Return the id of the task's image, built or named."""
        recipe = build.recipe
        if recipe.context is None:
            return recipe.image
        context = str(recipe.context.resolve())
        return self._run_build(build, context, build.scratch / "own", options)

    def _add_layer(self, build: "_Build", base: str, tag: str, writable: tuple[str, ...]) -> None:
        """Build agon's layer as root, and restore the image's user."""
        details = self._engine.inspect("image", base)
        if details is None:
            raise EngineError(f"{base}: image not known")
        config = details.get("Config") or {}
        home, present, programs = self._list(base)
        work = _workdir(config)
        tools = _tools(config)
        system = (*SYSTEM_FOLDERS, *("/" + tool.split("/")[1] for tool in tools), "/var")
        candidates = (*(path for path in (*present, *build.recipe.optional) if path not in system),
                 plain_part(work), home)  # fmt: skip
        folders = writable_folders(
            (*writable, *(config.get("Volumes") or ()), *filter(may_be_writable, candidates))
        )
        closed = (program for program in programs
                  if not any(within(program, folder) for folder in folders))  # fmt: skip
        known = {"writable": folders, "workdir": (work,), "home": (home,), "programs": closed,
                 "outputs": default_outputs(folders, plain_part(work), tools)}  # fmt: skip
        labels = (f"LABEL {LABEL}.{key}={json.dumps(':'.join(paths))}"
                  for key, paths in known.items())  # fmt: skip
        run = ("/bin/sh", "-c", SAVE_FOLDERS, "agon", *folders)
        user = config.get("User") or "0"
        self._layer(build, base, tag, run, user, tuple(labels))

    def _list(self, image: str) -> tuple[str, list[str], list[str]]:
        """Return the home folder of an image's user, its folders in ``/`` and ``/var``, programs.

        The programs are those that the tests' container may run but not read.
        """
        printed = self._engine.run(
            "--rm", f"--label={LABEL}.run=build", "--network=none", "--cap-drop=ALL",
            "--security-opt=no-new-privileges", "--read-only", "--pull=never", "--workdir=/",
            *build_ulimits(), f"--memory={_LISTING_MIB}m", "--pids-limit=64",
            "--entrypoint=/bin/sh", image, "-c", _LIST_FOLDERS, ending=_LISTED,
        )  # fmt: skip
        places, _, programs = printed.partition(f"\n{_PROGRAMS}\n")
        home, *folders = places.splitlines()
        plain = sorted(filter(PLAIN_PATH.fullmatch, set(programs.splitlines())))
        return (home if PLAIN_PATH.fullmatch(home) else "/root"), folders, plain

    def _run_build(
        self, build: "_Build", context: str, image_id: Path, further: Sequence[str]
    ) -> str:
        recipe = build.recipe
        command = (
            *self._engine.command, "build", f"--network={self.network}",
            f"--iidfile={image_id}", f"--label={LABEL}.image=1", "--force-rm", *build_ulimits(),
            *self._of_podman(recipe), *further, context,
        )  # fmt: skip
        try:
            lines = self._build_log(command, image_id, build.begin + recipe.timeout_s)
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


@dataclass(frozen=True)
class _Build:
    """A build that is under way.

    Attributes:
        recipe: what is built.
        begin: when it began, in seconds of the monotonic clock.
        scratch: an empty folder for its files.
    """

    recipe: ImageSpec
    begin: float
    scratch: Path


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


def _image(
    details: Mapping[str, Any], tests: str, content: str, begin: float, *, cached: bool
) -> Image:
    config = details["Config"]
    labels = config["Labels"]
    return Image(
        reference=str(details["Id"]),
        tests_reference=tests,
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
