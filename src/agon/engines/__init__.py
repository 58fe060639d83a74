"""Engines: where the tables of records are read and counted.

Rules, formulas and facts import no engine; an engine changes no number of a board.
"""

from agon.engines.catalog import ENGINES, Engine, open_tables, require_engine

__all__ = ["ENGINES", "Engine", "open_tables", "require_engine"]
