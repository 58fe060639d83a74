"""The version of agon, stated once: packaging, HTTP headers and `agon.__version__` read it here."""

__version__ = "0.1.0"
