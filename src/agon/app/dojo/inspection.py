"""Inspect a program before it runs: syntax, imports, entry point, payload policy.

It gives authors early feedback; it is not a security boundary, which is the sandbox alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from agon.app.analysis.score import rules_of
from agon.disciplines.dojo.imports import Kind, scan
from agon.disciplines.dojo.misplaced import find_misplaced
from agon.disciplines.dojo.modules import MODULES
from agon.disciplines.dojo.payload import PayloadLimits, ProgramPayload, check, measure
from agon.disciplines.dojo.program import ParsedProgram, Refusal, Violation, parse
from agon.disciplines.dojo.rules import DojoRules

_BY_SEVERITY: Final[tuple[Refusal, ...]] = ("syntax_error", "rejected_import", "rejected_policy")
"""What a program is rejected for without a run. A missing entry point is left to the run."""


JUDGING_RULES: Final = ("exact_integers", "allowed_modules", "recursion_limit")
"""Rules that decide how a program is judged; all others decide how a verdict is scored."""


@dataclass(frozen=True)
class ProgramInspection:
    """The result of inspecting a program without running it.

    Attributes:
        program: the syntax tree; None when it cannot be parsed.
        payload: its literals; None with it.
        violations: everything wrong, in source order.
    """

    program: ParsedProgram | None
    payload: ProgramPayload | None
    violations: tuple[Violation, ...]

    def rejected_for(self, *verdicts: Refusal) -> tuple[Violation, ...]:
        """Return the violations of the most severe of these verdicts that occurs.

        ``syntax_error``, ``rejected_import``, ``rejected_policy`` in this order; without
        arguments any of them.
        """
        for verdict in _BY_SEVERITY:
            if not verdicts or verdict in verdicts:
                violations = tuple(
                    violation for violation in self.violations if violation.verdict == verdict
                )
                if violations:
                    return violations
        return ()


def inspect(source: bytes, *, kind: Kind, rules: DojoRules) -> ProgramInspection:
    r"""Collect everything that is wrong with a program under these rules.

    The payload policy is about solutions; a setter may hold a table, and may import all modules
    that any rules allow, because its problem is the same in each edition.

    Example:
        >>> rules = rules_in_force()
        >>> found = inspect(b"import os\nsolver = list\n", kind="solver", rules=rules)
        >>> found.rejected_for()[0].what
        'import of os'
    """
    program = parse(source, max_bytes=rules.max_source_bytes, max_depth=rules.max_syntax_depth)
    if not isinstance(program, ParsedProgram):
        return ProgramInspection(None, None, (program,))
    payload = measure(program)
    modules = rules.allowed_modules if kind == "solver" else MODULES
    violations = find_misplaced(program) + scan(program, kind=kind, modules=modules)
    if kind == "solver":
        violations += check(payload, PayloadLimits.of(rules))
    return ProgramInspection(program, payload, tuple(sorted(violations)))


def rules_in_force(
    edition: str | None = None, overrides: Mapping[str, Any] | None = None
) -> DojoRules:
    """Return the dojo's rules of an edition (None: the reference edition) with overrides.

    Raises:
        NotFound: there is no such edition.
        InvalidRule: a rule is unknown or a value out of its bounds.
    """
    rules: Any = rules_of("dojo", edition, overrides)[1]
    return rules


def judging_rules(rules: DojoRules) -> dict[str, Any]:
    """Return the rules that count when a program is judged, as a job carries them.

    Example:
        >>> judging_rules(rules_in_force())["recursion_limit"]
        1000
    """
    return {name: getattr(rules, name) for name in JUDGING_RULES}


def summary(violations: Sequence[Violation], *, most: int = 5) -> str:
    """Return violations in one line: the first few with their line numbers, and how many more.

    Example:
        >>> summary([Violation(1, 8, "import of os", "use math", "rejected_import")])
        'line 1: import of os; use math'
    """
    lines = [
        f"line {violation.line}: {violation.what}; {violation.remedy}"
        if violation.line
        else f"{violation.what}; {violation.remedy}"
        for violation in violations[:most]
    ]
    rest = len(violations) - most
    return " · ".join(lines) + (f" · and {rest:,} more" if rest > 0 else "")
