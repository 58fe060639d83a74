"""Score in a session of a Spark Connect server that is named and stays."""

from pathlib import Path
from uuid import uuid4

import agon
from agon.disciplines import discipline
from agon.engines import open_tables
from agon.engines.importing import importable
from agon.records.relational import inspect_in


def share_session(address: str, folder: Path, of: str) -> None:
    """Score by two clients at once, and by a later one; none disturbs another or leaves views.

    Args:
        address: the server's.
        folder: where records are written.
        of: the discipline.
    """
    named = f"{address}/;session_id={uuid4()}"
    definition = discipline(of)
    sources = [folder / "first", folder / "second"]
    for seed, source in enumerate(sources):
        agon.write_records(agon.simulate(of, size=60, seed=seed), source)
    expected = [agon.score(of, source).board().sha256 for source in sources]
    clients = [open_tables(named) for _ in sources]
    opened = zip(clients, sources, strict=True)
    records = [inspect_in(client, definition.schema, source)[0] for client, source in opened]
    board = definition.boards[0]
    boards = [definition.score(each, definition.rules()).board(board) for each in records]
    assert [each.sha256 for each in boards] == expected
    clients[0].close()
    table = next(iter(definition.schema)).name
    assert records[1].count(table) == agon.read_records(of, sources[1]).count(table)
    clients[1].close()
    assert agon.score(of, sources[0], engine=named).board().sha256 == expected[0]
    with importable():
        from pyspark.sql.connect.session import SparkSession
    session = SparkSession.builder.remote(named).create()
    assert session.catalog.listTables() == []
    session.stop()
