"""Keep a contest's entries: append-only, hash-chained, signed, folded, verified offline."""
