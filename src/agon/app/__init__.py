"""Use cases of agon: score, explain, compare, check, simulate, import."""
