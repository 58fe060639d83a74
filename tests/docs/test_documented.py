"""The documentation agrees with the code, and undocumented features fail the build."""

import re
import runpy
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import click
import pytest

from agon.cli import cli
from agon.disciplines import BUILT_IN, discipline
from agon.editions import default_edition, editions
from agon.errors import AgonError

DOCS = Path(__file__).parents[2] / "docs"
PAGES = [path for path in sorted(DOCS.rglob("*.md"))
         if "_build" not in path.parts and "<!-- agon-" in path.read_text()]  # fmt: skip


@cache
def generator() -> dict[str, Any]:
    """Return the names of the script that writes the generated parts."""
    return runpy.run_path(str(DOCS / "generate.py"))


def chapter(name: str) -> str:
    """Return the text of a discipline's chapter, of its generated parts only the beginning."""
    return without_parts(DOCS / "rules" / f"{name}.md")


def without_parts(page: Path) -> str:
    """Return the text of a page, of its generated parts only the beginning."""
    return str(generator()["PART"].sub(r"\1", page.read_text()))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_generated_parts_of_a_page_are_current(page: Path) -> None:
    """The references are read in the repository, too; one command writes them all."""
    assert list(generator()["pages"]()) == PAGES
    text = page.read_text()
    assert text == generator()["current"](text), "run: python docs/generate.py"


def test_no_part_of_a_page_is_made_at_build_time() -> None:
    """A directive is an empty block to who reads the repository."""
    pages = [path for path in DOCS.rglob("*.md") if "_build" not in path.parts]
    directives = re.compile(r"^```\{(?!toctree)", re.MULTILINE)
    assert [path.name for path in pages if directives.search(path.read_text())] == []
    library = (DOCS / "reference" / "library.md").read_text()
    assert re.findall(r"^### `(.+?)`", library, re.MULTILINE)[0] == "agon.score"


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_chapter_begins_with_a_score_by_hand_and_ends_with_the_columns(name: str) -> None:
    """A reader wants the rules and an example first; seventeen tables of columns came before."""
    text = chapter(name)
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert headings[0] == "A score by hand"
    assert headings[-1] == "Tables and columns"
    assert text.index(f"<!-- agon-hand {name} -->") < text.index("<!-- agon-rules")
    assert text.index("<!-- agon-attacks") < text.index(f"<!-- agon-tables {name} -->")


@pytest.mark.parametrize("name", BUILT_IN)
def test_the_parts_of_a_score_by_hand_sum_to_the_score(name: str) -> None:
    """A reader checks it with a pencil; parts and score come from the engine."""
    written = generator()["PARTS"]["hand"](name)
    examples = written.split("| --- | --- | --- |\n")[1:]
    assert examples
    for example in examples:
        lines = example.partition("\n\n")[0].splitlines()
        rows = [line.split(" | ") for line in lines if line]
        *parts, total = [float(row[-1].strip(" |*").replace(",", "")) for row in rows]
        assert len(parts) >= 3, "an example with one part shows no computation"
        assert sum(parts) == pytest.approx(total, abs=1e-9)


@pytest.mark.parametrize("name", BUILT_IN)
@pytest.mark.parametrize("directive", ["rules", "tables", "boards", "findings", "attacks"])
def test_every_chapter_contains_the_generated_tables(name: str, directive: str) -> None:
    """Rules, columns, boards, findings and attacks cannot be missing or outdated."""
    assert f"<!-- agon-{directive} {name} -->\n" in chapter(name)


@pytest.mark.parametrize("name", editions())
def test_the_examples_of_every_edition_are_in_its_chapter(name: str) -> None:
    """Readers check the rules with worked examples."""
    assert f"<!-- agon-examples {name} -->\n" in chapter(name.partition("/")[0])


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_chapter_explains_every_rule_in_words(name: str) -> None:
    """A table of rules does not explain them, so the text must name each one."""
    text = chapter(name)
    rules = discipline(name).rules.model_fields
    named = set(re.findall(r"`(?:--set )?([a-z_0-9]+)(?: ?=[^`]*)?`", text))
    unexplained = [rule for rule in rules if rule not in named]
    assert unexplained == []


def every_command(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    """Yield all commands with their paths."""
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child is not None
            yield from every_command(child, f"{path} {name}")


def test_every_command_and_option_has_a_help_text() -> None:
    """The reference is generated from these texts."""
    silent = []
    for path, command in every_command(cli, "agon"):
        if not (command.help or "").strip():
            silent.append(path)
        silent += [f"{path} {option.opts[0]}" for option in command.params
                   if isinstance(option, click.Option) and not option.help]  # fmt: skip
    assert silent == []


def test_the_reference_contains_every_command() -> None:
    """The generator writes them all."""
    assert "<!-- agon-commands -->" in (DOCS / "reference" / "cli.md").read_text()


def test_every_command_is_used_in_a_how_to_or_the_tutorial() -> None:
    """Readers look up commands by task."""
    pages = [DOCS / "tutorial.md", *(DOCS / "howto").glob("*.md"), *(DOCS / "rules").glob("*.md")]
    text = "\n".join(map(without_parts, pages))
    undocumented = [path for path, command in every_command(cli, "agon")
              if not isinstance(command, click.Group) and path not in text]  # fmt: skip
    assert undocumented == []


def test_every_exit_code_is_documented() -> None:
    """Scripts depend on exit codes."""
    text = (DOCS / "reference" / "cli.md").read_text()
    codes = {error.exit_code for error in AgonError.__subclasses__()}
    assert [
        code for code in sorted(codes | {0}) if not re.search(rf"^\| {code} \|", text, re.MULTILINE)
    ] == []


def test_every_default_edition_is_named_in_its_chapter() -> None:
    """Readers must know which edition is described."""
    assert [
        name for name in BUILT_IN if default_edition(name).partition("/")[2] not in chapter(name)
    ] == []


def test_the_commands_that_run_tests_select_tests() -> None:
    """After a renaming, the first command that a contributor copies runs nothing."""
    text = (DOCS.parent / "CONTRIBUTING.md").read_text()
    commands = re.findall(r"pytest ((?:tests/[\w/.]+ ?)+)(?:-k (\w+))?", text)
    assert any(word for _, word in commands)
    for paths, word in commands:
        for path in map(DOCS.parent.joinpath, paths.split()):
            assert path.exists(), path
            assert not word or re.search(rf"(?m)^def test_\w*{word}", path.read_text()), word
