"""A contest whose rules ask for more than its records say has ratings all the same, and says so."""

from collections.abc import Iterator
from itertools import cycle
from typing import Any

import pytest

import agon
from agon.app.analysis.score import rules_of
from agon.app.contests import contest_rules
from agon.web import addresses
from fakes.contests import contest_of
from fakes.instance import Instance, instance_at
from web.markup import Markup

BOTS = ("ann", "bob", "cy")
COLUMN: dict[str, dict[str, Any]] = {
    "nobody": {},
    "one-judge": {"judge": "j1"},
    "one-prompt-each": {"prompt_id": None},
    "equal": {"response_a": "one two", "response_b": "one two"},
}
"""What the matches have besides their result, by the name of a contest."""

CASES: dict[str, tuple[str, dict[str, Any], str]] = {
    "control-missing": ("nobody", {"control": "cost"}, "control=cost: the matches have neither"),
    "control-constant": ("equal", {"control": "length"}, "control=length: it is the same in all"),
    "controls": (
        "equal", {"control": "length,cost", "position": "fitted"}, "control=cost: the matches",
    ),
    "no-judge": ("nobody", {"cluster": "judge"}, "cluster=judge: no match has a value"),
    "one-judge": ("one-judge", {"cluster": "judge"}, "cluster=judge: all matches have one value"),
    "no-prompt": ("nobody", {"cluster": "prompt"}, "cluster=prompt: no match has a value"),
    "one-criterion": ("one-prompt-each", {"cluster": "both"}, "cluster=both: no match has a value"),
    "no-ties": ("nobody", {"ties": "davidson"}, "ties=davidson: no match is a tie"),
    "rao": ("nobody", {"ties": "rao-kupper"}, "ties=rao-kupper: no match is a tie"),
    "no-anchor": ("nobody", {"center": "zed"}, "center is 'zed', which is neither"),
    "two-ways": (
        "nobody", {"interval": "bootstrap", "bootstrap_rounds": 20, "position": "fitted"},
        "interval=bootstrap resamples the plain model: set interval=sandwich with position=fitted;",
    ),
}  # fmt: skip
"""The matches, the rules, and how the note begins."""


def matches(extra: dict[str, Any], results: str = "aab") -> list[dict[str, Any]]:
    """Return matches of all pairs, each with the same results."""
    pairs = [("ann", "bob"), ("bob", "cy"), ("cy", "ann"), ("bob", "ann")]
    winners = cycle(results)
    return [
        {
            "id": f"m{number:02}", "played_at": f"2026-01-01T00:{number:02}:00Z", "bot_a": a,
            "bot_b": b, "winner": {"t": "tie"}.get(winner, winner),
            **{name: f"p{number}" if value is None else value for name, value in extra.items()},
        }
        for number, ((a, b), winner) in enumerate(
            (pair, next(winners)) for pair in pairs for _ in range(4)
        )
    ]  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    """An instance with a contest for each case, also of rules that new contests cannot have."""
    instance = instance_at(tmp_path_factory.mktemp("rules"))
    bots = [("bots", {"id": name, "name": name}, None) for name in BOTS]
    for name, (column, overrides, _) in CASES.items():
        rows = [("matches", {**row, "kind": "rated"}, None) for row in matches(COLUMN[column])]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(contest_rules, "contest_rules_of", rules_of)
            contest_of(
                instance.service, name, title=name, discipline="arena", rows=[*bots, *rows],
                overrides=overrides,
            )  # fmt: skip
    yield instance
    instance.close()


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", CASES)
def test_a_rule_beyond_the_records_takes_no_rating_from_anybody(site: Instance, name: str) -> None:
    """One empty column emptied the board for every bot; now board, page and JSON say what it is."""
    column, _, begins = CASES[name]
    board = site.get(f"/contests/{name}/boards/bradley-terry").json()
    assert sorted(row["id"] for row in board["rows"]) == list(BOTS)
    assert board["unscored_total"] == 0
    [note] = [each for each in board["notes"] if each.startswith(begins)]
    assert "until then this board has" in note
    if name != "controls":
        plain = agon.score("arena", {
            "matches": [{**row, "kind": "rated"} for row in matches(COLUMN[column])],
            "bots": [{"id": bot, "name": bot} for bot in BOTS],
        })  # fmt: skip
        scores = {row["id"]: row["score"] for row in plain.board("bradley-terry").rows()}
        assert {row["id"]: row["score"] for row in board["rows"]} == scores
    page = Markup(site.client.get(addresses.board(name, "bradley-terry")).text)
    assert note in page.text
    sure = site.get(f"/contests/{name}/robustness").json()
    assert note in sure["notes"]
    assert sure["probes"][0]["verdict"] in {"fine", "look", "cannot tell"}
    assert note in Markup(site.client.get(addresses.robustness(name)).text).text
    explained = site.get(f"/contests/{name}/boards/bradley-terry/explanations/ann").json()
    assert note in explained["notes"]


def test_rules_give_way_one_after_the_other(site: Instance) -> None:
    """The position is still fitted where two styles cannot be controlled for."""
    notes = site.get("/contests/controls/boards/bradley-terry").json()["notes"]
    assert notes[0].endswith("until then this board has control=length")
    assert notes[1].endswith("until then this board has control empty")
    assert any(note.startswith("position: ") for note in notes)
    both = site.get("/contests/one-criterion/boards/bradley-terry").json()["notes"]
    assert both[0].endswith("until then this board has cluster=prompt")


def test_who_scores_records_by_hand_is_told_to_change_the_rule() -> None:
    """A misspelt control would else rate without it, with a note at most."""
    with pytest.raises(agon.NotScorable, match="control=lenght: the matches have neither"):
        agon.rate(
            [{"model_a": "a", "model_b": "b", "winner": "tie"}], method="bradley-terry",
            control=["lenght"],
        )  # fmt: skip
