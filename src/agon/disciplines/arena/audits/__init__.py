"""Examine what a Bradley–Terry board does not know: probes, each with a figure and a verdict."""

from collections.abc import Callable
from typing import Final

from agon.disciplines.arena.audits import design, origins, ranks
from agon.disciplines.arena.audits.board import AuditedBoard, audited_board
from agon.disciplines.arena.scoring import ScoredArena
from agon.kernel.figures import Probe

TABLE: Final[tuple[Callable[[AuditedBoard], Probe], ...]] = (
    ranks.separation,
    ranks.robustness,
    design.position,
    ranks.ties,
    ranks.cycles,
    design.connectivity,
    design.coverage,
    origins.voters,
    origins.influence,
    origins.duplicates,
    origins.names,
)
"""The probes, in the order in which they are shown."""


def examine(arena: ScoredArena) -> tuple[Probe, ...]:
    """Return the answers of all probes about the Bradley–Terry board of scored records.

    Raises:
        NotScorable: no bot has a rating.
    """
    board = audited_board(arena)
    return tuple(probe(board) for probe in TABLE)
