"""Explain rows of the boards: submissions and validators, competitions, weights as a waterfall."""
