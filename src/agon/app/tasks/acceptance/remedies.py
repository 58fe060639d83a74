"""Try remedies on the task at hand; what cannot be tried is said not to be."""

from collections.abc import Mapping
from dataclasses import replace

from agon.app.containers import RewardSource
from agon.app.tasks.acceptance.forgeries import PROBES
from agon.app.tasks.acceptance.probes import ForgedSolution, try_probe
from agon.app.tasks.acceptance.results import Part, Remedy, Weakness
from agon.app.tasks.acceptance.trials import ReplayAgent, TaskTrials
from agon.app.tasks.agents import AgentWork

_PASSES = {
    "oracle": "the oracle does not pass",
    "nothing": "doing nothing passes",
    "cheat": "the cheat passes",
}
_SOURCES: Mapping[str, tuple[RewardSource, ...]] = {
    "forged-reward": ("exit_code", "both"),
    "tests-ended": ("both",),
    "imported-module": ("both",),
}
"""Which conditions of a pass may help against a class of weaknesses."""


def with_tried_sources(
    weaknesses: tuple[Weakness, ...],
    trials: TaskTrials,
    works: Mapping[Part, AgentWork],
    solution: ForgedSolution | None,
    *,
    rewarded: bool,
) -> tuple[Weakness, ...]:
    """Return weaknesses with the other conditions of a pass as remedies, each tried once.

    Args:
        weaknesses: the weaknesses of the task.
        trials: the trials of the task.
        works: what oracle, no action and the cheat left; the cheat may be missing.
        solution: the solution with forged programs, if there is one.
        rewarded: whether the tests write a reward, without which only the exit code can decide.
    """
    tried: dict[RewardSource, Remedy] = {}
    changed = []
    for weakness in weaknesses:
        remedies = list(weakness.remedies)
        is_open = weakness.kind == "forged-reward" or weakness.passed
        for source in _SOURCES.get(weakness.kind, ()) if is_open else ():
            if source == trials.task.reward_source or (source != "exit_code" and not rewarded):
                continue
            if source not in tried:
                tried[source] = _try_source(source, trials, works, solution)
            remedies.append(tried[source])
        changed.append(replace(weakness, remedies=tuple(remedies)))
    return tuple(changed)


def _try_source(
    source: RewardSource,
    trials: TaskTrials,
    works: Mapping[Part, AgentWork],
    solution: ForgedSolution | None,
) -> Remedy:
    """Run the tests with another condition of a pass on what every agent and forgery left."""
    text = f"reward_source {source}"
    trials = trials.with_source(source)
    failed: list[str] = []
    for part, work in works.items():
        result = trials.try_agent(f"{part}-{source}", ReplayAgent(part, work)).result
        if result == "unscored" or (result == "passed") != (part == "oracle"):
            why = f"{part} is unscored" if result == "unscored" else _PASSES[part]
            return Remedy(text=text, tried=why, works=False)
        failed += [part] if part != "oracle" else []
    for probe in PROBES:
        probed = try_probe(trials, solution, probe).result if solution else None
        if probed in {"passed", "unscored"}:
            verb = "passes" if probed == "passed" else "is unscored"
            return Remedy(text=text, tried=f"the probe {probe.name} {verb}", works=False)
        failed += [probe.name] if probed else []
    return Remedy(text=text, tried=f"oracle passes; {', '.join(failed)} fail", works=True)
