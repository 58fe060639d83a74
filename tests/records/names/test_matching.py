"""Names of tables and columns as people write them: read, listed, or refused, never lost."""

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from agon.disciplines import discipline, names
from agon.errors import Unreadable
from agon.records import Column, InvalidRecords, Kind, Schema, Table, inspect, read, read_rows
from agon.records.names.mapping import SourceMapping, parse_mapping, source_mapping
from agon.records.names.matching import fold_name

PEOPLE = Table(
    "people",
    (
        Column("id", Kind.ID),
        Column("name", Kind.TEXT),
        Column("joined_at", Kind.TIMESTAMP, required=False),
        Column("age", Kind.INTEGER, required=False),
    ),
    required=True,
    key=("id",),
)
VOTES = Table("votes", (Column("id", Kind.ID), Column("points", Kind.INTEGER)))
SCHEMA = Schema("people", (PEOPLE, VOTES))

ROWS = [{"id": "1", "NAME": "Ada", "joinedAt": "2026-01-01", "notes": "x"},
        {"id": "2", "NAME": "Ben", "joinedAt": "2026-01-02", "notes": ""}]  # fmt: skip
EXACT = [{"id": row["id"], "name": row["NAME"], "joined_at": row["joinedAt"]} for row in ROWS]


def _csv(folder: Path) -> None:
    lines = [",".join(ROWS[0]), *(",".join(row.values()) for row in ROWS)]
    (folder / "people.csv").write_text("\n".join(lines))


def _ndjson(folder: Path) -> None:
    (folder / "people.ndjson").write_text("\n".join(map(json.dumps, ROWS)))


def _json(folder: Path) -> None:
    (folder / "people.json").write_text(json.dumps(ROWS, indent=1))


def _parquet(folder: Path) -> None:
    pq.write_table(pa.Table.from_pylist(ROWS), folder / "people.parquet")


def _partitions(folder: Path) -> None:
    (folder / "people").mkdir()
    for at, row in enumerate(ROWS):
        pq.write_table(pa.Table.from_pylist([row]), folder / f"people/{at}.parquet")


def _sqlite(folder: Path) -> Path:
    with sqlite3.connect(folder / "people.db") as database:
        database.execute("CREATE TABLE people (id, NAME, joinedAt, notes)")
        database.executemany("INSERT INTO people VALUES (?, ?, ?, ?)",
                             [tuple(row.values()) for row in ROWS])  # fmt: skip
    database.close()
    return folder / "people.db"


def _duckdb(folder: Path) -> Path:
    with duckdb.connect(folder / "people.duckdb") as database:
        database.register("rows", pa.Table.from_pylist(ROWS))
        database.execute("CREATE TABLE people AS SELECT * FROM rows")
    return folder / "people.duckdb"


@pytest.mark.exhaustive
@pytest.mark.parametrize("write", [_csv, _ndjson, _json, _parquet, _partitions, _sqlite, _duckdb])
def test_columns_in_another_spelling_are_read_from_every_format(
    tmp_path: Path, write: Callable[[Path], Path | None]
) -> None:
    """A vote whose time is ``createdAt`` is no vote without a time."""
    with read(SCHEMA, write(tmp_path) or tmp_path) as records:
        assert records.sha256 == read_rows(SCHEMA, {"people": EXACT}).sha256
        assert records.notes == (
            "read people.NAME as name, people.joinedAt as joined_at",
            "not used: people.notes",
        )


def test_columns_in_another_spelling_are_read_from_frames_and_lists() -> None:
    """A frame is a table like any other."""
    for rows in (ROWS, pa.Table.from_pylist(ROWS)):
        with read_rows(SCHEMA, {"People": rows}) as records:
            assert records.sha256 == read_rows(SCHEMA, {"people": EXACT}).sha256
            assert "read People as people, people.NAME as name" in records.notes[0]


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".ndjson"])
def test_of_two_spellings_the_exact_one_is_read(tmp_path: Path, ending: str) -> None:
    """The other one is listed, whichever comes first."""
    rows = [{"NAME": "no", "id": "1", "name": "yes", "Joined At": "2026-01-01"}]
    file = tmp_path / f"people{ending}"
    if ending == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), file)
    elif ending == ".csv":
        file.write_text("NAME,id,name,Joined At\nno,1,yes,2026-01-01\n")
    else:
        file.write_text(json.dumps(rows[0]))
    with read(SCHEMA, tmp_path) as records:
        assert records.arrow("people", ["name"]).to_pylist() == [{"name": "yes"}]


