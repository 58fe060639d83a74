"""Pages of a live arena: bots, matches, votes."""
