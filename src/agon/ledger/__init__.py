"""Ledgers of contests: append-only, hash-chained, signed, replayed, verified offline."""
