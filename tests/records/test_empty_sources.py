"""Tables without rows are valid in every format, and are the same records in all of them."""

import gzip
import sqlite3
from collections.abc import Callable, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from agon.disciplines import BUILT_IN, discipline
from agon.errors import Unreadable
from agon.ledger.files import LEDGER
from agon.records import InvalidRecords, Schema, read, read_rows
from sizes import ALL


def _columns(schema: Schema) -> dict[str, list[str]]:
    return {table.name: [column.name for column in table.columns] for table in schema}


TEXTS = {
    "csv without a header": b"",
    "csv of a line end": b"\r\n",
    "csv.gz": gzip.compress(b"", mtime=0),
    "ndjson": b"",
    "ndjson.gz": gzip.compress(b"", mtime=0),
}
"""Empty files that do not name their columns."""


FILES = ("csv", "parquet", *TEXTS)
"""Empty files of every format."""


def _folder(schema: Schema, folder: Path, forms: Sequence[str]) -> str:
    """Write an empty file per table, of one format after the other."""
    folder.mkdir()
    for (name, columns), form in zip(_columns(schema).items(), cycle(forms), strict=False):
        file = folder / f"{name}.{form.partition(' ')[0]}"
        if form in TEXTS:
            file.write_bytes(TEXTS[form])
        elif form == "csv":
            file.write_text(",".join(columns) + "\n")
        else:
            pq.write_table(
                pa.table({column: pa.array([], pa.string()) for column in columns}), file
            )
    return str(folder)


def _database(schema: Schema, folder: Path, form: str) -> str:
    file = folder / f"empty.{form}"
    connection: Any = duckdb.connect(str(file)) if form == "duckdb" else sqlite3.connect(file)
    for name, columns in _columns(schema).items():
        listed = ", ".join(f'"{column}" VARCHAR' for column in columns)
        connection.execute(f"CREATE TABLE {name} ({listed})")
    connection.commit()
    connection.close()
    return str(file)


FRAMES: dict[str, Callable[[list[str]], Any]] = {
    "rows": lambda _: [],
    "arrow": lambda columns: pa.table({column: pa.array([], pa.null()) for column in columns}),
    "arrow without columns": lambda _: pa.table({}),
    "polars": lambda columns: pl.DataFrame({column: [] for column in columns}),
    "polars without columns": lambda _: pl.DataFrame(),
    "pandas": lambda columns: pd.DataFrame({column: [] for column in columns}),
    "pandas without columns": lambda _: pd.DataFrame(),
}


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", BUILT_IN)
def test_empty_tables_of_every_form_are_the_same_records(name: str, tmp_path: Path) -> None:
    """A contest without records has a board; so have empty files and empty data frames.

    `make test` reads each table from files of three formats, `make test-all` from files of all.
    """
    schema = discipline(name).schema
    hashes = {}
    for shift in range(0, len(FILES), 1 if ALL else 3):
        forms = FILES[shift:] + FILES[:shift]
        hashes[forms[0]] = read(schema, _folder(schema, tmp_path / str(shift), forms)).sha256
    for form in ("duckdb", "sqlite"):
        hashes[form] = read(schema, _database(schema, tmp_path, form)).sha256
    for form, empty_frame in FRAMES.items():
        tables = {table: empty_frame(columns) for table, columns in _columns(schema).items()}
        hashes[form] = read_rows(schema, tables).sha256
    assert len(set(hashes.values())) == 1, hashes


def test_rows_without_any_column_are_still_invalid(tmp_path: Path) -> None:
    """An empty table lacks no ids; a row without a value does."""
    (tmp_path / "users.ndjson").write_text("{}\n")
    with pytest.raises(InvalidRecords, match="column id"):
        read(discipline("community").schema, str(tmp_path))


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", BUILT_IN)
def test_a_folder_without_tables_is_an_error_whose_remedy_works(name: str, tmp_path: Path) -> None:
    """An empty folder may be a wrong path; empty files of the needed tables are not."""
    schema = discipline(name).schema
    none = read_rows(schema, {table.name: [] for table in schema})
    with pytest.raises(Unreadable, match="give the folder that holds them, or, for") as error:
        read(schema, str(tmp_path))
    for table in str(error.value).rpartition("an empty file for ")[2].split(" and "):
        (tmp_path / f"{table}.csv").touch()
    assert read(schema, str(tmp_path)).sha256 == none.sha256


def test_the_folder_of_an_exported_ledger_is_named(tmp_path: Path) -> None:
    """It has no tables, and another command reads it."""
    (tmp_path / LEDGER).touch()
    with pytest.raises(Unreadable, match=r"exported ledger of a contest.*; agon replay"):
        read(discipline("arena").schema, str(tmp_path))
