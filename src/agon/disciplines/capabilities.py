"""The capabilities of a discipline: each object switches on what a contest of it can do.

A discipline states an object, or None where it cannot do that. The rest of agon asks for the object
and never for a name, of a discipline, of a table or of a board, that agon's own disciplines have.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:  # a stored board is shown without what computes one
    import pyarrow as pa

    from agon.kernel.boards import Board
    from agon.kernel.explanations import Explanation
    from agon.kernel.findings import Finding
    from agon.records import Records
    from agon.records.names.unused import NameReport


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


@dataclass(frozen=True, repr=False)
class ImportedRecords:
    """Imported records; :func:`agon.score` and :func:`agon.write_records` take them.

    Attributes:
        discipline: the discipline of the records.
        tables: the tables, by name.
        notes: what was decided in the conversion, one sentence each.
        names: how the names of the source were read; None: as they are.
        findings: what the rows show that no table of the records does, such as repeated rows.
    """

    discipline: str
    tables: "Mapping[str, pa.Table]"
    notes: tuple[str, ...] = ()
    names: "NameReport | None" = None
    findings: "tuple[Finding, ...]" = ()

    def __repr__(self) -> str:
        counts = ", ".join(f"{name}: {table.num_rows:,}" for name, table in self.tables.items())
        return f"<{type(self).__name__} {self.discipline}: {counts}>"


@dataclass(frozen=True, kw_only=True)
class Importer:
    """``agon import FORMAT``: another format that is converted to records.

    Attributes:
        name: of the format, as users write it (``quiz-sheets``).
        summary: what is read, in one sentence.
        read: returns the records of a source, and raises ``Unreadable`` or ``InvalidRecords``. It
            gets a path or an address, as text; of a format that is one table, a path or the table.
            What users state of the ``choices`` are keyword arguments.
        choices: ``mapping`` (how names and values of the source are read, a
            :class:`~agon.records.names.mapping.SourceMapping`) and ``where`` (a value, or
            several, by column of the source), if the format has them.
        frame: whether the format is one table, which may be a data frame. The first of a
            discipline is also how ``score`` reads a single table.
    """

    name: str
    summary: str
    read: Callable[..., ImportedRecords]
    choices: tuple[str, ...] = ()
    frame: bool = False


class Simulate(Protocol):
    """A function that makes records of a discipline from a seed, with some attacks mixed in."""

    def __call__(self, *, size: int, seed: int, attacks: Sequence[str]) -> Simulation:
        """Return a simulation; equal arguments give equal records.

        Args:
            size: how many of the main kind of record (``Simulator.size_unit``).
            seed: seed of all draws.
            attacks: names from ``Simulator.attacks``.

        Raises:
            ValueError: the size is too small for a contest.
        """


@dataclass(frozen=True, kw_only=True)
class Simulator:
    """``agon simulate``: records of honest participants and attackers.

    Attributes:
        simulate: makes them.
        size_unit: what ``size`` counts (``users``, ``matches``, …).
        attacks: name of every attack that can be mixed in → what the attacker does.
    """

    simulate: Simulate
    size_unit: str
    attacks: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Findings:
    """``agon check``, and the findings of a contest.

    Attributes:
        find: lists integrity findings of records under rules; never changes a score.
        checks: code of every finding → what it detects.
    """

    find: "Callable[[Records, Any], list[Finding]]"
    checks: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Names:
    """Participants have names, which a contest shows or hides.

    Attributes:
        column: the column (``table.column``) with the names; the key of that table is the id.
        shown: whether contests show names unless their organizers say otherwise; False where names
            are personal data.
    """

    column: str
    shown: bool = False

    @property
    def table(self) -> str:
        """The table of that column."""
        return self.column.partition(".")[0]


@dataclass(frozen=True, kw_only=True)
class Submissions:
    """Participants submit something, which the service judges: the page *Submit*.

    Attributes:
        judging: ``program``: a program is run in the sandbox and compared with the hidden terms
            of a published problem; ``trials``: an agent is run in containers on the service's
            tasks.
        fields: names of the fields that a submission's content may have.
        table: the table with the verdicts, by the submission's id.
    """

    judging: Literal["program", "trials"]
    fields: tuple[str, ...]
    table: str


@dataclass(frozen=True, kw_only=True)
class Solution:
    """What a participant has on a problem.

    Attributes:
        points: of the best submission.
        solved: whether it is completely right.
        first: whether the participant was the first to solve the problem.
    """

    points: int
    solved: bool
    first: bool


@dataclass(frozen=True, kw_only=True)
class ProblemMatrix:
    """Participants by problems.

    Attributes:
        problems: the ids of the problems with a score, in order.
        solved_by: by problem how many participants solved it.
        solutions: by participant and problem, where there is a scored submission.
    """

    problems: tuple[str, ...]
    solved_by: Mapping[str, int]
    solutions: Mapping[str, Mapping[str, Solution]]


@dataclass(frozen=True, kw_only=True)
class Problems:
    """Organizers publish problems with hidden answers: the page *Problems*, slugs, freezes.

    Attributes:
        table: the table of the problems.
        withhold: returns scored records whose explanations disclose how near a submission is to
            the hidden answer of a problem only where a function of its id says so; None: its
            explanations disclose nothing hidden.
        matrix: returns of scored records what some participants have on each problem; None: there
            is no page *Matrix*.
    """

    table: str
    withhold: Callable[[Any, Callable[[str], bool]], ScoredRecords] | None = None
    matrix: Callable[[Any, Collection[str]], ProblemMatrix] | None = None


@dataclass(frozen=True, kw_only=True)
class Rounds:
    """The service plays rounds of matches between registered bots, before judges.

    It switches on the pages *Matches*, *Bots*, *Vote*, of judges and of robustness, their parts of
    the desk, and the rounds of the API. The service computes them from the rules, the tables and
    the scored records of agon's ``arena``; a discipline with rounds builds on those.

    Attributes:
        matches: the table of matches.
        votes: the table of votes, whose ids begin with their match's and a slash.
        ratings: the board whose scores are ratings that single matches move.
        strengths: the board whose ranks are those of a fit of all matches.
        judges: the board of judges.
    """

    matches: str
    votes: str
    ratings: str
    strengths: str
    judges: str


@dataclass(frozen=True, kw_only=True)
class Epochs:
    """A network pays by the boards, epoch by epoch: the page *Epochs* and its part of the desk.

    The service computes it from the scored records of agon's ``challenge``; a discipline with
    epochs builds on those.

    Attributes:
        weights: the board whose columns ``weight`` and ``u16`` are what the network is sent.
        submissions, validators, competitions: the boards with the rows of each.
    """

    weights: str
    submissions: str
    validators: str
    competitions: str


@dataclass(frozen=True)
class Demo:
    """The example of a discipline that ``agon demo`` builds and scores.

    It is simulated unless ``dataset`` names real records. A discipline whose submissions are
    programs runs agon's example programs instead, where a sandbox is available.

    Attributes:
        title: of its contest.
        size, seed, attacks: arguments of the simulation.
        overrides: rules with other values, which show more than the defaults do.
        dataset: name of a data set shipped with agon (``agon.app.examples``), or None.
        days_left: until the contest ends; 0: it has ended, and its result is final.
        commands: commands for the user to try next; ``{source}`` is replaced by the records.
    """

    title: str
    size: int = 0
    seed: int = 1
    attacks: tuple[str, ...] = ()
    overrides: Mapping[str, Any] = field(default_factory=dict)
    dataset: str | None = None
    days_left: int = 10
    commands: tuple[str, ...] = ()


@dataclass(frozen=True)
class ColumnMeaning:
    """What a column of a board is, for readers of the board.

    Attributes:
        text: what the value is, as a sentence.
        unit: of the value; empty: it has none, or the text says it.
        rules: names of the rules that determine it, the most important first.
        named: values that stand for something else, each with its name.
        is_detail: whether a narrow table leaves it out before others, and a page shows it only if
            it is chosen.
        group: a name that columns share which say something only together, as a value and the ends
            of its interval; a narrow table shows all of them or none.
        label: what heads it where its name does not read as words; empty: the words of its name.
    """

    text: str
    unit: str = ""
    rules: tuple[str, ...] = ()
    named: tuple[tuple[Any, str], ...] = ()
    is_detail: bool = False
    label: str = ""
    group: str = ""

    @property
    def is_share(self) -> bool:
        """Whether the value is a share of 1, which pages show as percent."""
        return self.unit == "share" or self.unit.startswith("share of ")


def no_versions(_: Any) -> Mapping[str, str]:
    """Return no versions: those of the edition hold under all rules."""
    return {}


def distinct_ranks(rules: Any) -> bool:  # noqa: ARG001 - has the signature of shares_ranks
    """Return False: equal scores get different ranks, ordered by id."""
    return False


@dataclass(frozen=True, kw_only=True)
class BoardTraits:
    """What a discipline's boards have beyond ranks, ids and scores.

    Attributes:
        ids: board → the column (``table.column``) with the ids it ranks. Where a board cannot be
            scored, a contest lists these as unscored, with the reason.
        columns: column, or ``board.column`` where it differs by board → meaning.
        shares_ranks: returns whether equal scores share a rank under the rules.
        intervals: returns the method and level of a board's intervals under the rules (``method``,
            ``confidence``, optionally ``simultaneous``), None for a board without any; None: no
            board has intervals.
        recounts: board → the function that returns an explanation of it with other counts of
            some parts, from the explanation, the rules and the counts by part.
        label: returns what a row without a name is called, from the board, its id and the rules;
            None: its id.
        versions: returns the versions that overrides of rules change, in place of the edition's.
        relational: whether they can be computed from counts in an engine in which the tables stay
            (``score`` then also takes ``agon.records.relational.RelationalRecords``).
    """

    ids: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, ColumnMeaning] = field(default_factory=dict)
    shares_ranks: Callable[[Any], bool] = distinct_ranks
    intervals: Callable[[str, Any], Mapping[str, Any] | None] | None = None
    recounts: "Mapping[str, Callable[[Explanation, Any, Mapping[str, float]], Explanation]]" = (
        field(default_factory=dict)
    )
    label: Callable[[str, str, Any], str] | None = None
    versions: Callable[[Any], Mapping[str, str]] = no_versions
    relational: bool = False

    def meaning(self, board: str, column: str) -> ColumnMeaning | None:
        """Return what a column of a board is; None if the discipline does not say it."""
        family = board.partition(":")[0]
        return self.columns.get(f"{family}.{column}") or self.columns.get(column)


@dataclass(frozen=True, kw_only=True)
class PersonalData:
    """What the records say of people, beyond the ids on boards.

    Attributes:
        people: further columns (``table.column``) with ids of people, such as owners. An id in one
            of these or of ``Discipline.participants`` is not free for a new user.
        addresses: table → columns with IP addresses; the service stores keyed hashes of them.
    """

    people: tuple[str, ...] = ()
    addresses: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
