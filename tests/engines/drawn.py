"""Draw databases, and compare what is counted of them by a naive scorer and on every engine."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st

from agon.disciplines import discipline
from agon.disciplines.arena.rules import ArenaRules
from agon.disciplines.community.rules import CommunityRules
from agon.records import Kind, Schema, Table, inspect, read
from agon.records.relational import TableEngine, inspect_in
from disciplines.arena import oracle as arena_oracle
from disciplines.arena.arenas import arenas
from disciplines.community import oracle as community_oracle
from disciplines.community.communities import DAY, communities
from disciplines.community.test_oracle import ALL_ON, EASY, same
from postgresql_server import Postgresql

_RATED = ("bots", "bradley-terry")
_ARROW = {
    Kind.NUMBER: pa.float64(),
    Kind.BOOLEAN: pa.bool_(),
    Kind.INTEGER: pa.int64(),
    Kind.TEXT: pa.string(),
}
CHANGES = st.fixed_dictionaries(
    {},
    optional={
        "self_feedback": st.just("ignore"),
        "wrong_answer_unit": st.just("responses"),
        "wrong_answer_threshold": st.sampled_from([0.3, 0.5, 0.7]),
    },
)


@dataclass(frozen=True)
class Database:
    """Tables as rows, and how their files store times and texts."""

    discipline: str
    rows: dict[str, list[dict[str, Any]]]
    zone: str | None
    encoded: bool

    @property
    def schema(self) -> Schema:
        """Return the discipline's schema."""
        return discipline(self.discipline).schema


@st.composite
def databases(draw: st.DrawFn, of: str) -> Database:
    """Draw records with text beyond ASCII, extreme times and scores, zones, and empty tables."""
    rows = draw(communities() if of == "community" else arenas())
    prefix = draw(st.sampled_from(["", "ü 😀'\""]))
    times = {DAY: draw(st.sampled_from([DAY, datetime(1900, 1, 1), datetime(9999, 12, 31, 23)]))}  # noqa: DTZ001 - as records
    numbers = {0.5: draw(st.sampled_from([0.5, 0.499_999_999_9, 1e-300]))}
    schema = discipline(of).schema
    ids = {(table.name, column.name) for table in schema for column in table.columns
           if column.kind is Kind.ID}  # fmt: skip

    def extreme(table: str, column: str, value: Any) -> Any:
        if (table, column) in ids:
            return prefix + value if isinstance(value, str) else value
        return numbers.get(value, value) if column == "score" else times.get(value, value)

    changed = {
        name: [{column: extreme(name, column, value) for column, value in row.items()}
               for row in listed]
        for name, listed in rows.items()
    }  # fmt: skip
    if draw(st.booleans()):
        changed |= {table.name: [] for table in schema if not rows.get(table.name)}
    zone = draw(st.sampled_from([None, "UTC", "Asia/Kolkata"]))
    return Database(of, changed, zone, draw(st.booleans()))


def arrow_tables(database: Database) -> dict[str, pa.Table]:
    """Return the tables with a type for every column, also without values."""
    return {name: _arrow(database.schema.table(name), rows, database)
            for name, rows in database.rows.items()}  # fmt: skip


@contextmanager
def write(database: Database) -> Iterator[Path]:
    """Yield a folder with a Parquet file per table."""
    with tempfile.TemporaryDirectory() as folder:
        for name, table in arrow_tables(database).items():
            pq.write_table(table, Path(folder) / f"{name}.parquet")
        yield Path(folder)


def decoded_tables(database: Database) -> dict[str, pa.Table]:
    """Return the tables with plain texts, which a database can ingest."""
    return arrow_tables(replace(database, encoded=False))


def ingest(server: Postgresql, tables: Any) -> str:
    """Put tables into an empty database and return its address."""
    database = server.emptied()
    server.ingest(database, tables)
    return server.address(database)


def _arrow(table: Table, rows: list[dict[str, Any]], database: Database) -> pa.Table:
    arrays = {}
    for column in rows[0] if rows else [column.name for column in table.columns]:
        values = [row[column] for row in rows]
        kind = table.column(column).kind
        if kind is Kind.TIMESTAMP:
            zoned = [value and value.replace(tzinfo=UTC) for value in values]
            arrays[column] = pa.array(zoned, pa.timestamp("us", "UTC"))
            arrays[column] = arrays[column].cast(pa.timestamp("us", database.zone))
        elif kind is Kind.ID:
            whole = all(value is None or isinstance(value, int) for value in values)
            arrays[column] = pa.array(values, pa.int64() if whole else pa.string())
        else:
            arrays[column] = pa.array(values, _ARROW[kind])
        if database.encoded and kind is Kind.TEXT:
            arrays[column] = arrays[column].dictionary_encode()
    return pa.table(arrays)


