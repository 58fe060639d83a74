"""Weights of a challenge's epochs: computed, forecast, drawn, and set on a network."""
