"""Create, open, freeze, finalize, export and import contests."""
