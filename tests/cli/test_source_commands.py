"""Every command of the tree that takes a source of records takes one and the same mapping."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest

import agon as library
from agon.attacks.catalog import lab_of
from agon.cli.root import cli
from agon.disciplines import BUILT_IN
from cli.command import Cli

OPTIONS = {"--mapping", "--values", "--null", "--ignore", "--skip-missing"}
OTHER_SOURCES = {"arena report", "dojo reveal", "dojo verify", "replay"}
"""Commands whose source is a contest, or an export of one: exact by what it is."""

MAPPING = """
[tables]
{table} = "renamed"
[columns]
"{table}.{column}" = "Other Name"
"""


def commands_with_sources() -> Iterator[tuple[str, click.Command]]:
    """Yield the commands of the tree with an argument that is a source of records."""

    def walk(command: click.Command, context: click.Context, words: list[str]) -> Any:
        if not isinstance(command, click.Group):
            if any(one.name == "source" for one in command.params):
                yield " ".join(words), command
            return
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from walk(below, click.Context(below, parent=context), [*words, name])

    for name, command in walk(cli, click.Context(cli), []):
        if name not in OTHER_SOURCES:
            yield name, command


COMMANDS = dict(commands_with_sources())


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_with_a_source_has_every_option_of_a_mapping(name: str) -> None:
    """A new command gets them with its argument, or fails here."""
    options = {text for one in COMMANDS[name].params for text in one.opts}
    assert options >= OPTIONS


def _challenge(*words: str) -> Callable[[Path], list[Any]]:
    return lambda source: [*words[:2], source / "challenge", *words[2:]]


def _community(*words: str) -> Callable[[Path], list[Any]]:
    return lambda source: [words[0], "community", source / "community", *words[1:]]


def _arena(*words: str) -> Callable[[Path], list[Any]]:
    return lambda source: [*words, source / "arena"]


def _attack(of: str) -> Callable[[Path], list[Any]]:
    name = lab_of(of).strategies[0].name
    return lambda source: ["attack", of, "--records", source / of, "--attack", name]


CALLS: dict[str, Callable[[Path], list[Any]]] = {
    "score": _community("score"),
    "explain": _community("explain", "1"),
    "compare": _community("compare", "--set", "reviewer_fair=.7"),
    "check": _community("check"),
    "convert": lambda source: [*_community("convert")(source), "--out", source / "out"],
    "plan": _community("plan"),
    "import": lambda source: [
        "import", "peerbench", source / "community", "--out", source / "out",
    ],
    **{f"attack {of}": _attack(of) for of in BUILT_IN},
    "contest add": lambda source: ["contest", "add", "spring", source / "community", "--dry-run"],
    "challenge weights": _challenge("challenge", "weights"),
    "challenge forecast": _challenge("challenge", "forecast"),
    "challenge submit": _challenge("challenge", "submit", "--netuid", "5"),
    "challenge plot": lambda source: [
        "challenge", "plot", source / "challenge", "--out", source / "plot.svg",
    ],
    "arena rate": _arena("arena", "rate"),
    "arena audit": _arena("arena", "audit"),
    "arena robustness": _arena("arena", "robustness"),
}  # fmt: skip
SLOW = {"attack challenge", "attack community", "attack dojo"}
RENAMED = {
    "community": ("quick_feedbacks", "opinion"),
    "challenge": ("evaluations", "score"),
    "arena": ("votes", "vote"),
    "dojo": ("submissions", "verdict"),
}


@pytest.fixture(scope="module")
def renamed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Hold records of three disciplines whose table and column have other names."""
    folder = tmp_path_factory.mktemp("renamed")
    for of, (table, column) in RENAMED.items():
        library.write_records(
            library.simulate(of, size=30 if of == "arena" else 12, seed=1), folder / of, form="csv"
        )
        text = (folder / of / f"{table}.csv").read_text()
        header, _, rows = text.partition("\n")
        names = ["Other Name" if name == column else name for name in header.split(",")]
        assert "Other Name" in names
        (folder / of / f"{table}.csv").unlink()
        (folder / of / "renamed.csv").write_text(",".join(names) + "\n" + rows)
        mapping = MAPPING.format(table=table, column=column)
        (folder / f"{of}.toml").write_text(mapping)
    return folder


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_with_a_source_reads_it_by_a_mapping(
    name: str, agon: Cli, renamed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An option that is taken and not used would be worse than none."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "of").symlink_to(renamed)
    if name == "contest add":
        agon("contest", "create", "spring", "--discipline", "community", "--title", "Spring")
        agon("contest", "open", "spring")
    call = CALLS[name]
    source = tmp_path / "of"
    words = [str(word) for word in call(source)]
    of = next(of for of in RENAMED if any(word.endswith(f"/{of}") for word in words))
    words = [word.replace(str(source / "out"), str(tmp_path / "out")) for word in words]
    words = [word.replace(str(source / "plot"), str(tmp_path / "plot")) for word in words]
    wrong = tmp_path / "wrong.toml"
    wrong.write_text('[tables]\nnonsense = "renamed"\n')
    refused = agon(*words, "--mapping", wrong)
    assert refused.code == 2, refused.out
    assert "nonsense" in refused.err
    if name in SLOW:  # they have one function with attack arena
        return
    done = agon(*words, "--mapping", renamed / f"{of}.toml")
    assert done.code in ({0, 1} if name == "check" else {0}), done.err
