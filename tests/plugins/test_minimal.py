"""The smallest discipline of the how-to: no findings, no simulator, and all else works."""

from pathlib import Path

import pytest

from agon.app.contests.boards.publish import publish
from agon.app.contests.ingest.records import record
from agon.app.contests.lifecycle import creation, transitions
from agon.disciplines import discipline
from agon.editions.release import main
from agon.errors import NotFound
from agon.web import addresses
from cli.command import Cli
from fakes.instance import instance_at
from fakes.service import ORGANISER
from plugins.installed import install_tally


@pytest.fixture
def ballots(site: Path, tmp_path: Path) -> Path:
    """Install it, release its edition as the how-to says, and write three ballots."""
    install_tally(site)
    assert main(["tally"]) == 0
    folder = tmp_path / "ballots"
    folder.mkdir()
    (folder / "ballots.csv").write_text("id,name\n1,bob\n2,ada\n3,ada\n")
    return folder


def test_its_records_are_scored_explained_and_compared(agon: Cli, ballots: Path) -> None:
    """Two ballots are two points; a rule doubles them."""
    scored = agon("score", "tally", ballots, "--format", "json").json()
    assert scored["rows"] == [
        {"rank": 1, "id": "ada", "score": 2.0},
        {"rank": 2, "id": "bob", "score": 1.0},
    ]
    assert agon("explain", "tally", ballots, "ada", "--format", "json").json()["score"] == 2
    assert agon("explain", "tally", ballots, "cy").code == 3
    doubled = agon("score", "tally", ballots, "--set", "points=2", "--format", "json").json()
    assert [row["score"] for row in doubled["rows"]] == [4, 2]
    assert agon("compare", "tally", ballots, "--set", "points=2").code == 0
    assert agon("rules", "lint", "tally/plain-1").code == 0


def test_it_has_no_findings_and_no_simulator(agon: Cli, ballots: Path, tmp_path: Path) -> None:
    """A check finds nothing, and what it cannot do says so with a remedy."""
    assert agon("check", "tally", ballots, "--format", "json").json()["findings"] == []
    ended = agon("simulate", "tally", "--out", tmp_path / "made")
    assert ended.code == 3
    assert "tally has no simulation; give records of your own" in ended.err
    assert agon("attack", "tally").code == 3
    assert (discipline("tally").checks, discipline("tally").attacks) == ({}, {})
    with pytest.raises(NotFound, match="no simulation"):
        discipline("tally").simulate(size=1, seed=1, attacks=())


@pytest.mark.exhaustive
def test_its_contest_has_a_final_board_and_a_replay(
    agon: Cli, ballots: Path, tmp_path: Path
) -> None:
    """From creation to export, by commands."""
    at = ("--database", f"sqlite:///{tmp_path}/agon.db")
    for command in (
        ("contest", "create", "poll", "--discipline", "tally"),
        ("contest", "add", "poll", ballots),
        ("contest", "findings", "poll", "--scan"),
        ("contest", "freeze", "poll"),
        ("contest", "finalize", "poll"),
        ("contest", "export", "poll", "--out", tmp_path / "ledger"),
    ):
        ended = agon(*command, *at)
        assert ended.code == 0, ended.err
    board = agon("contest", "board", "poll", "--format", "json", *at).json()
    assert [row["id"] for row in board["rows"]] == ["ada", "bob"]
    assert agon("replay", tmp_path / "ledger", "--check", board["board_sha256"]).code == 0


@pytest.mark.exhaustive
@pytest.mark.usefixtures("ballots")
def test_its_pages_are_shown(tmp_path: Path) -> None:
    """Those of the contest, of a name on its board, and the desk."""
    instance = instance_at(tmp_path)
    new = creation.NewContest(id="poll", discipline="tally", title="A poll")
    creation.create(instance.service, new, by=ORGANISER)
    transitions.open_contest(instance.service, "poll", by=ORGANISER)
    record(instance.service, "poll", [("ballots", {"id": 1, "name": "ada"}, None)], by=ORGANISER)
    publish(instance.service, "poll")
    headers = instance.as_("organiser")
    pages = ("/", "/c/poll", "/c/poll/people/ada", addresses.desk("poll"))
    status = [instance.client.get(page, headers=headers).status_code for page in pages]
    shown = instance.client.get("/c/poll", headers=headers).text
    instance.close()
    assert status == [200] * len(pages)
    assert "ada" in shown
