"""Score, check, compare, rate and simulate records that lie in files."""
