"""Publish boards and read them: pages, search, proofs, history, explanations."""
