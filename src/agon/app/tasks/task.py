"""Say what a task is: an instruction, an environment to build, tests, and the limits of a trial."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from agon.app.containers import RewardSource

Flavour: TypeAlias = Literal["harbor", "terminal-bench-1"]
"""Which layout a folder has: ``task.toml`` beside ``instruction.md``, or ``task.yaml``."""

WORKPLACE = "/app"
"""Where an agent works; what stands there goes to the verifier."""


@dataclass(frozen=True, kw_only=True)
class TaskLimits:
    """Bound one trial (``challenge.md``, Running tasks: the times are its defaults).

    Attributes:
        agent_s: seconds the agent may work.
        verifier_s: seconds the tests may take.
        build_s: seconds the image may take to build.
        cpus: processors.
        memory_mb: memory in MiB; there is no swap beside it.
        storage_mb: MiB that may be written to each writable folder.
    """

    agent_s: float = 600.0
    verifier_s: float = 300.0
    build_s: float = 600.0
    cpus: float = 1.0
    memory_mb: int = 2048
    storage_mb: int = 10240


@dataclass(frozen=True, kw_only=True)
class TaskMetadata:
    """Hold what a task says of itself; nothing here changes a result."""

    difficulty: str = ""
    category: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Hold what a task's settings file says, in either layout.

    Attributes:
        bounds: what a trial may use.
        outputs: the paths of the agent's container that the verifier receives.
        reward_source: what makes a pass; None when the file does not say.
        image: the image to use when there is no Dockerfile; empty when it names none.
        agent_env: variables of the agent's container.
        verifier_env: variables of the verifier's container.
        about: difficulty, category, tags.
        extra: what else the file says, kept as it stands.
        notes: what a reader should know though it is no fault.
    """

    bounds: TaskLimits = TaskLimits()
    outputs: tuple[str, ...] = (WORKPLACE,)
    reward_source: RewardSource | None = None
    image: str = ""
    agent_env: Mapping[str, str] = field(default_factory=dict)
    verifier_env: Mapping[str, str] = field(default_factory=dict)
    about: TaskMetadata = TaskMetadata()
    extra: Mapping[str, Any] = field(default_factory=dict, repr=False)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Files:
    """Say where the parts of a task are.

    Attributes:
        context: the folder with the Dockerfile that the image is built from; None when there is an
            image already.
        image: the name of that image; empty when there is a Dockerfile.
        tests: the folder the verifier sees as ``/tests``.
        script: the script that decides, if it is not ``test.sh`` in ``tests``.
        solution: the script of the oracle; None when there is none.
        cheat: a script that tries to pass without solving; None when there is none.
    """

    context: Path | None
    image: str = ""
    tests: Path
    script: Path | None = None
    solution: Path | None = None
    cheat: Path | None = None


@dataclass(frozen=True, kw_only=True)
class Task:
    """Hold one task, read and found sound.

    Attributes:
        name: the folder's name.
        folder: where it is.
        flavour: its layout.
        instruction: what the agent is asked to do.
        files: where its parts are.
        settings: what its settings file says.
        reward_source: what makes a pass.
        sha256: hash over all of the folder's files.
    """

    name: str
    folder: Path
    flavour: Flavour
    instruction: str = field(repr=False)
    files: Files
    settings: Settings
    reward_source: RewardSource
    sha256: str
