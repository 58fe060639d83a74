"""Take what services have for the tests out of their containers, once the agent has ended."""

import hashlib
import shutil
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import IO, BinaryIO, Final

from agon.app.containers import AgentTrial, ContainerGone, Limits, Outputs
from agon.app.containers.collection import ServiceCommand, ServicePath
from agon.errors import Unavailable
from agon.runners.containers.archive_filter import (
    FilteredArchive,
    InvalidArchive,
    OutputRules,
    TooManyEntries,
    filter_archive,
)
from agon.runners.containers.archives import END
from agon.runners.containers.engine import CommandLine
from agon.runners.containers.first_process import PRIVATE
from agon.runners.containers.isolation import report_bytes
from agon.runners.containers.networks.trial_services import TrialServices

_CODES_OF_TAR: Final = (0, 1, 2)
"""With 1 and 2 a path is missing or changes: what is there counts."""
_PATIENCE_S: Final = 120.0
_PIECE: Final = 1 << 20


class ServiceCollection:
    """Collects from the services of one trial."""

    def __init__(
        self, engine: CommandLine, services: TrialServices, trial: AgentTrial, limits: Limits
    ) -> None:
        self._engine = engine
        self._services = services
        self._trial = trial
        self._limits = limits

    def run(self, commands: Sequence[ServiceCommand]) -> None:
        """Run commands in services; one that fails or takes too long ends nothing else."""
        for one in commands:
            with suppress(ContainerGone):
                self._services.execute(one)

    def add(self, outputs: Outputs, paths: Sequence[ServicePath]) -> Outputs:
        """Return an agent's outputs with paths of services.

        Raises:
            Unavailable: a service has ended, or hands over more than the task's limits.
        """
        if not paths:
            return outputs
        target = self._trial.folder / "services" / "outputs.tar"
        target.parent.mkdir(exist_ok=True)
        files, size, missing = outputs.files, outputs.size, list(outputs.left_out)
        with target.open("w+b") as whole:
            _append(outputs.path, whole)
            for place in paths:
                with tempfile.TemporaryDirectory(prefix="agon-service-") as scratch:
                    taken = Path(scratch) / "taken.tar"
                    self._take(place, taken)
                    filtered = self._filter(place, taken, Path(scratch) / "filtered.tar")
                    _append(Path(scratch) / "filtered.tar", whole)
                files, size = files + filtered.files, size + filtered.size
                missing += [
                    replace(one, name=f"{place.service}:{one.name}") for one in filtered.left_out
                ]
            whole.write(END)
        declared = dict.fromkeys((*outputs.declared, *(place.path for place in paths)))
        return replace(
            outputs, path=target, declared=tuple(declared), files=files, size=size,
            sha256=_digest(target), left_out=tuple(missing), left_out_total=len(missing),
        )  # fmt: skip

    def _take(self, place: ServicePath, file: Path) -> None:
        """Write the archive of a path that the service's ``tar`` prints."""
        name = self._services.container(place.service)
        command = (
            *self._engine.command, "exec", "--workdir=/", "--env=TAR_OPTIONS=--format=gnu", name,
            f"{PRIVATE}/tar", "-c", "-f", "-", "--", place.path.lstrip("/"),
        )  # fmt: skip
        with file.open("wb") as target, subprocess.Popen(  # noqa: S603  # the engine that was found
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            start_new_session=True, cwd="/",
        ) as client:  # fmt: skip
            try:
                assert client.stdout is not None  # noqa: S101  # for mypy: it is a pipe
                self._copy(place, client.stdout, target)
            except BaseException:
                client.kill()
                raise
        if client.returncode not in _CODES_OF_TAR:
            raise Unavailable(
                f"the service {place.service} has ended, so {place.path} cannot be taken from it"
            )

    def _copy(self, place: ServicePath, printed: IO[bytes], target: BinaryIO) -> None:
        left, deadline = report_bytes(self._limits), time.monotonic() + _PATIENCE_S
        while piece := printed.read(_PIECE):
            left -= len(piece)
            if left < 0 or time.monotonic() > deadline:
                raise Unavailable(
                    f"the service {place.service} hands over too much in {place.path}: more than "
                    f"{report_bytes(self._limits) >> 20:,} MiB, or for {_PATIENCE_S:g} s"
                )
            target.write(piece)

    def _filter(self, place: ServicePath, taken: Path, target: Path) -> FilteredArchive:
        rules = OutputRules(
            outputs=(place.path,), home="", since=0.0, links="",
            excluded=((place.path, place.excluded),),
        )  # fmt: skip
        try:
            with taken.open("rb") as file:
                return filter_archive(
                    file, target, roots=(place.path,), files=self._limits.files, rules=rules
                )
        except (InvalidArchive, TooManyEntries) as wrong:
            raise Unavailable(
                f"what the service {place.service} has in {place.path} cannot be taken: {wrong}"
            ) from None


def _append(source: Path, whole: BinaryIO) -> None:
    """Write the entries of an archive without its end."""
    with source.open("rb") as file:
        shutil.copyfileobj(file, whole)
    whole.seek(-len(END), 2)
    whole.truncate()


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
