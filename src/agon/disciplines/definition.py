"""A discipline: the one object through which the rest of agon uses it."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

from agon.disciplines.capabilities import (
    BoardTraits,
    Demo,
    Epochs,
    Findings,
    Importer,
    Names,
    PersonalData,
    Problems,
    Rounds,
    ScoredRecords,
    Simulation,
    Simulator,
    Submissions,
)
from agon.disciplines.ownership import SENT, Ballot, LiveProtocol, Owner
from agon.errors import NotFound, did_you_mean
from agon.kernel.rules import Rules
from agon.records import Schema

if TYPE_CHECKING:  # a stored board is shown without what computes one
    from agon.kernel.findings import Finding
    from agon.records import Records


class LazyMapping(Mapping[str, str]):
    """A mapping that is made when it is first read, so that its modules are imported only then.

    Example:
        >>> meanings = LazyMapping(lambda: {"self-vote": "votes for the own bot"})
        >>> dict(meanings)
        {'self-vote': 'votes for the own bot'}
    """

    def __init__(self, make: Callable[[], Mapping[str, str]]) -> None:
        self._make = make

    @cached_property
    def _made(self) -> Mapping[str, str]:
        return self._make()

    def __getitem__(self, key: str) -> str:
        """Return a value."""
        return self._made[key]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the keys."""
        return iter(self._made)

    def __len__(self) -> int:
        """Return the number of keys."""
        return len(self._made)


class PackageParts:
    """The functions of a discipline's package, whose modules are imported when they are used.

    Reading a stored board needs a discipline's description and none of its computations. The
    package has the modules ``scoring`` (with ``score``), ``integrity`` (``find``, ``CHECKS``) and
    ``simulate`` (``simulate``, ``ATTACKS``).

    Example:
        >>> parts = PackageParts("agon.disciplines.arena")
        >>> "agreement" in parts.checks
        True
    """

    def __init__(self, package: str) -> None:
        self._package = package
        self.checks = LazyMapping(lambda: self._module("integrity").CHECKS)
        self.attacks = LazyMapping(lambda: self._module("simulate").ATTACKS)

    def score(self, records: "Records", rules: Any) -> ScoredRecords:
        """Return the scored records."""
        scored: ScoredRecords = self._module("scoring").score(records, rules)
        return scored

    def count(self, scored: Any) -> Iterable[tuple[str, Any]] | None:
        """Return what scoring continues from when rows are added."""
        counts: Iterable[tuple[str, Any]] | None = self._module("scoring").count(scored)
        return counts

    def find(self, records: "Records", rules: Any) -> "list[Finding]":
        """Return the integrity findings."""
        findings: list[Finding] = self._module("integrity").find(records, rules)
        return findings

    def simulate(self, *, size: int, seed: int, attacks: Sequence[str]) -> Simulation:
        """Return a simulation."""
        made: Simulation = self._module("simulate").simulate(size=size, seed=seed, attacks=attacks)
        return made

    def _module(self, name: str) -> Any:
        return import_module(f"{self._package}.{name}")


