"""Test that a discipline is used by its object: other code neither names nor imports one.

Nor does it ask for the name of a table or a board: a discipline of another package may have the
same (``tests/plugins/test_table_names.py``). It asks for a capability.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from agon.disciplines import BUILT_IN, discipline
from repository.modules import Module, read_modules

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
    "app/contests/submissions/trials.py": "reads the results of agents",
    "app/contests/changes/rejudge.py": "judges programs again",
    "app/contests/submissions/agents.py": "accepts submissions that are judged by trials",
    "app/contests/submissions/miners.py": "knows whose agents are tried, and by which validator",
    "app/contests/submissions/feedback.py": "decides what is disclosed of the verdicts of programs",
    "app/contests/submissions/problems.py": "publishes the problems that programs answer",
    "app/contests/submissions/programs.py": "accepts submissions that are programs",
    "app/worker/problem_gate.py": "runs the setters of the problems that programs answer",
    "app/worker/submissions.py": "judges programs",
    "app/worker/trials.py": "judges agents",
    "app/importers": "every external format has one discipline its records belong to",
    "api/operations/bots.py": "prompts of the arena's rounds",
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
    "web/pages/live/bots.py": "the form of a bot of the arena, which may want to judge",
}
"""Modules that implement the tools of one discipline; generic code reaches them by capability."""

TEMPLATES = {
    ("bots.html", "judges"): "a field of the form of a bot",
    ("rounds.html", "prompts"): "the private tables of an arena, which are not records",
    ("styleguide.html", "prompts"): "an example of a part of a score",
    ("styleguide.html", "combined"): "an example of a choice",
}
"""Words of templates that are also names of tables or boards, by file."""

TABLES = {table.name for name in BUILT_IN for table in discipline(name).schema}
BOARDS = {board for name in BUILT_IN for board in discipline(name).boards}

_CODE = re.compile(r"{[{%](.*?)[}%]}", re.DOTALL)
_ADDRESS = re.compile(r"address\.\w+\((?:[^()]|\([^()]*\))*\)")
_TEXT = re.compile(r"""(['"])([\w.-]+)\1""")


def uses(file: Path, module: Module) -> Iterator[str]:
    """Yield the lines where a module imports a discipline's modules or names one in code."""
    private = {"agon.disciplines.definition", *(f"agon.disciplines.{of}" for of in BUILT_IN)}
    personal = {table for name in BUILT_IN for table in discipline(name).personal.addresses}
    for imported in module.imports:
        package = ".".join(imported.module.split(".")[:3])
        if package in private or (package == "agon.disciplines" and imported.names & {*BUILT_IN}):
            yield f"{file.relative_to(PACKAGE)}:{imported.line} imports from {imported.module}"
    for line, text in module.selectors:
        if text in TABLES | BOARDS:
            yield f"{file.relative_to(PACKAGE)}:{line} selects by {text!r}"
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


def words_of(template: str) -> set[str]:
    """Return the names of disciplines, tables and boards in the code of a template.

    Segments of addresses are no such names.
    """
    code = [_ADDRESS.sub("", block) for block in _CODE.findall(template)]
    texts = {text for block in code for _, text in _TEXT.findall(block)}
    return texts & (TABLES | BOARDS | {*BUILT_IN})


def test_templates_ask_for_capabilities() -> None:
    """A page of another package's discipline had the links of an arena for its table's name."""
    folder = PACKAGE / "web" / "templates"
    used = {
        (file.name, word)
        for file in folder.rglob("*.html")
        for word in words_of(file.read_text(encoding="utf-8"))
    }
    assert used == TEMPLATES.keys()


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ('{% if contest.discipline == "challenge" %}', {"challenge"}),
        ('{% if of.schema | selectattr("name", "equalto", "matches") | list %}', {"matches"}),
        ("{{ 'x' if board in ('judges', 'other') }}", {"judges"}),
        ("{{ address.desk(contest.id, 'problems') }} matches \"votes\"", set()),
        ("{% if discipline(contest.discipline).rounds %}", set()),
    ],
)
def test_a_template_that_names_one_is_seen(template: str, words: set[str]) -> None:
    """These were the faults that the rule is against, and what it lets pass."""
    assert words_of(template) == words


@pytest.mark.parametrize(
    "code",
    [
        'any(table.name == "matches" for table in schema)',
        'if "evaluations" in tables: pass',
        'JUDGES: Final = "judges"',
        'if page.board not in {"bots", "bradley-terry"}: pass',
        'records_page(ctx, page, "votes")',
        'add_records(request, table="votes")',
        'f"submissions/{name}"',
    ],
)
def test_code_that_names_one_is_seen(tmp_path: Path, code: str) -> None:
    """Each of these was in generic code."""
    file = tmp_path / "module.py"
    file.write_text(code, encoding="utf-8")
    selectors = {text for _, text in read_modules([file])[file].selectors}
    assert selectors & (TABLES | BOARDS)


@pytest.mark.parametrize("name", EXEMPT)
def test_every_exemption_is_needed(modules: dict[Path, Module], name: str) -> None:
    """An exemption that is not needed would hide the next violation."""
    assert any(True for file in files(PACKAGE / name) for _ in uses(file, modules[file]))
