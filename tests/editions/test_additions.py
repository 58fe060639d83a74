"""Additions to a copy of agon leave released editions, boards, ledgers and proofs unchanged.

A copy of the package gets a rule, a component, a board and a finding, and then a changed edition.
The copy checks a ledger, a proof and a database of the original.
"""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent, indent
from typing import Any

import pytest

import agon
from editions.runner import execute

PACKAGE = Path(agon.__file__).parent
ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "tutorial"
EDITION = "community/scores0002-1"
LIST = ("rules", "list", "--format", "json")
SCORE = ("score", "community", EXAMPLE, "--format", "json")

VERSION = ".".join(agon.__version__.split(".")[:2])
"""The version that a rule which is added now states."""

COMPONENT = """

from dataclasses import replace as _replace

COMPONENTS = (
    *COMPONENTS,
    _replace(
        next(one for one in COMPONENTS if one.name == "feedback_activity"),
        name="cheers", worth="cheers_coefficient", switch="cheers",
    ),
)
"""

BOARD_AND_FINDING = '''

from dataclasses import dataclass as _dataclass
from dataclasses import replace as _replace

from agon.disciplines.capabilities import Findings as _Findings
from agon.disciplines.capabilities import ScoredRecords
from agon.kernel.findings import Finding

_released = DISCIPLINE


@_dataclass(frozen=True)
class _WithCheers:
    """Scored records with one more board."""

    scored: ScoredRecords

    def board(self, name):
        """Return a board."""
        if name == "cheers":
            return _replace(self.scored.board("user-score"), name="cheers")
        return self.scored.board(name)

    def explain(self, name, *, board):
        """Explain the score of an id."""
        return self.scored.explain(name, board="user-score" if board == "cheers" else board)


def _cheering(records, rules):
    return Finding("cheering", "info", ("ada",), "cheers", 1, 0, None, "Somebody cheers.")


DISCIPLINE = _replace(
    DISCIPLINE,
    boards=(*DISCIPLINE.boards, "cheers"),
    findings=_Findings(
        checks={**DISCIPLINE.checks, "cheering": "Users who cheer."},
        find=lambda records, rules: [*_released.find(records, rules), _cheering(records, rules)],
    ),
    score=lambda records, rules: _WithCheers(_released.score(records, rules)),
)
'''


@dataclass(frozen=True)
class CommandResult:
    """The exit code and the output of a command."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        """Return what was printed as JSON."""
        assert self.code == 0, self.err
        return json.loads(self.out)


@dataclass(frozen=True)
class Agon:
    """A changed copy of agon, run in separate processes."""

    source: Path
    process: "subprocess.Popen[str]"

    def __call__(self, *commands: tuple[object, ...]) -> list[CommandResult]:
        """Run commands of agon in one process."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(_arguments(commands)) + "\n")
        self.process.stdin.flush()
        return [CommandResult(*result) for result in json.loads(self.process.stdout.readline())]

    def release(self, *arguments: str) -> CommandResult:
        """Run the tool that writes the lock."""
        return self(("release", *arguments))[0]

    @property
    def package(self) -> Path:
        """Return the folder of the package."""
        return self.source / "agon"


@contextmanager
def agon_at(source: Path, folder: Path) -> Iterator[Agon]:
    """Start a copy of agon; its code may not be changed afterwards."""
    environment = {**os.environ, "PYTHONPATH": str(source)}
    command = [sys.executable, str(Path(__file__).with_name("runner.py"))]
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        text=True,
    ) as process:  # fmt: skip
        yield Agon(source, process)
        assert process.stdin is not None
        process.stdin.close()


@dataclass(frozen=True)
class Season:
    """The output of the original: a database with a contest, its ledger, a proof and boards."""

    database: str
    ledger: Path
    proof: Path
    board_sha256: str
    editions: Any
    example: Any


def _arguments(commands: Iterable[tuple[object, ...]]) -> list[list[str]]:
    return [[str(argument) for argument in command] for command in commands]


