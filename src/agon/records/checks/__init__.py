"""Check tables against their schema: headers, values, keys, references between rows."""