def test_each_row_of_ndjson_may_spell_a_key_in_its_own_way(tmp_path: Path) -> None:
    """Objects come from several programs, and a key is a key of one object."""
    (tmp_path / "people.ndjson").write_text(
        '{"id":1,"name":"a","joinedAt":"2026-01-01"}\n{"ID":2,"Name":"b","joined_at":null}\n'
    )
    with read(SCHEMA, tmp_path) as records:
        assert records.arrow("people", ["id", "name"]).to_pylist() == [
            {"id": 1, "name": "a"},
            {"id": 2, "name": "b"},
        ]


def test_a_key_that_only_a_late_object_has_is_listed(tmp_path: Path) -> None:
    """The first object does not show what the others have."""
    rows = [{"id": at, "name": "a", "joined_at": None} for at in range(500)]
    (tmp_path / "people.ndjson").write_text(
        "\n".join(map(json.dumps, [*rows, {**rows[0], "id": "x", "extra": 1}]))
    )
    with read(SCHEMA, tmp_path) as records:
        assert records.notes == ("not used: people.extra",)


def test_exact_names_give_no_note(tmp_path: Path) -> None:
    """Notes are read because there are few."""
    (tmp_path / "people.csv").write_text("id,name,age\n1,a,7\n")
    (tmp_path / "README.md").write_text("about")
    (tmp_path / ".DS_Store").write_bytes(b"\0")
    with read(SCHEMA, tmp_path) as records:
        assert records.notes == ()
        assert records.names.near == ()


def test_files_that_are_not_used_are_listed(tmp_path: Path) -> None:
    """A table under another name would be missing in silence."""
    (tmp_path / "people.csv").write_text("id,name,age\n1,a,7\n")
    (tmp_path / "flags2.csv").write_text("a\n1\n")
    with read(SCHEMA, tmp_path) as records:
        assert records.notes == ("not used: flags2.csv",)


def test_a_name_near_to_a_missing_column_is_a_warning(tmp_path: Path) -> None:
    """It is scored with a warning, and not stored."""
    _csv(tmp_path)
    text = (tmp_path / "people.csv").read_text().replace("notes", "agee")
    (tmp_path / "people.csv").write_text(text)
    with read(SCHEMA, tmp_path) as records:
        [finding] = records.names.findings
        assert (finding.code, finding.severity) == ("unused-name", "warning")
        assert finding.message.startswith("people.agee is not used; did you mean age?")
        with pytest.raises(InvalidRecords, match="did you mean age"):
            records.names.require_exact(option="ignore")
    with read(SCHEMA, tmp_path, mapping=SourceMapping(ignore=("people.AGEE",))) as records:
        assert not records.names.near
        records.names.require_exact(option="ignore")


def test_what_is_ignored_is_not_read(tmp_path: Path) -> None:
    """A name that is stated to be of no use is not read either where the schema has it."""
    (tmp_path / "people.csv").write_text("id,name,age\n1,a,7\n")
    (tmp_path / "votes.csv").write_text("id,points\n1,2\n")
    mapping = SourceMapping(ignore=("people.age", "votes.csv"))
    with read(SCHEMA, tmp_path, mapping=mapping) as records:
        assert set(records.arrow("people")["age"].to_pylist()) == {None}
        assert not records.has("votes")
        assert records.notes == ()


def test_issues_name_columns_as_the_source_does(tmp_path: Path) -> None:
    """A person looks for it in their file."""
    (tmp_path / "people.csv").write_text("ID,Name,Joined At\n1,a,soon\n")
    _, issues = inspect(SCHEMA, tmp_path)
    assert [(issue.code, issue.column) for issue in issues] == [("bad-timestamp", "Joined At")]


