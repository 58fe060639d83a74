"""The commands of every page are valid, and the how-tos run as written.

A block that cannot run here has a comment in front of it, ``<!-- not run: REASON -->``.
"""

import csv
import gzip
import io
import json
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from agon.app.analysis.simulate import simulate, write_simulation
from agon.cli import cli
from agon.cli.run import run

ROOT = Path(__file__).parents[2]
HOWTOS = sorted((ROOT / "docs" / "howto").glob("*.md"))
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")),
         *sorted((ROOT / "docs").glob("*/*.md"))]  # fmt: skip
BLOCK = re.compile(r"(?:<!-- not run: (.+?) -->\n)?^```sh\n(.*?)^```", re.DOTALL | re.MULTILINE)


def blocks(page: Path) -> Iterator[tuple[str | None, list[list[str]]]]:
    """Yield the reason why a block is not run, or None, and the words of its agon commands."""
    for reason, block in BLOCK.findall(page.read_text()):
        lines = re.sub(r"\\\n\s*", " ", block).splitlines()
        # In the list of commands, a meaning stands after several blanks.
        parts = [re.split(r" {2,}", line.strip())[0] for line in lines if "agon " in line]
        yield reason or None, [words for part in parts for words in commands(part)]


def commands(line: str) -> Iterator[list[str]]:
    """Yield the words after ``agon`` of each command in a line of a shell."""
    words: list[str] = []
    for word in [*shlex.split(line, comments=True), "|"]:
        if word not in {"|", ">", "&&"}:
            words.append(word)
            continue
        while words and "=" in words[0]:
            del words[0]
        if words[:1] == ["agon"]:
            yield words[1:]
        words = []


TESTS = re.compile(r"<!-- not run: [^>]*?\b(tests/[\w/]+\.py)")


def test_tests_named_in_place_of_a_run_exist() -> None:
    """A block that is not run says where its commands are tested."""
    named = {(page, name) for page in PAGES for name in TESTS.findall(page.read_text())}
    assert len(named) > 10
    assert [(str(page), name) for page, name in named if not (ROOT / name).exists()] == []


def problem_of(words: list[str]) -> str | None:
    """Return why a command is not valid as written, or None: its name, options or arguments."""
    command: click.Command = cli
    context = click.Context(cli, info_name="agon", **cli.context_settings)
    try:
        while isinstance(command, click.Group) and words and not words[0].startswith("-"):
            _, child, words = command.resolve_command(context, words)
            assert child is not None
            command, context = child, click.Context(child, parent=context, info_name=child.name)
        values, left, _ = command.make_parser(context).parse_args(list(words))
        for parameter in command.params:
            value = values.get(parameter.name)
            if isinstance(parameter.type, click.Choice) and isinstance(value, str):
                parameter.type.convert(value, parameter, context)
            if parameter.required and not isinstance(value, (str, tuple, list)):
                return f"{parameter.name} is missing"
    except click.UsageError as error:
        return error.format_message()
    return f"unexpected: {left}" if left else None


OF_THE_EXAMPLE = ("quiz", "attack quiz")
"""Commands that the example discipline adds; tests/plugins/test_howto.py runs them, installed."""


@pytest.mark.sample(34)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_command_of_a_page_is_valid(page: Path) -> None:
    """A renamed option is found here, in blocks that cannot run, too."""
    invalid = {" ".join(words): problem for _, lines in blocks(page) for words in lines
               if not " ".join(words).startswith(OF_THE_EXAMPLE)
               and (problem := problem_of(words)) is not None}  # fmt: skip
    assert invalid == {}


