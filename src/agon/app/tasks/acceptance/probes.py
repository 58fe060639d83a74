"""Run the tests of a task on a solution whose programs were replaced by forgeries."""

from collections.abc import Iterator, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

from agon.app.containers import Outputs
from agon.app.tasks.acceptance.forgeries import HOLLOW, PROBES, TRACE, Clues, ForgeryProbe, program
from agon.app.tasks.acceptance.programs import (
    LeftFile,
    files_of,
    programs_under_test,
    traces_in,
    write_replaced,
)
from agon.app.tasks.acceptance.results import ProbeResult, Run
from agon.app.tasks.acceptance.texts import clues_in
from agon.app.tasks.acceptance.trials import ReplayAgent, TaskTrials
from agon.app.tasks.agents import AgentWork
from agon.app.tasks.trials import TrialResult

_MAX_LOOP_S: Final = 60
_MAX_LOGS_MIB: Final = 1024
_SPARE_S: Final = 30.0
_ROOT: Final = frozenset({"", "0", "root"})


@dataclass(frozen=True, kw_only=True)
class Observation:
    """What was seen when the programs of a solution were replaced.

    Attributes:
        programs: the programs that were replaced.
        runs: those of them that ran.
        results: what the tests made of each forgery.
    """

    programs: tuple[str, ...] = ()
    runs: tuple[Run, ...] = ()
    results: tuple[ProbeResult, ...] = ()

    @property
    def passed(self) -> tuple[str, ...]:
        """The names of the probes that passed."""
        return tuple(result.probe for result in self.results if result.result == "passed")


NOTHING_SEEN: Final = Observation()


@dataclass(frozen=True, kw_only=True)
class ForgedSolution:
    """An oracle's work with programs to replace.

    Attributes:
        work: the oracle's work.
        outputs: what it left.
        programs: the programs, by the numbers of their traces.
        clues: what the tests say.
    """

    work: AgentWork
    outputs: Outputs
    programs: Mapping[int, LeftFile]
    clues: Clues

    def outputs_with(self, probe: ForgeryProbe | None, path: Path) -> Outputs:
        """Write the outputs with forged programs.

        Args:
            probe: what they do; None: nothing.
            path: the archive to write.
        """
        ending = probe.script(self.clues) if probe else ""
        forged = {
            file.path: partial(program, file.language, number, ending)
            for number, file in self.programs.items()
        }
        size = write_replaced(self.outputs.path, path, forged)
        return replace(self.outputs, path=path, size=size, sha256="")


def observe(
    trials: TaskTrials,
    oracle: AgentWork,
    nothing: AgentWork,
    texts: Mapping[str, str],
    pool: Executor,
) -> tuple[Observation, ForgedSolution | None]:
    """Try every probe on a solution; return what was seen, and the solution for further probes.

    First its programs are replaced by hollow ones. If the tests still pass, they do not judge
    these programs, and a forgery would prove nothing; if they ran none of them, it has no effect.

    Args:
        trials: the trials of the task.
        oracle: the work of an oracle that passed.
        nothing: the work of an agent that did nothing.
        texts: the texts of the tests by file.
        pool: runs the probes.
    """
    outputs, idle = oracle.run.outputs, nothing.run.outputs
    left = files_of(outputs.path) if outputs else {}
    files = programs_under_test(left, files_of(idle.path) if idle else {}, texts)
    if not outputs or not files:
        return NOTHING_SEEN, None
    programs = tuple(file.path for file in files)
    solution = ForgedSolution(
        work=oracle, outputs=outputs, programs=dict(enumerate(files)), clues=clues_in(texts)
    )
    hollow, logs = _run_tests(trials, solution, None)
    root = trials.image.user.partition(":")[0] in _ROOT
    runs = tuple(_runs(solution, traces_in(logs, TRACE), root=root))
    why = ""
    if hollow.result == "passed":
        why = "the tests pass when these programs do nothing, so they do not judge them"
    elif hollow.result == "unscored":
        why = hollow.reason
    elif not runs:
        why = "the tests ran none of these programs"
    if why:
        skipped = tuple(ProbeResult(probe=probe.name, result=None, reason=why) for probe in PROBES)
        return Observation(programs=programs, runs=runs, results=skipped), None
    ran = {run.path for run in runs}
    solution = replace(
        solution, programs={n: file for n, file in solution.programs.items() if file.path in ran}
    )
    results = pool.map(lambda probe: try_probe(trials, solution, probe), PROBES)
    return Observation(programs=programs, runs=runs, results=tuple(results)), solution


def try_probe(trials: TaskTrials, solution: ForgedSolution, probe: ForgeryProbe) -> ProbeResult:
    """Run the tests on a solution with forged programs, unless that would show nothing."""
    if why := _pointless(trials, solution.clues, probe):
        return ProbeResult(probe=probe.name, result=None, reason=why)
    result, _ = _run_tests(trials, solution, probe)
    return ProbeResult(probe=probe.name, result=result.result, reason=result.reason)


def _run_tests(
    trials: TaskTrials, solution: ForgedSolution, probe: ForgeryProbe | None
) -> tuple[TrialResult, Path | None]:
    """Run the tests on a solution with forged programs; return the result and the logs."""
    forgery = probe.name if probe else HOLLOW
    name = f"probe-{forgery}-{trials.task.reward_source}"
    path = trials.folder / f"{name}.tar"
    outputs = solution.outputs_with(probe, path)
    try:
        result = trials.try_agent(name, ReplayAgent(f"probe {forgery}", solution.work, outputs))
    finally:
        path.unlink()
    return result, trials.logs_of(name, result)


def _pointless(trials: TaskTrials, clues: Clues, probe: ForgeryProbe) -> str:
    """Return why a probe would show nothing about a task; empty if it may."""
    task = trials.task
    bounds = task.settings.bounds
    if probe.of_reward and task.reward_source == "exit_code":
        return "no reward counts"
    if probe.name == "loop" and not clues.seconds:
        return "the tests state no time-out"
    if probe.name == "loop" and clues.seconds > min(_MAX_LOOP_S, bounds.verifier_s):
        return f"the tests state a time-out of {clues.seconds} s, which is too long to try"
    if probe.name == "full" and bounds.storage_mb >= min(bounds.memory_mb, _MAX_LOGS_MIB):
        return f"/logs may hold {bounds.storage_mb:,} MiB; memory ends before it is full"
    return ""


def _runs(solution: ForgedSolution, traces: Mapping[int, str], *, root: bool) -> Iterator[Run]:
    """Yield how the tests ran the hollow programs.

    Args:
        solution: the programs.
        traces: what they wrote.
        root: whether the tests run as root, who alone can run something as another user.
    """
    for number, text in sorted(traces.items()):
        if number in solution.programs:
            pairs = [line.partition(" ")[::2] for line in text.splitlines()]
            user = next((value for key, value in pairs if key == "user"), "0")
            yield Run(
                path=solution.programs[number].path,
                other_user=root and user not in {"", "0"},
                writable=tuple(dict.fromkeys(value for key, value in pairs if key == "writable")),
            )


def limit_of(seconds: float, clues: Clues) -> float:
    """Return the time limit of the tests of probes.

    Args:
        seconds: how long the tests took on the solution.
        clues: what the tests say.
    """
    return _SPARE_S + 2 * seconds + 4 * min(clues.seconds, _MAX_LOOP_S)
