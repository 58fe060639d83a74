"""The revisions of the database schema, one file each."""
