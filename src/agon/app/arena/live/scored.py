"""Look up the rules and the newest scores of an arena."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from agon.app.analysis.score import rules_of
from agon.app.arena.scored import arena_of
from agon.app.service import Service
from agon.disciplines.arena.rules import ArenaRules
from agon.disciplines.arena.scoring import ScoredArena
from agon.entities.contests import Contest, Snapshot
from agon.errors import Conflict
from agon.records import Records


def live_rules(contest: Contest) -> ArenaRules:
    """Return the rules of an arena.

    Raises:
        Conflict: the contest is of another discipline.
    """
    rules: Any = rules_of(contest.discipline, contest.edition, contest.overrides)[1]
    if not isinstance(rules, ArenaRules):
        raise Conflict(
            f"contest {contest.id} is not an arena but of {contest.discipline}, which has no bots "
            "and no rounds; name an arena"
        )
    return rules


def arena_rules(contest: Contest, snapshot: Snapshot) -> ArenaRules:
    """Return the rules of an arena under which a board was scored.

    Raises:
        Conflict: the contest is of another discipline.
    """
    manifest = snapshot.manifest
    scored_under = replace(
        contest, edition=manifest["edition"], overrides=manifest["overrides"] or {}
    )
    return live_rules(scored_under)


@contextmanager
def scored_arena(
    service: Service, contest: Contest, *, at: int | None = None
) -> Iterator[tuple[ScoredArena, int]]:
    """Lend the scores of an arena at a position of its ledger, and the newest position.

    Args:
        service: the service.
        contest: the contest.
        at: the position of the scores; None: the newest.
    """
    live_rules(contest)
    with service.replicas.current(service.store, contest) as replica:
        yield arena_of(replica.result(at=at).scored), replica.seq


@contextmanager
def newest_records(service: Service, contest: Contest) -> Iterator[Records]:
    """Lend the newest records of an arena, of which nothing is scored."""
    live_rules(contest)
    with service.replicas.current(service.store, contest) as replica:
        yield replica.records()


@contextmanager
def arena_records(service: Service, contest: Contest) -> Iterator[tuple[ScoredArena, Records, int]]:
    """Lend the newest scores of an arena, the records they are of, and their position."""
    live_rules(contest)
    with service.replicas.current(service.store, contest) as replica:
        result = replica.result()
        yield arena_of(result.scored), result.records, replica.seq