def compare_communities(
    engines: Sequence[TableEngine],
    postgresql: Postgresql,
    database: Database,
    changes: Mapping[str, Any],
    time: datetime | None,
) -> None:
    """Compare every number with a naive scorer's, and the hashes of all engines."""
    rules = {**EASY, **ALL_ON, **changes}
    scored = _require_equal(
        engines, postgresql, database, CommunityRules().override(rules), time,
        ("user-score", "contributor", "reviewer", "combined"),
    )  # fmt: skip
    same(scored, community_oracle.score(database.rows, rules, time))


def compare_arenas(
    engines: Sequence[TableEngine],
    postgresql: Postgresql,
    database: Database,
    changes: Mapping[str, Any],
    time: datetime | None,
) -> None:
    """Compare every bot's numbers with a naive scorer's, and the hashes of all engines."""
    rules = ArenaRules().override({**changes, "bradley_terry_regularisation": 1.0})
    scored = _require_equal(engines, postgresql, database, rules, time, _RATED)
    expected = arena_oracle.score(database.rows, rules.model_dump(), time)["bots"]
    rows = {row["id"]: row for row in scored.board("bots").rows()}
    assert rows.keys() == {name for name, row in expected.items() if row is not None}
    for name, row in rows.items():
        wanted = expected[name]
        assert wanted is not None
        assert abs(row["rating"] - wanted["rating"]) < 1e-6
        for column in ("matches", "wins", "losses", "ties", "provisional"):
            assert row[column] == wanted[column]


def _require_equal(
    engines: Sequence[TableEngine],
    postgresql: Postgresql,
    database: Database,
    rules: Any,
    time: datetime | None,
    boards: Sequence[str],
) -> Any:
    """Require equal hashes of boards and records on all engines; return what the last one scored.

    Returns:
        the scored records; the embedded engine's where no other is given.
    """
    score = discipline(database.discipline).score
    schema = database.schema

    def hashes(scored: Any) -> dict[str, str]:
        return {name: scored.board(name).sha256 for name in boards}

    with write(database) as folder:
        embedded = read(schema, folder)
        in_place = read(schema, ingest(postgresql, decoded_tables(database)))
        scored = score(embedded.as_of(time), rules)
        expected = hashes(scored)
        assert hashes(score(in_place.as_of(time), rules)) == expected
        for engine in engines:
            records, issues = inspect_in(engine, schema, folder)
            assert issues == []
            at_time = records.as_of(time)
            scored = score(at_time, rules)
            assert hashes(scored) == expected
            assert at_time.sha256 == embedded.as_of(time).sha256
            at_time.local.close()
        for opened in (embedded, in_place):
            opened.close()
    return scored


def compare_repeats(engine: TableEngine, folder: Path) -> None:
    """Compare the number of repeated ids with the embedded engine's, at both ends of 64 bits."""
    ids = [-(2**63), 2**63 - 1, -65, -64, -1, -1, 0, 0, 0, 62, 63, 63, 64]
    pq.write_table(pa.table({"id": ids}), folder / "users.parquet")
    schema = discipline("community").schema
    for _, issues in (inspect_in(engine, schema, folder), inspect(schema, folder)):
        assert {(issue.code, issue.table, issue.count) for issue in issues} == {
            ("duplicate-key", "users", 4)
        }


@dataclass
class EngineLostAt:
    """An engine whose server is killed before a query, by the number of the query."""

    engine: TableEngine
    server: Any
    query: int

    @property
    def name(self) -> str:
        """Return the engine's name."""
        return self.engine.name

    def read_parquet(self, name: str, path: Path, columns: Mapping[str, str]) -> None:
        """Name a Parquet file."""
        self.engine.read_parquet(name, path, columns)

    def add(self, name: str, rows: pa.Table) -> None:
        """Name some rows."""
        self.engine.add(name, rows)

    def divide(self, name: str, expression: Any, *, by: str) -> None:
        """Name the rows of an expression, divided by a column."""
        self.engine.divide(name, expression, by=by)

    def keep(self, name: str, expression: Any) -> None:
        """Name the rows of an expression, which are kept."""
        self.engine.keep(name, expression)

    def run(self, expression: Any) -> pa.Table:
        """Return the rows of an expression."""
        if self.query == 0:
            self.server.kill()
            self.server.wait()
        self.query -= 1
        return self.engine.run(expression)

    def close(self) -> None:
        """End the connection."""
        self.engine.close()
