"""Rebuild a contest's records and boards from the entries of its ledger."""
