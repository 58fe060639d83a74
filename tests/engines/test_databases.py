"""Drawn databases have the same boards on every engine, and by a naive scorer.

The engines are the embedded one, PostgreSQL, Sail and, where it is installed, Apache Spark.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agon.records.relational import TableEngine
from disciplines.arena.arenas import RULES
from disciplines.arena.arenas import TIMES as ARENA_TIMES
from disciplines.community.test_oracle import TIMES
from engines.drawn import CHANGES, Database, compare_arenas, compare_communities, databases
from postgresql_server import Postgresql
from sizes import ALL


def drawn(examples: int) -> settings:
    """Return how databases are drawn: 500, or some examples of them."""
    slow = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
    return settings(
        max_examples=500 if ALL else examples, deadline=None, suppress_health_check=slow
    )


@drawn(1)
@given(database=databases("community"), changes=CHANGES, time=TIMES)
def test_every_engine_counts_what_a_naive_scorer_counts(
    engines: Sequence[TableEngine],
    postgresql: Postgresql,
    database: Database,
    changes: dict[str, Any],
    time: datetime | None,
) -> None:
    """On repeats, ties, empty values and tables, zones, any ids, extreme numbers, at any time."""
    compare_communities(engines, postgresql, database, changes, time)


@drawn(1)
@given(database=databases("arena"), changes=RULES, time=st.sampled_from([None, *ARENA_TIMES]))
def test_every_engine_rates_as_a_naive_scorer_does(
    engines: Sequence[TableEngine],
    postgresql: Postgresql,
    database: Database,
    changes: dict[str, Any],
    time: datetime | None,
) -> None:
    """With votes and without, on equal and unknown times, audits, controls, new versions."""
    compare_arenas(engines, postgresql, database, changes, time)
