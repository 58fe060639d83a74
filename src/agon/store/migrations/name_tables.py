"""Create the tables of participants' names, a part of the first revision."""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.types import TypeEngine

from agon.store.migrations.arena_tables import NAME, TEXT


def create_name_tables() -> None:
    """Create the names of participants, what a search compares, and their positions."""
    op.create_table(
        "participant_names",
        _integer("contest_no"),
        _required_column("id", NAME),
        _integer("since"),
        _required_column("name", TEXT),
        sa.Column("until", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("contest_no", "id", "since", name="participant_names_pkey"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "name_beginnings",
        _integer("contest_no"),
        _required_column("folded", NAME),
        _required_column("id", NAME),
        _integer("since"),
        sa.Column("until", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("contest_no", "folded", "id", "since", name="name_beginnings_pkey"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "name_positions",
        _integer("contest_no"),
        _integer("seq"),
        sa.ForeignKeyConstraint(
            ["contest_no"], ["contests.no"], name="name_positions_contest_no_fkey"
        ),
        sa.PrimaryKeyConstraint("contest_no", name="name_positions_pkey"),
    )


def _integer(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), autoincrement=False, nullable=False)


def _required_column(name: str, kind: TypeEngine[Any]) -> sa.Column[Any]:
    return sa.Column(name, kind, nullable=False)
