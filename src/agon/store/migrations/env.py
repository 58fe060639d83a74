"""Run revisions on the connection that ``upgrade`` opened; Alembic calls this file."""

from alembic import context

from agon.store.schema import METADATA

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    transactional_ddl=False,  # the caller has begun the transaction, and ends it
)
context.run_migrations()
