"""The conditions under which programs are judged, as participants read them before they submit."""

from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import version
from typing import Any, Protocol

from agon.app.analysis.score import rules_of
from agon.app.dojo.setter_validation import SETTER_LIMITS
from agon.app.sandbox import RunLimits
from agon.disciplines.dojo.imports import ATTRIBUTE_BUILTINS, REFUSED_NAMES
from agon.disciplines.dojo.modules import MODULES, SYMPY_MISSING
from agon.disciplines.dojo.program import PYTHON
from agon.disciplines.dojo.rules import DojoRules

_ATTRIBUTES = (
    "double-underscore attributes, other than those that ordinary classes define or have "
    "(__init__, __name__, __iter__, …)"
)


def conditions(rules: DojoRules) -> dict[str, Any]:
    """Return versions, modules, refused names and limits under some rules.

    Versions are those of this installation; a verdict records those of the worker that ran it.

    Example:
        >>> shown = conditions(DojoRules())
        >>> shown["allowed_modules"], shown["limits"]["cpu_s"], shown["setter"]["cpu_s"]
        (['sympy', 'math', 'fractions', 'itertools'], 5.0, 1.0)
    """
    limits = RunLimits()
    return {
        "python": PYTHON,
        "sympy": _version("sympy"),
        "allowed_modules": list(rules.allowed_modules),
        "sympy_missing": [f"sympy.{name}" for name in SYMPY_MISSING],
        "refused_names": sorted(REFUSED_NAMES),
        "refused_attributes": _ATTRIBUTES,
        "literal_names_only": sorted(ATTRIBUTE_BUILTINS),
        "terms": "int or exact integers of other types" if rules.exact_integers else "int",
        "limits": {
            "cpu_s": limits.cpu_s,
            "wall_s": limits.wall_s,
            "memory_mib": limits.memory_mib,
            "output_bytes": limits.output_bytes,
            "digits_of_a_term": limits.max_term_digits,
            "recursion": rules.recursion_limit,
            "source_bytes": rules.max_source_bytes,
            "nesting": rules.max_syntax_depth,
        },
        "policy": {
            "numeric_literals": rules.max_numeric_literals,
            "string_characters": rules.max_string_literal_chars,
            "string_bytes": rules.max_string_bytes,
            "elements_of_a_list": rules.max_list_tuple_elements,
            "digits_of_a_literal": rules.max_literal_digits,
            "bytes_of_names_and_digits": rules.max_information_bytes,
        },
        "setter": {"modules": list(MODULES), "cpu_s": SETTER_LIMITS.cpu_s},
    }


@cache
def _version(package: str) -> str:
    """Return the version of an installed package, whose files are read once."""
    return version(package)


class InContest(Protocol):
    """What is read of a contest, stored or as a resource."""

    @property
    def discipline(self) -> str:
        """Return its discipline."""

    @property
    def edition(self) -> str:
        """Return the full name of its edition."""

    @property
    def overrides(self) -> Mapping[str, Any]:
        """Return the rules it overrides."""


def contest_conditions(contest: InContest) -> dict[str, Any] | None:
    """Return the conditions of a contest's programs; None: its discipline judges none."""
    rules: Any = rules_of(contest.discipline, contest.edition, contest.overrides)[1]
    return conditions(rules) if isinstance(rules, DojoRules) else None


def contest_sentences(contest: InContest) -> list[tuple[str, str]]:
    """Return the conditions of a contest's programs in words; none where it judges none."""
    shown = contest_conditions(contest)
    return [] if shown is None else sentences(shown)


def sentences(shown: dict[str, Any]) -> list[tuple[str, str]]:
    """Return conditions as headings with their texts, for a terminal and for pages.

    Example:
        >>> dict(sentences(conditions(DojoRules())))["modules"]
        'sympy, math, fractions, itertools, each with its submodules'
    """
    limits, policy, setter = shown["limits"], shown["policy"], shown["setter"]
    stated = (f"{name.replace('_', ' ')} {value:,}" for name, value in policy.items() if value)
    resources = (
        f"{limits['cpu_s']:g} s of processor time",
        f"{limits['wall_s']:g} s in all",
        f"{limits['memory_mib']} MiB",
        f"{limits['output_bytes']:,} bytes of output",
        f"{limits['recursion']:,} nested calls",
        f"{limits['source_bytes']:,} bytes of source, nested {limits['nesting']} deep",
    )
    digits = f"each of at most {limits['digits_of_a_term']:,} digits"
    others = "other integers have as many as time and memory allow"
    own = f"may import {', '.join(setter['modules'])}"
    return [
        ("Python", shown["python"]),
        ("modules", f"{', '.join(shown['allowed_modules'])}, each with its submodules"),
        ("sympy", f"{shown['sympy']}, without {_parts(shown['sympy_missing'])}"),
        ("refused names", ", ".join(shown["refused_names"])),
        ("refused attributes", shown["refused_attributes"]),
        ("only with a literal name", ", ".join(shown["literal_names_only"])),
        ("terms", f"{shown['terms']}, {digits}; {others}"),
        ("limits", ", ".join(resources)),
        ("most literals", ", ".join(stated)),
        ("setters", f"{own}, and have {setter['cpu_s']:g} s of processor time"),
    ]


def _parts(modules: Iterable[str]) -> str:
    """Return modules of sympy by package: ``crypto, physics (hep, optics)``."""
    packages: dict[str, list[str]] = {}
    for module in modules:
        _, package, *rest = module.split(".")
        packages.setdefault(package, []).extend(rest)
    return ", ".join(
        f"{package} ({', '.join(parts)})" if parts else package
        for package, parts in packages.items()
    )
