"""Create all tables: contests, ledger entries, boards, jobs, access, webhooks."""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.types import TypeEngine

from agon.store.migrations.access_tables import create_access_tables, create_join_requests
from agon.store.migrations.arena_tables import create_arena_tables
from agon.store.migrations.name_tables import create_name_tables

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

NUMBER: TypeEngine[int] = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
NAME: TypeEngine[str] = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
TEXT, BYTES, FLAG, FLOAT = sa.Text(), sa.LargeBinary(), sa.Boolean(), sa.Float(precision=53)


def integer(name: str, *, optional: bool = False) -> sa.Column[int]:
    """Return a column of 64-bit integers."""
    return sa.Column(name, sa.BigInteger(), autoincrement=False, nullable=optional)


def required_column(name: str, kind: TypeEngine[Any]) -> sa.Column[Any]:
    """Return a column that is never NULL."""
    return sa.Column(name, kind, nullable=False)


def partial(name: str, table: str, columns: list[str], *, where: str, unique: bool = False) -> None:
    """Create an index of the rows that meet a condition."""
    condition = sa.text(where)
    op.create_index(
        name, table, columns, unique=unique, sqlite_where=condition, postgresql_where=condition
    )


def upgrade() -> None:
    """Create all tables."""
    op.create_table(
        "responses",
        required_column("caller", NAME),
        required_column("key", NAME),
        required_column("request_sha256", BYTES),
        integer("status"),
        required_column("headers", TEXT),
        required_column("body", BYTES),
        integer("at"),
        sa.PrimaryKeyConstraint("caller", "key", name="responses_pkey"),
    )
    op.create_index("responses_at_idx", "responses", ["at"])
    op.create_table(
        "audit",
        sa.Column("no", NUMBER, autoincrement=True, nullable=False),
        integer("at"),
        required_column("by", NAME),
        required_column("action", NAME),
        required_column("target", TEXT),
        required_column("detail", TEXT),
        sa.Column("network", NAME),
        sa.PrimaryKeyConstraint("no", name="audit_pkey"),
    )
    op.create_table(
        "contests",
        sa.Column("no", NUMBER, autoincrement=True, nullable=False),
        required_column("id", NAME),
        required_column("discipline", NAME),
        required_column("title", TEXT),
        required_column("description", TEXT),
        required_column("visibility", NAME),
        sa.Column("series", NAME),
        integer("season", optional=True),
        required_column("state", NAME),
        required_column("edition", NAME),
        required_column("overrides", TEXT),
        required_column("boards", TEXT),
        integer("created_at"),
        integer("seq"),
        required_column("head", BYTES),
        integer("frozen_at", optional=True),
        integer("finalized_at", optional=True),
        integer("starts_at", optional=True),
        integer("ends_at", optional=True),
        sa.Column("names", NAME),
        sa.Column("created_by", NAME),
        sa.PrimaryKeyConstraint("no", name="contests_pkey"),
    )
    op.create_index("contests_created_by_idx", "contests", ["created_by"])
    op.create_index("contests_id_key", "contests", ["id"], unique=True)
    op.create_index("contests_series_idx", "contests", ["series", "id"])
    op.create_table(
        "entries",
        integer("contest_no"),
        integer("seq"),
        required_column("kind", NAME),
        integer("at"),
        required_column("line", BYTES),
        required_column("sha256", BYTES),
        sa.Column("table_name", NAME),
        sa.Column("record", NAME),
        sa.Column("external_id", NAME),
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
    partial(
        "entries_kind_idx",
        "entries",
        ["contest_no", "kind", "seq"],
        where="kind <> 'record-added' AND kind <> 'record-replaced'",
    )
    op.create_table(
        "histories",
        integer("contest_no"),
        required_column("board", NAME),
        required_column("participant", NAME),
        integer("seq"),
        integer("at"),
        integer("rank", optional=True),
        sa.Column("score", FLOAT),
        sa.Column("reason", TEXT),
        sa.PrimaryKeyConstraint("contest_no", "board", "participant", "seq", name="histories_pkey"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "snapshot_ids",
        integer("snapshot_no"),
        integer("bucket"),
        required_column("row_indexes", BYTES),
        sa.PrimaryKeyConstraint("snapshot_no", "bucket", name="snapshot_ids_pkey"),
    )
    op.create_table(
        "snapshot_orders",
        integer("snapshot_no"),
        required_column("column", NAME),
        integer("chunk"),
        required_column("row_indexes", BYTES),
        sa.PrimaryKeyConstraint("snapshot_no", "column", "chunk", name="snapshot_orders_pkey"),
    )
    op.create_table(
        "snapshot_rows",
        integer("snapshot_no"),
        required_column("unscored", FLAG),
        integer("chunk"),
        required_column("lines", BYTES),
        sa.PrimaryKeyConstraint("snapshot_no", "unscored", "chunk", name="snapshot_rows_pkey"),
    )
    op.create_table(
        "switches",
        required_column("name", NAME),
        required_column("is_on", FLAG),
        sa.PrimaryKeyConstraint("name", name="switches_pkey"),
    )
    create_name_tables()
    create_access_tables()
    op.create_table(
        "workers",
        required_column("name", NAME),
        required_column("kinds", TEXT),
        integer("seen_at"),
        required_column("version", TEXT),
        sa.PrimaryKeyConstraint("name", name="workers_pkey"),
    )
    op.create_table(
        "cases",
        integer("contest_no"),
        required_column("id", NAME),
        required_column("state", NAME),
        required_column("title", TEXT),
        required_column("subjects", TEXT),
        sa.Column("finding", TEXT),
        required_column("steps", TEXT),
        integer("opened_at"),
        sa.ForeignKeyConstraint(["contest_no"], ["contests.no"], name="cases_contest_no_fkey"),
        sa.PrimaryKeyConstraint("contest_no", "id", name="cases_pkey"),
    )
    op.create_table(
        "changes",
        integer("contest_no"),
        required_column("id", NAME),
        required_column("kind", NAME),
        required_column("params", TEXT),
        required_column("reason", TEXT),
        required_column("state", NAME),
        required_column("proposed_by", NAME),
        integer("proposed_at"),
        sa.Column("report", TEXT),
        integer("dry_run_at", optional=True),
        integer("applied_at", optional=True),
        integer("rolled_back_at", optional=True),
        sa.ForeignKeyConstraint(["contest_no"], ["contests.no"], name="changes_contest_no_fkey"),
        sa.PrimaryKeyConstraint("contest_no", "id", name="changes_pkey"),
    )
    op.create_table(
        "events",
        sa.Column("no", NUMBER, autoincrement=True, nullable=False),
        integer("contest_no"),
        integer("seq"),
        integer("at"),
        required_column("kind", NAME),
        required_column("body", TEXT),
        required_column("staff", FLAG),
        sa.Column("user", NAME),
        sa.ForeignKeyConstraint(["contest_no"], ["contests.no"], name="events_contest_no_fkey"),
        sa.PrimaryKeyConstraint("no", name="events_pkey"),
    )
    op.create_index("events_contest_idx", "events", ["contest_no", "no"])
    op.create_table(
        "findings",
        integer("contest_no"),
        integer("ordinal"),
        required_column("line", BYTES),
        sa.ForeignKeyConstraint(["contest_no"], ["contests.no"], name="findings_contest_no_fkey"),
        sa.PrimaryKeyConstraint("contest_no", "ordinal", name="findings_pkey"),
    )
    op.create_table(
        "jobs",
        required_column("id", NAME),
        required_column("kind", NAME),
        required_column("state", NAME),
        required_column("payload", TEXT),
        integer("contest_no", optional=True),
        integer("created_at"),
        integer("not_before"),
        integer("negated_priority"),
        integer("attempts"),
        integer("max_attempts"),
        required_column("by", NAME),
        sa.Column("dedupe", NAME),
        sa.Column("worker", NAME),
        sa.Column("lease", NAME),
        integer("leased_until", optional=True),
        integer("started_at", optional=True),
        integer("ended_at", optional=True),
        sa.Column("progress", FLOAT),
        required_column("causes", TEXT),
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
    partial(
        "jobs_queued_idx",
        "jobs",
        ["negated_priority", "created_at", "id"],
        where="state = 'queued'",
    )
    op.create_table(
        "scans",
        integer("contest_no"),
        integer("seq"),
        sa.ForeignKeyConstraint(["contest_no"], ["contests.no"], name="scans_contest_no_fkey"),
        sa.PrimaryKeyConstraint("contest_no", name="scans_pkey"),
    )
    op.create_table(
        "snapshots",
        sa.Column("no", NUMBER, autoincrement=True, nullable=False),
        integer("contest_no"),
        required_column("board", NAME),
        integer("seq"),
        integer("at"),
        integer("published_at"),
        required_column("manifest", TEXT),
        required_column("signature", TEXT),
        required_column("board_sha256", NAME),
        integer("rows"),
        integer("unscored"),
        required_column("stored", FLAG),
        integer("buckets"),
        sa.Column("summary", TEXT),
        sa.ForeignKeyConstraint(["contest_no"], ["contests.no"], name="snapshots_contest_no_fkey"),
        sa.PrimaryKeyConstraint("no", name="snapshots_pkey"),
    )
    op.create_index("snapshots_board_idx", "snapshots", ["contest_no", "board", "seq"])
    op.create_table(
        "invitations",
        required_column("id", NAME),
        integer("contest_no"),
        required_column("role", NAME),
        required_column("secret_sha256", BYTES),
        sa.Column("user_id", NAME),
        integer("max_uses"),
        integer("uses"),
        integer("created_at"),
        integer("expires_at", optional=True),
        integer("revoked_at", optional=True),
        required_column("note", TEXT),
        required_column("by", NAME),
        required_column("approval", FLAG),
        sa.ForeignKeyConstraint(
            ["contest_no"], ["contests.no"], name="invitations_contest_no_fkey"
        ),
        sa.PrimaryKeyConstraint("id", name="invitations_pkey"),
    )
    op.create_index("invitations_contest_idx", "invitations", ["contest_no", "created_at", "id"])
    create_join_requests()
    op.create_table(
        "webhooks",
        required_column("id", NAME),
        integer("contest_no"),
        required_column("url", TEXT),
        required_column("secret", BYTES),
        required_column("events", TEXT),
        required_column("staff", FLAG),
        required_column("active", FLAG),
        integer("created_at"),
        required_column("by", NAME),
        sa.ForeignKeyConstraint(["contest_no"], ["contests.no"], name="webhooks_contest_no_fkey"),
        sa.PrimaryKeyConstraint("id", name="webhooks_pkey"),
    )
    op.create_index("webhooks_contest_idx", "webhooks", ["contest_no", "created_at", "id"])
    op.create_table(
        "deliveries",
        required_column("id", NAME),
        required_column("webhook_id", NAME),
        integer("event_no"),
        required_column("state", NAME),
        required_column("attempts", TEXT),
        integer("created_at"),
        sa.ForeignKeyConstraint(["webhook_id"], ["webhooks.id"], name="deliveries_webhook_id_fkey"),
        sa.PrimaryKeyConstraint("id", name="deliveries_pkey"),
    )
    op.create_index("deliveries_webhook_idx", "deliveries", ["webhook_id", "created_at", "id"])
    op.create_table(
        "model_usage",
        required_column("judge", NAME),
        required_column("day", NAME),
        integer("calls"),
        integer("tokens"),
        integer("failures"),
        integer("resumes_at", optional=True),
        required_column("cause", TEXT),
        sa.PrimaryKeyConstraint("judge", name="model_usage_pkey"),
    )
    op.create_table(
        "model_counts",
        required_column("judge", NAME),
        required_column("measure", NAME),
        integer("successes"),
        integer("trials"),
        sa.PrimaryKeyConstraint("judge", "measure", name="model_counts_pkey"),
    )
    op.create_table(
        "attachments",
        integer("contest_no"),
        required_column("sha256", NAME),
        required_column("content", BYTES),
        sa.ForeignKeyConstraint(
            ["contest_no"], ["contests.no"], name="attachments_contest_no_fkey"
        ),
        sa.PrimaryKeyConstraint("contest_no", "sha256", name="attachments_pkey"),
    )
    create_arena_tables()