@pytest.mark.parametrize("name", names())
def test_no_two_names_of_a_schema_are_spellings_of_each_other(name: str) -> None:
    """A spelling means one column."""
    schema = discipline(name).schema
    tables = [fold_name(stored) for table in schema for stored in table.source_names]
    assert len(tables) == len(set(tables))
    for table in schema:
        columns = [fold_name(column.name) for column in table.columns]
        assert len(columns) == len(set(columns))


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ({"columns": {"name": ""}}, "columns.name is mapped to nothing"),
        ({"columns": {"name": ["a", "b"]}}, "columns.name is mapped to a list; give one name"),
        ({"columns": {"name": 3}}, "columns.name is mapped to 3; give one name"),
        ({"columns": {"name": {}}}, "columns.name is mapped to a table; give one name"),
        ({"tables": {"toy": {"a": "b"}}}, "tables.toy is mapped to a table; give one name"),
        ({"colums": {}}, "did you mean columns"),
        ({"columns": ["name"]}, "is no table"),
        ({"null": 3}, "is no list of texts"),
        ({"values": {"kind": {"x": ""}}}, "values.kind.x is mapped to nothing"),
        ({"values": {"kind": {"x": ["a"]}}}, "values.kind.x is mapped to a list; give one value"),
        ({"values": {"kind.x": []}}, "values.kind.x is mapped to a list; give one value"),
        ({"tables": {"a": 1}, "values": 3}, r"tables.a .*; \[values\] is no table"),
    ],
)
def test_a_mapping_of_the_wrong_form_is_refused(mapping: dict[str, object], message: str) -> None:
    """All faults at once."""
    with pytest.raises(Unreadable, match=message):
        source_mapping(mapping)


def test_a_dotted_name_of_a_column_needs_no_quotes() -> None:
    """TOML reads ``users.id`` as a table, which would look like a mapping to nothing."""
    for text in ('users.id = "key"', '"users.id" = "key"'):
        stated = parse_mapping(f"[columns]\n{text}\n", "names.toml")
        assert source_mapping(stated).columns == {"users.id": "key"}


def test_a_mapping_is_read_from_a_file(tmp_path: Path) -> None:
    """Names with dots and blanks are quoted; a missing section is empty."""
    file = tmp_path / "names.toml"
    file.write_text(
        'null = ["NA"]\nignore = ["notes"]\n[tables]\npeople = "users.csv"\n[columns]\n'
        '"people.name" = "Full name"\n[values]\n"kind.S" = "short"\n[values.flag]\nno = false\n'
    )
    assert source_mapping(file) == SourceMapping(
        tables={"people": "users.csv"},
        columns={"people.name": "Full name"},
        values={"kind": {"S": "short"}, "flag": {"no": "false"}},
        null=("NA",),
        ignore=("notes",),
    )


def test_a_mapping_names_tables_and_columns(tmp_path: Path) -> None:
    """Only the stated name is read; a stated name that is missing is an error."""
    (tmp_path / "staff.csv").write_text("nr,who,joined_at\n1,Ada,2026-01-01\n")
    (tmp_path / "people.csv").write_text("id,name,joined_at\n7,No,2026-01-01\n")
    mapping = SourceMapping(
        tables={"people": "staff"}, columns={"people.id": "nr", "people.name": "who"}
    )
    with read(SCHEMA, tmp_path, mapping=mapping) as records:
        assert records.arrow("people", ["id", "name"]).to_pylist() == [{"id": 1, "name": "Ada"}]
        assert records.notes == ("not used: people.csv",)
    wrong = SourceMapping(tables={"votes": "ballots"}, columns={"people.age": "years"})
    _, issues = inspect(SCHEMA, tmp_path, mapping=wrong)
    assert [(issue.code, issue.table, issue.column) for issue in issues] == [
        ("missing-table", "votes", None),
        ("missing-column", "people", "years"),
    ]


def test_a_mapping_of_two_columns_to_one_is_refused() -> None:
    """One value would stand for two."""
    mapping = SourceMapping(columns={"people.name": "x", "people.age": "x", "people.nme": "y"})
    with pytest.raises(Unreadable, match=r"no table has a column 'people.nme'.*name and age .*'x'"):
        read_rows(SCHEMA, {"people": EXACT}, mapping=mapping)


def test_a_wrong_header_is_one_fault(tmp_path: Path) -> None:
    """Everything that is missing is in one line, next to what is there."""
    (tmp_path / "people.csv").write_text("ID2,Handle\n1,a\n2,b\n")
    _, [issue] = inspect(SCHEMA, tmp_path)
    assert str(issue) == (
        "people.csv, column id, name: is missing; the header has ID2, Handle; add id (give a whole "
        "number or text) and name (give text); is ID2 meant?"
    )
