"""Find weaknesses of a task: designs with which an agent may pass without solving it.

What is read in the files and what was observed with forged programs are put together: a program
that ran says for itself as which user, and what it could write to.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from agon.app.containers import Image
from agon.app.containers.judge_environment import is_of_agent, judge_environment
from agon.app.tasks.acceptance.calls import ProgramCall, calls_in, imports_in
from agon.app.tasks.acceptance.forgeries import PROBES
from agon.app.tasks.acceptance.probes import NOTHING_SEEN, Observation
from agon.app.tasks.acceptance.programs import LeftFile
from agon.app.tasks.acceptance.results import Remedy, Weakness, WeaknessClass
from agon.app.tasks.acceptance.texts import is_shell, script_of
from agon.app.tasks.outputs import outputs_of
from agon.app.tasks.task import Task

_PROBES: Final = {probe.name: probe for probe in PROBES}
_OTHER_USER: Final = Remedy(text="run it as another user (su, setpriv, user= in Python)")
_AS_PROGRAM: Final = Remedy(text="run it as a program of its own and judge what it prints")
_LEFT_ALONE: Final = Remedy(text="run them in /tests, where no program can write")
_IN_SHELL: Final = Remedy(
    text="run it straight from test.sh, whose shell no program can write to, without a pipe or "
    "another program around it, and judge the file that it printed to"
)


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
    imported = tuple(imports_in(texts, files, image.workdir))
    modules = {path for _, path in imported}
    calls = tuple(
        call
        for call in calls_in(texts, files, image.workdir, observation, script_of(task))
        if call.program not in modules
    )
    only_modules = bool(modules) and not calls
    return (
        *_variables(task, image),
        *_modules(imported, observation, alone=only_modules),
        *(() if only_modules else _endings(calls, observation)),
        *_reward_forgeries(task, calls, observation),
        *_memory(calls, texts, observation),
        *_writable_tests(calls, observation),
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


def _modules(
    imported: Sequence[tuple[str, str]], observation: Observation, *, alone: bool
) -> Iterator[Weakness]:
    """Yield the agent's modules in the process of the tests.

    Alone, without programs, every probe that passed is theirs.
    """
    passed = observation.passed if alone else _passing_probes(observation, "tests-ended")
    for file, path in imported:
        yield Weakness(
            kind="imported-module",
            files=(file,),
            text=f"{file} imports {path}, which the agent writes: it runs in the process of the "
            f"tests and can end it with exit code 0 or change it{_outcome_note(passed)}",
            passed=passed,
            remedies=(_AS_PROGRAM,),
        )


def _endings(calls: Sequence[ProgramCall], observation: Observation) -> Iterator[Weakness]:
    """Yield that the tests pass if a program ends at once."""
    if passed := _passing_probes(observation, "tests-ended"):
        yield Weakness(
            kind="tests-ended",
            files=_files(calls),
            text=f"the tests pass if {_programs(calls)} {_meanings(passed)}",
            passed=passed,
            remedies=(_AS_PROGRAM,),
        )


def _reward_forgeries(
    task: Task, calls: Sequence[ProgramCall], observation: Observation
) -> Iterator[Weakness]:
    """Yield the programs that could write a reward in the place of the tests."""
    if task.reward_source == "exit_code" or not calls:
        return
    passed = _passing_probes(observation, "forged-reward")
    failed = [
        probe.probe
        for probe in observation.results
        if probe.result and _PROBES[probe.probe].shows == "forged-reward"
    ]
    fact = "one that is started in the background can write it as the tests do"
    if passed:
        fact = f"a program passes that {_meanings(passed)}{_outcome_note(passed)}"
    elif failed:
        fact += f" (tried: {', '.join(failed)} fail)"
    yield Weakness(
        kind="forged-reward",
        files=_files(calls),
        text=f"{_who_runs(calls)} with the rights of the tests, and a reward counts: {fact}",
        passed=passed,
        remedies=(_OTHER_USER,),
    )


def _memory(
    calls: Sequence[ProgramCall], texts: Mapping[str, str], observation: Observation
) -> Iterator[Weakness]:
    """Yield the runners that a program of the agent may write to: each but agon's own shell."""
    passed = _passing_probes(observation, "runner-memory")
    reached = [call for call in calls if _reaches(call, texts)] or (list(calls) if passed else [])
    if not reached:
        return
    runners = ", ".join(dict.fromkeys(name for call in reached for name in call.writable or ()))
    what = f"processes of the tests ({runners})" if runners else "what judges it"
    seen = any(call.writable is not None for call in reached)
    yield Weakness(
        kind="runner-memory",
        files=_files(reached),
        text=f"{_who_runs(reached)} with the rights of the tests: it {'can' if seen else 'may'} "
        f"write to the memory of {what} and end the tests with exit code 0"
        f"{_outcome_note(passed) if seen else ' (not tried)'}",
        passed=passed,
        remedies=(_OTHER_USER, _IN_SHELL),
    )


def _writable_tests(calls: Sequence[ProgramCall], observation: Observation) -> Iterator[Weakness]:
    """Yield that the tests obey files that a program wrote beside them."""
    if passed := _passing_probes(observation, "writable-tests"):
        yield Weakness(
            kind="writable-tests",
            files=_files(calls),
            text=f"tests pass that lie where {_programs(calls)} can write: it "
            f"{_meanings(passed)}{_outcome_note(passed)}",
            passed=passed,
            remedies=(_LEFT_ALONE, _OTHER_USER),
        )


def _reaches(call: ProgramCall, texts: Mapping[str, str]) -> bool:
    """Return whether a program can write to a process of the tests: seen, else by the runner."""
    if call.writable is not None:
        return bool(call.writable)
    return not is_shell(call.file, texts.get(call.file, ""))


def _passing_probes(observation: Observation, kind: WeaknessClass) -> tuple[str, ...]:
    """Return the probes that passed and show a weakness of a class."""
    return tuple(name for name in observation.passed if _PROBES[name].shows == kind)


def _outcome_note(passed: Sequence[str]) -> str:
    return f" (tried: {', '.join(passed)} passed)" if passed else ""


def _meanings(names: Sequence[str]) -> str:
    return ", or ".join(_PROBES[name].meaning for name in names)


def _files(calls: Sequence[ProgramCall]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(call.file for call in calls))


def _who_runs(calls: Sequence[ProgramCall]) -> str:
    return f"{', '.join(_files(calls))} runs {_programs(calls)}"


def _programs(calls: Sequence[ProgramCall]) -> str:
    return ", ".join(dict.fromkeys(call.program for call in calls))
