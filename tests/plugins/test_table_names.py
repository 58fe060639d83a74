"""A discipline of another package may name its tables as agon's disciplines name theirs.

Pages, links, routes and jobs follow what a discipline states that it can do. A table's name, a
board's name or a discipline's name says nothing about that.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from agon.api.catalog import all_operations
from agon.app.contests.boards.publish import publish
from agon.app.contests.ingest.records import record
from agon.app.contests.lifecycle import creation, transitions
from agon.disciplines import BUILT_IN, discipline
from agon.entities.access import Caller, Everywhere
from agon.errors import Forbidden
from agon.kernel.times import written_time
from agon.web import addresses
from agon.web.site import PAGES
from cli.command import Cli
from fakes.instance import Instance, instance_at
from fakes.service import ORGANISER
from plugins.installed import install_renamed
from sizes import ALL
from web.markup import Markup

NAMES = {
    "quiz": ("answers", "players"),
    "quiz-live": ("matches", "bots"),
    "quiz-panel": ("votes", "judges"),
    "quiz-agents": ("submissions", "validators"),
    "quiz-programs": ("problems", "competitions"),
    "quiz-network": ("evaluations", "epochs"),
    "quiz-accounts": ("prompts", "owners"),
}
"""Names of a quiz, and of its tables; the board has the name of the second."""

TRIED = list(NAMES) if ALL else ["quiz", "quiz-live"]
"""The quizzes of which there are contests: the plain one, and all others or one of them."""

JUDGE = Caller(name="user:judy", user="judy", role="judge", contests=Everywhere.ALL)
OTHERS = [name for name in TRIED if name != "quiz"]
CAPABLE = ("bots", "epochs", "matches", "problems", "robustness", "submit", "vote")
"""The pages of a contest that only a discipline with a capability has."""


@pytest.fixture
def contests(site: Path, tmp_path: Path) -> Iterator[Instance]:
    """Install a quiz for every pair of names; open a contest of each, with a published board."""
    for name in TRIED:
        answers, players = NAMES[name]
        install_renamed(site, name, {"answers": answers, "players": players})
    instance = instance_at(tmp_path)
    for name in TRIED:
        made = discipline(name).simulate(size=30, seed=1, attacks=("repeated-answers",))
        rows = [
            (table, sent(row), None)
            for table, data in made.tables.items()
            for row in data.to_pylist()
        ]
        new = creation.NewContest(id=name, discipline=name, title="A quiz")
        creation.create(instance.service, new, by=ORGANISER)
        transitions.open_contest(instance.service, name, by=ORGANISER)
        record(instance.service, name, rows, by=ORGANISER)
        publish(instance.service, name)
    yield instance
    instance.close()


def sent(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row as JSON has it."""
    return {
        name: written_time(value) if isinstance(value, datetime) else value
        for name, value in row.items()
    }


def answers_of(instance: Instance, name: str) -> Mapping[str, int]:
    """Return the status of each page and of each read of a contest, by its route."""
    board = NAMES[name][1]
    headers = instance.as_("organiser")
    values = defaultdict(lambda: "p3", {"contest": name, "board": board, "number": "1", "n": "1"})
    reads = [each.url for each in all_operations() if not each.changes]
    paths = [path for path, _ in PAGES] + reads
    return {
        path: instance.client.get(path.format_map(values), headers=headers).status_code
        for path in paths
        if "{contest}" in path and "{seq}" not in path and not path.endswith("/events")
    }


@pytest.mark.exhaustive
def test_equal_disciplines_have_equal_pages_and_routes(contests: Instance) -> None:
    """Only the names of tables and boards differ, so every address answers alike."""
    expected = answers_of(contests, "quiz")
    differing = {
        name: {path: (status, expected[path]) for path, status in found.items()
               if status != expected[path]}
        for name in OTHERS if (found := answers_of(contests, name)) != expected
    }  # fmt: skip
    assert differing == {}
    missing = {page for page in CAPABLE if expected[f"/c/{{contest}}/{page}"] == 404}
    assert missing == set(CAPABLE)
    assert expected["/c/{contest}/judges/{id}"] == 404


