"""Create all tables.

Until the first release the schema is written once, in :mod:`agon.store.schema`, and this revision
creates what it states. The release freezes it: ``tools/freeze-schema`` writes the statements here.
"""

from alembic import op

from agon.store.schema import METADATA

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create all tables."""
    METADATA.create_all(op.get_bind(), checkfirst=False)
