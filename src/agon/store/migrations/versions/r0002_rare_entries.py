"""Index the entries that hold no record, by kind, and look submissions up by their ids."""

import json

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the index, and give submissions that are there what they are looked up by."""
    rare = sa.text("kind <> 'record-added' AND kind <> 'record-replaced'")
    op.create_index(
        "entries_kind_idx", "entries", ["contest_no", "kind", "seq"],
        sqlite_where=rare, postgresql_where=rare,
    )  # fmt: skip
    entries = sa.table("entries", *map(sa.column, ("contest_no", "seq", "kind", "line", "record")))
    connection = op.get_bind()
    received = sa.select(entries.c.contest_no, entries.c.seq).where(
        entries.c.kind == "submission-received"
    )
    known = set()
    for no, seq in connection.execute(received.order_by("contest_no", "seq")).all():
        here = (entries.c.contest_no == no) & (entries.c.seq == seq)
        line: bytes = connection.execute(sa.select(entries.c.line).where(here)).scalar_one()
        name = json.loads(bytes(line))["body"]["submission"]
        if (no, name) not in known:
            known.add((no, name))
            connection.execute(sa.update(entries).where(here).values(record=f"received/{name}"))
