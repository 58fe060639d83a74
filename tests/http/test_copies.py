"""A match states which of its answers copy earlier ones, once that may be seen."""

from collections.abc import Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from agon.app.access.permissions import LOCAL
from agon.app.arena.live.network.transport import BotReply
from agon.app.contests.boards.publish import publish
from agon.app.contests.lifecycle.transitions import freeze, open_contest
from agon.disciplines.arena.rounds.faults import Fault
from agon.web.addresses import match, person
from fakes.arena import League, Model, answer
from fakes.arena import league as make_league
from fakes.instance import Instance, instance_of
from web.markup import Markup

MATCH = "/contests/autumn/matches/r2-1"


SOUP = "Soup of the day, with bread"


def speaking(folder: Path, says: dict[str, str], **rules: Any) -> League:
    """Return an open arena whose bots answer every prompt with the words that ``says`` has then."""
    league = make_league(folder, bots=len(says), plagiarism_scope="contest", **rules)
    open_contest(league.service, "autumn", by=LOCAL)
    league.model = Model()

    def behave(work: Any, name: str) -> BotReply | Fault:
        return BotReply(text=says[name]) if work["kind"] == "answer" else answer(name, work)

    for name in says:
        league.network.behavior[f"https://{name}.example/"] = partial(behave, name=name)
    return league


@pytest.fixture
def played(tmp_path: Path) -> Iterator[tuple[League, Instance]]:
    """Return an arena of two bots, of which ``b2`` repeats in the second round what ``b1`` said."""
    says = {"b1": SOUP, "b2": "A walk beside some river"}
    league = speaking(tmp_path, says)
    assert league.play() == []
    says["b1"], says["b2"] = "Nothing of that", "With bread: soup OF the day!"
    with instance_of(league.service, tmp_path) as instance:
        yield league, instance


def copies_and_names(instance: Instance) -> tuple[Any, Any]:
    """Return what the public reads of copies in the second match, and the names of its bots."""
    shown = instance.get(MATCH).json()
    return shown["copies"], None if shown["result"] is None else shown["result"]["names"]


@pytest.mark.exhaustive
def test_a_match_links_the_answer_that_was_copied(played: tuple[League, Instance]) -> None:
    """Who reads that an answer was copied wants to compare both."""
    league, instance = played
    assert league.play() == []
    copied, copying = league.bot("b1").id, league.bot("b2").id
    ((copy,), names) = copies_and_names(instance)
    assert (copy["match"], copy["bot"], copy["name"], names) == ("r1-1", copied, None, None)
    publish(instance.service, "autumn")
    ((copy,), names) = copies_and_names(instance)
    assert (copy["name"], names) == ("b1", {copied: "b1", copying: "b2"})
    shown = instance.get(MATCH).json()
    assert shown["draw"][f"bot_{copy['side']}"] == copying
    page = Markup(instance.client.get(match("autumn", "r2-1")).text)
    assert page.errors == []
    assert {match("autumn", "r1-1"), person("autumn", copied)} <= set(page.links)
    text = " ".join(page.text.split())
    assert f"It copies the answer of b1 {copied} in the match r1-1." in text
    assert "Not judged: an answer copies what another's bot wrote before." in text
    assert copies_and_names(instance)[0] == [copy]
    assert instance.get("/contests/autumn/matches/r1-1").json()["copies"] == []


def test_copies_and_names_are_hidden_while_a_round_is_played(tmp_path: Path) -> None:
    """Who sees that an answer was copied knows whose it is, before others have voted."""
    says = {"b1": SOUP, "b2": "A walk by a river", "b3": "Rain all day", "b4": "No idea, really"}
    league = speaking(tmp_path, says, judges_per_match=1, min_judge_pool=1)
    assert league.play() == []
    with instance_of(league.service, tmp_path) as instance:
        publish(instance.service, "autumn")
        says |= {"b1": "Nothing of that", "b2": SOUP, "b3": "Snow, for once", "b4": "Ask me later"}
        seen: list[set[str]] = []

        def behave(work: Any, name: str) -> BotReply:
            if work["kind"] == "answer":
                return BotReply(text=says[name])
            for path, role in product(("r2-1", "r2-2"), (None, "participant", "judge")):
                shown = instance.get(f"/contests/autumn/matches/{path}", role).json()
                seen.append({field for field, value in shown.items() if value is not None})
            return BotReply(vote="A")

        for name in says:
            league.network.behavior[f"https://{name}.example/"] = partial(behave, name=name)
        assert league.play() == []
        assert seen
        assert all(stated == {"id", "round", "state"} for stated in seen)
        both = [
            instance.get(f"/contests/autumn/matches/{name}").json() for name in ("r2-1", "r2-2")
        ]
    assert sorted(len(shown["copies"]) for shown in both) == [0, 1]


def test_hidden_names_are_not_with_copies(played: tuple[League, Instance]) -> None:
    """Whoever hides the names of a contest hides them everywhere."""
    league, instance = played
    assert league.play() == []
    publish(instance.service, "autumn")
    instance.client.patch(
        "/api/v1/contests/autumn", json={"names": "hidden"}, headers=instance.as_("organiser")
    )
    ((copy,), names) = copies_and_names(instance)
    assert (copy["bot"], copy["name"], names) == (league.bot("b1").id, None, {})
    page = Markup(instance.client.get(match("autumn", "r2-1")).text).text
    assert "b1" not in page.replace(league.bot("b1").id, "")


def test_a_freeze_hides_copies_made_after_it(played: tuple[League, Instance]) -> None:
    """A bot that was caught is a hidden result, and so are the names it has then."""
    league, instance = played
    publish(instance.service, "autumn")
    freeze(league.service, "autumn", by=LOCAL)
    before = instance.get(MATCH)
    assert league.play() == []
    publish(instance.service, "autumn")
    assert before.status_code == instance.get(MATCH).status_code == 404
    assert instance.client.get(match("autumn", "r2-1")).status_code == 404
    assert instance.get(MATCH, "organiser").json()["copies"][0]["match"] == "r1-1"