@pytest.fixture(scope="module")
def season(tmp_path_factory: pytest.TempPathFactory) -> Season:
    """Run a contest that adopts other rules, and export its ledger and a proof."""
    folder = tmp_path_factory.mktemp("season")
    database = ("--database", f"sqlite:///{folder}/agon.db")
    commands = [
        ("create", "spring", "--discipline", "community", "--title", "Spring"),
        ("add", "spring", EXAMPLE),
        ("rescore", "spring", "--set", "self_feedback=ignore", "--yes"),
        ("proof", "spring", "ada", "--out", folder / "ada.json"),
        ("export", "spring", "--out", folder / "ledger"),
        ("board", "spring", "--format", "json"),
    ]
    arguments = _arguments(
        [*(("contest", *command, *database) for command in commands), LIST, SCORE]
    )
    *results, board, editions, example = [CommandResult(*result) for result in execute(arguments)]
    assert [result.err for result in results if result.code] == []
    return Season(
        database=database[1],
        ledger=folder / "ledger",
        proof=folder / "ada.json",
        board_sha256=board.json()["board_sha256"],
        editions=editions.json(),
        example=example.json(),
    )


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Agon]:
    """Copy the package, and add a rule, a component, a board and a finding to the copy."""
    folder = tmp_path_factory.mktemp("copy")
    package = folder / "src" / "agon"
    shutil.copytree(PACKAGE, package)
    _edit(package / "disciplines/community/rules.py", _add_rules)
    _edit(_components_file(package), lambda text: text + COMPONENT)
    _edit(package / "disciplines/community/__init__.py", lambda text: text + BOARD_AND_FINDING)
    with agon_at(package.parent, folder) as changed:
        yield changed


@pytest.fixture
def editions(copy: Agon) -> Iterator[Path]:
    """Return the copy's editions of a discipline; they are restored afterwards."""
    folder = copy.package / "editions" / "released" / "community"
    before = {file: file.read_bytes() for file in folder.iterdir() if file.is_file()}
    yield folder
    for file in folder.iterdir():
        if file.is_file() and file not in before:
            file.unlink()
    for file, content in before.items():
        file.write_bytes(content)


def _edit(file: Path, change: Callable[[str], str]) -> None:
    """Edit a file."""
    before = file.read_text(encoding="utf-8")
    after = change(before)
    assert after != before, file
    file.write_text(after, encoding="utf-8")


def _checks(season: Season) -> list[tuple[object, ...]]:
    """Return the commands that check the original's ledger, proof and database."""
    return [
        ("replay", season.ledger, "--check", season.board_sha256),
        ("replay", "--proof", season.proof),
        ("replay", season.ledger, "--proof", season.proof),
        ("replay", "spring", "--database", season.database),
        ("db", "verify", "--database", season.database),
    ]


def _add_rules(text: str) -> str:
    """Add rules to the class of a discipline, before its first one."""
    (rules,) = (node for node in ast.parse(text).body if isinstance(node, ast.ClassDef))
    first = next(node for node in rules.body if isinstance(node, ast.AnnAssign)).lineno - 1
    lines = text.splitlines(keepends=True)
    return "".join([*lines[:first], *_recipe("How to add a rule"), *lines[first:]])


