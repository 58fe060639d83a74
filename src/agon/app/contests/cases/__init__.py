"""Run integrity checks and keep the cases opened from their findings."""
