"""Measure checks on simulated contests with the attack that each is made for."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from agon.attacks.detectors.measurement import PowerMeasurement, PowerTrial
from agon.disciplines import Simulation, discipline
from agon.kernel.findings import Finding, Severity
from agon.records import read_rows

Tables = Mapping[str, pa.Table]

Measure = Callable[[int, int, Callable[[], None]], Iterator[PowerMeasurement]]

PARTS = (1 / 16, 1 / 4, 1 / 2, 1.0)
"""Parts of an attacker's actions, the first ones."""


@dataclass(frozen=True)
class FindingCase:
    """An attack of a simulation.

    Attributes:
        finding: code of the check that is made for it.
        actions: table and column that name who acts; None: the attack is not made of actions.
        promotes: returns which of some actions concern what the attackers promote.
    """

    finding: str
    actions: tuple[str, str] | None = None
    promotes: "Callable[[Tables, pa.Table, set[Any]], int] | None" = None


@dataclass(frozen=True, kw_only=True)
class SimulatedContests:
    """What measures the checks of one discipline.

    Attributes:
        discipline: its name.
        size: of a contest, as in the tests of the checks.
        attacks: attacks of its simulation, each with the check that is made for it.
        opt_ins: rules that switch checks on.
        notes: checks whose findings are notes, which are counted as warnings are.
        further: measurements next to those of the simulation; each takes the first seed, the number
            of contests and a function to call after each of them.
    """

    discipline: str
    size: int
    attacks: Mapping[str, FindingCase]
    opt_ins: Mapping[str, Any] = field(default_factory=dict)
    notes: frozenset[str] = frozenset()
    further: tuple[Measure, ...] = ()


def measure(
    contests: SimulatedContests,
    *,
    size: int | None,
    seed: int,
    worlds: int,
    advance: Callable[[], None],
) -> Iterator[PowerMeasurement]:
    """Yield the checks of a discipline against the attacks of its simulation, and without any."""
    contest = _Contest(contests, size or contests.size)
    seeds = range(seed, seed + worlds)
    for attack, case in contests.attacks.items():
        parts = PARTS if case.actions else PARTS[-1:]
        trials: dict[float, list[PowerTrial]] = {part: [] for part in parts}
        for world_seed in seeds:
            made = contest.simulate(world_seed, attack)
            for part in parts:
                trials[part].append(contest.trial(made, attack, case, part))
            advance()
        for part in parts:
            yield PowerMeasurement.of(trials[part], finding=case.finding, attack=attack)
    yield from _without_attack(contest, seeds, advance)


def _without_attack(
    contest: "_Contest", seeds: Sequence[int], advance: Callable[[], None]
) -> Iterator[PowerMeasurement]:
    """Yield the false alarms of every check that names someone."""
    trials: dict[str, list[PowerTrial]] = {
        code: [] for code in discipline(contest.of.discipline).checks
    }
    for world_seed in seeds:
        made = contest.simulate(world_seed, None)
        honest = {str(row["id"]) for row in made.truth["people"].to_pylist()}
        findings = contest.findings(made.tables)
        for code, of_code in trials.items():
            named = {
                name for finding in findings if finding.code == code for name in finding.subjects
            }
            of_code.append(
                PowerTrial(attackers=0, named=0, honest=len(honest), accused=len(named & honest))
            )
        advance()
    for code, of_code in trials.items():
        yield PowerMeasurement.of(of_code, finding=code, attack="none")


@dataclass(frozen=True)
class _Contest:
    """Contests of one size."""

    of: SimulatedContests
    size: int

    def simulate(self, seed: int, attack: str | None) -> Simulation:
        """Return a contest with an attack or without."""
        chosen = (attack,) if attack else ()
        return discipline(self.of.discipline).simulate(size=self.size, seed=seed, attacks=chosen)

    def findings(self, tables: Tables) -> list[Finding]:
        """Return the warnings and errors, and the notes of checks that have no warnings."""
        chosen = discipline(self.of.discipline)
        rules = chosen.rules().override(self.of.opt_ins)
        with read_rows(chosen.schema, tables) as records:
            findings = chosen.find(records, rules)
        return [f for f in findings if f.severity is not Severity.INFO or f.code in self.of.notes]

    def trial(self, made: Simulation, attack: str, case: FindingCase, part: float) -> PowerTrial:
        """Return whom the check names when an attacker takes the first ``part`` of the actions."""
        people = _People.of(made, attack)
        tables, count, exposures = made.tables, None, None
        if case.actions is not None:
            tables, actions = _with_part(made.tables, case.actions, people.acting, part)
            count = actions.num_rows / len(people.acting)
            if case.promotes is not None:
                promoted = case.promotes(made.tables, actions, people.guilty)
                exposures = promoted / len(people.acting)
        acting, guilty = _texts(people.acting), _texts(people.guilty)
        named, accused = set[str](), set[str]()
        for finding in self.findings(tables):
            if finding.code == case.finding:
                subjects = set(finding.subjects)
                named |= subjects & acting
                accused |= subjects & people.honest if not subjects & guilty else set()
        return PowerTrial(
            attackers=len(acting),
            named=len(named),
            honest=len(people.honest),
            accused=len(accused),
            actions=count,
            exposures=exposures,
        )


@dataclass(frozen=True)
class _People:
    """The truth about a contest with an attack.

    Attributes:
        acting: who the check is about.
        guilty: all attackers, with those who help them or whom they promote.
        honest: the others of the same kind, such as validators.
    """

    acting: set[Any]
    guilty: set[Any]
    honest: set[str]

    @classmethod
    def of(cls, made: Simulation, attack: str) -> "_People":
        people = made.truth["people"].to_pylist()
        acting = [row for row in people if attack in {row["role"], row.get("attack")}]
        kinds = {row.get("kind") for row in acting}
        return cls(
            {row["id"] for row in acting},
            {row["id"] for row in people if row["role"] != "honest"},
            {
                str(row["id"])
                for row in people
                if row["role"] == "honest" and row.get("kind") in kinds
            },
        )


def _texts(names: set[Any]) -> set[str]:
    return {str(name) for name in names}


def _with_part(
    tables: Tables, where: tuple[str, str], acting: set[Any], part: float
) -> tuple[Tables, pa.Table]:
    """Return the tables with the first part of each attacker's actions, and those actions."""
    name, column = where
    table = tables[name]
    actors = table[column].to_pylist()
    of_attackers: dict[Any, list[int]] = {}
    for row, actor in enumerate(actors):
        if actor in acting:
            of_attackers.setdefault(actor, []).append(row)
    chosen: list[int] = []
    left_out = np.zeros(len(actors), dtype=bool)
    for rows in of_attackers.values():
        count = math.ceil(part * len(rows))
        chosen += rows[:count]
        left_out[rows[count:]] = True
    actions = table.take(pa.array(sorted(chosen), pa.int64()))
    return {**tables, name: table.filter(pa.array(~left_out))}, actions
