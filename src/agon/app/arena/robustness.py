"""State how robust the ranks of an arena are, of records or of its published boards."""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any, Final

from agon.app.access.permissions import View
from agon.app.analysis.score import score
from agon.app.arena.live.scored import arena_of, live_rules
from agon.app.contests.ledgers.positions import snapshot_at
from agon.app.service import Service
from agon.disciplines.arena.boards import BRADLEY_TERRY
from agon.disciplines.arena.robustness import (
    RANKS,
    EloBand,
    NoiseFloor,
    RankRobustness,
    elo_bands,
    noise_floors,
    rank_robustness,
)
from agon.disciplines.arena.scoring import ScoredArena
from agon.errors import NotScorable

_MAX_KEPT: Final = 32


@dataclass(frozen=True, kw_only=True)
class Robustness:
    """How robust the ranks of an arena are.

    Attributes:
        matches: number of rated matches.
        ranks: how many matches decide each of the first Bradley–Terry ranks; empty where there are
            no such ranks.
        reason: why there are none; None: there are.
        noise: Elo's noise floor for new and for established bots.
        bands: the first Elo ratings with the band that chance alone explains.
    """

    matches: int
    ranks: tuple[RankRobustness, ...]
    reason: str | None
    noise: tuple[NoiseFloor, NoiseFloor]
    bands: tuple[EloBand, ...]


def robustness(
    records: Any,
    *,
    ranks: int = RANKS,
    columns: Mapping[str, str] | None = None,
    where: Mapping[str, Any] | None = None,
    edition: str | None = None,
    overrides: Mapping[str, Any] | None = None,
    as_of: Any = None,
) -> Robustness:
    """Return how many matches decide the first ranks, and how far Elo ratings wander by chance.

    Args:
        records: arena records or battles, as :func:`agon.rate` takes them.
        ranks: how many ranks.
        columns: the source's name of a column by the format's.
        where: a value, or several, by column; only such battles count.
        edition: the edition (None: the reference edition).
        overrides: values of rules that replace the edition's.
        as_of: leave out later records.

    Raises:
        NotFound, InvalidRule, InvalidRecords, Unreadable: as ``score`` does.

    Example:
        >>> battles = [{"model_a": "ann", "model_b": "bob", "winner": winner}
        ...            for winner in ("a", "a", "a", "a", "b", "b")]
        >>> [(each.bot, each.next, each.matches) for each in robustness(battles).ranks]
        [('ann', 'bob', 3)]
    """
    result = score(
        "arena",
        records,
        columns=columns,
        where=where,
        edition=edition,
        overrides=overrides,
        as_of=as_of,
    )
    return _robustness(arena_of(result.scored), ranks)


def published_robustness(
    service: Service, view: View, *, as_of: str | None = None, ranks: int = RANKS
) -> Robustness:
    """Return how robust the published ranks of a contest are; computed once for each board.

    Args:
        service: the service.
        view: what the caller may see.
        as_of: a position of the ledger in digits or a time; None: the newest.
        ranks: how many ranks.

    Raises:
        NotFound: nothing was published yet.
        Conflict: the contest is no arena.
        Unreadable: ``as_of`` is neither a position nor a time.
    """
    live_rules(view.contest)
    with service.store.read() as session:
        snapshot = snapshot_at(session, view, BRADLEY_TERRY, as_of)
    key = (view.contest.id, snapshot.seq, snapshot.board_sha256, ranks)
    result = _RESULTS.get(key)
    if result is None:
        with service.replicas.current(service.store, view.contest) as replica:
            result = _robustness(arena_of(replica.result(at=snapshot.seq).scored), ranks)
        _RESULTS.add(key, result)
    return result


def _robustness(arena: ScoredArena, ranks: int) -> Robustness:
    decided: tuple[RankRobustness, ...] = ()
    reason = None
    try:
        decided = tuple(
            rank_robustness(arena.facts, arena.ratings, arena.strengths, arena.rules, ranks=ranks)
        )
    except NotScorable as error:
        reason = str(error)
    return Robustness(
        matches=len(arena.ratings.match),
        ranks=decided,
        reason=reason,
        noise=noise_floors(arena.rules),
        bands=tuple(elo_bands(arena.facts, arena.ratings, arena.rules, ranks=ranks)),
    )


class _Cache:
    """The results of the boards that were asked for last."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._results: OrderedDict[Any, Robustness] = OrderedDict()

    def get(self, key: Any) -> Robustness | None:
        """Return a result; None if it is not kept."""
        with self._lock:
            if key in self._results:
                self._results.move_to_end(key)
            return self._results.get(key)

    def add(self, key: Any, result: Robustness) -> None:
        """Keep a result, and drop the one that was not asked for longest."""
        with self._lock:
            self._results[key] = result
            if len(self._results) > _MAX_KEPT:
                self._results.popitem(last=False)


_RESULTS: Final = _Cache()
