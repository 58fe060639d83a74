"""Run integrity checks and store the cases opened from their findings."""
