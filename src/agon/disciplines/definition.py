"""A discipline: the one object through which the rest of agon uses it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, Protocol

from agon.disciplines.ownership import SENT, Ballot, LiveProtocol, Owner
from agon.errors import NotFound, did_you_mean
from agon.kernel.rules import Rules
from agon.records import Schema

if TYPE_CHECKING:  # a stored board is shown without what computes one
    import pyarrow as pa

    from agon.kernel.boards import Board
    from agon.kernel.explanations import Explanation
    from agon.kernel.findings import Finding
    from agon.records import Records


class ScoredRecords(Protocol):
    """Scored records; boards and explanations are computed from them on demand.

    A board name is one the discipline lists; a pattern such as ``problem:<id>`` means one
    board per id. Where there are patterns, an attribute ``boards`` has the names of all boards.
    """

    def board(self, name: str) -> "Board":
        """Return a board.

        Raises:
            NotFound: the board does not exist.
        """

    def explain(self, name: str, *, board: str) -> "Explanation":
        """Explain the score of an id on a board.

        An unscored id has an explanation without a score but with the reason.

        Raises:
            NotFound: the id is not in the records.
        """


@dataclass(frozen=True, repr=False)
class Simulation:
    """Simulated records and the truth about them.

    Attributes:
        tables: the discipline's tables.
        truth: the ground truth hidden from the scorer: true skills, attackers and attacks
            (tables ``people`` with ``id``, ``role``, … and others).
    """

    tables: "Mapping[str, pa.Table]"
    truth: "Mapping[str, pa.Table]"

    def __repr__(self) -> str:
        counts = ", ".join(f"{name}: {table.num_rows:,}" for name, table in self.tables.items())
        return f"<{type(self).__name__} {counts}>"


class Simulate(Protocol):
    """A function that makes records of a discipline from a seed, with some attacks mixed in."""

    def __call__(self, *, size: int, seed: int, attacks: Sequence[str]) -> Simulation:
        """Return a simulation; equal arguments give equal records.

        Args:
            size: how many of the main kind of record (``Discipline.size_unit``).
            seed: seed of all draws.
            attacks: names from ``Discipline.attacks``.

        Raises:
            ValueError: the size is too small for a contest.
        """


@dataclass(frozen=True)
class SubmissionKind:
    """The service's way to judge submissions.

    Attributes:
        judging: ``program``: a program is run in the sandbox and compared with the hidden terms
            of a published problem; ``trials``: an agent is run in containers on the service's
            tasks.
        fields: names of the fields a submission's content may have.
    """

    judging: Literal["program", "trials"]
    fields: tuple[str, ...]


@dataclass(frozen=True)
class Demo:
    """The example of a discipline that ``agon demo`` builds and scores.

    It is simulated unless ``dataset`` names real records. A discipline whose submissions are
    programs runs agon's example programs instead, where a sandbox is available.

    Attributes:
        size, seed, attacks: arguments of the simulation.
        dataset: name of a data set shipped with agon (``agon.app.examples``), or None.
        commands: commands for the user to try next; ``{source}`` is replaced by the records.
    """

    size: int = 0
    seed: int = 1
    attacks: tuple[str, ...] = ()
    dataset: str | None = None
    commands: tuple[str, ...] = ()


@dataclass(frozen=True)
class ColumnMeaning:
    """What a column of a board is, for readers of the board.

    Attributes:
        text: what the value is, as a sentence.
        unit: of the value; empty: it has none, or the text says it.
        rules: names of the rules that determine it, the most important first.
    """

    text: str
    unit: str = ""
    rules: tuple[str, ...] = ()


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


def distinct_ranks(rules: Any) -> bool:  # noqa: ARG001 - has the signature of shares_ranks
    """Return False: equal scores get different ranks, ordered by id."""
    return False


@dataclass(frozen=True, kw_only=True)
class Discipline:
    """Everything the rest of agon needs to know about a discipline.

    The fields without a default are what every discipline has; the others switch on a capability.

    Attributes:
        name: the name used in commands, editions and ledgers (``community``, …).
        schema: the tables it scores.
        rules: the class of its rules.
        boards: names of its boards, the default first; ``problem:<id>`` is a family of boards.
        score: scores records under rules; a pure function.
        find: lists integrity findings; never changes a score.
        simulate: makes records.
        size_unit: what ``size`` counts in a simulation (``users``, ``matches``, …).
        checks: code of every integrity finding → what it detects.
        attacks: name of every attack ``simulate`` can mix in → what the attacker does.
        participants: the columns (``table.column``) with participants' ids as the boards
            show them; columns that reference one of them need not be listed.
        people: further columns (``table.column``) with ids of people, such as owners. An id in one
            of these or of ``participants`` is not free for a new user.
        board_ids: board → the column (``table.column``) with the ids it ranks. Where a board
            cannot be scored, a contest lists these as unscored, with the reason.
        names: the column (``table.column``) with the names of participants; their ids are the key
            of that table. None: participants have no names but their ids.
        shows_names: whether contests show names unless their organizers say otherwise; False where
            names are personal data.
        shares_ranks: returns whether equal scores share a rank under the rules.
        intervals: returns the method and level of a board's intervals under the rules (``method``,
            ``confidence``), None for a board without any; None: no board has intervals.
        editions: the package whose folder ``editions`` holds its editions and their lock; None:
            they are agon's own.
        addresses: table → columns with IP addresses; the service stores keyed hashes of them.
        written_by: table → who writes its records; of a table that is left out, senders do.
        ballot: the table in which judges cast votes of their own.
        submissions: how submissions are judged; None: a contest takes records only.
        problems: name of the table of published problems with hidden answers; None: it has none.
        withhold: returns scored records whose explanations disclose how near a submission is to
            the hidden answer of a problem only where a function of its id says so; None: its
            explanations disclose nothing hidden.
        recounts: board → the function that returns an explanation of it with other counts of
            some parts, from the explanation, the rules and the counts by part.
        relational: whether its boards can be computed from counts in an engine in which the
            tables stay (module ``relational``).
        demo: its part of ``agon demo``; None: it is left out there.
        columns: column of its boards, or ``board.column`` where it differs by board → meaning.
        summary: who competes in what, in one sentence for visitors of a site.
    """

    name: str
    schema: Schema
    rules: type[Rules]
    boards: tuple[str, ...]
    score: "Callable[[Records, Any], ScoredRecords]"
    find: "Callable[[Records, Any], list[Finding]]"
    simulate: Simulate
    size_unit: str
    checks: Mapping[str, str]
    attacks: Mapping[str, str]
    participants: tuple[str, ...]
    people: tuple[str, ...] = ()
    board_ids: Mapping[str, str] = field(default_factory=dict)
    names: str | None = None
    shows_names: bool = False
    shares_ranks: Callable[[Any], bool] = distinct_ranks
    editions: str | None = None
    intervals: Callable[[str, Any], Mapping[str, Any] | None] | None = None
    addresses: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    written_by: Mapping[str, Owner] = field(default_factory=dict)
    ballot: Ballot = field(default_factory=Ballot)
    submissions: SubmissionKind | None = None
    problems: str | None = None
    withhold: Callable[[Any, Callable[[str], bool]], ScoredRecords] | None = None
    recounts: "Mapping[str, Callable[[Explanation, Any, Mapping[str, float]], Explanation]]" = (
        field(default_factory=dict)
    )
    relational: bool = False
    demo: Demo | None = None
    columns: Mapping[str, ColumnMeaning] = field(default_factory=dict)
    summary: str = ""

    def owner(self, table: str) -> Owner:
        """Return who writes a table's records."""
        return self.written_by.get(table, SENT)

    @cached_property
    def protocols(self) -> tuple[LiveProtocol, ...]:
        """Return the protocols that own tables."""
        owners = (owner.protocol for owner in self.written_by.values())
        return tuple(dict.fromkeys(protocol for protocol in owners if protocol is not None))

    def column_meaning(self, board: str, column: str) -> ColumnMeaning | None:
        """Return what a column of a board is; None if the discipline does not say it."""
        family = board.partition(":")[0]
        return self.columns.get(f"{family}.{column}") or self.columns.get(column)

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
        for name in (*self.participants, *self.people):
            table, _, column = name.partition(".")
            columns[table] = (*columns.get(table, ()), column)
        return columns

    def people_in(self, table: str, columns: Mapping[str, Sequence[Any]]) -> set[str]:
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
