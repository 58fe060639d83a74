"""Agents: a command in the container, the oracle, one that does nothing, one that uses a model."""
