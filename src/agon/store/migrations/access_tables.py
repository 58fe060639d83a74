"""Create the tables of users, tokens and ids of people, a part of the first revision."""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.types import TypeEngine

from agon.store.migrations.arena_tables import BYTES, FLAG, NAME, TEXT


def create_access_tables() -> None:
    """Create users, their tokens, and the ids of people that records name."""
    op.create_table(
        "users",
        required_column("id", NAME),
        required_column("name", TEXT),
        integer("created_at"),
        required_column("disabled", FLAG),
        sa.Column("password", TEXT),
        required_column("folded", NAME),
        sa.PrimaryKeyConstraint("id", name="users_pkey"),
    )
    op.create_index("users_folded_idx", "users", ["folded"])
    op.create_table(
        "tokens",
        required_column("id", NAME),
        required_column("user_id", NAME),
        required_column("label", TEXT),
        required_column("role", NAME),
        required_column("secret_sha256", BYTES),
        required_column("contests", TEXT),
        required_column("scopes", TEXT),
        integer("created_at"),
        integer("expires_at", optional=True),
        integer("revoked_at", optional=True),
        integer("used_at", optional=True),
        sa.Column("session", NAME),
        required_column("sources", TEXT),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="tokens_user_id_fkey"),
        sa.PrimaryKeyConstraint("id", name="tokens_pkey"),
    )
    op.create_index("tokens_user_id_idx", "tokens", ["user_id", "id"])
    op.create_table(
        "people",
        required_column("folded", NAME),
        required_column("id", NAME),
        integer("contest_no"),
        sa.PrimaryKeyConstraint("folded", "id", "contest_no", name="people_pkey"),
        sqlite_with_rowid=False,
    )


def integer(name: str, *, optional: bool = False) -> sa.Column[int]:
    """Return a column of whole numbers of 64 bits."""
    return sa.Column(name, sa.BigInteger(), autoincrement=False, nullable=optional)


def required_column(name: str, kind: TypeEngine[Any]) -> sa.Column[Any]:
    """Return a column that is never empty."""
    return sa.Column(name, kind, nullable=False)


def create_join_requests() -> None:
    """Create the people who wait for approval."""
    op.create_table(
        "join_requests",
        required_column("id", NAME),
        integer("contest_no"),
        required_column("invitation", NAME),
        required_column("user_id", NAME),
        required_column("role", NAME),
        integer("created_at"),
        sa.ForeignKeyConstraint(
            ["contest_no"], ["contests.no"], name="join_requests_contest_no_fkey"
        ),
        sa.PrimaryKeyConstraint("id", name="join_requests_pkey"),
    )
    op.create_index(
        "join_requests_contest_idx", "join_requests", ["contest_no", "created_at", "id"]
    )
