"""Audit a board of an arena: what its votes do not say, probe by probe."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from agon.app.analysis.records import RecordsSource
from agon.app.analysis.score import Result, score
from agon.app.arena.scored import arena_of, examined_arena
from agon.disciplines.arena.audits import examine
from agon.kernel.figures import Probe
from agon.records.names.mapping import MappingSource


@dataclass(frozen=True, repr=False)
class Audit:
    """The answers of all probes about a Bradley–Terry board.

    Attributes:
        result: the scored records.
        probes: the answers, in a fixed order.
    """

    result: Result
    probes: tuple[Probe, ...]

    @property
    def notes(self) -> tuple[str, ...]:
        """What was decided when the records were read, and what limits the ratings."""
        return (*self.result.notes, *arena_of(self.result.scored).strengths.notes)

    def __getitem__(self, name: str) -> Probe:
        """Return the answer of a probe by its name."""
        return next(probe for probe in self.probes if probe.name == name)

    def rows(self) -> list[dict[str, Any]]:
        """Return the answers as plain dicts."""
        return [{**asdict(probe), "records": list(probe.records)} for probe in self.probes]

    def to_dict(self) -> dict[str, Any]:
        """Return the answers with what they are about, as a plain value for JSON."""
        return {
            "discipline": "arena",
            "board": "bradley-terry",
            "rules": self.result.rules_title,
            "notes": list(self.notes),
            "probes": self.rows(),
        }

    def __repr__(self) -> str:
        width = max(len(probe.name) for probe in self.probes)
        return "\n".join(
            f"{probe.name:{width}}  {probe.verdict:11}  {probe.sentence}" for probe in self.probes
        )


def audit(
    records: RecordsSource,
    *,
    columns: Mapping[str, str] | None = None,
    where: Mapping[str, Any] | None = None,
    mapping: MappingSource | None = None,
    ignore: Iterable[str] = (),
    edition: str | None = None,
    overrides: Mapping[str, Any] | None = None,
    as_of: datetime | str | None = None,
) -> Audit:
    """Examine the Bradley–Terry board of arena records or battles.

    A verdict is ``fine``, ``look`` (the figure is not what a board without the defect has) or
    ``cannot tell`` (the records do not say); it is about the board, and no proof of a fault. A rule
    that asks for what the records do not say gives way with a note, as on a contest's board.

    Args:
        records: arena records or battles, as :func:`agon.rate` takes them.
        columns: the source's name of a column by the format's.
        where: a value, or several, by column; only such battles count.
        mapping: how names and values of the source are read: a file of TOML or a dict.
        ignore: names of columns, tables or files that are not read.
        edition: the edition (None: the reference edition).
        overrides: values of rules that replace the edition's.
        as_of: leave out later records.

    Raises:
        NotFound, InvalidRule, InvalidRecords, NotScorable, Unreadable: as ``score`` does.

    Example:
        >>> battles = [{"model_a": a, "model_b": b, "winner": winner}
        ...            for a, b in (("ann", "bob"), ("bob", "cy"), ("cy", "ann"))
        ...            for winner in "aaabb"]
        >>> [(probe.name, probe.verdict) for probe in audit(battles).probes][4:6]
        [('cycles', 'fine'), ('connectivity', 'fine')]
    """
    result = score(
        "arena",
        records,
        columns=columns,
        where=where,
        mapping=mapping,
        ignore=ignore,
        edition=edition,
        overrides=overrides,
        as_of=as_of,
    )
    return Audit(result, examine(examined_arena(result.scored)))
