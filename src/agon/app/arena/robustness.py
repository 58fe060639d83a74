"""State how robust the ranks of an arena are: how few matches change them."""

from dataclasses import replace
from typing import TYPE_CHECKING, Unpack

from agon.app.analysis.options import ScoringOptions, with_options
from agon.app.analysis.records import RecordsSource
from agon.app.arena.scored import examined_arena
from agon.app.replay.ledger_source import score_source
from agon.disciplines.arena.ratings.robustness import (
    RANKS,
    elo_bands,
    noise_floors,
    rank_robustness,
)
from agon.disciplines.arena.scoring import ScoredArena
from agon.entities.arena_reports import Robustness
from agon.errors import NotScorable

if TYPE_CHECKING:
    from agon.kernel.figures import RankRobustness


@with_options
def robustness(
    records: RecordsSource, *, ranks: int = RANKS, **options: Unpack[ScoringOptions]
) -> Robustness:
    """Return how many matches decide the first ranks, and how far Elo ratings wander by chance.

    Args:
        records: arena records or battles, as :func:`agon.rate` takes them, or the folder of an
            exported ledger, which is verified and scored as its contest is.
        ranks: how many ranks.
        edition, overrides, as_of, columns, where, mapping, ignore, engine: as :func:`agon.score`
            takes them (:class:`agon.ScoringOptions`).

    Raises:
        NotFound, InvalidRule, InvalidRecords, Unreadable: as ``score`` does.

    Example:
        >>> battles = [{"model_a": "ann", "model_b": "bob", "winner": winner}
        ...            for winner in ("a", "a", "a", "a", "b", "b")]
        >>> [(each.bot, each.next, each.matches) for each in robustness(battles).ranks]
        [('ann', 'bob', 3)]
    """
    result = score_source("arena", records, **options)
    made = arena_robustness(examined_arena(result.scored), ranks=ranks)
    return replace(made, notes=(*result.notes, *made.notes))


def arena_robustness(arena: ScoredArena, *, ranks: int = RANKS) -> Robustness:
    """Return how many matches decide the first ranks of a scored arena, and how Elo wanders."""
    decided: tuple[RankRobustness, ...] = ()
    reason, matches, notes = None, len(arena.ratings.match), tuple[str, ...]()
    try:
        matches = int(arena.strengths.counts.matches.sum())
        notes = arena.strengths.notes
        decided = tuple(
            rank_robustness(
                arena.facts, arena.ratings, arena.strengths, arena.strength_rules, ranks=ranks
            )
        )
    except NotScorable as error:
        reason = str(error)
    return Robustness(
        matches=matches,
        ranks=decided,
        reason=reason,
        noise=noise_floors(arena.rules),
        bands=tuple(elo_bands(arena.facts, arena.ratings, arena.rules, ranks=ranks)),
        notes=notes,
    )
