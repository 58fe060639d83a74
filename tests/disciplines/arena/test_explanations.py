"""Explanations: parts sum to every score, name their records, and say what is missing."""

import math
from typing import Any

import pytest
from hypothesis import assume, given, settings

import agon
from agon.disciplines import discipline
from agon.disciplines.arena import explanations
from agon.disciplines.arena.records import SCHEMA
from agon.disciplines.arena.simulate import ATTACKS
from agon.errors import NotFound
from agon.records import read_rows
from disciplines.arena.arenas import RULES, TIMES, Tables, arenas, bots, match, scored, vote
from sizes import size


def test_parts_sum_to_the_score_of_every_id_on_every_board(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where old matches share one part; every part names the rules in force."""
    monkeypatch.setattr(explanations, "DETAILED", 20)
    simulation = discipline("arena").simulate(size=1500, seed=11, attacks=list(ATTACKS))
    result = agon.score(
        "arena",
        read_rows(SCHEMA, simulation.tables),
        overrides={"round_changes": False, "bradley_terry_regularisation": 0.5},
    )
    for board in ("bots", "judges", "bradley-terry"):
        for row in result.board(board).rows():
            explanation = result.explain(row["id"], board=board)
            assert math.fsum(part.points for part in explanation.parts) == pytest.approx(
                row["score"], abs=5e-7
            )
            assert (explanation.rank, explanation.score) == (row["rank"], row["score"])
            for part in explanation.parts:
                assert part.text
                rules = result.rules.model_dump()
                assert all(rules[name] == value for name, value in part.rules.items())


@settings(max_examples=size(25, at_least=3, dear=True), deadline=None)
@given(arenas(), RULES)
def test_every_id_is_explained_scored_or_not(tables: Tables, rules: dict[str, Any]) -> None:
    """An unscored participant reads the reason and the steps of the computation."""
    result = scored(tables, **rules)
    for board in ("bots", "judges"):
        shown = result.board(board)
        for row in shown.rows():
            assert result.explain(row["id"], board=board).score == row["score"]
        for one in shown.unscored:
            explanation = result.explain(one.id, board=board)
            assert (explanation.score, explanation.rank, explanation.reason) == (
                None,
                None,
                one.reason,
            )


def test_a_match_is_explained_with_both_ratings_k_and_expectation() -> None:
    """The line can be recomputed with a pencil."""
    tables = {"bots": bots("a", "b"), "matches": [match(7, "a", "b", winner="b")]}
    start, part, standing = scored(tables).explain("a").parts
    assert (start.points, part.points) == (1000, -16)
    assert part.name == "match 7"
    assert part.inputs["opponent"] == "b"
    assert (part.inputs["k"], part.inputs["expected"]) == (32, 0.5)
    assert part.text == "Lost to b (1000 against 1000): 32 × (0 − 0.5000), rounded = -16."
    assert part.records[0].to_dict() == {"table": "matches", "ids": ["7"], "count": 1}
    assert standing.missing == "29 more rated matches"


def test_texts_come_from_the_rules_in_force() -> None:
    """Another K, start or threshold changes the sentence, not only the number."""
    tables = {"bots": bots("a", "b"), "matches": [match(7, "a", "b", winner="a")]}
    explanation = scored(tables, k_new=10, elo_start=1500, provisional_matches=3).explain("a")
    assert [part.text for part in explanation.parts] == [
        "Every bot starts at 1500.",
        "Beat b (1500 against 1500): 10 × (1 − 0.5000), rounded = +5.",
        "1 rated match: provisional until 3.",
    ]


def test_a_judge_is_explained_by_every_event_and_the_floor() -> None:
    """Consensus, audit, honeypot and floor are lines of their own."""
    pots = [match(n, "a", None, kind="honeypot", honeypot_real="a") for n in range(1, 5)]
    tables = {
        "bots": bots("a", "b"),
        "matches": [match(0, "a", "b", audit_verdict="b"), *pots],
        "votes": [vote(0, "j", "a"), *(vote(n, "j", "b", first="b") for n in range(1, 5))],
    }
    explanation = scored(tables).explain("j", board="judges")
    assert [(part.name, part.points) for part in explanation.parts] == [
        ("start", 100),
        ("match 0", 1),
        ("audit of match 0", -10),
        ("honeypot 1", -20),
        ("honeypot 2", -20),
        ("honeypot 3", -20),
        ("honeypot 4", -20),
        ("floor", 19),
        ("standing", 0),
    ]
    assert explanation.score == 30
    assert explanation.parts[-1].missing == "an operator's reinstatement"
    assert explanation.notes == ("fell below 50 in match 3: out of the pool until reinstated",)
    assert explanation.parts[2].records[0].ids == ("0/j",)


def test_a_judge_is_explained_by_the_votes_of_the_others_and_the_ceiling() -> None:
    """Under the hardened rules a line has the others' votes; divided others have no line."""
    tables = {
        "bots": bots("a", "b"),
        "matches": [match(n, "a", "b") for n in range(3)],
        "votes": [
            vote(n, judge, side)
            for n, sides in enumerate(("aaa", "baa", "aba"))
            for judge, side in zip("jkl", sides, strict=True)
        ],
    }
    changes: dict[str, Any] = {
        "credibility_consensus": "others",
        "credibility_ceiling": 102,
        "credibility_agree": 3,
    }
    explanation = scored(tables, **changes).explain("j", board="judges")
    assert [(part.name, part.points) for part in explanation.parts] == [
        ("start", 100),
        ("match 0", 3),
        ("ceiling", -1),
        ("match 1", -1),
        ("standing", 0),
    ]
    assert explanation.parts[1].text == "Voted a with the consensus of the other judges a (2 : 0)."
    assert explanation.parts[2].text == "Credibility does not rise above 102: 103 becomes 102."
    assert explanation.score == 101


def test_a_reinstatement_is_an_event_with_its_reason() -> None:
    """The operator's reason stands in the explanation; the judge is back at the threshold."""
    pots = [
        match(n, "a", None, kind="honeypot", honeypot_real="a", played_at=f"2026-01-0{n}")
        for n in range(1, 5)
    ]
    tables = {
        "bots": bots("a"),
        "matches": pots,
        "votes": [vote(n, "j", "b") for n in range(1, 5)],
        "reinstatements": [
            {"judge_id": "j", "reinstated_at": "2026-01-05", "reason": "was tested again"}
        ],
    }
    explanation = scored(tables).explain("j", board="judges")
    assert explanation.score == 50
    assert "was tested again" in explanation.parts[-2].text
    assert explanation.notes == ()


def test_a_bradley_terry_rating_is_explained_by_points_taken_and_expected() -> None:
    """At the optimum both are equal: that is what the rating means."""
    results = ["a", "a", "b", "tie", "b", "a"]
    played = [match(n, "ada", "bob", winner=won) for n, won in enumerate(results)]
    explanation = scored({"bots": bots("ada", "bob", "cy"), "matches": played}).explain(
        "ada", board="bradley-terry"
    )
    strength = explanation.parts[1]
    assert strength.inputs["points"] == 3.5
    assert strength.inputs["expected"] == pytest.approx(3.5, abs=1e-5)
    assert explanation.context["opponents"][0]["opponent"] == "bob"
    empty = scored({"bots": bots("ada", "bob", "cy"), "matches": played}).explain(
        "cy", board="bradley-terry"
    )
    assert empty.reason == "has no rated match"
    assert empty.parts[-1].missing == (
        "one rated tie, or a rated win and a rated loss, against a bot with a rating"
    )


@pytest.mark.parametrize(
    ("name", "board", "hint"),
    [
        ("judy", "bots", "look at board judges"),
        ("ada", "judges", "look at board bots"),
        ("adda", "bots", "did you mean ada"),
    ],
)
def test_an_unknown_id_is_reported_with_a_hint(name: str, board: str, hint: str) -> None:
    """Bots and judges have boards of their own."""
    tables = {
        "bots": bots("ada", "bob"),
        "matches": [match(1, "ada", "bob")],
        "votes": [vote(1, "judy", "a")],
    }
    with pytest.raises(NotFound, match=hint):
        scored(tables).explain(name, board=board)


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("results", "rules"),
    [(["tie"], {}), (["a", "b"], {}), (["a"], {"bradley_terry_regularisation": 1}),
     (["b"], {"bradley_terry_regularisation": 0.5})],
)  # fmt: skip
def test_the_matches_that_are_missing_give_a_bradley_terry_rating(
    results: list[str], rules: dict[str, Any]
) -> None:
    """One win against a rated bot leaves no finite optimum: the sentence must not say it does."""
    played = [match(n, "ada", "bob", winner=won) for n, won in enumerate(["a", "b", "tie"])]
    tables = {"bots": bots("ada", "bob", "cy"), "matches": played}
    missing = scored(tables, **rules).explain("cy", board="bradley-terry").parts[-1].missing
    assert (missing == "one rated match") == bool(rules)
    more = [match(f"new {n}", "cy", "ada", winner=won) for n, won in enumerate(results)]
    after = scored({**tables, "matches": [*played, *more]}, **rules)
    assert after.explain("cy", board="bradley-terry").score is not None
    if not rules and results != ["tie"]:
        one = scored({**tables, "matches": [*played, more[0]]})
        why = one.explain("cy", board="bradley-terry")
        assert why.score is None
        assert why.reason == "won its only match; rated after a loss or a tie against a rated bot"
        assert why.parts[-1].missing == "a loss or a tie against a rated bot"