def _recipe(heading: str) -> list[str]:
    """Return the lines of the first block of Python under a heading of CONTRIBUTING."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    block = re.search(r"(?ms)^ *```python\n(.*?)^ *```$", section)
    assert block is not None
    return indent(dedent(block[1]), "    ").splitlines(keepends=True)


def _components_file(package: Path) -> Path:
    """Return the file with the table of components."""
    files = (package / "disciplines" / "community").rglob("*.py")
    (file,) = [file for file in files if re.search(r"(?m)^COMPONENTS\b.* = ", file.read_text())]
    return file


def _row(board: Any, name: str) -> Any:
    return next(row for row in board["rows"] if row["id"] == name)


def test_an_added_rule_component_board_and_finding_change_no_earlier_result(
    season: Season, copy: Agon
) -> None:
    """Same fingerprints and hashes, editions without an issue, ledger and proof verified."""
    assert copy.release().code == 0
    editions, example, lint, shown, on, off, findings, *checks = copy(
        LIST,
        SCORE,
        ("rules", "lint", EDITION),
        ("rules", "show", EDITION, "--format", "json"),
        (*SCORE, "--set", "cheers=true", "--board", "cheers"),
        (*SCORE, "--set", "cheers=false", "--set", "cheers_coefficient=2"),
        ("check", "community", EXAMPLE),
        *_checks(season),
    )
    assert editions.json() == season.editions
    assert example.json() == season.example
    assert (lint.code, lint.err) == (0, "")
    assert [(check.code, check.err) for check in checks if check.code] == []
    assert len(checks) == 5

    # They exist, and count when they are switched on.
    rules = {rule["name"]: rule for rule in shown.json()["rules"]}
    assert (rules["cheers"]["since"], rules["cheers"]["stated"]) == (VERSION, False)
    assert on.json()["rules_sha256"] != season.example["rules_sha256"]
    assert _row(on.json(), "ada")["score"] > _row(season.example, "ada")["score"]
    assert "cheering" in findings.out
    assert off.json() == season.example


@pytest.mark.exhaustive
def test_an_edition_may_state_added_rules(copy: Agon, editions: Path) -> None:
    """Where it leaves them out, they are off; the default edition stays the first."""
    # A few examples are enough; those of the base are the edition's as well.
    _edit(
        editions / f"{EDITION.partition('/')[2]}.toml",
        lambda text: "[[examples]]".join(text.split("[[examples]]")[:4]),
    )
    file = editions / "cheers-1.toml"
    text = f"""
    agon = "{VERSION}"
    base = "{EDITION}"
    title = "The user score with cheers"
    released = "2026-12-01"
    changelog = ["Cheers count."]
    """
    file.write_text(text, encoding="utf-8")
    assert copy.release().code == 0
    lint, listed = copy(("rules", "lint", "community/cheers-1"), LIST)
    assert lint.code == 0, lint.out
    fingerprints = {each["edition"]: each["rules_sha256"] for each in listed.json()["editions"]}
    assert fingerprints["community/cheers-1"] == fingerprints[EDITION]

    # The examples of the base hold without cheers.
    file.write_text(f"{text}\n[rules]\ncheers_coefficient = 3\n", encoding="utf-8")
    assert copy.release("--unreleased", "community/cheers-1").code == 0
    lint, diff, listed = copy(
        ("rules", "lint", "community/cheers-1"),
        ("rules", "diff", EDITION, "community/cheers-1", "--format", "json"),
        LIST,
    )
    assert lint.code == 0, lint.out
    assert [rule["name"] for rule in diff.json()["rules"]] == ["cheers_coefficient"]
    assert listed.json()["editions"][0]["edition"] == EDITION


@pytest.mark.exhaustive
def test_every_check_names_the_changed_edition_and_rule(
    season: Season, copy: Agon, editions: Path
) -> None:
    """Also where the lock changed as well: ledger, boards and proofs record fingerprints."""
    # Without the edition that is based on it, whose fingerprint would change with it.
    (editions / "hardened-1.toml").unlink()
    _edit(editions / "lock.toml", lambda text: "".join(
        line for line in text.splitlines(keepends=True) if "hardened-1" not in line
    ))  # fmt: skip
    _edit(
        editions / f"{EDITION.partition('/')[2]}.toml",
        lambda text: text.replace("affiliation_bonus = 50\n", "affiliation_bonus = 60\n"),
    )
    locked = copy.release()
    assert locked.code == 1
    assert "affiliation_bonus was 50.0 and is 60.0" in locked.err
    for check in copy(*_checks(season)):
        assert check.code != 0
        assert f"the file of edition {EDITION} does not state the rules" in check.err
        assert "affiliation_bonus was 50.0 and is 60.0" in check.err

    assert copy.release("--unreleased", EDITION).code == 0
    for check in copy(*_checks(season)):
        assert check.code == 1
        assert f"edition {EDITION} gives " in check.err
        assert "affiliation_bonus was 50.0 and is 60.0; restore the released edition" in check.err
