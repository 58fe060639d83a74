"""Who judged, and what honeypots showed, follows from the draws; every change of that is named."""

from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Any

import pytest

from agon.app.arena.panel_audit import PanelCheck
from agon.app.arena.settled_rounds import DrawnRound
from agon.disciplines.arena.rounds.commitment import drawing_seed
from agon.disciplines.arena.rules import ArenaRules
from agon.ledger.entry import read_line
from fakes.arena import Model, league

Entry = tuple[str, dict[str, Any]]
RULES: dict[str, Any] = {
    "honeypot_probability": 0.4, "audit_probability": 0.0, "judges_per_match": 1,
    "honeypot_weak_share": 0.5, "honeypot_weak_distance": 0.0, "prompts_unseen": 0,
}  # fmt: skip


@pytest.fixture(scope="module")
def entries(tmp_path_factory: pytest.TempPathFactory) -> list[Entry]:
    """Play rounds in which a judge fails; return the entries."""
    played = league(tmp_path_factory.mktemp("league"), bots=8, **RULES)
    played.model = Model()
    played.fail("b1", "b2", only="vote")
    for _ in range(6):
        assert played.play() == []
    lines = played.ledger()
    played.service.store.close()
    return [(entry.kind, dict(entry.body)) for entry in map(read_line, lines)]


def issues(entries: Iterable[Entry]) -> list[str]:
    """Return what is wrong, whatever their chain says."""
    check, drawn, wrong = PanelCheck(), dict[str, DrawnRound](), list[str]()
    for at, (kind, body) in enumerate(entries):
        if kind == "draw-made":
            result = body["result"]
            drawn[result["inputs"]["name"]] = DrawnRound(
                inputs=result["inputs"],
                matches={match["match"]: match for match in result["matches"]},
                seed=drawing_seed(body["seed"], result["head"]),
                rules=ArenaRules(**RULES),
                committed_at=at,
            )
        elif kind == "round-settled":
            wrong += [what for _, what in check.finish()]
            check.settle(drawn[body["round"]], body["outcome"], at=at)
        elif kind == "record-added" and body["table"] in {"matches", "votes"}:
            check.add_record(body["table"], body["row"])
    return [*wrong, *(what for _, what in check.finish())]


def settled(entries: Iterable[Entry]) -> list[dict[str, Any]]:
    """Return the outcomes of all rounds."""
    return [body["outcome"] for kind, body in entries if kind == "round-settled"]


@pytest.mark.exhaustive
def test_panels_and_honeypots_of_a_league_are_repeated(entries: list[Entry]) -> None:
    """Templates, answers of weak bots and reserves among them."""
    assert issues(entries) == []
    matches = [match for outcome in settled(entries) for match in outcome["matches"]]
    stated = [match["honeypot_text"] for match in matches if "honeypot_text" in match]
    assert any(text.get("seen") for text in stated)
    assert {text["weak"]["use"] for text in stated if "weak" in text} == {"shown"}
    assert sum(len(outcome.get("asked", ())) for outcome in settled(entries)) > 3


def last_seen(outcomes: list[dict[str, Any]]) -> list[str]:
    """Return the templates that the judges of the last honeypot of a template had seen."""
    return next(
        match["honeypot_text"]["seen"]
        for outcome in reversed(outcomes)
        for match in reversed(outcome["matches"])
        if match.get("honeypot_text", {}).get("seen")
    )


def another_weak_bot(outcomes: list[dict[str, Any]]) -> None:
    """State that another weak bot was asked besides."""
    texts = [match.get("honeypot_text", {}) for of in outcomes for match in of["matches"]]
    next(text for text in texts if "weak" in text)["weak"]["bot"] = "b9"


def hide_weak(outcomes: list[dict[str, Any]]) -> None:
    """State that no weak bot was asked."""
    texts = [match.get("honeypot_text", {}) for of in outcomes for match in of["matches"]]
    next(text for text in texts if "weak" in text).pop("weak")


def hide_reserves(outcomes: list[dict[str, Any]]) -> None:
    """State no reserves of the last round that asked some."""
    next(outcome for outcome in reversed(outcomes) if "asked" in outcome).pop("asked")


def swap(outcomes: list[dict[str, Any]]) -> None:
    """State that a reserve was asked whose turn it was not."""
    asked = outcomes[0]["asked"]
    asked[0] = [asked[0][0], "b9"]


CHANGES: list[tuple[str, Callable[[list[dict[str, Any]]], object]]] = [
    ("its judges had seen", lambda outcomes: last_seen(outcomes).pop()),
    ("its judges had seen", lambda outcomes: last_seen(outcomes).insert(0, "wiki")),
    ("b9 was asked besides, drawn was", another_weak_bot),
    ("None was asked besides, drawn was", hide_weak),
    ("was asked as a reserve, the next was", swap),
    ("is not stated which reserves", hide_reserves),
    ("is not stated which reserves", lambda outcomes: outcomes[0]["asked"].pop()),
]


@pytest.mark.sample(2)
@pytest.mark.parametrize(("difference", "edit"), CHANGES, ids=range(len(CHANGES)))
def test_every_change_of_what_judges_saw_is_named(
    entries: list[Entry], difference: str, edit: Callable[[list[dict[str, Any]]], object]
) -> None:
    """An operator could otherwise choose the text of a honeypot, or who judges."""
    changed = deepcopy(entries)
    edit(settled(changed))
    reported = issues(changed)
    assert any(difference in what for what in reported), reported


def test_a_vote_that_is_missing_or_of_a_replaced_judge_is_named(entries: list[Entry]) -> None:
    """No match is judged by fewer judges than the rule, and none by those who failed."""
    votes = [at for at, (_, body) in enumerate(entries) if body.get("table") == "votes"]
    missing = [entry for at, entry in enumerate(entries) if at != votes[-1]]
    assert any("voted, its panel was" in what for what in issues(missing))
    replaced = next(
        (match["match"], match["replaced"][0]["judge"])
        for match in settled(entries)[0]["matches"]
        if match["replaced"]
    )
    changed = deepcopy(entries)
    row = next(
        body["row"]
        for _, body in changed
        if body.get("table") == "votes" and body["row"]["match_id"] == replaced[0]
    )
    row["judge_id"] = replaced[1]
    assert any("voted, its panel was" in what for what in issues(changed))


def test_ledgers_of_before_reserves_were_stated_are_accepted(entries: list[Entry]) -> None:
    """What their judges may have seen is still a bound: nothing else may have been left out."""
    old = deepcopy(entries)
    for outcome in settled(old):
        outcome.pop("asked", None)
    assert issues(old) == []
    for outcome in settled(old):
        for match in outcome["matches"]:
            match.get("honeypot_text", {}).get("seen", []).append("wiki")
    assert any("cannot have seen ['wiki']" in what for what in issues(old))