@dataclass(frozen=True, kw_only=True)
class Discipline:
    """Everything the rest of agon needs to know about a discipline.

    The fields without a default are what every discipline has. Each other object switches on a
    capability; None: contests of the discipline cannot do that.

    Attributes:
        name: the name used in commands, editions and ledgers (``community``, …).
        schema: the tables it scores.
        rules: the class of its rules.
        boards: names of its boards, the default first; ``problem:<id>`` is a family of boards.
        score: scores records under rules; a pure function.
        participants: the columns (``table.column``) with participants' ids as the boards
            show them; columns that reference one of them need not be listed.
        summary: who competes in what, in one sentence for visitors of a site.
        editions: the package whose folder ``editions`` holds its editions and their lock; None:
            they are agon's own.
        traits: what its boards have beyond ranks, ids and scores.
        score_contest: scores the records of a contest, with scores wherever there can be any though
            a rule asks for what the records do not say; None: as ``score``.
        further_columns: returns the columns that some rules read besides those of the schema
            (``table.column``), with their kinds; None: no rule reads any.
        rules_obstacle: returns why no contest can follow some rules, whose records never have what
            they read; None: it can.
        findings: integrity findings.
        simulator: simulated records, with attacks.
        demo: its part of ``agon demo``.
        names: the names of participants; None: they have none but their ids.
        personal: what the records say of people besides.
        written_by: table → who writes its records; of a table that is left out, senders do.
        ballot: the table in which judges cast votes of their own.
        submissions: what the service judges; None: a contest takes records only.
        problems: published problems with hidden answers.
        rounds: matches that the service plays.
        epochs: payments of a network.
        importers: other formats that are converted to its records. Those of agon's own disciplines
            are in ``agon.app.importers``.
        attack_lab: where its attack lab is (``module:NAME`` of an ``agon.attacks.lab.Lab``), which
            is imported when it is used. Those of agon's own are in ``agon.attacks``.
        command: where its Click command or group is (``module:NAME``), which is ``agon`` with the
            discipline's name. Those of agon's own are in ``agon.cli``.
    """

    name: str
    schema: Schema
    rules: type[Rules]
    boards: tuple[str, ...]
    score: "Callable[[Records, Any], ScoredRecords]"
    participants: tuple[str, ...]
    summary: str = ""
    editions: str | None = None
    traits: BoardTraits = field(default_factory=BoardTraits)
    score_contest: "Callable[[Records, Any], ScoredRecords] | None" = None
    further_columns: Callable[[Any], Mapping[str, str]] | None = None
    rules_obstacle: Callable[[Any], str | None] | None = None
    findings: Findings | None = None
    simulator: Simulator | None = None
    demo: Demo | None = None
    names: Names | None = None
    personal: PersonalData = field(default_factory=PersonalData)
    written_by: Mapping[str, Owner] = field(default_factory=dict)
    ballot: Ballot | None = None
    submissions: Submissions | None = None
    problems: Problems | None = None
    rounds: Rounds | None = None
    epochs: Epochs | None = None
    importers: tuple[Importer, ...] = ()
    attack_lab: str | None = None
    command: str | None = None

    @property
    def checks(self) -> Mapping[str, str]:
        """Return the code of every integrity finding, and what it detects."""
        return {} if self.findings is None else self.findings.checks

    @property
    def attacks(self) -> Mapping[str, str]:
        """Return the name of every attack of the simulator, and what the attacker does."""
        return {} if self.simulator is None else self.simulator.attacks

    @property
    def shows_names(self) -> bool:
        """Return whether contests show names unless their organizers say otherwise."""
        return self.names is not None and self.names.shown

    @property
    def withhold(self) -> Callable[[Any, Callable[[str], bool]], ScoredRecords] | None:
        """Return ``Problems.withhold``; None: there are no problems, or nothing is hidden."""
        return None if self.problems is None else self.problems.withhold

    def find(self, records: "Records", rules: Any) -> "list[Finding]":
        """Return the integrity findings; none for a discipline without checks."""
        return [] if self.findings is None else self.findings.find(records, rules)

    def simulate(self, *, size: int, seed: int, attacks: Sequence[str]) -> Simulation:
        """Return a simulation; equal arguments give equal records.

        Raises:
            NotFound: the discipline has no simulator.
            ValueError: the size is too small for a contest.
        """
        return self.require_simulator().simulate(size=size, seed=seed, attacks=attacks)

    def require_simulator(self) -> Simulator:
        """Return the simulator.

        Raises:
            NotFound: the discipline has none.
        """
        if self.simulator is None:
            raise NotFound(f"{self.name} has no simulation; give records of your own")
        return self.simulator

    def owner(self, table: str) -> Owner:
        """Return who writes a table's records."""
        return self.written_by.get(table, SENT)

    @cached_property
    def protocols(self) -> tuple[LiveProtocol, ...]:
        """Return the protocols that own tables."""
        owners = (owner.protocol for owner in self.written_by.values())
        return tuple(dict.fromkeys(protocol for protocol in owners if protocol is not None))

    @cached_property
    def participant_columns(self) -> tuple[tuple[str, str], ...]:
        """Return every ``(table, column)`` with participants' ids, references included."""
        columns = [tuple(name.split(".", 1)) for name in self.participants]
        references = [
            (table.name, column.name)
            for table in self.schema
            for column in table.columns
            if column.references in self.participants
        ]
        return tuple((table, column) for table, column in (*columns, *references))

    @cached_property
    def people_columns(self) -> Mapping[str, tuple[str, ...]]:
        """Return the columns with ids of people by table, without those that refer to them."""
        columns: dict[str, tuple[str, ...]] = {}
        for name in (*self.participants, *self.personal.people):
            table, _, column = name.partition(".")
            columns[table] = (*columns.get(table, ()), column)
        return columns

    def people_in(self, table: str, columns: Mapping[str, Collection[Any]]) -> set[str]:
        """Return the ids of people in rows of a table, as columns.

        Example:
            >>> from agon.disciplines import discipline
            >>> sorted(discipline("challenge").people_in("submissions", {"miner_uid": [7, 8, 7]}))
            ['7', '8']
        """
        return {
            str(int(value) if isinstance(value, float) else value)
            for column in self.people_columns.get(table, ())
            for value in columns.get(column, ())
            if value != "" and isinstance(value, str | int | float)
        }

    def board_name(self, name: str | None) -> str:
        """Return the board meant by ``name`` (None: the default board).

        Raises:
            NotFound: the discipline has no such board.
        """
        if name is None:
            return self.boards[0]
        families = [board.partition(":")[0] for board in self.boards if ":" in board]
        if name in self.boards or (":" in name and name.partition(":")[0] in families):
            return name
        raise NotFound(f"{self.name} has no board {name!r}: {did_you_mean(name, self.boards)}")
