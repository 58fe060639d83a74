"""Define the tables, the same for SQLite and PostgreSQL; until 0.1, no revision repeats them.

Times are integer microseconds since 1970 (UTC), JSON is text, hashes are bytes. Names are compared
byte by byte in both databases, so that pages have the same order. Entries, rows, histories and
names have no foreign keys: they are many, and every writer holds the lock of their contest. Jobs
are claimed in the order of ``negated_priority``, negated so that the index is read forwards.
"""

from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    literal_column,
)
from sqlalchemy.types import TypeEngine

METADATA: Final = MetaData(
    naming_convention={
        "pk": "%(table_name)s_pkey",
        "fk": "%(table_name)s_%(column_0_name)s_fkey",
        "uq": "%(table_name)s_%(column_0_N_name)s_key",
        "ix": "%(table_name)s_%(column_0_N_name)s_idx",
    }
)

_NUMBER: Final[TypeEngine[int]] = BigInteger().with_variant(Integer(), "sqlite")
_NAME: Final[TypeEngine[str]] = Text().with_variant(Text(collation="C"), "postgresql")


def _integer(name: str, *, optional: bool = False, key: bool = False) -> Column[int]:
    return Column(name, BigInteger(), nullable=optional, primary_key=key, autoincrement=False)


def _name(name: str, *, optional: bool = False, key: bool = False) -> Column[str]:
    return Column(name, _NAME, nullable=optional, primary_key=key)


def _bytes(name: str, *, optional: bool = False) -> Column[bytes]:
    return Column(name, LargeBinary(), nullable=optional)


def _text(name: str, *, optional: bool = False) -> Column[str]:
    return Column(name, Text(), nullable=optional)


def _flag(name: str) -> Column[bool]:
    return Column(name, Boolean(), nullable=False)


def _number() -> Column[int]:
    return Column("no", _NUMBER, primary_key=True, autoincrement=True)


def _contest(*, key: bool = False, optional: bool = False) -> Column[int]:
    return Column(
        "contest_no", BigInteger(), ForeignKey("contests.no"), primary_key=key, nullable=optional,
        autoincrement=False,
    )  # fmt: skip


def _partial(name: str, *columns: Any, where: str, unique: bool = False) -> Index:
    """Return an index of the rows that meet a condition; queries use it if they state the same."""
    condition: ColumnElement[bool] = literal_column(where)
    return Index(name, *columns, unique=unique, sqlite_where=condition, postgresql_where=condition)


CONTESTS: Final = Table(
    "contests", METADATA, _number(), _name("id"), _name("discipline"), _text("title"),
    _text("description"), _name("visibility"), _name("series", optional=True),
    _integer("season", optional=True), _name("state"), _name("edition"), _text("overrides"),
    _text("boards"), _integer("created_at"), _integer("seq"), _bytes("head"),
    _integer("frozen_at", optional=True), _integer("finalized_at", optional=True),
    _integer("voided_at", optional=True), _text("void_reason", optional=True),
    _integer("starts_at", optional=True), _integer("ends_at", optional=True),
    _name("names", optional=True), _name("created_by", optional=True),
    Index("contests_created_by_idx", "created_by"),
    Index("contests_id_key", "id", unique=True),
    Index("contests_series_idx", "series", "id"),
)  # fmt: skip

ENTRIES: Final = Table(
    "entries", METADATA, _integer("contest_no", key=True), _integer("seq", key=True), _name("kind"),
    _integer("at"), _bytes("line"), _bytes("sha256"), _name("table_name", optional=True),
    _name("record", optional=True), _name("external_id", optional=True),
    _partial("entries_record_key", "contest_no", "record", unique=True,
             where="record IS NOT NULL AND kind <> 'record-replaced'"),
    _partial("entries_external_id_key", "contest_no", "external_id", unique=True,
             where="external_id IS NOT NULL AND kind <> 'record-replaced'"),
    _partial("entries_replaced_record_idx", "contest_no", "record",
             where="record IS NOT NULL AND kind = 'record-replaced'"),
    _partial("entries_replaced_external_id_idx", "contest_no", "external_id",
             where="external_id IS NOT NULL AND kind = 'record-replaced'"),
    _partial("entries_table_idx", "contest_no", "table_name", "seq",
             where="table_name IS NOT NULL"),
    _partial("entries_kind_idx", "contest_no", "kind", "seq",
             where="kind <> 'record-added' AND kind <> 'record-replaced'"),
    sqlite_with_rowid=False,
)  # fmt: skip

