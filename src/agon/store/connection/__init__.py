"""Open SQLite and PostgreSQL, run statements in transactions, translate the errors of drivers."""
