"""Commands that pages show are commands as the shell knows them, and those of a contest run."""

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest

from agon.app.contests.ingest.records import record
from agon.web.site import PAGES
from cli.command import Cli
from docs.test_howtos import commands, problem_of
from fakes.contests import all_disciplines
from fakes.instance import Instance, instance_at
from fakes.service import ORGANISER
from web.browser import Browser

CONTESTS = ("arena", "autumn", "challenge", "community", "season", "secret")
SHOWN = re.compile(r"<(?:code|pre)[^>]*>\s*(?:<code>)?(agon [^<]*)</")
VALUES = {"id": "1", "n": "1", "number": "1", "board": "bots", "action": "check", "task": "sums"}


@pytest.fixture
def database(tmp_path: Path) -> Iterator[tuple[Instance, str]]:
    """Return an instance with a contest of every discipline, and the address of its database."""
    instance = instance_at(tmp_path)
    all_disciplines(instance.service)
    yield instance, f"sqlite:///{tmp_path / 'agon.db'}"
    instance.close()


def shown_commands(instance: Instance, role: str | None, *, contests: tuple[str, ...]) -> set[str]:
    """Return the commands on the pages of some contests, as somebody sees them."""
    browser = Browser(instance)
    if role is not None:
        browser.sign_in(role)
    found: set[str] = set()
    for path, _ in PAGES:
        for contest in contests if "{contest}" in path else ("",):
            address = path.replace("{contest}", contest).format_map(VALUES)
            found |= {unescape(text).strip() for text in SHOWN.findall(browser.get(address).text)}
    return found


@pytest.mark.exhaustive
def test_every_command_on_a_page_is_valid_and_those_of_a_contest_run(
    database: tuple[Instance, str], capsys: pytest.CaptureFixture[str]
) -> None:
    """What is copied from a page has to work; a renamed option is found here."""
    instance, url = database
    agon = Cli(capsys)
    found = shown_commands(instance, "organiser", contests=CONTESTS)
    found |= shown_commands(instance, None, contests=CONTESTS[:1])
    assert len(found) > len(CONTESTS)
    lines = {text: list(commands(text)) for text in sorted(found)}
    assert all(lines.values()), lines
    whole = {
        text: words for text, several in lines.items() for words in several
        if len(words) > 2  # a name alone, such as agon contest create, takes more
    }  # fmt: skip
    invalid = {text: why for text, words in whole.items() if (why := problem_of(words)) is not None}
    assert invalid == {}
    replays = [words for words in whole.values() if words[0] == "replay"]
    assert {words[1] for words in replays} >= {*CONTESTS} - {"secret"}
    for words in replays:
        ended = agon(*words, "--database", url)
        assert ended.code == 0, (words, ended.err)
    [register] = [words for words in whole.values() if words[:2] == ["arena", "register"]]
    owner = {"id": "ada", "handle": "ada", "account_created_at": "2026-01-01T00:00:00Z"}
    record(instance.service, "secret", [("owners", owner, None)], by=ORGANISER)
    registered = agon(*register, "--owner", "ada", "--database", url)
    assert registered.code == 0, registered.err