SNAPSHOTS: Final = Table(
    "snapshots", METADATA, _number(), _contest(), _name("board"), _integer("seq"), _integer("at"),
    _integer("published_at"), _text("manifest"), _text("signature"), _name("board_sha256"),
    _integer("rows"), _integer("unscored"), _flag("stored"), _integer("buckets"),
    _text("summary", optional=True), _text("notes", optional=True),
    Index("snapshots_board_idx", "contest_no", "board", "seq"),
)  # fmt: skip

SNAPSHOT_ROWS: Final = Table(
    "snapshot_rows", METADATA, _integer("snapshot_no", key=True),
    Column("unscored", Boolean(), primary_key=True), _integer("chunk", key=True), _bytes("lines"),
)  # fmt: skip

SNAPSHOT_IDS: Final = Table(
    "snapshot_ids", METADATA, _integer("snapshot_no", key=True), _integer("bucket", key=True),
    _bytes("row_indexes"),
)  # fmt: skip

SNAPSHOT_ORDERS: Final = Table(
    "snapshot_orders",
    METADATA,
    _integer("snapshot_no", key=True),
    _name("column", key=True),
    _integer("chunk", key=True),
    _bytes("row_indexes"),
)
"""The rows' indexes in the order of each column, the largest value first, in chunks."""

HISTORIES: Final = Table(
    "histories", METADATA, _integer("contest_no", key=True), _name("board", key=True),
    _name("participant", key=True), _integer("seq", key=True), _integer("at"),
    _integer("rank", optional=True), Column("score", Float(53), nullable=True),
    _text("reason", optional=True), sqlite_with_rowid=False,
)  # fmt: skip

PARTICIPANT_NAMES: Final = Table(
    "participant_names", METADATA, _integer("contest_no", key=True), _name("id", key=True),
    _integer("since", key=True), _text("name"), _integer("until", optional=True),
    sqlite_with_rowid=False,
)  # fmt: skip
"""Names of participants of contests that show them, each with the positions it is shown at."""

NAME_BEGINNINGS: Final = Table(
    "name_beginnings", METADATA, _integer("contest_no", key=True), _name("folded", key=True),
    _name("id", key=True), _integer("since", key=True), _integer("until", optional=True),
    sqlite_with_rowid=False,
)  # fmt: skip
"""What a search compares: of each name the folded text from each of its words on."""

NAME_POSITIONS: Final = Table("name_positions", METADATA, _contest(key=True), _integer("seq"))
"""The ledger position at which the names of each contest were stored."""

CHANGES: Final = Table(
    "changes", METADATA, _contest(key=True), _name("id", key=True), _name("kind"), _text("params"),
    _text("reason"), _name("state"), _name("proposed_by"), _integer("proposed_at"),
    _text("report", optional=True), _integer("dry_run_at", optional=True),
    _integer("applied_at", optional=True), _integer("rolled_back_at", optional=True),
)  # fmt: skip

CASES: Final = Table(
    "cases", METADATA, _contest(key=True), _name("id", key=True), _name("state"), _text("title"),
    _text("subjects"), _text("finding", optional=True), _text("steps"), _integer("opened_at"),
)  # fmt: skip

SCANS: Final = Table("scans", METADATA, _contest(key=True), _integer("seq"))
"""The ledger position of the last integrity scan of each contest."""

FINDINGS: Final = Table(
    "findings", METADATA, _contest(key=True), _integer("ordinal", key=True), _bytes("line")
)

EVENTS: Final = Table(
    "events", METADATA, _number(), _contest(), _integer("seq"), _integer("at"), _name("kind"),
    _text("body"), _flag("staff"), _name("user", optional=True),
    Index("events_contest_idx", "contest_no", "no"),
)  # fmt: skip

