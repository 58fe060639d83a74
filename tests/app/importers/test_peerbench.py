"""Test ``peerbench``: PeerBench's tables become community records."""

import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import agon
from agon.app.importers import import_records
from agon.disciplines import ImportedRecords, discipline
from agon.errors import Unreadable
from agon.records import InvalidRecords, read_rows

if TYPE_CHECKING:
    from postgresql_server import Postgresql

ADA, BEN, CAT = (f"00000000-0000-4000-8000-00000000000{n}" for n in "123")
PROMPT, OTHER = (f"00000000-0000-4000-8000-0000000000a{n}" for n in "12")
RESPONSE = "00000000-0000-4000-8000-0000000000b1"
SCORE = "00000000-0000-4000-8000-0000000000c1"

TABLES: dict[str, tuple[str, list[tuple[Any, ...]]]] = {
    "auth.users": ("id, email", [(ADA, "a@x"), (BEN, "b@x"), (CAT, "c@x")]),
    "org_to_people": ("id, org_id, user_id", [(1, 10, ADA)]),
    "prompt_sets": (
        "id, title, category, owner_id, deleted_at",
        [(1, "Logic", "Default", ADA, None)],
    ),
    "hash_registrations": ("cid, sha256, uploader_id", [("c1", "s1", ADA), ("c2", "s2", None)]),
    "prompts": (
        "id, question, hash_cid_registration, hash_sha256_registration, uploader_id",
        [(PROMPT, "?", "c1", "s1", None), (OTHER, "!", "c2", "s2", BEN)],
    ),
    "prompt_set_prompts": (
        "prompt_set_id, prompt_id, status",
        [(1, PROMPT, "included"), (1, OTHER, "draft")],
    ),
    "provider_models": ("id, provider, name", [(4, "openai", "gpt-4o")]),
    "responses": ("id, run_id, model_id, prompt_id", [(RESPONSE, "r", 4, PROMPT)]),
    "scores": ("id, score, response_id, prompt_id", [(SCORE, 0.25, RESPONSE, PROMPT)]),
    "quick_feedbacks": (
        "id, user_id, prompt_id, response_id, score_id, opinion",
        [(1, BEN, PROMPT, None, None, "positive"), (2, CAT, None, RESPONSE, None, "negative")],
    ),
    "user_role_on_prompt_set": ("user_id, prompt_set_id, role", [(BEN, 1, "collaborator")]),
    "prompt_comments": ("id, user_id, content, prompt_id", [(1, BEN, "x", PROMPT)]),
    "response_comments": ("id, user_id, content, response_id", [(1, BEN, "y", RESPONSE)]),
    "score_comments": ("id, user_id, content, score_id", [(1, CAT, "z", SCORE)]),
}


def folder(where: Path) -> Path:
    """Write the tables as CSV files."""
    where.mkdir()
    for name, (columns, rows) in TABLES.items():
        lines = [columns.replace(" ", "")]
        lines += [",".join("" if value is None else str(value) for value in row) for row in rows]
        (where / f"{name}.csv").write_text("\n".join(lines) + "\n")
    return where


def sqlite(where: Path) -> Path:
    """Write the tables into an SQLite file, which has no schemas: ``auth.users`` is a name."""
    with sqlite3.connect(where) as database:
        for name, (columns, rows) in TABLES.items():
            database.execute(f'CREATE TABLE "{name}" ({columns})')
            marks = ", ".join("?" * len(rows[0]))
            database.executemany(f'INSERT INTO "{name}" VALUES ({marks})', rows)
    database.close()
    return where


def check(imported: ImportedRecords) -> None:
    """Check the records, which do not depend on the source."""
    rows = {name: table.to_pylist() for name, table in imported.tables.items()}
    assert imported.discipline == "community"
    assert [str(row["id"]) for row in rows["users"]] == [ADA, BEN, CAT]
    assert [str(row["uploader_id"]) for row in rows["prompts"]] == [ADA, BEN]
    assert [row["model"] for row in rows["responses"]] == ["gpt-4o"]
    assert [str(row["user_id"]) for row in rows["comments"]] == [BEN, BEN, CAT]
    assert not {"hash_registrations", "provider_models", "prompt_comments"} & set(rows)
    records = read_rows(discipline("community").schema, imported.tables)
    result = agon.score("community", records, overrides={"comments": "true"})
    assert result.board().row(ADA)["components"]["affiliation"] == 50
    assert result.board().row(BEN)["components"]["comments"] == 2


