"""Facts that are counted in an engine are those of arrays and of a naive scorer."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import agon
from agon.disciplines import discipline
from agon.disciplines.community.records import SCHEMA
from agon.disciplines.community.rules import CommunityRules
from agon.disciplines.community.scoring import Community, score
from agon.engines import open_tables
from agon.errors import AgonError, Conflict, Unavailable, Unreadable
from agon.records import Kind, inspect, read
from agon.records.relational import TableEngine, inspect_in
from cli.command import Cli
from conftest import Postgresql
from disciplines.community import oracle
from disciplines.community.communities import DAY, communities
from disciplines.community.test_oracle import ALL_ON, EASY, TIMES, same
from engines.test_engines import ingest
from sizes import ALL

_BOARDS = ("user-score", "contributor", "reviewer", "combined")
_ARROW = {Kind.NUMBER: pa.float64(), Kind.BOOLEAN: pa.bool_(), Kind.TEXT: pa.string()}
CHANGES = st.fixed_dictionaries(
    {},
    optional={
        "self_feedback": st.just("ignore"),
        "wrong_answer_unit": st.just("responses"),
        "wrong_answer_threshold": st.sampled_from([0.3, 0.5, 0.7]),
    },
)


@pytest.fixture(scope="module")
def sail() -> Iterator[TableEngine]:
    """A Sail server on loopback."""
    engine = open_tables("sail")
    yield engine
    engine.close()


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Cli:
    """Run commands in this process."""
    return Cli(capsys)


@dataclass(frozen=True)
class Database:
    """Tables as rows, and how their files store times and texts."""

    rows: dict[str, list[dict[str, Any]]]
    zone: str | None
    encoded: bool


@st.composite
def databases(draw: st.DrawFn) -> Database:
    """Draw a community with text beyond ASCII, extreme times and scores, and times in zones."""
    rows = draw(communities())
    prefix = draw(st.sampled_from(["", "ü 😀'\""]))
    times = {DAY: draw(st.sampled_from([DAY, datetime(1900, 1, 1), datetime(9999, 12, 31, 23)]))}  # noqa: DTZ001 - as records
    numbers = {0.5: draw(st.sampled_from([0.5, 0.499_999_999_9, 1e-300]))}
    ids = {(table.name, column.name) for table in SCHEMA for column in table.columns
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
    zone = draw(st.sampled_from([None, "UTC", "Asia/Kolkata"]))
    return Database(changed, zone, draw(st.booleans()))


def arrow_tables(database: Database) -> dict[str, pa.Table]:
    """Return the tables with a type for every column, also without values."""
    return {name: _arrow(name, rows, database) for name, rows in database.rows.items()}


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


def _arrow(name: str, rows: list[dict[str, Any]], database: Database) -> pa.Table:
    arrays = {}
    for column in rows[0]:
        values = [row[column] for row in rows]
        kind = SCHEMA.table(name).column(column).kind
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


def hashes(scored: Community) -> dict[str, str]:
    """Return the hash of every board."""
    return {name: scored.board(name).sha256 for name in _BOARDS}


@settings(
    max_examples=500 if ALL else 2,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(database=databases(), changes=CHANGES, time=TIMES)
def test_every_engine_counts_what_a_naive_scorer_counts(
    sail: TableEngine,
    postgresql: Postgresql,
    database: Database,
    changes: dict[str, Any],
    time: datetime | None,
) -> None:
    """On repeats, ties, empty values and tables, zones, any ids, extreme numbers, at any time."""
    rules = {**EASY, **ALL_ON, **changes}
    in_force = CommunityRules().override(rules)
    with write(database) as folder:
        records, issues = inspect_in(sail, SCHEMA, folder)
        assert issues == []
        at_sail = records.as_of(time)
        scored = score(at_sail, in_force)
        same(scored, oracle.score(database.rows, rules, time))
        embedded = read(SCHEMA, folder)
        in_place = read(SCHEMA, ingest(postgresql, decoded_tables(database)))
        expected = hashes(score(embedded.as_of(time), in_force))
        assert hashes(scored) == expected
        assert hashes(score(in_place.as_of(time), in_force)) == expected
        assert at_sail.sha256 == embedded.as_of(time).sha256
        for opened in (embedded, in_place):
            opened.close()


def test_commands_score_and_compare_on_sail_and_refuse_what_needs_rows(
    command: Cli, tmp_path: Path
) -> None:
    """Equal hashes; a reason for what counts cannot say; another discipline is refused."""
    folder = tmp_path / "records"
    agon.write_records(agon.simulate("community", size=20, seed=5), folder)
    expected = command("score", "community", str(folder), "--format", "json")
    counted = command("score", "community", str(folder), "--format", "json", "--engine", "sail")
    assert (counted.code, counted.json()) == (0, expected.json())
    hardened = ("score", "community", str(folder), "--edition", "hardened-1")
    for words in (
        ("explain", "community", str(folder), "1"),
        ("check", "community", str(folder)),
        hardened,
    ):
        refused = command(*words, "--engine", "sail")
        assert refused.code == 4
        assert "cannot be computed" in refused.err
        assert "use --engine embedded" in refused.err
    assert command("score", "arena", str(folder), "--engine", "sail").code == 4


def test_issues_are_counted_with_table_column_and_remedy(sail: TableEngine, tmp_path: Path) -> None:
    """The issues are those of the embedded engine, without the rows."""
    users = pa.table({"id": [1, 2, 2]})
    feedback = {
        "user_id": pa.array([1, 9, None], pa.int64()),
        "prompt_id": pa.array([1, 1, None], pa.int64()),
        "opinion": ["positive", "good", "negative"],
    }
    scores = {"response_id": pa.array([5, 5, 5]), "score": [float("nan"), 0.5, 0.2]}
    responses = {"id": [5], "prompt_id": [1], "model": pa.array([""]), "user_id": [1]}
    tables = {
        "users": users,
        "prompts": pa.table({"id": [1]}),
        "quick_feedbacks": pa.table(feedback),
        "responses": pa.table(responses),
        "scores": pa.table(scores),
    }
    for name, table in tables.items():
        pq.write_table(table, tmp_path / f"{name}.parquet")
    _, issues = inspect_in(sail, SCHEMA, tmp_path)
    with pytest.raises(agon.InvalidRecords) as error:
        read(SCHEMA, tmp_path)
    found = {(issue.code, issue.table, issue.column, issue.count) for issue in issues}
    expected = {
        (issue.code, issue.table, issue.column, issue.count) for issue in error.value.issues
    }
    assert found == expected
    assert len(found) == 7


def test_nan_among_equal_numbers_is_an_issue(sail: TableEngine, tmp_path: Path) -> None:
    """A file's statistics then state one number, which engines take for all."""
    for name, table in {
        "users": {"id": [1]},
        "prompts": {"id": [1]},
        "responses": {"id": [5], "prompt_id": [1], "model": ["m"]},
        "scores": {"response_id": [5, 5], "score": [float("nan"), 0.5]},
    }.items():
        pq.write_table(pa.table(table), tmp_path / f"{name}.parquet")
    for _, issues in (inspect_in(sail, SCHEMA, tmp_path), inspect(SCHEMA, tmp_path)):
        assert [(issue.code, issue.table, issue.column) for issue in issues] == [
            ("non-finite", "scores", "score")
        ]


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (pa.array([1.0]), "whole numbers of at most 64 bits, or text, got double"),
        (pa.array([1], pa.uint64()), "got uint64"),
    ],
)
def test_types_that_engines_read_differently_are_refused(
    sail: TableEngine, tmp_path: Path, column: Any, words: str
) -> None:
    """An engine could read another id than this machine."""
    pq.write_table(pa.table({"id": column}), tmp_path / "users.parquet")
    with pytest.raises(Conflict, match=words):
        inspect_in(sail, SCHEMA, tmp_path)


