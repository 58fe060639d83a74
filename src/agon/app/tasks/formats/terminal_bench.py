"""Read the settings of a task of Terminal-Bench 1: ``task.yaml``, ``run-tests.sh``, compose file.

==========================  ===============================================================
key of ``task.yaml``        what it becomes
==========================  ===============================================================
``instruction``             the instruction (or the ``descriptions`` entry of key ``base``)
``max_agent_timeout_sec``   the agent's time (360, as that benchmark has it)
``max_test_timeout_sec``    the tests' time (60)
``keep_servers``            whether what the agent leaves goes on while the tests run
``difficulty``              with ``category`` and ``tags``: the metadata
==========================  ===============================================================

``docker-compose.yaml``, if there is one, describes the agent's service (the only one, or
``client``), whose ``build`` says from which folder, and further ones
(:mod:`agon.app.tasks.formats.compose`). The tests run as that benchmark runs them:
``run-tests.sh`` with the files of ``tests/``, with ``TEST_DIR=/tests``. Its exit code decides.
Tests that need the agent's own shell (``run_tests_in_same_shell``) are an error: the agent could
forge them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from agon.app.files import FileIssue, InvalidPackage, collect_issues
from agon.app.tasks.files import read_text
from agon.app.tasks.formats.compose import Compose, read_compose
from agon.app.tasks.formats.settings_reader import DAY_S, SettingsReader
from agon.app.tasks.task import TaskLimits, TaskMetadata, TaskSettings
from agon.errors import Unavailable

SETTINGS = "task.yaml"
COMPOSE = "docker-compose.yaml"
SCRIPT = "run-tests.sh"

_HARMLESS: Final = frozenset({
    "author_email", "author_name", "canary", "disable_asciinema", "estimated_duration_sec",
    "expert_time_estimate_min", "junior_time_estimate_min", "parser_name", "source",
})  # fmt: skip
"""Keys of the format that change no trial; the exit code of the tests decides without a parser."""

_AGENT_S = 360.0
_TESTS_S = 60.0


@dataclass(frozen=True)
class TerminalBenchSettings:
    """The content of ``task.yaml`` and of the compose file.

    Attributes:
        settings: the settings that both layouts have.
        instruction: what the agent is asked to do.
        context: the folder to build from, relative to the task.
        compose: the compose file.
    """

    settings: TaskSettings = field(default_factory=TaskSettings)
    instruction: str = ""
    context: str = "."
    compose: Compose = field(default_factory=Compose)


def read_terminal_bench_settings(folder: Path, issues: list[FileIssue]) -> TerminalBenchSettings:
    """Return the settings in ``task.yaml``; errors are added to ``issues``, with defaults instead.

    Raises:
        InvalidPackage: there is no such file, or it is not a YAML mapping.
        Unavailable: the package ``pyyaml`` is not installed.
    """
    where = f"{folder.name}/{SETTINGS}"
    keys = SettingsReader(_mapping(folder / SETTINGS, where), where=where, issues=issues)
    instruction = keys.text("instruction") or _base_description(keys)
    if keys.anything("run_tests_in_same_shell", default=False):
        remedy = (
            "let the tests judge files: they would run in the shell that the agent used, whose "
            "functions and variables it can set to forge a pass"
        )
        keys.add_issue("run_tests_in_same_shell", value=True, remedy=remedy)
    compose = _compose(folder, issues)
    settings = TaskSettings(
        bounds=TaskLimits(
            agent_s=keys.number("max_agent_timeout_sec", default=_AGENT_S, low=0.1, high=DAY_S),
            verifier_s=keys.number("max_test_timeout_sec", default=_TESTS_S, low=0.1, high=DAY_S),
        ),
        agent_env=compose.environment,
        verifier_env={**compose.environment, "TEST_DIR": "/tests"},
        keep_servers=keys.flag("keep_servers"),
        about=TaskMetadata(
            difficulty=keys.text("difficulty"),
            category=keys.text("category"),
            tags=keys.texts("tags"),
        ),
        workdir=compose.workdir,
        extra=keys.rest(),
        notes=(*_notes_of(keys), *compose.notes),
    )
    context = _context(compose.build, f"{folder.name}/{COMPOSE}", issues)
    return TerminalBenchSettings(settings, instruction, context, compose)


def _notes_of(keys: SettingsReader) -> list[str]:
    """Return a message for each key that is neither read nor about people and other programs."""
    misspelled = list(keys.misspelled_keys())
    known = {note.split(": ")[1].split()[0] for note in misspelled}
    unread = [key for key in keys.rest() if key not in {*_HARMLESS, *known}]
    what = f"is not a key of the format, and not read: the tests are {SCRIPT}"
    return [*misspelled, *(keys.note(key, what) for key in unread)]


def _base_description(keys: SettingsReader) -> str:
    """Return the base description of the oldest tasks; empty when there is none."""
    for item in keys.anything("descriptions", []) or []:
        if isinstance(item, Mapping) and item.get("key", "base") == "base":
            return str(item.get("description", ""))
    return ""


def _compose(folder: Path, issues: list[FileIssue]) -> Compose:
    """Return the content of the compose file, if there is one."""
    compose = Compose()
    with collect_issues(issues):
        if (folder / COMPOSE).is_file():
            compose = compose_of(folder, COMPOSE, "client", issues, overlay=False)
    return compose


def compose_of(
    folder: Path, path: str, main: str, issues: list[FileIssue], *, overlay: bool
) -> Compose:
    """Return the content of a compose file; errors are added to ``issues``.

    Args:
        folder: the task.
        path: the file in it.
        main: the name of the agent's service.
        issues: collects the errors.
        overlay: whether it adds to a service that is described elsewhere.

    Raises:
        InvalidPackage: the file is not a YAML mapping.
        Unavailable: the package ``pyyaml`` is not installed.
    """
    file, where = folder / path, f"{folder.name}/{path}"
    keys = SettingsReader(_mapping(file, where), where=where, issues=issues)
    return read_compose(keys, folder=file.parent, main=main, overlay=overlay)


def _context(build: Any, where: str, issues: list[FileIssue]) -> str:
    """Return the folder that the agent's service is built from."""
    if not isinstance(build, Mapping):
        return "." if build is None else str(build)
    parts = SettingsReader(build, where=where, issues=issues, path="build.")
    if parts.text("dockerfile", default="Dockerfile") != "Dockerfile":
        parts.add_issue("dockerfile", parts.anything("dockerfile"), "call it Dockerfile")
    return parts.text("context", default=".")


def _mapping(path: Path, where: str) -> dict[str, Any]:
    """Return the mapping in a YAML file without aliases (which can expand exponentially)."""
    text = read_text(path, where=where)
    try:
        import yaml  # type: ignore[import-untyped]  # it ships no type information
    except ImportError:
        raise Unavailable(
            f"{where} is YAML, for which a reader is missing: pip install pyyaml"
        ) from None
    try:
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, yaml.SafeLoader)):
            raise InvalidPackage(FileIssue(where, "uses an alias (*)", "write the value out"))
        content = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as wrong:
        message = " ".join(str(wrong).split())[:200]
        raise InvalidPackage(FileIssue(where, f"is not YAML ({message})", "correct it")) from None
    if not isinstance(content, dict) or not all(isinstance(key, str) for key in content):
        raise InvalidPackage(FileIssue(where, "is not a mapping", "write key: value lines"))
    return content
