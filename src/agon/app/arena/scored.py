"""Look up the arena in what was scored."""

from typing import Any

from agon.app.replay.adjustments import AdjustedScores
from agon.app.replay.unscored import UnscorableRecords
from agon.disciplines import ScoredRecords
from agon.disciplines.arena.scoring import ScoredArena


def arena_of(scored: ScoredRecords) -> ScoredArena:
    """Return the scores of an arena without adjustments, which change no match.

    Raises:
        NotScorable: the records cannot be scored.
    """
    if isinstance(scored, AdjustedScores):
        scored = scored.scored
    if isinstance(scored, UnscorableRecords):
        raise scored.reason
    arena: Any = scored
    return arena
