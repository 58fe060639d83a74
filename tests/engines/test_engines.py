"""Every engine gives the same boards, and says what it cannot do."""

import json
from pathlib import Path
from typing import Any

import pytest

import agon
from agon.disciplines import discipline
from agon.engines import ENGINES, Engine, catalog, require_engine
from agon.errors import AgonError, Conflict, NotFound, Unavailable
from cli.command import Cli
from engines.drawn import ingest
from postgresql_server import Postgresql

_SIZES = {"community": 12, "arena": 60, "challenge": 4, "dojo": 20}


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Cli:
    """Run commands in this process."""
    return Cli(capsys)


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", _SIZES)
def test_every_engine_gives_the_same_boards_and_findings(
    postgresql: Postgresql, tmp_path: Path, name: str
) -> None:
    """Hashes of records, rules and boards are equal; so are findings."""
    tables = agon.simulate(name, size=_SIZES[name], seed=5)
    address, folder = ingest(postgresql, tables.tables), tmp_path / "records"
    agon.write_records(tables, folder)
    reports = []
    for engine, source in (("embedded", folder), ("postgres", address), ("embedded", address)):
        with agon.read_records(name, source, engine=engine) as records:
            result = agon.score(name, records)
            boards = [board for board in discipline(name).boards if ":" not in board]
            reports.append(
                (
                    records.sha256,
                    {board: _hash_of(result, board) for board in boards},
                    [each.to_dict() for each in agon.check(name, records).findings],
                )
            )
    assert reports[0] == reports[1] == reports[2]


def _hash_of(result: Any, board: str) -> str:
    """Return the hash of a board, or why there is none."""
    try:
        return str(result.board(board).sha256)
    except AgonError as error:
        return str(error)


@pytest.mark.exhaustive
def test_every_command_takes_an_engine(postgresql: Postgresql, command: Cli) -> None:
    """The answers are those of the default engine, which the source decides."""
    tables = agon.simulate("arena", size=60, seed=5).tables
    address = ingest(postgresql, tables)
    bot = tables["bots"].column("id")[0].as_py()
    for words in (
        ("score", "arena", address),
        ("explain", "arena", address, bot),
        ("compare", "arena", address, "--set", "k_new=16"),
        ("check", "arena", address),
        ("arena", "rate", address),
    ):
        default = command(*words, "--format", "json")
        chosen = command(*words, "--format", "json", "--engine", "postgres")
        assert (chosen.code, chosen.json()) == (default.code, default.json())
    assert command("score", "arena", address, "--engine", "postgresql").code == 3
    refused = command("score", "arena", "data/", "--engine", "postgres")
    assert refused.code == 4
    assert "or the engine embedded" in refused.err


@pytest.mark.parametrize(
    ("name", "source", "error", "words"),
    [
        ("postgre", "data/", NotFound, "did you mean postgres"),
        ("postgres", "data/", Conflict, "give postgresql://user@host/database, or the engine"),
        ("postgres", [{"id": 1}], Conflict, "got another source"),
        ("sc://host:15002", "postgresql://host/x", Conflict, "reads folders of Parquet files"),
        ("sail", [{"id": 1}], Conflict, "write the records as Parquet, or use the engine"),
        ("spark", "data/", Unavailable, "give --engine sc://host:15002"),
        ("spark://host:7077", "data/", Unavailable, "start Spark's Connect server"),
        ("local[*]", "data/", Unavailable, "speaks Spark Connect only"),
    ],
)
def test_an_engine_that_cannot_do_it_gives_the_reason(
    name: str, source: Any, error: type[AgonError], words: str
) -> None:
    """Another engine is never used silently."""
    with pytest.raises(error, match=words):
        require_engine(name, source)


def test_an_engine_that_is_not_installed_names_its_package(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The message is the command to run."""
    absent = Engine("postgres", "gated", "postgresql://…", "no-such-package", "pip install it")
    monkeypatch.setattr(catalog, "ENGINES", (ENGINES[0], absent))
    with pytest.raises(Unavailable, match="postgres is not installed: pip install it"):
        require_engine("postgres", "postgresql://host/x")
    assert absent.to_dict()["installed"] is False
    assert absent.to_dict()["version"] is None


def test_the_engines_are_listed_with_their_versions(command: Cli) -> None:
    """People who report a problem say what they ran."""
    listed = json.loads(command("engines", "--format", "json").out)["engines"]
    assert [each["engine"] for each in listed] == ["embedded", "postgres", "sail", "sc://host:port"]
    assert all(each["installed"] and each["tier"] == "gated" for each in listed)
    assert listed[0]["version"].startswith("duckdb ")
    assert "pip install 'agon-engine[postgres]'" in command("engines", "--format", "csv").out
