"""Without an extra, every command works or names the extra that it needs."""

import json
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest

import agon
from agon.errors import Unavailable
from agon.extras import EXTRAS

ROOT = Path(__file__).parents[2]
TUTORIAL = str(ROOT / "examples" / "tutorial")

PROGRAM = """
import contextlib, io, json, sys

class Absent:
    def find_spec(self, fullname, path=None, target=None):
        if fullname.partition(".")[0] in ABSENT:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)

ABSENT, COMMANDS, EVERY = json.loads(sys.argv[1])
sys.meta_path.insert(0, Absent())

import click
from agon.cli.root import cli
from agon.cli.run import run

def value(parameter):
    return str(parameter.type.choices[0]) if isinstance(parameter.type, click.Choice) else "1"

def leaves(command, path):
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            yield from leaves(command.get_command(click.Context(command), name), [*path, name])
        return
    words = []
    for parameter in command.params:
        if parameter.required and isinstance(parameter, click.Argument):
            words.append(value(parameter))
        elif parameter.required:
            words += [parameter.opts[0], value(parameter)]
    yield [*path, *words]

results = {}
for words in [*COMMANDS, *(leaves(cli, []) if EVERY else ())]:
    if words[0] == "attack" or words[:2] in (["arena", "bot"], ["rules", "lint"]):
        continue  # take long, or go on
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(words)
    results[" ".join(words)] = (code, err.getvalue())
print(json.dumps(results))
"""


def run_without(
    extra: str, folder: Path, commands: Sequence[Sequence[str]], *, every: bool = False
) -> dict[str, tuple[int, str]]:
    """Run commands, and each command once on request, in a process without an extra's packages."""
    chosen = json.dumps([EXTRAS[extra], commands, every])
    process = subprocess.run(
        [sys.executable, "-c", PROGRAM, chosen], cwd=folder, capture_output=True, text=True,
        stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    assert process.returncode == 0, process.stderr
    results: dict[str, tuple[int, str]] = json.loads(process.stdout)
    return results


ABOUT_FILES: list[tuple[str, ...]] = [
    *(("arena", name, "battles.csv") for name in ("rate", "audit", "robustness")),
    ("convert", "arena", "battles.csv", "--out", "converted"),
    ("score", "community", TUTORIAL),
    ("check", "community", TUTORIAL),
    ("explain", "community", TUTORIAL, "ada"),
    ("compare", "community", TUTORIAL, "--set", "self_feedback=ignore"),
]


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, str]]:
    """Run the commands about files, and each command once, without the packages of the service."""
    folder = tmp_path_factory.mktemp("plain")
    battles = "model_a,model_b,winner\nann,bob,model_a\nbob,cy,tie\ncy,ann,model_b\n"
    (folder / "battles.csv").write_text(battles)
    return run_without("serve", folder, ABOUT_FILES, every=True)


@pytest.mark.exhaustive
def test_a_plain_installation_reports_no_bug(plain: dict[str, tuple[int, str]]) -> None:
    """Eleven commands of the service did; the message says what to install."""
    assert len(plain) > 60 + len(ABOUT_FILES)
    assert {words: error for words, (code, error) in plain.items() if code == 70} == {}
    named = [words for words, (_, error) in plain.items() if "agon-engine[serve]" in error]
    assert {words.split()[0] for words in named} >= {
        "contest", "db", "export", "jobs", "serve", "token", "user", "webhooks", "worker",
    }  # fmt: skip


@pytest.mark.exhaustive
def test_commands_about_files_need_no_extra(plain: dict[str, tuple[int, str]]) -> None:
    """Robustness asked for the service's packages: its module had the published form as well."""
    results = {words: plain[words] for words in map(" ".join, ABOUT_FILES)}
    assert {words: error for words, (code, error) in results.items() if code} == {}


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("extra", "command"),
    [
        ("postgres", ("score", "community", "postgresql://localhost/none")),
        ("sail", ("score", "community", TUTORIAL, "--engine", "sail")),
        ("plots", ("challenge", "plot", "demo", "--out", "weights.png")),
    ],
)
def test_a_command_names_the_extra_that_it_needs(
    extra: str, command: tuple[str, ...], tmp_path: Path
) -> None:
    """And no other."""
    if extra == "plots":
        agon.write_records(agon.simulate("challenge", size=30, seed=1), tmp_path / "demo")
    ((code, error),) = run_without(extra, tmp_path, [command]).values()
    assert (code, f"agon-engine[{extra}]" in error) == (Unavailable.exit_code, True), error


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", ["pandas", "polars"])
def test_a_board_names_the_extra_of_a_data_frame(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A notebook shows what to install instead of a module's name."""
    board = agon.score("community", TUTORIAL).board()

    def absent(*_: Any) -> None:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(Unavailable, match=rf"pip install 'agon-engine\[{name}\]'"):
        board.to_pandas() if name == "pandas" else board.to_polars()


def test_every_optional_package_belongs_to_an_extra() -> None:
    """The list follows pyproject.toml, so that a package that is added there is named."""
    metadata = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    listed = {module for modules in EXTRAS.values() for module in modules}
    owners = packages_distributions()
    for requirements in metadata["project"]["optional-dependencies"].values():
        for requirement in requirements:
            name = requirement
            for sign in "[<>=~! ":
                name = name.partition(sign)[0]
            modules = {top for top, names in owners.items() if name in names and top[0] != "_"}
            assert not modules or modules & listed, (name, modules)
