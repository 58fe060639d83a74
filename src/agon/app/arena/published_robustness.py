"""State how robust the published ranks of an arena are; computed once for each board."""

from collections import OrderedDict
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import fields, replace
from threading import Lock
from typing import Any, Final

from agon.app.access.permissions import View
from agon.app.arena.live.scored import arena_rules, live_rules
from agon.app.arena.robustness import arena_robustness
from agon.app.arena.scored import arena_of
from agon.app.contests.boards.stored_rows import rows_snapshot_of, shown_names
from agon.app.contests.ledgers.positions import snapshot_at
from agon.app.service import Service
from agon.disciplines import discipline
from agon.disciplines.arena.audits import examine
from agon.disciplines.arena.boards import BRADLEY_TERRY
from agon.disciplines.arena.ratings.robustness import RANKS, noise_floors
from agon.disciplines.arena.rules import ArenaRules
from agon.disciplines.arena.scoring import ScoredArena
from agon.entities.arena_reports import BoardRobustness, DecidedRank, Robustness
from agon.entities.contests import Contest
from agon.errors import NotFound, NotScorable
from agon.kernel.figures import Probe

_MAX_KEPT: Final = 32
_STORED: Final = "robustness"
"""The name under which the summary of a board holds how robust its ranks are."""


def published_robustness(
    service: Service, view: View, *, as_of: str | None = None, ranks: int = RANKS
) -> Robustness:
    """Return how sure the published ranks of a contest are; computed once for each board.

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
            arena = arena_of(replica.result(at=snapshot.seq).scored)
            result = replace(arena_robustness(arena, ranks=ranks), probes=_probes(arena))
        _RESULTS.add(key, result)
    return replace(result, names=_names(service, view, result, at=snapshot.seq))


def _names(service: Service, view: View, result: Robustness, *, at: int) -> Mapping[str, str]:
    """Return the names that the boards of a position show of the bots of a result, by id."""
    ids = {bot for rank in result.ranks for bot in (rank.bot, rank.next)}
    ids |= {band.bot for band in result.bands}
    with service.store.read() as session:
        return shown_names(session, view.contest, sorted(ids), at=at) or {}


_RANK_FIELDS: Final = tuple(field.name for field in fields(DecidedRank))


def decides_ranks(contest: Contest, boards: Collection[str]) -> bool:
    """Return whether boards of a contest have ranks whose robustness is computed."""
    return issubclass(discipline(contest.discipline).rules, ArenaRules) and BRADLEY_TERRY in boards


def store_robustness(service: Service, contest_id: str) -> int | None:
    """Compute the robustness of the newest Bradley–Terry ranks and store it with their board.

    Returns:
        The board's position; None: the contest has no such board, or nothing has to be stored.
    """
    with service.store.read() as session:
        contest = session.contests.get(contest_id)
        if not decides_ranks(contest, contest.boards):
            return None
        newest = session.snapshots.latest(contest.no, BRADLEY_TERRY)
        rows = None if newest is None else rows_snapshot_of(session, newest)
        if newest is None or rows is None or _STORED in session.snapshots.summary(rows.no):
            return None
    with service.replicas.current(service.store, contest) as replica:
        result = arena_robustness(arena_of(replica.result(at=newest.seq).scored))
    ranks = [{name: getattr(rank, name) for name in _RANK_FIELDS} for rank in result.ranks]
    value = {"matches": result.matches, "reason": result.reason, "ranks": ranks}
    with service.store.write() as session:
        session.snapshots.add_to_summary(rows.no, _STORED, value)
    return newest.seq


def board_robustness(service: Service, view: View, *, as_of: str | None = None) -> BoardRobustness:
    """Return the stored robustness of published ranks.

    Args:
        service: the service.
        view: what the caller may see.
        as_of: a position of the ledger in digits or a time; None: the newest.

    Raises:
        Conflict: the contest is no arena.
        Unreadable: ``as_of`` is neither a position nor a time.
    """
    rules = live_rules(view.contest)
    stored: Mapping[str, Any] = {}
    newest = None
    with service.store.read() as session, suppress(NotFound):
        newest = snapshot_at(session, view, BRADLEY_TERRY, as_of)
        rules = arena_rules(view.contest, newest)
        rows = rows_snapshot_of(session, newest)
        stored = {} if rows is None else session.snapshots.summary(rows.no).get(_STORED, {})
    return BoardRobustness(
        seq=None if newest is None else newest.seq,
        is_computed=bool(stored),
        matches=stored.get("matches"),
        ranks=tuple(DecidedRank(**rank) for rank in stored.get("ranks", ())),
        reason=stored.get("reason"),
        noise=noise_floors(rules),
        matches_established=rules.games_established,
    )


def _probes(arena: ScoredArena) -> tuple[Probe, ...]:
    """Return the answers of the audit's probes; none where no bot has a rating."""
    try:
        return examine(arena)
    except NotScorable:
        return ()


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