def test_only_folders_of_parquet_are_read(sail: TableEngine, tmp_path: Path) -> None:
    """CSV files are read on this machine."""
    (tmp_path / "users.csv").write_text("id\n1\n")
    with pytest.raises(Conflict, match="one Parquet file per table"):
        inspect_in(sail, SCHEMA, tmp_path)
    with pytest.raises(Conflict, match="got another source"):
        agon.score("community", {"users": [{"id": 1}]}, engine="sail")
    with pytest.raises(Unreadable, match="SPARK_CONNECT_AUTHENTICATE_TOKEN"):
        open_tables("sc://host:15002/;token=secret")


_SERVER = """
import sys
from pysail.spark import SparkConnectServer
server = SparkConnectServer(ip="127.0.0.1", port=0)
server.start(background=True)
print(server.listening_address[1], flush=True)
sys.stdin.read()
"""


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


@pytest.mark.parametrize("query", range(10) if ALL else [4])
def test_a_server_lost_in_the_middle_is_named(tmp_path: Path, query: int) -> None:
    """There is never a board of the counts that came back before."""
    folder = tmp_path / "records"
    agon.write_records(agon.simulate("community", size=20, seed=5), folder)
    program = [sys.executable, "-c", _SERVER]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        address = f"sc://127.0.0.1:{int(server.stdout.readline())}"
        engine = EngineLostAt(open_tables(address), server, query)
        with pytest.raises(Unavailable, match=f"the server {address} failed"):
            score(inspect_in(engine, SCHEMA, folder)[0], CommunityRules()).board("user-score")
        engine.close()


def test_a_server_that_does_not_answer_is_named() -> None:
    """The error says which one, instead of a board of what was read."""
    with pytest.raises(AgonError, match=r"the server sc://127\.0\.0\.1:1 failed"):
        open_tables("sc://127.0.0.1:1")
    assert discipline("community").relational
