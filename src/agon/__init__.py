"""Score contests among AIs and the people who test them: explained, replayed, compared, checked.

Example:
    >>> import agon
    >>> result = agon.score("community", "data/", as_of="2026-11-21")  # doctest: +SKIP
    >>> result.board("user-score").rows(top=3)  # doctest: +SKIP
    >>> result.explain("ada").parts  # doctest: +SKIP
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from agon.version import __version__

if TYPE_CHECKING:
    from agon import editions
    from agon.app.analysis.check import CheckReport, check
    from agon.app.analysis.compare import Comparison, RuleSet, compare
    from agon.app.analysis.records import read_records, write_records
    from agon.app.analysis.score import Result, score
    from agon.app.analysis.simulate import simulate
    from agon.app.arena.rating import RatingTable, rate
    from agon.app.importers import ImportedRecords, import_records
    from agon.editions import Edition, edition
    from agon.errors import (
        AgonError,
        CheckFailed,
        Conflict,
        InvalidRule,
        NotFound,
        NotScorable,
        Unavailable,
        Unreadable,
    )
    from agon.records import InvalidRecords, Records

# Heavy parts load when used: `import agon` costs milliseconds.
_MODULES = {
    "AgonError": "agon.errors",
    "CheckFailed": "agon.errors",
    "CheckReport": "agon.app.analysis.check",
    "Comparison": "agon.app.analysis.compare",
    "Conflict": "agon.errors",
    "Edition": "agon.editions",
    "ImportedRecords": "agon.app.importers",
    "InvalidRecords": "agon.records",
    "InvalidRule": "agon.errors",
    "NotFound": "agon.errors",
    "NotScorable": "agon.errors",
    "RatingTable": "agon.app.arena.rating",
    "Records": "agon.records",
    "Result": "agon.app.analysis.score",
    "RuleSet": "agon.app.analysis.compare",
    "Unavailable": "agon.errors",
    "Unreadable": "agon.errors",
    "check": "agon.app.analysis.check",
    "compare": "agon.app.analysis.compare",
    "edition": "agon.editions",
    "import_records": "agon.app.importers",
    "rate": "agon.app.arena.rating",
    "read_records": "agon.app.analysis.records",
    "score": "agon.app.analysis.score",
    "simulate": "agon.app.analysis.simulate",
    "write_records": "agon.app.analysis.records",
}

__all__ = [
    "AgonError",
    "CheckFailed",
    "CheckReport",
    "Comparison",
    "Conflict",
    "Edition",
    "ImportedRecords",
    "InvalidRecords",
    "InvalidRule",
    "NotFound",
    "NotScorable",
    "RatingTable",
    "Records",
    "Result",
    "RuleSet",
    "Unavailable",
    "Unreadable",
    "__version__",
    "check",
    "compare",
    "edition",
    "editions",
    "import_records",
    "rate",
    "read_records",
    "score",
    "simulate",
    "write_records",
]


def __getattr__(name: str) -> Any:
    if name == "editions":  # the package itself, for agon.editions.editions("dojo")
        return import_module("agon.editions")
    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), name)
    raise AttributeError(f"module 'agon' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
