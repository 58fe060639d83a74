"""Append to a contest's ledger, and read its events and positions."""
