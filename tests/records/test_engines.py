"""Engines for little data share an instance of DuckDB, and nothing else; all leave memory."""

import os
import threading
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from agon.records import raw, read, read_rows
from agon.records.raw import MemoryEngine, memory_of, sorting_memory
from agon.records.sources import is_small_folder
from records.contest import SCHEMA, texts, values, write_csv, write_csv_gz


def _databases(engine: MemoryEngine) -> int:
    sql = "SELECT count(*) FROM duckdb_databases() WHERE NOT internal"
    return int(engine.connection.execute(sql).fetchall()[0][0])


def test_shared_engines_do_not_see_each_others_tables_and_settings() -> None:
    """Two contests have tables of the same names."""
    one, other = MemoryEngine(shared=True), MemoryEngine(shared=True)
    for number, engine in enumerate((one, other)):
        engine.connection.execute("CREATE SCHEMA typed")
        engine.connection.execute(f"CREATE TABLE typed.people AS SELECT {number} AS id")
        engine.connection.execute("SET schema = 'typed'")
        engine.connection.register("rows", pa.table({"number": [number]}))
    one.connection.execute("SET TimeZone = 'Asia/Tokyo'")
    for number, engine in enumerate((one, other)):
        query = "SELECT id, number FROM people, rows"
        assert engine.connection.execute(query).fetchall() == [(number, number)]
    zone = other.connection.execute("SELECT current_setting('TimeZone')").fetchall()
    assert zone == [("UTC",)]
    one.close()
    one.close()
    assert other.connection.execute("SELECT id FROM people").fetchall() == [(1,)]
    other.close()


def test_a_closed_or_unused_engine_leaves_nothing_in_the_instance() -> None:
    """A server reads rows all day."""
    engine = MemoryEngine(shared=True)
    before = _databases(engine)
    closed, unused = MemoryEngine(shared=True), MemoryEngine(shared=True)
    closed.connection.execute("CREATE TABLE t AS SELECT range FROM range(1000)")
    assert _databases(engine) == before + 2
    closed.close()
    del unused
    assert _databases(engine) == before
    with pytest.raises(duckdb.Error, match="closed"):
        closed.connection.execute("SELECT 1")
    engine.close()


@pytest.mark.exhaustive
def test_few_rows_share_an_instance_and_many_or_unknown_ones_do_not() -> None:
    """A process keeps the memory of a shared instance; a reader of any kind may have any size."""
    people = values()["people"]
    many = [{**people[0], "id": number} for number in range(10_001)]
    table = pa.Table.from_pylist(people)
    for rows, is_shared in (
        (people, True), (many, False), (table, True), (table.to_reader(), False)
    ):  # fmt: skip
        with read_rows(SCHEMA, {"people": rows}) as records:
            assert (records._engine.instance is raw._shared._instance) is is_shared


@pytest.mark.exhaustive
def test_small_folders_share_an_instance(tmp_path: Path) -> None:
    """Starting one would take most of the time; other connections see the tables, too."""
    for name in ("small", "large", "compressed", "nested"):
        (tmp_path / name).mkdir()
    write_csv(tmp_path / "small", texts())
    write_csv(tmp_path / "large", texts())
    write_csv_gz(tmp_path / "compressed", texts())
    with (tmp_path / "large" / "people.csv").open("a") as file:
        file.writelines(f"{number},Name {number},,true,7\n" for number in range(100, 20_000))
    (tmp_path / "nested" / "folder").mkdir()
    with read(SCHEMA, tmp_path / "small") as records:
        assert records._engine.instance is raw._shared._instance
        other = MemoryEngine(connected_to=records._engine)
        assert other.connection.sql("SELECT count(*) FROM typed.people").fetchall() == [
            (records.count("people"),)
        ]
        other.close()
    with read(SCHEMA, tmp_path / "large") as records:
        assert records._engine.instance is not raw._shared._instance
    others = ("compressed", "nested", "absent")
    assert not any(is_small_folder(tmp_path / name) for name in others)


def test_an_unusable_instance_is_replaced() -> None:
    """An internal error of DuckDB would otherwise stop a server from reading rows for good."""
    engine = MemoryEngine(shared=True)
    assert raw._shared._instance is not None
    raw._shared._instance.connection.close()
    with read_rows(SCHEMA, values()) as records:
        assert records.count("people") == 3
    engine.close()


@pytest.mark.exhaustive
def test_threads_attach_databases_at_once() -> None:
    """A server reads rows of several requests at the same time."""
    counts: list[int] = []

    def read() -> None:
        for _ in range(5):
            with read_rows(SCHEMA, values()) as records:
                counts.append(records.count("people"))

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts == [3] * 20


@pytest.mark.exhaustive
def test_a_forked_process_starts_an_instance_of_its_own() -> None:
    """The threads of the parent's do not run there: a query would wait for them forever."""
    with read_rows(SCHEMA, values()) as records:
        child = os.fork()
        if child == 0:
            code = 1
            try:
                with read_rows(SCHEMA, values()) as copy:
                    code = 0 if copy.count("people") == 3 else 2
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert records.count("people") == 3


@pytest.mark.exhaustive
def test_the_engine_leaves_memory_to_what_is_computed_from_its_tables() -> None:
    """DuckDB's own limit is 80 % of the memory, and arrays of the size of its tables need more."""
    engine = MemoryEngine()
    default = duckdb.connect()
    limits = [
        _bytes(each.execute("SELECT current_setting('memory_limit')").fetchall()[0][0])
        for each in (engine.connection, default)
    ]
    engine.close()
    default.close()
    assert limits[0] == pytest.approx(limits[1] / 2, rel=0.05)


def _bytes(text: str) -> float:
    number, unit = text.split()
    return float(number) * float(1024) ** ("bytes", "KiB", "MiB", "GiB", "TiB").index(unit)


def test_records_are_sorted_with_half_of_the_memory() -> None:
    """At 50 million feedbacks, next to the facts, the sort took what the kernel allowed."""
    engine = MemoryEngine()
    before = memory_of(engine.connection)
    with sorting_memory(engine.connection):
        assert memory_of(engine.connection) == pytest.approx(before / 2, rel=0.05)
    assert memory_of(engine.connection) == before
    engine.close()
