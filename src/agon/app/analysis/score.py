"""Score records under an edition: records in, boards and explanations out."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Unpack

from agon.app.analysis.options import ReadingOptions, ScoringOptions, with_options
from agon.app.analysis.records import RecordsSource, read_records
from agon.app.analysis.score_explanation import ScoreExplanation
from agon.disciplines import Discipline, ScoredRecords, discipline
from agon.editions import Edition, default_edition, rules_sha256
from agon.editions import edition as released_edition
from agon.editions.titles import rules_title
from agon.kernel.boards import Board
from agon.kernel.findings import Finding, in_order
from agon.kernel.fingerprints import sha256
from agon.kernel.rules import Rules
from agon.kernel.times import parse_time
from agon.records import Records
from agon.records.look_alikes import source_findings
from agon.records.names.mapping import source_mapping

if TYPE_CHECKING:
    from agon.app.charts import Chart


@dataclass(frozen=True, repr=False)
class Result:
    """Scored records: boards, explanations, findings and fingerprints.

    Boards and explanations are computed on demand; a result always gives the same ones.

    Attributes:
        discipline: the discipline of the records.
        edition: the edition in force.
        rules: its rules, overrides included.
        records: the records that were scored, as of ``as_of``.
        as_of: later records were left out; None: all records.
        scored: the scored records, from which boards and explanations are computed.
    """

    discipline: Discipline
    edition: Edition
    rules: Rules
    records: Records
    as_of: datetime | None
    scored: ScoredRecords

    def __repr__(self) -> str:
        return f"Result of {self.rules_title}\n{self.board()!r}"

    def _repr_html_(self) -> str:
        return self.board()._repr_html_()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.board().__arrow_c_stream__(requested_schema)

    @property
    def boards(self) -> tuple[str, ...]:
        """The names of its boards, the default first.

        Example:
            >>> score("community", "examples/tutorial").boards
            ('user-score', 'contributor', 'reviewer', 'combined')
        """
        names: tuple[str, ...] = getattr(self.scored, "boards", self.discipline.boards)
        return names

    def board(self, name: str | None = None) -> Board:
        """Return a board (None: the discipline's default).

        Raises:
            NotFound: there is no such board.
        """
        return self.scored.board(self.discipline.board_name(name))

    def explain(self, name: str, *, board: str | None = None) -> ScoreExplanation:
        """Explain one id on a board, every part with inputs, rules, points and records.

        The explanation has a ``plot()``.

        Raises:
            NotFound: there is no such id or board.
        """
        explanation = self.scored.explain(str(name), board=self.discipline.board_name(board))
        return ScoreExplanation(**vars(explanation), rules_title=self.rules_title)

    def plot(self, name: str | None = None, *, board: str | None = None) -> "Chart":
        """Return a chart: a board's first scores, or the parts of one id's score.

        Args:
            name: an id; None: the board.
            board: the board (None: the discipline's default).

        Raises:
            NotFound: there is no such id or board.

        Example:
            >>> result = score("community", "examples/tutorial")
            >>> "Why ada has this score" in result.plot("ada").svg
            True
        """
        if name is not None:
            return self.explain(name, board=board).plot()
        from agon.app.charts import Chart, interval_chart
        from agon.app.charts.intervals import MAX_ROWS

        shown = self.board(board)
        subtitle = self.rules_title
        rows = shown.rows(top=MAX_ROWS)
        title = f"Board {shown.name}"
        return Chart(interval_chart(rows, total=len(shown), title=title, subtitle=subtitle))

    @cached_property
    def findings(self) -> list[Finding]:
        """The integrity findings, most severe first; they never change a score."""
        found = self.discipline.find(self.records, self.rules)
        return in_order([*self.source_findings, *found])

    @cached_property
    def source_findings(self) -> list[Finding]:
        """Warnings about the source: unused names, repeated rows, values that look alike.

        Tables that stay in an engine are not examined for values.
        """
        return source_findings(self.records)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was decided when the records were read, such as columns that are not used."""
        return self.records.notes

    @property
    def rules_sha256(self) -> str:
        """The fingerprint of the rules in force, overrides included."""
        return rules_sha256(self.rules)

    @cached_property
    def fingerprint(self) -> str:
        """The hash of edition, rules, records and default board."""
        return sha256(
            {
                "edition": self.edition.full_name,
                "rules": self.rules_sha256,
                "records": self.records.sha256,
                "board": self.board().sha256,
            }
        )

    @property
    def overrides(self) -> dict[str, Any]:
        """The rules in force that differ from the edition's, with their values."""
        return overrides_of(self.edition, self.rules)

    @property
    def rules_title(self) -> str:
        """The edition and the overrides in force, as headings name them."""
        return rules_title(self.edition.full_name, self.overrides)

    def provenance(self) -> dict[str, Any]:
        """Return discipline, edition, overrides, hashes and time of the result as JSON."""
        return {
            "discipline": self.discipline.name,
            "edition": self.edition.name,
            "versions": {**self.edition.versions, **self.discipline.traits.versions(self.rules)},
            "overrides": self.overrides,
            "rules_sha256": self.rules_sha256,
            "records_sha256": self.records.sha256,
            "as_of": None if self.as_of is None else self.as_of.isoformat(),
        }

    def to_dict(
        self, board: Board | str | None = None, *, top: int | None = None
    ) -> dict[str, Any]:
        """Return a board with its provenance as a plain value, as ``--format json`` prints it.

        Args:
            board: its name (None: the default one), or one that was made from this result.
            top: maximum number of rows, the first ones (None: all).
        """
        table = board if isinstance(board, Board) else self.board(board)
        return {
            **self.provenance(),
            "board": table.name,
            "board_sha256": table.sha256,
            **table.context,
            "unscored": [item.to_dict() for item in table.unscored],
            "notes": [*self.notes, *table.notes],
            "warnings": [finding.message for finding in self.source_findings],
            "rows": table.rows(top=top),
        }


def overrides_of(edition: Edition, rules: Rules) -> dict[str, Any]:
    """Return the rules in force that differ from an edition's, with their values."""
    own = edition.rules.model_dump(mode="json")
    values = rules.model_dump(mode="json")
    return {name: value for name, value in values.items() if value != own[name]}


@with_options
def score(
    discipline_name: str,
    records: RecordsSource,
    *,
    edition: str | None = None,
    overrides: Mapping[str, Any] | None = None,
    as_of: datetime | str | None = None,
    **reading: Unpack[ReadingOptions],
) -> Result:
    """Score records under an edition (None: the discipline's reference edition).

    Args:
        discipline_name: the name of the discipline.
        records: records, or a source that :func:`read_records` reads: a folder, a data frame, data
            frames by table name, imported or simulated records.
        edition: ``scores0002-1`` or ``community/scores0002-1``.
        overrides: values of rules that replace the edition's; they may be text.
        as_of: leave out later records; a time or ISO 8601 text (without a zone: UTC).
        columns, where, mapping, ignore, engine: how and where a source is read
            (:class:`ReadingOptions`).

    Raises:
        NotFound: no such discipline, edition, engine or source.
        InvalidRule: with all unknown rules and values out of bounds.
        Conflict: the records belong to another discipline, or are read already and ``columns`` or
            ``where`` is stated, or the engine cannot read the source.
        InvalidRecords: with the issues of all invalid rows.
        NotScorable: the records cannot be scored, with the reason.

    Example:
        A correct program of 800 bytes gets 1000 points, 73 for brevity (200 · e⁻¹, rounded down),
        and 30 as the first one with its tag.

        >>> row = {"id": 1, "problem_id": "primes", "user_id": "ada", "verdict": "ok",
        ...         "l_chars": 800, "source_hash": "0" * 64, "method_tag": "sieve",
        ...         "created_at": "2026-01-01T12:00:00Z"}
        >>> tables = {"problems": [{"id": "primes"}], "submissions": [row]}
        >>> result = score("dojo", tables)
        >>> result.board().rows()[0]["score"], result.explain("ada", board="problem:primes").score
        (1103.0, 1103.0)
        >>> score("dojo", result.records, overrides={"brevity_max": 0}).board().rows()[0]["score"]
        1030.0
    """
    chosen = discipline(discipline_name)
    released, rules = rules_of(discipline_name, edition, overrides)
    time = parse_time(as_of)
    if chosen.further_columns is not None and (further := chosen.further_columns(rules)):
        reading["mapping"] = source_mapping(reading.get("mapping")).with_kept(further)
    read = read_records(discipline_name, records, **reading)
    visible = read.as_of(time)
    return Result(chosen, released, rules, visible, time, chosen.score(visible, rules))


@with_options
def explain(
    discipline_name: str,
    records: RecordsSource,
    name: str,
    *,
    board: str | None = None,
    **options: Unpack[ScoringOptions],
) -> ScoreExplanation:
    """Score records and explain one id: ``score(…).explain(name)`` in one call.

    Args:
        discipline_name: the name of the discipline.
        records: all that :func:`score` takes.
        name: the id to explain.
        board: the board (None: the discipline's default).
        edition, overrides, as_of, columns, where, mapping, ignore, engine: as :func:`score` takes
            them (:class:`ScoringOptions`).

    Raises:
        NotFound: there is no such id or board.
        InvalidRule, InvalidRecords, Conflict, NotScorable: as :func:`score` does.

    Example:
        >>> explain("community", "examples/tutorial", "ada").score
        351.0
    """
    return score(discipline_name, records, **options).explain(name, board=board)


def rules_of(
    discipline_name: str, edition: str | None, overrides: Mapping[str, Any] | None
) -> tuple[Edition, Rules]:
    """Return an edition (None: the discipline's default) and its rules with overrides.

    Raises:
        NotFound: there is no such edition.
        InvalidRule: with all unknown rules and values out of bounds.
        TypeError: the overrides are no mapping.
    """
    discipline(discipline_name)
    require_overrides(overrides)
    released = released_edition(
        default_edition(discipline_name) if edition is None else edition, of=discipline_name
    )
    return released, released.with_rules(overrides or {})


def require_overrides(overrides: Any) -> None:
    """Raise an error unless overrides are values by name of rule.

    Raises:
        TypeError: they are not; the message shows the form.
    """
    if overrides is not None and not isinstance(overrides, Mapping):
        raise TypeError(
            f"overrides are values by name of rule, such as {{'k_new': 16}}; got {overrides!r}"
        )