def test_every_link_of_their_pages_leads_to_a_page(contests: Instance) -> None:
    """The board, a player's page, the desk, an empty contest; none is a page of a capability."""
    headers = contests.as_("organiser")
    broken: dict[str, int] = {}
    capabilities = set[str]()
    for name in {"quiz", "quiz-live", "quiz-panel", "quiz-network"} & set(TRIED):
        pages = [f"/c/{name}", f"/c/{name}/people/p3", addresses.desk(name)]
        texts = [contests.client.get(page, headers=headers).text for page in pages]
        links = {link.partition("#")[0] for text in texts for link in Markup(text).links}
        own = {link for link in links if name in link.split("/")} | set(pages)
        assert len(own) > 10
        status = {link: contests.client.get(link, headers=headers).status_code for link in own}
        broken |= {link: code for link, code in status.items() if code != 200}
        capabilities |= {link for link in own if {*CAPABLE, "judges"} & set(link.split("/")[3:])}
        new = creation.NewContest(id=f"{name}-2", discipline=name, title="Another")
        creation.create(contests.service, new, by=ORGANISER)
        empty = contests.client.get(f"/c/{name}-2", headers=headers).text
        assert not any(f"/c/{name}-2/{part}" in empty for part in CAPABLE), name
    assert broken == {}
    assert {link for link in capabilities if "/boards/" not in link} == set()


def test_nothing_is_queued_or_added_through_routes_of_a_capability(contests: Instance) -> None:
    """A round that cannot be played would wait in the queue for ever."""
    lines = {"content": b'{"id": "x"}\n', "headers": {"content-type": "application/x-ndjson"}}
    bodies: Mapping[str, Any] = {
        "matches": {},
        "votes": lines,
        "submissions": {"json": {"user": "ada", "content": {}}},
        "problems": {"json": {"package": {}}},
        "bots": {"json": {"name": "a bot"}},
        "prompts": {**lines, "content": b'{"id": "x", "text": "why?"}\n'},
    }
    for name in TRIED:
        with contests.service.store.read() as session:
            before = session.contests.get(name).seq
        for path, body in bodies.items():
            answer = contests.post(f"/contests/{name}/{path}", "organiser", **body)
            assert answer.status_code == (422 if path == "problems" else 409), (name, answer.text)
        with contests.service.store.read() as session:
            assert session.contests.get(name).seq == before
            assert {kind for kind, _ in session.queue.counts()} <= {"publish"}


@pytest.mark.exhaustive
def test_a_judge_sends_no_rows_where_a_discipline_has_no_ballot(contests: Instance) -> None:
    """A table that is called *votes* is no ballot."""
    row = {"id": "new", "player_id": "p1", "question": "q", "correct": True, "judge_id": "judy",
           "answered_at": "2026-01-01T00:00:00Z"}  # fmt: skip
    with pytest.raises(Forbidden, match="quiz-panel is a quiz-panel contest, which has none"):
        record(contests.service, "quiz-panel", [("votes", row, None)], by=JUDGE)
    assert contests.post("/contests/quiz-panel/votes", "judge", json=row).status_code == 409


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["quiz-live", "quiz-panel"])
def test_it_is_scored_explained_and_checked_as_ever(
    site: Path, agon: Cli, tmp_path: Path, name: str
) -> None:
    """The scores are those of the quiz."""
    answers, players = NAMES[name]
    install_renamed(site, name, {"answers": answers, "players": players})
    folder = tmp_path / "records"
    assert agon("simulate", name, "--out", folder, "--size", 100, "--attack",
                f"repeated-{answers}").code == 0  # fmt: skip
    scored = agon("score", name, folder, "--top", 3, "--format", "json").json()
    assert [(row["id"], row["score"]) for row in scored["rows"]] == [
        ("p0", 100), ("p1", 100), ("p3", 88),
    ]  # fmt: skip
    explained = agon("explain", name, folder, "p3")
    assert explained.code == 0
    assert "agon arena" not in explained.out + explained.err
    report = agon("check", name, folder, "--format", "json").json()
    assert [finding["code"] for finding in report["findings"]] == [f"repeated-{answers}"]


def test_a_capability_is_what_agons_disciplines_state() -> None:
    """The table of the how-to: which of them states which."""
    stated = {
        name: {
            capability
            for capability in ("ballot", "epochs", "names", "problems", "rounds", "submissions")
            if getattr(discipline(name), capability) is not None
        }
        for name in BUILT_IN
    }
    assert stated == {
        "community": {"names"},
        "challenge": {"epochs", "submissions"},
        "dojo": {"problems", "submissions"},
        "arena": {"ballot", "names", "rounds"},
    }