def test_a_folder_of_its_tables_is_imported(tmp_path: Path) -> None:
    """Creators, models and comments are joined once."""
    check(import_records("peerbench", folder(tmp_path / "pb")))


@pytest.mark.exhaustive
def test_ids_are_read_of_comments_that_are_records_already(tmp_path: Path) -> None:
    """Without its id, a comment that a contest has would be added again."""
    tables = folder(tmp_path / "pb")
    (tables / "comments.csv").write_text(f"id,user_id\n9,{CAT}\n")
    rows = import_records("peerbench", tables).tables["comments"].to_pylist()
    assert [row["id"] for row in rows] == [9, None, None, None]
    assert [str(row["user_id"]) for row in rows] == [CAT, BEN, BEN, CAT]


@pytest.mark.exhaustive
def test_the_file_of_users_has_any_spelling_of_its_name(tmp_path: Path) -> None:
    """Without users every prompt's uploader would be unknown."""
    tables = folder(tmp_path / "pb")
    (tables / "auth.users.csv").rename(tables / "Auth Users.CSV")
    check(import_records("peerbench", tables))


def test_two_files_of_users_are_refused(tmp_path: Path) -> None:
    """Which of them holds the people is not for the importer to choose."""
    tables = folder(tmp_path / "pb")
    (tables / "users.csv").write_text("id\n1\n")
    with pytest.raises(Unreadable, match=r"auth\.users\.csv and users\.csv hold the same table"):
        import_records("peerbench", tables)


def test_an_sqlite_copy_is_imported(tmp_path: Path) -> None:
    """A copy of the database is a source, too."""
    check(import_records("peerbench", sqlite(tmp_path / "pb.sqlite")))


@pytest.mark.exhaustive
def test_the_live_database_is_imported(postgresql: "Postgresql") -> None:
    """It has types such as uuid, enum, varchar, timestamp and real, and the schema ``auth``."""
    name = postgresql.emptied()
    kinds = {"id": "text", "score": "real", "user_id": "uuid", "owner_id": "uuid",
             "uploader_id": "uuid", "prompt_id": "uuid", "response_id": "uuid",
             "score_id": "uuid", "opinion": "opinion", "deleted_at": "timestamp",
             "model_id": "integer", "prompt_set_id": "integer", "org_id": "integer"}  # fmt: skip
    statements = ["CREATE SCHEMA auth", "CREATE TYPE opinion AS ENUM ('positive', 'negative')"]
    for table, (columns, rows) in TABLES.items():
        typed = []
        for at, column in enumerate(columns.split(", ")):
            kind = kinds.get(column, "text")
            if column == "id":
                kind = "integer" if isinstance(rows[0][at], int) else "uuid"
            typed.append(f"{column} {kind}")
        statements.append(f"CREATE TABLE {table} ({', '.join(typed)})")
        for row in rows:
            values = ", ".join("NULL" if value is None else f"'{value}'" for value in row)
            statements.append(f"INSERT INTO {table} VALUES ({values})")
    postgresql.run(*statements, database=name)
    check(import_records("peerbench", postgresql.address(name)))
    with agon.read_records("community", postgresql.address(name)) as records:
        in_place = agon.score("community", records, overrides={"comments": "true"}).board()
    imported = import_records("peerbench", postgresql.address(name))
    board = agon.score("community", imported, overrides={"comments": "true"}).board()
    assert in_place.row(ADA)["components"]["affiliation"] == 50
    assert in_place.row(BEN)["components"]["comments"] == 2
    assert in_place.sha256 == board.sha256


@pytest.mark.exhaustive
def test_invalid_rows_are_reported_like_those_of_records(tmp_path: Path) -> None:
    """File, row, column and value."""
    where = folder(tmp_path / "pb")
    with (where / "quick_feedbacks.csv").open("a") as file:
        file.write(f"3,{BEN},{PROMPT},,,meh\n")
    with pytest.raises(InvalidRecords, match=r"quick_feedbacks\.csv, line 4 \(row 3\).*'meh'"):
        import_records("peerbench", where)
