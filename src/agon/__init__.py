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
    from agon import agreement, editions
    from agon.app.analysis.check import CheckReport, check
    from agon.app.analysis.compare import Comparison, RuleSet, UnmatchedParticipant, compare
    from agon.app.analysis.options import ReadingOptions, RuleOptions, ScoringOptions, SourceOptions
    from agon.app.analysis.records import read_records, write_records
    from agon.app.analysis.score import Result, explain, score
    from agon.app.analysis.score_explanation import ScoreExplanation
    from agon.app.analysis.simulate import simulate
    from agon.app.arena.audit import Audit, audit
    from agon.app.arena.rating import RatingTable, rate
    from agon.app.charts import Chart
    from agon.app.importers import import_records
    from agon.app.webhooks.signatures import verify_webhook
    from agon.disciplines import ImportedRecords, Simulation
    from agon.editions import Edition, edition
    from agon.entities.boards import Move
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
    from agon.kernel.boards import Board, UnscoredRow
    from agon.kernel.explanations import Explanation, Part
    from agon.kernel.findings import Finding, RecordRefs, Severity
    from agon.records import InvalidRecords, Records, RowIssue

# Heavy parts load when used: `import agon` costs milliseconds.
_MODULES = {
    "Audit": "agon.app.arena.audit",
    "AgonError": "agon.errors",
    "Board": "agon.kernel.boards",
    "Chart": "agon.app.charts",
    "CheckFailed": "agon.errors",
    "CheckReport": "agon.app.analysis.check",
    "Comparison": "agon.app.analysis.compare",
    "Conflict": "agon.errors",
    "Edition": "agon.editions",
    "Explanation": "agon.kernel.explanations",
    "Finding": "agon.kernel.findings",
    "ImportedRecords": "agon.disciplines",
    "InvalidRecords": "agon.records",
    "InvalidRule": "agon.errors",
    "Move": "agon.entities.boards",
    "NotFound": "agon.errors",
    "NotScorable": "agon.errors",
    "Part": "agon.kernel.explanations",
    "RatingTable": "agon.app.arena.rating",
    "ReadingOptions": "agon.app.analysis.options",
    "RecordRefs": "agon.kernel.findings",
    "Records": "agon.records",
    "Result": "agon.app.analysis.score",
    "RowIssue": "agon.records",
    "RuleOptions": "agon.app.analysis.options",
    "RuleSet": "agon.app.analysis.compare",
    "ScoreExplanation": "agon.app.analysis.score_explanation",
    "ScoringOptions": "agon.app.analysis.options",
    "Severity": "agon.kernel.findings",
    "Simulation": "agon.disciplines",
    "SourceOptions": "agon.app.analysis.options",
    "Unavailable": "agon.errors",
    "UnmatchedParticipant": "agon.app.analysis.compare",
    "Unreadable": "agon.errors",
    "UnscoredRow": "agon.kernel.boards",
    "audit": "agon.app.arena.audit",
    "check": "agon.app.analysis.check",
    "compare": "agon.app.analysis.compare",
    "edition": "agon.editions",
    "explain": "agon.app.analysis.score",
    "import_records": "agon.app.importers",
    "rate": "agon.app.arena.rating",
    "read_records": "agon.app.analysis.records",
    "score": "agon.app.analysis.score",
    "simulate": "agon.app.analysis.simulate",
    "verify_webhook": "agon.app.webhooks.signatures",
    "write_records": "agon.app.analysis.records",
}

_SUBMODULES = ("agreement", "editions")
"""Part of the library as modules: ``agon.agreement.cohen_kappa``, ``agon.editions.editions``."""

__all__ = [
    "AgonError",
    "Audit",
    "Board",
    "Chart",
    "CheckFailed",
    "CheckReport",
    "Comparison",
    "Conflict",
    "Edition",
    "Explanation",
    "Finding",
    "ImportedRecords",
    "InvalidRecords",
    "InvalidRule",
    "Move",
    "NotFound",
    "NotScorable",
    "Part",
    "RatingTable",
    "ReadingOptions",
    "RecordRefs",
    "Records",
    "Result",
    "RowIssue",
    "RuleOptions",
    "RuleSet",
    "ScoreExplanation",
    "ScoringOptions",
    "Severity",
    "Simulation",
    "SourceOptions",
    "Unavailable",
    "UnmatchedParticipant",
    "Unreadable",
    "UnscoredRow",
    "__version__",
    "agreement",
    "audit",
    "check",
    "compare",
    "edition",
    "editions",
    "explain",
    "import_records",
    "rate",
    "read_records",
    "score",
    "simulate",
    "verify_webhook",
    "write_records",
]


if not TYPE_CHECKING:  # a type checker would accept any name

    def __getattr__(name: str) -> Any:
        if name in _SUBMODULES:
            return import_module(f"agon.{name}")
        if name in _MODULES:
            return getattr(import_module(_MODULES[name]), name)
        raise AttributeError(f"module 'agon' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