JOBS: Final = Table(
    "jobs", METADATA, _name("id", key=True), _name("kind"), _name("state"), _text("payload"),
    _contest(optional=True), _integer("created_at"), _integer("not_before"),
    _integer("timed_at"), _integer("negated_priority"), _integer("attempts"),
    _integer("max_attempts"), _name("by"),
    _name("dedupe", optional=True), _name("worker", optional=True), _name("lease", optional=True),
    _integer("leased_until", optional=True), _integer("started_at", optional=True),
    _integer("ended_at", optional=True), Column("progress", Float(53), nullable=True),
    _text("causes"), _text("result", optional=True),
    _partial("jobs_dedupe_key", "dedupe", unique=True,
             where="dedupe IS NOT NULL AND state = 'queued'"),
    _partial("jobs_queued_idx", "negated_priority", "created_at", "id",
             where="state = 'queued'"),
    _partial("jobs_leased_idx", "leased_until", where="state = 'leased'"),
    _partial("jobs_timed_idx", "timed_at", where="state IN ('queued', 'leased')"),
    _partial("jobs_done_idx", "kind", "ended_at", where="state = 'done'"),
    Index("jobs_created_idx", "created_at", "id"),
    Index("jobs_contest_idx", "contest_no", "created_at", "id"),
)  # fmt: skip

TRIAL_DETAILS: Final = Table(
    "trial_details", METADATA,
    Column("job_id", _NAME, ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True),
    _text("text"),
)  # fmt: skip
"""What happened in trials, as JSON, by the job that ran each; deleted with it."""

WORKERS: Final = Table(
    "workers", METADATA, _name("name", key=True), _text("kinds"), _integer("seen_at"),
    _text("version"),
)  # fmt: skip

SWITCHES: Final = Table("switches", METADATA, _name("name", key=True), _flag("is_on"))
"""Switches of this instance: ``paused`` stops the queue."""

USERS: Final = Table(
    "users", METADATA, _name("id", key=True), _text("name"), _integer("created_at"),
    _flag("disabled"), _text("password", optional=True), _name("folded"),
    Index("users_folded_idx", "folded"),
)  # fmt: skip

PEOPLE: Final = Table(
    "people",
    METADATA,
    _name("folded", key=True),
    _name("id", key=True),
    _integer("contest_no", key=True),
    sqlite_with_rowid=False,
)
"""The ids of people that the records of each contest name; ``folded``: as ids are read."""

TOKENS: Final = Table(
    "tokens", METADATA, _name("id", key=True),
    Column("user_id", _NAME, ForeignKey("users.id"), nullable=False), _text("label"),
    _name("role"), _bytes("secret_sha256"), _text("contests"), _text("scopes"),
    _integer("created_at"), _integer("expires_at", optional=True),
    _integer("revoked_at", optional=True), _integer("used_at", optional=True),
    _name("session", optional=True), _text("sources"),
    Index("tokens_user_id_idx", "user_id", "id"),
)  # fmt: skip

INVITATIONS: Final = Table(
    "invitations", METADATA, _name("id", key=True), _contest(), _name("role"),
    _bytes("secret_sha256"), _name("user", optional=True), _integer("max_uses"),
    _integer("uses"), _integer("created_at"), _integer("expires_at", optional=True),
    _integer("revoked_at", optional=True), _text("note"), _name("by"), _flag("approval"),
    Index("invitations_contest_idx", "contest_no", "created_at", "id"),
)  # fmt: skip

JOIN_REQUESTS: Final = Table(
    "join_requests", METADATA, _name("id", key=True), _contest(), _name("invitation"),
    _name("user"), _name("role"), _integer("created_at"),
    Index("join_requests_contest_idx", "contest_no", "created_at", "id"),
)  # fmt: skip
"""People who accepted an invitation that asks for approval; ``id`` is that of their token."""

MEMBER_TERMS: Final = Table(
    "member_terms", METADATA, _contest(key=True), _name("user_id", key=True),
    _integer("withdrawn_at", optional=True), _integer("ends_at", optional=True),
    _text("problem_ends"), _integer("hidden_at", optional=True), _integer("attempts"),
    _text("reason"), _name("by"), _integer("changed_at"),
)  # fmt: skip
"""What differs for one person in a contest: withdrawn, later ends, a hidden name, submissions."""

RESPONSES: Final = Table(
    "responses", METADATA, _name("caller", key=True), _name("key", key=True),
    _bytes("request_sha256"), _integer("status"), _text("headers"), _bytes("body"), _integer("at"),
    Index("responses_at_idx", "at"),
)  # fmt: skip

AUDIT: Final = Table(
    "audit", METADATA, _number(), _integer("at"), _name("by"), _name("action"), _text("target"),
    _text("detail"), _name("network", optional=True),
)  # fmt: skip

