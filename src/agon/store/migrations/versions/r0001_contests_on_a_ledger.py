"""Lay out contests on a ledger: entries, boards, jobs, access, webhooks."""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.types import TypeEngine

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

NUMBER: TypeEngine[int] = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
NAME: TypeEngine[str] = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
TEXT, BYTES, FLAG, FLOAT = sa.Text(), sa.LargeBinary(), sa.Boolean(), sa.Float(precision=53)


def whole(name: str, *, optional: bool = False) -> sa.Column[int]:
    """Name a column of whole numbers."""
    return sa.Column(name, sa.BigInteger(), autoincrement=False, nullable=optional)


def given(name: str, kind: TypeEngine[Any]) -> sa.Column[Any]:
    """Name a column that is never empty."""
    return sa.Column(name, kind, nullable=False)


def partial(name: str, table: str, columns: list[str], *, where: str, unique: bool = False) -> None:
    """Index only the rows of a condition."""
    condition = sa.text(where)
    op.create_index(
        name, table, columns, unique=unique, sqlite_where=condition, postgresql_where=condition
    )


def upgrade() -> None:
    """Make all tables."""
    op.create_table(
        "answers",
        given("who", NAME),
        given("key", NAME),
        given("request_sha256", BYTES),
        whole("status"),
        given("headers", TEXT),
        given("body", BYTES),
        whole("at"),
        sa.PrimaryKeyConstraint("who", "key", name="answers_pkey"),
    )
    op.create_index("answers_at_idx", "answers", ["at"])
    op.create_table(
        "audit",
        sa.Column("no", NUMBER, autoincrement=True, nullable=False),
        whole("at"),
        given("by", NAME),
        given("action", NAME),
        given("target", TEXT),
        given("detail", TEXT),
        sa.Column("network", NAME),
        sa.PrimaryKeyConstraint("no", name="audit_pkey"),
    )
    op.create_table(
        "contests",
        sa.Column("no", NUMBER, autoincrement=True, nullable=False),
        given("id", NAME),
        given("discipline", NAME),
        given("title", TEXT),
        given("description", TEXT),
        given("visibility", NAME),
        sa.Column("series", NAME),
        whole("season", optional=True),
        given("state", NAME),
        given("edition", NAME),
        given("overrides", TEXT),
        given("boards", TEXT),
        whole("created_at"),
        whole("seq"),
        given("head", BYTES),
        whole("frozen_at", optional=True),
        whole("finalised_at", optional=True),
        sa.PrimaryKeyConstraint("no", name="contests_pkey"),
    )
    op.create_index("contests_id_key", "contests", ["id"], unique=True)
    op.create_index("contests_series_idx", "contests", ["series", "id"])
    op.create_table(
        "entries",
        whole("contest_no"),
        whole("seq"),
        given("kind", NAME),
        whole("at"),
        given("line", BYTES),
        given("sha256", BYTES),
        sa.Column("table_name", NAME),
        sa.Column("record", NAME),
        sa.Column("external_id", NAME),
        sa.Column("content", BYTES),
        sa.PrimaryKeyConstraint("contest_no", "seq", name="entries_pkey"),
        sqlite_with_rowid=False,
    )
    partial(
        "entries_external_id_key",
        "entries",
        ["contest_no", "external_id"],
        where="external_id IS NOT NULL AND kind <> 'record-replaced'",
        unique=True,
    )
    partial(
        "entries_record_key",
        "entries",
        ["contest_no", "record"],
        where="record IS NOT NULL AND kind <> 'record-replaced'",
        unique=True,
    )
    partial(
        "entries_replaced_external_id_idx",
        "entries",
        ["contest_no", "external_id"],
        where="external_id IS NOT NULL AND kind = 'record-replaced'",
    )
    partial(
        "entries_replaced_record_idx",
        "entries",
        ["contest_no", "record"],
        where="record IS NOT NULL AND kind = 'record-replaced'",
    )
    partial(
        "entries_table_idx",
        "entries",
        ["contest_no", "table_name", "seq"],
        where="table_name IS NOT NULL",
    )
    op.create_table(
        "histories",
        whole("contest_no"),
        given("board", NAME),
        given("participant", NAME),
        whole("seq"),
        whole("at"),
        whole("rank", optional=True),
        sa.Column("score", FLOAT),
        sa.Column("reason", TEXT),
        sa.PrimaryKeyConstraint("contest_no", "board", "participant", "seq", name="histories_pkey"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "snapshot_ids",
        whole("snapshot_no"),
        whole("bucket"),
        given("places", BYTES),
        sa.PrimaryKeyConstraint("snapshot_no", "bucket", name="snapshot_ids_pkey"),
    )
    op.create_table(
        "snapshot_rows",
        whole("snapshot_no"),
        given("unscored", FLAG),
        whole("chunk"),
        given("lines", BYTES),
        sa.PrimaryKeyConstraint("snapshot_no", "unscored", "chunk", name="snapshot_rows_pkey"),
    )
    op.create_table(
        "switches",
        given("name", NAME),
        given("is_on", FLAG),
        sa.PrimaryKeyConstraint("name", name="switches_pkey"),
    )
    op.create_table(
        "users",
        given("id", NAME),
        given("name", TEXT),
        whole("created_at"),
        given("disabled", FLAG),
        sa.Column("password", TEXT),
        sa.PrimaryKeyConstraint("id", name="users_pkey"),
    )
    op.create_table(
        "workers",
        given("name", NAME),
        given("kinds", TEXT),
        whole("seen_at"),
        given("version", TEXT),
        sa.PrimaryKeyConstraint("name", name="workers_pkey"),
    )
    op.create_table(
        "cases",
        whole("contest_no"),
        given("id", NAME),
        given("state", NAME),
        given("title", TEXT),
        given("subjects", TEXT),
        sa.Column("finding", TEXT),
        given("steps", TEXT),
        whole("opened_at"),
        sa.ForeignKeyConstraint(["contest_no"], ["contests.no"], name="cases_contest_no_fkey"),
        sa.PrimaryKeyConstraint("contest_no", "id", name="cases_pkey"),
    )
    op.create_table(
        "changes",
        whole("contest_no"),
        given("id", NAME),
        given("kind", NAME),
        given("params", TEXT),
        given("reason", TEXT),
        given("state", NAME),
        given("proposed_by", NAME),
        whole("proposed_at"),
        sa.Column("report", TEXT),
        whole("dry_run_at", optional=True),
        whole("applied_at", optional=True),
        whole("rolled_back_at", optional=True),
        sa.ForeignKeyConstraint(["contest_no"], ["contests.no"], name="changes_contest_no_fkey"),
        sa.PrimaryKeyConstraint("contest_no", "id", name="changes_pkey"),
    )
    op.create_table(
        "events",
        sa.Column("no", NUMBER, autoincrement=True, nullable=False),
        whole("contest_no"),
        whole("seq"),
        whole("at"),
        given("kind", NAME),
        given("body", TEXT),
        given("staff", FLAG),
        sa.ForeignKeyConstraint(["contest_no"], ["contests.no"], name="events_contest_no_fkey"),
        sa.PrimaryKeyConstraint("no", name="events_pkey"),
    )
    op.create_index("events_contest_idx", "events", ["contest_no", "no"])
    op.create_table(
        "findings",
        whole("contest_no"),
        whole("place"),
        given("line", BYTES),
        sa.ForeignKeyConstraint(["contest_no"], ["contests.no"], name="findings_contest_no_fkey"),
        sa.PrimaryKeyConstraint("contest_no", "place", name="findings_pkey"),
    )
    op.create_table(
        "jobs",
        given("id", NAME),
        given("kind", NAME),
        given("state", NAME),
        given("payload", TEXT),
        whole("contest_no", optional=True),
        whole("created_at"),
        whole("not_before"),
        whole("turn"),
        whole("attempts"),
        whole("max_attempts"),
        given("by", NAME),
        sa.Column("dedupe", NAME),
        sa.Column("worker", NAME),
        sa.Column("lease", NAME),
        whole("leased_until", optional=True),
        whole("started_at", optional=True),
        whole("ended_at", optional=True),
        sa.Column("progress", FLOAT),
        given("causes", TEXT),
        sa.Column("result", TEXT),
        sa.ForeignKeyConstraint(["contest_no"], ["contests.no"], name="jobs_contest_no_fkey"),
        sa.PrimaryKeyConstraint("id", name="jobs_pkey"),
    )
    op.create_index("jobs_contest_idx", "jobs", ["contest_no", "created_at", "id"])
    op.create_index("jobs_created_idx", "jobs", ["created_at", "id"])
    partial(
        "jobs_dedupe_key",
        "jobs",
        ["dedupe"],
        where="dedupe IS NOT NULL AND state = 'queued'",
        unique=True,
    )
    partial("jobs_done_idx", "jobs", ["kind", "ended_at"], where="state = 'done'")
    partial("jobs_leased_idx", "jobs", ["leased_until"], where="state = 'leased'")
    partial("jobs_queued_idx", "jobs", ["turn", "created_at", "id"], where="state = 'queued'")
    op.create_table(
        "looks",
        whole("contest_no"),
        whole("seq"),
        sa.ForeignKeyConstraint(["contest_no"], ["contests.no"], name="looks_contest_no_fkey"),
        sa.PrimaryKeyConstraint("contest_no", name="looks_pkey"),
    )
    op.create_table(
        "snapshots",
        sa.Column("no", NUMBER, autoincrement=True, nullable=False),
        whole("contest_no"),
        given("board", NAME),
        whole("seq"),
        whole("at"),
        whole("published_at"),
        given("manifest", TEXT),
        given("signature", TEXT),
        given("board_sha256", NAME),
        whole("rows"),
        whole("unscored"),
        given("stored", FLAG),
        whole("buckets"),
        sa.ForeignKeyConstraint(["contest_no"], ["contests.no"], name="snapshots_contest_no_fkey"),
        sa.PrimaryKeyConstraint("no", name="snapshots_pkey"),
    )
    op.create_index("snapshots_board_idx", "snapshots", ["contest_no", "board", "seq"])
    op.create_table(
        "tokens",
        given("id", NAME),
        given("user_id", NAME),
        given("label", TEXT),
        given("role", NAME),
        given("secret_sha256", BYTES),
        sa.Column("contests", TEXT),
        given("scopes", TEXT),
        whole("created_at"),
        whole("expires_at", optional=True),
        whole("revoked_at", optional=True),
        whole("used_at", optional=True),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="tokens_user_id_fkey"),
        sa.PrimaryKeyConstraint("id", name="tokens_pkey"),
    )
    op.create_index("tokens_user_id_idx", "tokens", ["user_id", "id"])
    op.create_table(
        "webhooks",
        given("id", NAME),
        whole("contest_no"),
        given("url", TEXT),
        given("secret", BYTES),
        given("events", TEXT),
        given("staff", FLAG),
        given("active", FLAG),
        whole("created_at"),
        given("by", NAME),
        sa.ForeignKeyConstraint(["contest_no"], ["contests.no"], name="webhooks_contest_no_fkey"),
        sa.PrimaryKeyConstraint("id", name="webhooks_pkey"),
    )
    op.create_index("webhooks_contest_idx", "webhooks", ["contest_no", "created_at", "id"])
    op.create_table(
        "deliveries",
        given("id", NAME),
        given("webhook_id", NAME),
        whole("event_no"),
        given("state", NAME),
        given("attempts", TEXT),
        whole("created_at"),
        sa.ForeignKeyConstraint(["webhook_id"], ["webhooks.id"], name="deliveries_webhook_id_fkey"),
        sa.PrimaryKeyConstraint("id", name="deliveries_pkey"),
    )
    op.create_index("deliveries_webhook_idx", "deliveries", ["webhook_id", "created_at", "id"])
