"""Create the tables of live arenas, a part of the first revision."""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.types import TypeEngine

NAME: TypeEngine[str] = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
TEXT, BYTES, FLAG, FLOAT = sa.Text(), sa.LargeBinary(), sa.Boolean(), sa.Float(precision=53)


def create_arena_tables() -> None:
    """Create bots, present judges, prompts, answers of people and for honeypots, rounds, work."""
    op.create_table(
        "live_bots",
        *_of_contest("live_bots"),
        _nullable_column("user", NAME),
        _column("owner_id", NAME),
        _column("name", TEXT),
        _integer("registered_at"),
        _integer("version_at"),
        _nullable_column("endpoint", TEXT),
        _nullable_column("secret", BYTES),
        _nullable_column("old_secret", BYTES),
        _integer("old_secret_until", optional=True),
        _column("version", TEXT),
        _column("judges", FLAG),
        _nullable_column("paused", TEXT),
        _integer("forfeits"),
        _integer("attempted_at", optional=True),
        _nullable_column("latency_ms", FLOAT),
        _column("recent_prompts", TEXT),
        _column("recent_templates", TEXT),
        _column("states", TEXT),
    )
    op.create_table(
        "present_judges",
        *_of_contest("present_judges"),
        _integer("seen_at"),
        _column("recent_templates", TEXT),
        _nullable_column("network", NAME),
        _column("as_judge", FLAG),
    )
    op.create_table(
        "prompts", *_of_contest("prompts"), _column("text", TEXT), _column("retired", FLAG)
    )
    op.create_table(
        "human_answers",
        *_of_contest("human_answers"),
        _column("prompt_id", NAME),
        _column("text", TEXT),
    )
    op.create_table(
        "honeypot_answers",
        *_of_contest("honeypot_answers"),
        _column("text", TEXT),
        _nullable_column("prompt_id", NAME),
        _column("salt", NAME),
        _column("sha256", NAME),
        _integer("seq"),
        _integer("retired_seq", optional=True),
        _nullable_column("match", NAME),
    )
    op.create_table(
        "rounds",
        *_of_contest("rounds"),
        _integer("number"),
        _column("kind", NAME),
        _column("phase", NAME),
        _column("seed", BYTES),
        _column("body", TEXT),
        _integer("began_at"),
        _integer("settled_seq", optional=True),
        _column("summary", TEXT),
    )
    op.create_index("rounds_number_key", "rounds", ["contest_no", "kind", "number"], unique=True)
    op.create_table(
        "work",
        _column("id", NAME),
        _integer("contest_no"),
        _column("round", NAME),
        _column("match", NAME),
        _column("kind", NAME),
        _column("assignee", NAME),
        _column("pushed", FLAG),
        _column("body", TEXT),
        _integer("deadline"),
        _integer("created_at"),
        _nullable_column("result", TEXT),
        _integer("result_at", optional=True),
        _nullable_column("handed_in", TEXT),
        _nullable_column("latency_ms", FLOAT),
        sa.ForeignKeyConstraint(["contest_no"], ["contests.no"], name="work_contest_no_fkey"),
        sa.PrimaryKeyConstraint("id", name="work_pkey"),
    )
    assignment = ["contest_no", "match", "kind", "assignee"]
    op.create_index("work_assignment_key", "work", assignment, unique=True)
    op.create_index("work_round_idx", "work", ["contest_no", "round"])
    waiting = sa.text("result IS NULL")
    op.create_index(
        "work_waiting_idx", "work", ["contest_no", "assignee"],
        sqlite_where=waiting, postgresql_where=waiting,
    )  # fmt: skip


def _of_contest(table: str) -> list[sa.Column[int] | sa.Column[str] | sa.Constraint]:
    """Return the columns and keys that all but one of the tables begin with."""
    return [
        _integer("contest_no"),
        sa.Column("id", NAME, nullable=False),
        sa.ForeignKeyConstraint(["contest_no"], ["contests.no"], name=f"{table}_contest_no_fkey"),
        sa.PrimaryKeyConstraint("contest_no", "id", name=f"{table}_pkey"),
    ]


def _integer(name: str, *, optional: bool = False) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), autoincrement=False, nullable=optional)


def _column(name: str, kind: TypeEngine[Any]) -> sa.Column[Any]:
    return sa.Column(name, kind, nullable=False)


def _nullable_column(name: str, kind: TypeEngine[Any]) -> sa.Column[Any]:
    return sa.Column(name, kind)