def test_an_invalid_command_is_found() -> None:
    """The check itself is checked."""
    assert problem_of(["scroe", "arena", "data"]) is not None
    assert "No such option" in str(problem_of(["score", "arena", "data", "--borad", "bots"]))
    assert problem_of(["score", "arena"]) == "source is missing"
    assert problem_of(["score", "arena", "data", "more"]) == "unexpected: ['more']"
    assert "xml" in str(problem_of(["score", "arena", "data", "--format", "xml"]))


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the folders that the how-tos name, once."""
    folder = tmp_path_factory.mktemp("examples")
    shutil.copytree(ROOT / "examples" / "tutorial", folder / "data")
    with (folder / "data" / "users.csv").open("a") as users:
        users.write("mallory,2026-01-09\n")
    feedbacks = folder / "data" / "quick_feedbacks.csv"
    rows = [line.split(",") for line in feedbacks.read_text().splitlines()]
    with feedbacks.open("w", newline="") as file:
        csv.writer(file).writerows(
            [["id", *rows[0]], *([number, *row] for number, row in enumerate(rows[1:], 1))]
        )
    write_simulation(simulate("challenge", size=1500, seed=3), folder / "season")
    battles = ["model_a,model_b,left,right,winner,language"]
    battles += [
        f"{a},{b},{a},{b},{w},en"
        for a, b, w in [
            ("gpt-4", "koala", "model_a"),
            ("koala", "gpt-4", "tie"),
            ("gpt-4", "koala", "model_b"),
        ]
    ]
    (folder / "battles.csv").write_text("\n".join(battles))
    (folder / "evaluations.csv").write_text("uid,validator,score,stake,epoch\n1,v,0.5,100,1\n")
    (folder / "class.csv").write_text("user,note\nalan,Alan Turing\ngrace\n")
    subnet = ["uid,hotkey,validator,score,stake,epoch"]
    subnet += [
        f"{uid},{hotkey},v{v},{score},100,{epoch}"
        for epoch, seats in (
            (1, [(7, "alice", 0.9), (8, "bob", 0.6), (9, "dora", 0.5)]),
            (2, [(7, "carol", 0.3), (8, "bob", 0.6), (9, "dora", 0.5)]),
        )
        for uid, hotkey, score in seats
        for v in (1, 2, 3)
    ]
    (folder / "subnet.csv").write_text("\n".join(subnet))
    (folder / "solved").mkdir()
    (folder / "solved" / "problems.csv").write_text("id\nprimes\n")
    (folder / "solved" / "submissions.csv").write_text(
        "id,problem_id,user_id,created_at,source,verdict\n1,primes,ada,2026-01-01,x = 1,ok\n"
    )
    (folder / "prompts.ndjson").write_text('{"id": "p1", "text": "What did you eat?"}\n')
    answer = '{"id": "h1", "prompt_id": "p1", "text": "Soup again."}\n'
    (folder / "answers.ndjson").write_text(answer)
    with gzip.open(folder / "battles.csv.gz", "wt") as packed:
        packed.write("\n".join(battles))
    return folder


PLACEHOLDERS = {
    "CHANGE": ("contest changes spring", "changes", "id"),
    "CASE": ("cases list spring", "cases", "id"),
    "3fb1…": ("contest board spring", "", "board_sha256"),
    "9XfEr2bmT0aBq8f0m1vYzw": ("token list", "tokens", "id"),
    "SjsxdoYTFpdzjgUoDtrLkw": ("contest invitations autumn", "invitations", "id"),
}
"""Words of a page, the command that prints the value of each, its list and its key."""


class Reader:
    """A reader who runs the commands of a page one after the other.

    An id that a command printed is inserted where the page has a name in capitals, and a hash
    where it has its first digits.
    """

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def run(self, words: list[str]) -> None:
        """Run a command."""
        self._capsys.readouterr()
        code = run([self._value(word) for word in words])
        assert code == 0, f"{' '.join(words)}\n{self._capsys.readouterr().err}"

    def _value(self, word: str) -> str:
        """Return the value of a placeholder; any other word as it is."""
        if word == "9c1e…":
            return str(json.loads(Path("spring-ledger/contest.json").read_text())["public_key"])
        if word not in PLACEHOLDERS:
            return word
        command, name, key = PLACEHOLDERS[word]
        value = self._read(*command.split())
        rows = value[name] if name else [value]
        return str(next(row[key] for row in rows if row.get("state") != "cancelled"))

    def _read(self, *words: str) -> Any:
        """Return what a command prints as JSON."""
        self._capsys.readouterr()
        assert run([*words, "--format", "json"]) == 0, self._capsys.readouterr().err
        return json.loads(self._capsys.readouterr().out)


@pytest.mark.sample(1)
@pytest.mark.parametrize("page", HOWTOS, ids=lambda page: page.stem)
def test_the_commands_of_a_how_to_run(
    page: Path,
    examples: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Readers copy them; a block that cannot run says why."""
    lines = [words for reason, block in blocks(page) if reason is None for words in block]
    if lines:
        shutil.copytree(examples, tmp_path, dirs_exist_ok=True)
    if any(words[0] == "simulate" and "season/" in words for words in lines):
        shutil.rmtree(tmp_path / "season")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("agon.cli.contest.corrections._ask_confirmation", lambda _: True)
    reader = Reader(capsys)
    for words in lines:
        if "-" in words:  # after zcat
            text = gzip.decompress((tmp_path / "battles.csv.gz").read_bytes())
            monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))
        reader.run(words)
