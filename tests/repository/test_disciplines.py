"""Test that a discipline is used by its object: other code neither names nor imports one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from agon.disciplines import BUILT_IN, discipline
from repository.modules import Module

PACKAGE = Path(__file__).parents[2] / "src" / "agon"
SKIPPED = ("disciplines", "examples")
"""The disciplines, and example programs, which are data."""

EXEMPT = {
    "attacks/catalog.py": "names of the disciplines that have an attack lab",
    "attacks/arena": "attacks on the rules of the arena",
    "attacks/challenge": "attacks on the rules of the challenge",
    "attacks/community": "attacks on the rules of the community",
    "attacks/dojo": "attacks on the rules of the dojo",
    "app/arena": "tools for the arena, behind agon arena",
    "app/challenge": "tools for the challenge, behind agon challenge",
    "app/dojo": "tools for the dojo, behind agon dojo",
    "app/contests/submissions/agents.py": "accepts submissions that are judged by trials",
    "app/contests/submissions/feedback.py": "decides what is disclosed of the verdicts of programs",
    "app/contests/submissions/problems.py": "publishes the problems that programs answer",
    "app/contests/submissions/programs.py": "accepts submissions that are programs",
    "app/worker/submissions.py": "judges programs",
    "app/importers": "every external format has one discipline its records belong to",
    "cli/arena": "commands of agon arena",
    "cli/attack/run.py": "what --size counts in the lab of each discipline",
    "cli/challenge": "commands of agon challenge",
    "cli/demo.py": "an example of every discipline, and a league",
    "cli/dojo": "commands of agon dojo",
    "cli/root.py": "names of commands",
    "client/league": "bots and judges of a simulated arena, which play over HTTP",
    "runners/bots": "bots that play in the arena",
    "runners/judges": "models that judge matches of the arena",
    "settings/loading.py": "names of commands",
}
"""Modules that implement the tools of one discipline; generic code reaches them by capability."""


def uses(file: Path, module: Module) -> Iterator[str]:
    """Yield the lines where a module imports a discipline's modules or names one in code."""
    private = {"agon.disciplines.definition", *(f"agon.disciplines.{of}" for of in BUILT_IN)}
    personal = {table for name in BUILT_IN for table in discipline(name).personal.addresses}
    for imported in module.imports:
        package = ".".join(imported.module.split(".")[:3])
        if package in private or (package == "agon.disciplines" and imported.names & {*BUILT_IN}):
            yield f"{file.relative_to(PACKAGE)}:{imported.line} imports from {imported.module}"
    for line, text in module.texts:
        if text in {*BUILT_IN, *personal}:
            yield f"{file.relative_to(PACKAGE)}:{line} names {text!r}"


def files(under: Path) -> list[Path]:
    """Return the modules of a package, or the module itself."""
    return sorted(under.rglob("*.py")) if under.is_dir() else [under]


def test_generic_code_names_no_discipline(modules: dict[Path, Module]) -> None:
    """A discipline from another package could not do what such code does for agon's own."""
    skipped = {file for name in (*SKIPPED, *EXEMPT) for file in files(PACKAGE / name)}
    generic = ((file, module) for file, module in modules.items() if file not in skipped)
    named = [use for file, module in generic for use in uses(file, module)]
    assert named == []


@pytest.mark.parametrize("name", EXEMPT)
def test_every_exemption_is_needed(modules: dict[Path, Module], name: str) -> None:
    """An exemption that is not needed would hide the next violation."""
    assert any(True for file in files(PACKAGE / name) for _ in uses(file, modules[file]))
