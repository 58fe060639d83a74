"""Back up, restore and verify a database."""
