"""Validate the records of a request and enter them into a contest's ledger."""
