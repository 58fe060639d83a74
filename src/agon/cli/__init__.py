"""The command line: parses arguments, calls the engine, prints results."""

from agon.cli.root import cli
from agon.cli.run import main

__all__ = ["cli", "main"]
