"""Append to a contest's ledger, replay it, and read what it says at a position."""