WEBHOOKS: Final = Table(
    "webhooks", METADATA, _name("id", key=True), _contest(), _text("url"), _bytes("secret"),
    _text("events"), _flag("staff"), _flag("active"), _integer("created_at"), _name("by"),
    Index("webhooks_contest_idx", "contest_no", "created_at", "id"),
)  # fmt: skip

DELIVERIES: Final = Table(
    "deliveries", METADATA, _name("id", key=True),
    Column("webhook_id", _NAME, ForeignKey("webhooks.id"), nullable=False), _integer("event_no"),
    _name("state"), _text("attempts"), _integer("created_at"),
    Index("deliveries_webhook_idx", "webhook_id", "created_at", "id"),
)  # fmt: skip

MODEL_USAGE: Final = Table(
    "model_usage", METADATA, _name("judge", key=True), _name("day"), _integer("calls"),
    _integer("tokens"), _integer("failures"), _integer("resumes_at", optional=True),
    _text("cause"),
)  # fmt: skip

MODEL_COUNTS: Final = Table(
    "model_counts", METADATA, _name("judge", key=True), _name("measure", key=True),
    _integer("successes"), _integer("trials"),
)  # fmt: skip

MODEL_FAILURES: Final = Table(
    "model_failures", METADATA, _name("judge", key=True), _name("code", key=True),
    _integer("calls"), _text("detail"), _integer("last_at"),
)  # fmt: skip

ATTACHMENTS: Final = Table(
    "attachments", METADATA, _contest(key=True), _name("sha256", key=True), _bytes("content")
)
"""What entries refer to by hash: exact requests to models, and their responses."""

LIVE_BOTS: Final = Table(
    "live_bots", METADATA, _contest(key=True), _name("id", key=True), _name("user", optional=True),
    _name("owner_id"), _text("name"), _integer("registered_at"), _integer("version_at"),
    _text("endpoint", optional=True), _bytes("secret", optional=True),
    _bytes("old_secret", optional=True), _integer("old_secret_until", optional=True),
    _text("version"), _text("author"), _text("license"), _text("link"), _flag("judges"),
    _text("paused", optional=True), _integer("forfeits"),
    _integer("attempted_at", optional=True), Column("latency_ms", Float(53), nullable=True),
    _text("recent_prompts"), _text("recent_templates"), _text("states"),
)  # fmt: skip

PRESENT_JUDGES: Final = Table(
    "present_judges",
    METADATA,
    _contest(key=True),
    _name("id", key=True),
    _integer("seen_at"),
    _text("recent_templates"),
    _name("network", optional=True),
    _flag("as_judge"),
)
"""Judges that are no bots: when and how each last asked for work, honeypots it saw lately."""

PROMPTS: Final = Table(
    "prompts", METADATA, _contest(key=True), _name("id", key=True), _text("text"), _flag("retired")
)

HUMAN_ANSWERS: Final = Table(
    "human_answers", METADATA, _contest(key=True), _name("id", key=True), _name("prompt_id"),
    _text("text"),
)  # fmt: skip

HONEYPOT_ANSWERS: Final = Table(
    "honeypot_answers", METADATA, _contest(key=True), _name("id", key=True), _text("text"),
    _name("prompt_id", optional=True), _name("salt"), _name("sha256"), _integer("seq"),
    _integer("retired_seq", optional=True), _name("match", optional=True),
)  # fmt: skip

ROUNDS: Final = Table(
    "rounds", METADATA, _contest(key=True), _name("id", key=True), _integer("number"),
    _name("kind"), _name("phase"), _bytes("seed"), _text("body"), _integer("began_at"),
    _integer("settled_seq", optional=True), _text("summary"),
    Index("rounds_number_key", "contest_no", "kind", "number", unique=True),
)  # fmt: skip

WORK: Final = Table(
    "work", METADATA, _name("id", key=True), _contest(), _name("round"), _name("match"),
    _name("kind"), _name("assignee"), _flag("pushed"), _text("body"), _integer("deadline"),
    _integer("created_at"), _text("result", optional=True), _integer("result_at", optional=True),
    _text("handed_in", optional=True), Column("latency_ms", Float(53), nullable=True),
    Index("work_assignment_key", "contest_no", "match", "kind", "assignee", unique=True),
    Index("work_round_idx", "contest_no", "round"),
    _partial("work_waiting_idx", "contest_no", "assignee", where="result IS NULL"),
)  # fmt: skip
