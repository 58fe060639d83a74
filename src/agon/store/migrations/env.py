"""Run revisions on the connection that ``upgrade`` opened; Alembic executes this file."""

from alembic import context

from agon.store.schema import METADATA

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    transactional_ddl=False,  # the caller begins and ends the transaction
)
context.run_migrations()
