"""Find weaknesses of a task: designs with which an agent may pass without solving it."""

import re
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from agon.app.containers import Image
from agon.app.containers.judge_environment import is_of_agent, judge_environment
from agon.app.tasks.outputs import outputs_of
from agon.app.tasks.task import Task

_IMPORT: Final = re.compile(r"^[ \t]*(?:from|import)[ \t]+([A-Za-z_]\w*)", re.MULTILINE)
_SHELLS: Final = "sh|bash|python3?|node|perl|ruby"
_RUN: Final = re.compile(
    rf"(?:\b(?:{_SHELLS}|exec)[ \t]+|^[ \t]*|[;&|(][ \t]*"
    rf"|(?:run|call|Popen|check_output|system)\([ \t\n]*\[?[ \t\n]*[\"']"
    rf"|[\"'](?:{_SHELLS})[\"'],[ \t\n]*[\"'])"
    r"(/[\w./-]+|\./[\w./-]+)",
    re.MULTILINE,
)
_DROP: Final = re.compile(r"\b(?:su|runuser|setpriv|sudo|gosu|chpst|setuidgid)\b|\buser=")
"""A line that runs a program as another user."""
_PROGRAMS: Final = (".sh", ".py", ".js", ".pl", ".rb", "")
_MAX_FILE_BYTES: Final = 1 << 20


def find_weaknesses(task: Task, image: Image, oracle: Path) -> tuple[str, ...]:
    """Return the weaknesses of a task, each with its remedy; the task is accepted nevertheless.

    Args:
        task: the task.
        image: its image.
        oracle: the archive that the oracle left; it need not exist.
    """
    names = _names(oracle)
    texts = {path.name: path.read_text(errors="replace") for path in _scripts(task)}
    return (
        *_variables(task, image),
        *(note for file, text in texts.items() for note in _imports(task, file, text, names)),
        *(
            note
            for file, text in texts.items()
            for note in _programs(task, image, file, text, names)
        ),
    )


def _variables(task: Task, image: Image) -> Iterator[str]:
    """Yield the image's variables that name something in the outputs."""
    outputs = outputs_of(task, image)
    variables = {**dict(image.environment), **task.settings.verifier_env}
    names = list(judge_environment(variables, outputs, image.workdir))
    if any(
        is_of_agent(folder, outputs, image.workdir)
        for folder in variables.get("PYTHONPATH", "").split(":")
        if folder
    ):
        names.append("PYTHONPATH")
    if names:
        yield (
            f"{', '.join(names)} of the image names something in the outputs, which the agent can "
            "replace; the tests search it last or not at all: install tools elsewhere, or declare "
            "fewer outputs"
        )


def _imports(task: Task, file: str, text: str, names: frozenset[str]) -> Iterator[str]:
    """Yield the modules of the agent that Python tests import."""
    own = {path.stem for path in task.files.tests.rglob("*.py")}
    modules = dict.fromkeys(_IMPORT.findall(text)) if file.endswith(".py") else {}
    for module in modules:
        if module in own or module in sys.stdlib_module_names:
            continue
        if any(name.endswith((f"/{module}.py", f"/{module}/__init__.py")) for name in names):
            yield (
                f"{file} imports {module}, which the agent writes: it runs in the process of the "
                "tests and can end it with exit code 0 or change it; run it as a program and "
                "judge what it prints"
            )


def _programs(
    task: Task, image: Image, file: str, text: str, names: frozenset[str]
) -> Iterator[str]:
    """Yield the programs of the agent that tests run where a reward counts."""
    if task.reward_source == "exit_code":
        return
    lines = "\n".join(line for line in text.splitlines() if not _DROP.search(line))
    for called in dict.fromkeys(_RUN.findall(lines)):
        path = f"{image.workdir}/{called[2:]}" if called.startswith("./") else called
        if path in names and Path(path).suffix in _PROGRAMS:
            yield (
                f"{file} runs {called} with the rights of the tests, and a reward counts: a "
                "program that still runs as the tests write it can write it, too; run it as "
                "another user (su, setpriv, user= in Python), or let the exit code decide "
                "(reward_source exit_code)"
            )


def _scripts(task: Task) -> Iterator[Path]:
    """Yield the task's scripts and Python tests that are not large."""
    folder = task.files.tests
    paths = {*folder.rglob("*.sh"), *folder.rglob("*.py"), *filter(None, (task.files.script,))}
    for path in sorted(paths):
        if path.is_file() and path != task.files.cheat and path.stat().st_size <= _MAX_FILE_BYTES:
            yield path


def _names(archive: Path) -> frozenset[str]:
    """Return the absolute names of an archive's files."""
    if not archive.is_file() or not tarfile.is_tarfile(archive):
        return frozenset()
    with tarfile.open(archive, encoding="utf-8", errors="surrogateescape") as opened:
        return frozenset(f"/{entry.name}" for entry in opened if entry.isfile())
