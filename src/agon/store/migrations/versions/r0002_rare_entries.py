"""Index the entries that hold no record, by kind: finding one no longer walks the ledger."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the index."""
    rare = sa.text("kind <> 'record-added' AND kind <> 'record-replaced'")
    op.create_index(
        "entries_kind_idx", "entries", ["contest_no", "kind", "seq"],
        sqlite_where=rare, postgresql_where=rare,
    )  # fmt: skip
