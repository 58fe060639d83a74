"""Detect what honest judges and bots rarely do: the parts of `integrity.py`."""
