"""Speak at the command line: parse, call, render; no rule of any contest lives here."""

from agon.cli.root import cli
from agon.cli.run import main

__all__ = ["cli", "main"]
