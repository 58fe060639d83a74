"""Modules that run inside containers, with the Python of an image."""
