"""Score in a session of a Spark Connect server that is named and stays."""

from pathlib import Path
from uuid import uuid4

import agon
from agon.disciplines.community.records import SCHEMA
from agon.disciplines.community.rules import CommunityRules
from agon.disciplines.community.scoring import score
from agon.engines import open_tables
from agon.engines.importing import importable
from agon.records.relational import inspect_in


def share_session(address: str, folder: Path) -> None:
    """Score by two clients at once, and by a later one; none disturbs another or leaves views."""
    named = f"{address}/;session_id={uuid4()}"
    sources = [folder / "first", folder / "second"]
    for seed, source in enumerate(sources):
        agon.write_records(agon.simulate("community", size=20, seed=seed), source)
    expected = [agon.score("community", source).board().sha256 for source in sources]
    clients = [open_tables(named) for _ in sources]
    opened = zip(clients, sources, strict=True)
    records = [inspect_in(client, SCHEMA, source)[0] for client, source in opened]
    boards = [score(each, CommunityRules()).board("user-score") for each in records]
    assert [board.sha256 for board in boards] == expected
    clients[0].close()
    assert records[1].count("users") == agon.read_records("community", sources[1]).count("users")
    clients[1].close()
    assert agon.score("community", sources[0], engine=named).board().sha256 == expected[0]
    with importable():
        from pyspark.sql.connect.session import SparkSession
    session = SparkSession.builder.remote(named).create()
    assert session.catalog.listTables() == []
    session.stop()
