"""Find weaknesses of a task: designs with which an agent may pass without solving it.

What is read in the files and what was observed with forged programs are put together: a program
that ran says for itself as which user, and what it could write to.
"""

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from agon.app.containers import Image
from agon.app.containers.judge_environment import is_of_agent, judge_environment
from agon.app.tasks.acceptance.forgeries import PROBES
from agon.app.tasks.acceptance.probes import NOTHING_SEEN, Observation
from agon.app.tasks.acceptance.programs import LeftFile, mentions
from agon.app.tasks.acceptance.results import Remedy, Weakness
from agon.app.tasks.acceptance.texts import is_shell, script_of
from agon.app.tasks.outputs import outputs_of
from agon.app.tasks.task import Task

_IMPORT: Final = re.compile(r"^[ \t]*(?:from|import)[ \t]+([A-Za-z_]\w*)", re.MULTILINE)
_INTERPRETERS: Final = "sh|bash|python3?|node|perl|ruby"
_RUN: Final = re.compile(
    rf"(?:\b(?:{_INTERPRETERS}|exec)[ \t]+|^[ \t]*|[;&|(][ \t]*"
    rf"|(?:run|call|Popen|check_output|system)\([ \t\n]*\[?[ \t\n]*[\"']"
    rf"|[\"'](?:{_INTERPRETERS})[\"'],[ \t\n]*[\"'])"
    r"(/[\w./-]+|\./[\w./-]+)",
    re.MULTILINE,
)
_DROP: Final = re.compile(r"\b(?:su|runuser|setpriv|sudo|gosu|chpst|setuidgid)\b|\buser=")
"""A line that runs a program as another user."""
_MEANINGS: Final = {probe.name: probe.meaning for probe in PROBES}
_OTHER_USER: Final = Remedy(text="run it as another user (su, setpriv, user= in Python)")
_AS_PROGRAM: Final = Remedy(text="run it as a program of its own and judge what it prints")
_IN_SHELL: Final = Remedy(
    text="run it in test.sh, whose shell no program can write to, and judge what it printed"
)


@dataclass(frozen=True, kw_only=True)
class _Call:
    """A program of the agent that runs with the rights of the tests.

    Attributes:
        file: the file of the tests that runs it.
        program: its path.
        writable: the processes of the tests that it was seen to be able to write to; None: unseen.
    """

    file: str
    program: str
    writable: tuple[str, ...] | None


def find_weaknesses(
    task: Task,
    image: Image,
    files: Mapping[str, LeftFile],
    texts: Mapping[str, str],
    observation: Observation = NOTHING_SEEN,
) -> tuple[Weakness, ...]:
    """Return the weaknesses of a task, each with its remedies; the task is accepted nevertheless.

    Args:
        task: the task.
        image: its image.
        files: the files that the oracle left.
        texts: the texts of the tests by file.
        observation: what was seen with forged programs.
    """
    imported = tuple(_imports(texts, files))
    calls = tuple(_calls(task, image, files, texts, observation))
    return (
        *_variables(task, image),
        *_modules(imported, observation),
        *(() if imported else _ended(calls, observation)),
        *_forged(task, calls, observation),
        *_memory(calls, texts, observation),
    )


def _variables(task: Task, image: Image) -> Iterator[Weakness]:
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
        yield Weakness(
            kind="variable-names-outputs",
            files=("environment/Dockerfile",),
            text=f"{', '.join(names)} of the image names something in the outputs, which the agent "
            "can replace; the tests search it last or not at all",
            remedies=(Remedy(text="install tools elsewhere, or declare fewer outputs"),),
        )


def _imports(texts: Mapping[str, str], files: Mapping[str, LeftFile]) -> Iterator[tuple[str, str]]:
    """Yield the modules of the agent that Python tests import, each with the file."""
    own = {PurePosixPath(file).stem for file in texts if file.endswith(".py")}
    for file, text in texts.items():
        modules = dict.fromkeys(_IMPORT.findall(text)) if file.endswith(".py") else {}
        for module in modules:
            if module in own or module in sys.stdlib_module_names:
                continue
            if any(name.endswith((f"/{module}.py", f"/{module}/__init__.py")) for name in files):
                yield file, module


