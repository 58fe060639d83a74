"""Measure the agreement of judges with each other, beyond chance, and with the truth."""
