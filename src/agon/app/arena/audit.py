"""Audit a board of an arena: what its votes do not say, probe by probe."""

from dataclasses import asdict, dataclass
from typing import Any, Unpack

from agon.app.analysis.options import ScoringOptions, with_options
from agon.app.analysis.records import RecordsSource
from agon.app.analysis.score import Result
from agon.app.arena.scored import arena_of, examined_arena
from agon.app.replay.ledger_source import score_source
from agon.disciplines.arena.audits import examine
from agon.kernel.figures import Probe


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


@with_options
def audit(records: RecordsSource, **options: Unpack[ScoringOptions]) -> Audit:
    """Examine the Bradley–Terry board of arena records or battles.

    A verdict is ``fine``, ``look`` (the figure is not what a board without the defect has) or
    ``cannot tell`` (the records do not say); it is about the board, and no proof of a fault. A rule
    that asks for what the records do not say gives way with a note, as on a contest's board.

    Args:
        records: arena records or battles, as :func:`agon.rate` takes them, or the folder of an
            exported ledger, which is verified and scored as its contest is.
        edition, overrides, as_of, columns, where, mapping, ignore, engine: as :func:`agon.score`
            takes them (:class:`agon.ScoringOptions`).

    Raises:
        NotFound, InvalidRule, InvalidRecords, NotScorable, Unreadable: as ``score`` does.

    Example:
        >>> battles = [{"model_a": a, "model_b": b, "winner": winner}
        ...            for a, b in (("ann", "bob"), ("bob", "cy"), ("cy", "ann"))
        ...            for winner in "aaabb"]
        >>> [(probe.name, probe.verdict) for probe in audit(battles).probes][4:6]
        [('cycles', 'fine'), ('connectivity', 'fine')]
    """
    result = score_source("arena", records, **options)
    return Audit(result, examine(examined_arena(result.scored)))