def _modules(imported: tuple[tuple[str, str], ...], observation: Observation) -> Iterator[Weakness]:
    for file, module in imported:
        yield Weakness(
            kind="imported-module",
            files=(file,),
            text=f"{file} imports {module}, which the agent writes: it runs in the process of the "
            "tests and can end it with exit code 0 or change it",
            passed=tuple(name for name in observation.passed if name == "exit"),
            remedies=(_AS_PROGRAM,),
        )


def _calls(
    task: Task,
    image: Image,
    files: Mapping[str, LeftFile],
    texts: Mapping[str, str],
    observation: Observation,
) -> Iterator[_Call]:
    """Yield the agent's programs that run with the rights of the tests: seen to run, else read."""
    seen = {run.path: run for run in observation.runs}
    for path, run in seen.items():
        if not run.other_user:
            callers = [file for file, text in texts.items() if mentions(text, path)]
            for file in callers or [script_of(task)]:
                yield _Call(file=file, program=path, writable=run.writable)
    for file, text in texts.items():
        lines = "\n".join(line for line in text.splitlines() if not _DROP.search(line))
        for called in dict.fromkeys(_RUN.findall(lines)):
            path = f"{image.workdir}/{called[2:]}" if called.startswith("./") else called
            if path not in seen and path in files and files[path].language:
                yield _Call(file=file, program=path, writable=None)


def _ended(calls: tuple[_Call, ...], observation: Observation) -> Iterator[Weakness]:
    """Yield that the tests pass if a program ends at once."""
    if "exit" in observation.passed:
        yield Weakness(
            kind="tests-ended",
            files=_files(calls),
            text=f"the tests pass if {_programs(calls)} {_MEANINGS['exit']}",
            passed=("exit",),
            remedies=(_AS_PROGRAM,),
        )


def _forged(task: Task, calls: tuple[_Call, ...], observation: Observation) -> Iterator[Weakness]:
    """Yield the programs that could write a reward in the place of the tests."""
    if task.reward_source == "exit_code" or not calls:
        return
    of_reward = {probe.name for probe in PROBES if probe.of_reward}
    passed = tuple(name for name in observation.passed if name in of_reward)
    ways = "; ".join(_MEANINGS[name].removeprefix("writes a reward, then ") for name in passed)
    fact = (
        f"the reward that it writes counts if it then {ways} (tried: the task passed)"
        if passed
        else "a program that still runs as the tests write the reward can write it, too"
    )
    yield Weakness(
        kind="forged-reward",
        files=_files(calls),
        text=f"{_who_runs(calls)} with the rights of the tests, and a reward counts: {fact}",
        passed=passed,
        remedies=(_OTHER_USER,),
    )


def _memory(
    calls: tuple[_Call, ...], texts: Mapping[str, str], observation: Observation
) -> Iterator[Weakness]:
    """Yield the runners that a program of the agent may write to: each but agon's own shell."""
    reached = tuple(
        call
        for call in calls
        if (not is_shell(call.file, texts.get(call.file, "")) if call.writable is None
            else call.writable)
    )  # fmt: skip
    passed = tuple(name for name in observation.passed if name == "memory")
    if not reached and not passed:
        return
    reached = reached or calls
    runners = dict.fromkeys(name for call in reached for name in call.writable or ())
    what = (
        f"processes of the tests ({', '.join(runners)})" if runners else "the program that judges"
    )
    fact = " (tried: the task passed)" if passed else ""
    yield Weakness(
        kind="runner-memory",
        files=_files(reached),
        text=f"{_who_runs(reached)} with the rights of the tests: it can write "
        f"to the memory of {what} and end the tests with exit code 0{fact}",
        passed=passed,
        remedies=(_OTHER_USER, _IN_SHELL),
    )


def _files(calls: tuple[_Call, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(call.file for call in calls))


def _who_runs(calls: tuple[_Call, ...]) -> str:
    return f"{', '.join(_files(calls))} runs {_programs(calls)}"


def _programs(calls: tuple[_Call, ...]) -> str:
    return ", ".join(dict.fromkeys(call.program for call in calls))
