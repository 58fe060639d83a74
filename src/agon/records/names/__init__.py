"""Match the names that a source has with those of a schema: columns, spellings, mappings."""
