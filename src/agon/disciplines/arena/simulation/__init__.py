"""Simulated leagues: populations, attacks, behaviors, and what rules make of them."""
