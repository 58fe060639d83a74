"""Explanations and findings name participants as boards do, in JSON, on pages, in the shell."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agon.api.conversions import explanation_of
from agon.app.contests.cases.findings import scan
from agon.app.contests.lifecycle.details import edit
from agon.kernel.text.sentences import Sentence
from cli.command import Cli
from fakes.contests import contest_of
from fakes.instance import Instance, instance_at
from fakes.service import ORGANISER
from web.browser import Browser

BOTS = {"it": "Zoe <b>", "and": "Alan", "1": "One \u202eho", "bare": "bare"}
"""Names by id; the ids are words that also occur in the sentences."""

PLAYED = [("it", "and", "a"), ("1", "it", "tie"), ("and", "1", "a"), ("bare", "it", "a"),
          ("it", "1", "a"), ("and", "bare", "b")]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the database."""
    return tmp_path_factory.mktemp("named")


@pytest.fixture(scope="module")
def instance(folder: Path) -> Iterator[Instance]:
    """A contest of four bots."""
    opened = instance_at(folder)
    rows: list[Any] = [("bots", {"id": key, "name": name}, None) for key, name in BOTS.items()]
    rows += [
        ("matches", {"id": f"m{number}", "played_at": f"2026-01-01T00:0{number}:00Z", "bot_a": a,
                     "bot_b": b, "kind": "rated", "winner": winner}, None)
        for number, (a, b, winner) in enumerate(PLAYED)
    ]  # fmt: skip
    contest_of(opened.service, "league", discipline="arena", title="The league", rows=rows)
    yield opened
    opened.close()


def explanation(instance: Instance, board: str, bot: str = "it") -> dict[str, Any]:
    """Return an explanation as JSON."""
    response = instance.get(f"/contests/league/boards/{board}/explanations/{bot}")
    assert response.status_code == 200, response.text
    value: dict[str, Any] = response.json()
    return value


def test_the_api_says_where_a_sentence_names_whom(instance: Instance) -> None:
    """A program that looked for ids by the words around them found "it" and "and" everywhere."""
    why = explanation(instance, "bots")
    beaten = next(part for part in why["parts"] if part["name"] == "match m0")
    assert [each["participant"] for each in beaten["pieces"]] == [None, "and", None]
    assert "".join(each["text"] for each in beaten["pieces"]) == beaten["text"]
    assert why["parts"][0]["pieces"] == []
    assert why["names"] == BOTS
    notes = explanation(instance, "bradley-terry")
    named = {each["participant"] for pieces in notes["note_pieces"] for each in pieces}
    assert named >= {"and", "1"}
    for note, pieces in zip(notes["notes"], notes["note_pieces"], strict=True):
        assert not pieces or "".join(each["text"] for each in pieces) == note
    read = explanation_of(notes)
    assert read.to_dict() == notes
    assert any(isinstance(note, Sentence) and note.participants for note in read.notes)


def test_pages_show_the_names_in_sentences(instance: Instance) -> None:
    """Each name stands where the id is meant, and nowhere else."""
    page = instance.client.get("/c/league/people/it").text
    assert 'Beat <bdi>Alan</bdi> <bdi class="id">and</bdi> (' in page
    assert "Lost to <bdi>bare</bdi> (" in page
    assert "Zoe <b>" not in page
    page = instance.client.get("/c/league/people/and?board=bradley-terry").text
    named = (
        '<bdi>Zoe &lt;b&gt;</bdi> <bdi class="id">it</bdi>, the bot before and the head of its tier'
    )
    assert f"not apart from {named}: " in page


@pytest.mark.usefixtures("instance")
def test_the_shell_shows_the_names_in_sentences(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command showed ids where the page showed names."""
    shown = Cli(capsys)("contest", "explain", "league", "it",
                        "--database", f"sqlite:///{folder}/agon.db")  # fmt: skip
    assert shown.code == 0, shown.err
    assert shown.out.startswith("Zoe <b> (it) · bots")
    assert "Alan (and)" in shown.out
    assert "Lost to bare (" in " ".join(shown.out.split())


def test_the_desk_names_those_whom_a_finding_is_about(instance: Instance) -> None:
    """Organizers looked up each id on a board."""
    handles = {"ada": "ada_lovelace_1815", "eve": "ada_love1ace_1815", "bob": "robert"}
    rows = [("users", {"id": key, "handle": name}, None) for key, name in handles.items()]
    contest_of(
        instance.service, "club", discipline="community", title="Club", rows=rows, names="shown"
    )
    scan(instance.service, "club")
    organizer = Browser(instance)
    organizer.sign_in("organiser")
    for address in ("/c/club/desk/findings", "/c/club/desk/findings/0"):
        page = organizer.get(address).text
        assert '<bdi>ada_love1ace_1815</bdi> <bdi class="id">eve</bdi>' in page, address


def test_a_contest_that_hides_names_names_nobody(instance: Instance) -> None:
    """Names of an explanation are those of the board, and no others."""
    edit(instance.service, "league", {"names": "hidden"}, by=ORGANISER)
    assert explanation(instance, "bots")["names"] == {}
    assert "Alan" not in instance.client.get("/c/league/people/it").text
