"""Judges: who is in the pool and why, and how well they judge."""
