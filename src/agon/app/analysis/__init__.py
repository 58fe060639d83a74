"""Score, check, compare and simulate records of any discipline."""
