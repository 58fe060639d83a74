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


def examined_arena(scored: ScoredRecords) -> ScoredArena:
    """Return the arena of records that were scored to be examined, rated as a contest's are.

    A rule that asks for what the records do not say gives way, with a note, so that the board that
    a contest shows can be examined from its records.

    Raises:
        NotScorable: the records cannot be scored.
    """
    arena = arena_of(scored)
    arena.rates_anyway = True
    return arena