@settings(max_examples=size(60), deadline=None)
@given(arenas(), RULES)
def test_what_bots_and_judges_miss_is_enough(tables: Tables, rules: dict[str, Any]) -> None:
    """So many more rated matches end the provisional rating; a reinstatement makes active."""
    result = scored(tables, **rules)
    text = isinstance(tables["bots"][0]["id"], str)
    for row in result.board("bots").rows()[:1]:
        standing = result.explain(row["id"], board="bots").parts[-1]
        if standing.missing is None:
            assert not row["provisional"]
            continue
        count = int(standing.missing.split()[0])
        bot, other = (one["id"] for one in _pair(tables, row["id"]))
        extra = [
            match(f"new{n}" if text else 10**6 + n, bot, other, winner="a", played_at=TIMES[-1])
            for n in range(count)
        ]
        after = scored({**tables, "matches": [*tables["matches"], *extra]}, **rules)
        shown = {one["id"]: one for one in after.board("bots").rows()}[row["id"]]
        assert not shown["provisional"]
    for row in result.board("judges").rows()[:2]:
        standing = result.explain(row["id"], board="judges").parts[-1]
        if "reinstatement" not in (standing.missing or ";") or ";" in (standing.missing or ";"):
            continue
        judge = next(vote["judge_id"] for vote in tables["votes"]
                     if str(vote["judge_id"]) == row["id"])  # fmt: skip
        back = {"judge_id": judge, "reinstated_at": "2027-01-01", "reason": "tested"}
        former = tables.get("reinstatements", [])
        after = scored({**tables, "reinstatements": [*former, back]}, **rules)
        shown = {one["id"]: one for one in after.board("judges").rows()}[row["id"]]
        assert shown["active"]
        assert after.explain(row["id"], board="judges").parts[-1].missing is None


def _pair(tables: Tables, bot: str) -> list[dict[str, Any]]:
    """Return a bot's row and another bot's."""
    own = [one for one in tables["bots"] if str(one["id"]) == bot]
    others = [one for one in tables["bots"] if str(one["id"]) != bot]
    assume(others)
    return [own[0], others[0]]


def test_a_judge_who_fell_below_the_threshold_stays_inactive_however_it_votes_later() -> None:
    """Board, explanation and eligibility are one answer: only an operator lets it back in."""
    judges = ("bad", "g1", "g2")
    tables: Tables = {
        "bots": bots("a", "b"),
        "matches": [match(n, "a", "b") for n in range(20)],
        "votes": [
            vote(n, judge, "b" if judge == "bad" and n < 8 else "a")
            for n in range(20)
            for judge in judges
        ],
    }
    result = scored(tables, credibility_start=57)
    rows = {row["id"]: row for row in result.board("judges").rows()}
    assert (rows["bad"]["credibility"], rows["bad"]["active"]) == (61, False)
    assert rows["g1"]["active"] is True
    standing = result.explain("bad", board="judges").parts[-1]
    assert standing.text.endswith("; not active: fell below 50 and was not reinstated.")
    back = [{"judge_id": "bad", "reinstated_at": "2027-03-01", "reason": "tested"}]
    after = scored({**tables, "reinstatements": back}, credibility_start=57)
    assert {row["id"]: row["active"] for row in after.board("judges").rows()}["bad"] is True
