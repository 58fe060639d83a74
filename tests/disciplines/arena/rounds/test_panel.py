"""Panels and draws: who may judge, who is drawn, and that every reader can check it."""

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agon.disciplines.arena.facts import facts_of
from agon.disciplines.arena.history import credibilities_of, ratings_of, results_of
from agon.disciplines.arena.judges.pool import (
    Candidate,
    asked_of_people,
    candidates_of,
    new_person,
    obstacles,
)
from agon.disciplines.arena.records import SCHEMA
from agon.disciplines.arena.rounds import draws
from agon.disciplines.arena.rounds.matchmaking import Entrant
from agon.disciplines.arena.rounds.round import Judge, RoundInputs, draw_round, panel_candidates
from agon.disciplines.arena.rules import ArenaRules
from agon.records import read_rows
from disciplines.arena.arenas import Tables, match, vote

NOW = datetime(2026, 3, 1, 12)  # noqa: DTZ001 - records hold UTC
RULES = ArenaRules()
GOOD = Candidate("j", "owner", True, NOW - timedelta(days=30), 12, 100)


def crowd(size: int) -> list[Judge]:
    """Make so many eligible judges, each of its own owner."""
    return [Judge(f"j{n}", f"o{n}") for n in range(size)]


def drawn(judges: list[Judge], name: str = "r1") -> dict[str, Any]:
    """Draw a round of one match, between bots of owners o0 and o1."""
    inputs = RoundInputs(
        name=name,
        at="2026-03-01T12:00:00Z",
        entrants=(Entrant("b0", 1000, "o0"), Entrant("b1", 1000, "o1")),
        judges=tuple(judges),
        prompts=("p",),
        recent_prompts={},
    )
    (made,) = draw_round(inputs, seed="s", rules=RULES)["matches"]
    return dict(made)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"qualified": False}, "has not qualified"),
        ({"account_created_at": None}, "the age of the owner's account is unknown"),
        (
            {"account_created_at": NOW - timedelta(days=6)},
            "the owner's account is 6 days old; 7 days are needed",
        ),
        (
            {"account_created_at": NOW - timedelta(seconds=497)},
            "the owner's account is 8 minutes old; 7 days are needed",
        ),
        ({"matches": 4}, "has completed 4 matches: 1 more match"),
        ({"matches": 1}, "has completed 1 match: 4 more matches"),
        ({"credibility": 49}, "credibility 49 is below 50"),
        ({"is_inactive": True}, "fell below 50 and was not reinstated"),
    ],
)
def test_each_obstacle_is_explained_with_what_is_missing(
    change: dict[str, object], reason: str
) -> None:
    """Requirements are checked after every match, with the reasons shown."""
    assert obstacles(GOOD, at=NOW, rules=RULES) == ()
    candidate = replace(GOOD, **change)  # type: ignore[arg-type]  # one field of the table each
    assert obstacles(candidate, at=NOW, rules=RULES) == (reason,)


def test_thresholds_themselves_are_enough() -> None:
    """Seven days, five matches and a credibility of 50 are eligible."""
    just = replace(GOOD, account_created_at=NOW - timedelta(days=7), matches=5, credibility=50)
    assert obstacles(just, at=NOW, rules=RULES) == ()


def test_three_judges_are_drawn_whose_owner_owns_neither_bot() -> None:
    """The others are reserves, in the order of the draw; each sees one of the two as A."""
    made = drawn(crowd(12))
    assert len(set(made["judges"])) == 3
    assert {*made["judges"], *made["reserves"]} == {f"j{n}" for n in range(2, 12)}
    assert set(made["shown_first"]) == {*made["judges"], *made["reserves"]}
    assert not made["api"]


def test_a_bot_never_judges_itself() -> None:
    """Even where its owner is unknown."""
    made = drawn([Judge("b0"), *crowd(12)])
    assert "b0" not in {*made["judges"], *made["reserves"]}


def test_fewer_than_three_make_an_api_panel() -> None:
    """Two of the four belong to the bots' owners."""
    made = drawn(crowd(4))
    assert (made["api"], made["judges"], made["reserves"], made["shown_first"]) == (
        True,
        [],
        [],
        {},
    )
    assert drawn(crowd(5))["api"] is False


@pytest.mark.exhaustive
def test_every_judge_is_as_likely_as_another() -> None:
    """Over many matches the ten judges left are drawn equally often (chi-square, seed fixed)."""
    seats = Counter(judge for n in range(3000) for judge in drawn(crowd(12), f"r{n}")["judges"])
    expected = 3000 * 3 / 10
    assert len(seats) == 10
    # 99.9 % point of chi-square with 9 degrees of freedom; without replacement it is smaller.
    assert sum((count - expected) ** 2 / expected for count in seats.values()) < 27.9


def test_draws_can_be_repeated_and_do_not_depend_on_the_order_of_judges() -> None:
    """Seed and match decide, nothing else."""
    assert drawn(crowd(12)) == drawn(crowd(12)) == drawn(crowd(12)[::-1])
    assert len({tuple(drawn(crowd(40), f"r{n}")["judges"]) for n in range(20)}) > 15


def test_honeypots_audits_and_labels_have_the_frequencies_of_the_rules() -> None:
    """Five per cent, ten per cent, one half (four standard deviations, seed fixed)."""
    size = 20_000
    matches = [f"m{n}" for n in range(size)]
    counted = {
        0.05: sum(draws.is_honeypot("s", one, probability=0.05) for one in matches),
        0.10: sum(draws.is_audited("s", one, probability=0.10) for one in matches),
        0.5: sum(draws.shown_first("s", one, ["j"])["j"] == "a" for one in matches),
    }
    for share, count in counted.items():
        assert abs(count - size * share) < 4 * (size * share * (1 - share)) ** 0.5


def test_draws_of_one_match_are_independent() -> None:
    """Knowing that a match is a honeypot reveals nothing about its labels."""
    matches = [f"m{n}" for n in range(4000)]
    pots = [one for one in matches if draws.is_honeypot("s", one, probability=0.5)]
    both = sum(draws.honeypot_real("s", one) == "a" for one in pots)
    assert abs(both - len(pots) / 2) < 4 * (len(pots) / 4) ** 0.5
    labels = set(draws.shown_first("s", "m", [f"j{n}" for n in range(20)]).values())
    assert labels == {"a", "b"}


def test_candidates_have_their_state_after_all_records() -> None:
    """Qualified, account, matches, credibility and a fall below the threshold, from the tables."""
    pots = [match(n, "x", None, kind="honeypot", honeypot_real="a") for n in range(1, 4)]
    tables: Tables = {
        "owners": [{"id": "o", "handle": "h", "account_created_at": NOW - timedelta(days=9)}],
        "bots": [
            {"id": "x", "name": "x"},
            {"id": "y", "name": "y", "owner_id": "o", "qualified_at": NOW, "is_judge": True},
        ],
        "matches": [*pots, match(9, "x", "y", winner="a")],
        "votes": [*(vote(n, "y", "b") for n in range(1, 4)), vote(1, "guest", "a")],
    }
    tables["owners"].append({"id": "ada", "handle": "a", "account_created_at": NOW})
    tables["judges"] = [{"id": "ada", "kind": "person"}, {"id": "model", "kind": "api"}]
    tables["bots"][0]["owner_id"] = "ada"
    facts = facts_of(read_rows(SCHEMA, tables))
    results = results_of(facts, RULES)
    ratings = ratings_of(facts, results, RULES)
    result = candidates_of(facts, ratings.games, credibilities_of(facts, results, RULES), RULES)
    made = (NOW - timedelta(days=9)).replace(tzinfo=UTC)
    assert result == [
        Candidate("ada", "ada", False, NOW.replace(tzinfo=UTC), 1, 100, is_person=True),
        Candidate("guest", "guest", False, None, 1, 100, is_person=True),
        Candidate("y", "o", True, made, 1, 40, is_inactive=True),
    ]
    assert new_person("ada", None, facts=facts, games=ratings.games, rules=RULES).matches == 1
    assert obstacles(result[2], at=NOW.replace(tzinfo=UTC), rules=RULES) == (
        "has completed 1 match: 4 more matches",
        "credibility 40 is below 50",
    )


def person(**changes: Any) -> Candidate:
    """Return a person who may judge under every rule."""
    made = NOW - timedelta(days=30)
    return replace(Candidate("p", "p", False, made, 12, 100, is_person=True), **changes)


def test_what_is_asked_of_people_is_a_rule_with_its_default() -> None:
    """No exemption in code: with the rule a person needs a qualified bot as bots need a panel."""
    person = Candidate("ada", "ada", False, None, 0, 100, is_person=True)
    at = datetime(2026, 3, 1, tzinfo=UTC)
    assert obstacles(person, at=at, rules=ArenaRules()) == ()
    strict = ArenaRules(person_qualified=True)
    assert obstacles(person, at=at, rules=strict) == ("no bot of its own has qualified",)
    assert obstacles(replace(person, qualified=True), at=at, rules=strict) == ()
    assert list(asked_of_people(strict).values()) == [
        "a bot of their own that has qualified", "an account of any age", "no matches before",
    ]  # fmt: skip


GUARDED = ArenaRules(person_account_age_days=7, person_min_matches=5, newcomers_per_panel=0)
PERSON_REASONS: list[tuple[dict[str, Any], str]] = [
    ({"account_created_at": NOW - timedelta(hours=3)},
     "the account is 3 hours old; 7 days are needed"),
    ({"account_created_at": None}, "the age of the account is unknown"),
    ({"matches": 4}, "has judged or played 4 matches: 1 more match"),
    ({"credibility": 49}, "credibility 49 is below 50"),
    ({"is_inactive": True}, "fell below 50 and was not reinstated"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "reason"), PERSON_REASONS)
def test_people_are_kept_out_in_the_words_of_their_rules(
    changes: dict[str, Any], reason: str
) -> None:
    """A person is held to age, experience and credibility as a bot is, by rules of its own."""
    assert obstacles(person(), at=NOW, rules=GUARDED) == ()
    assert obstacles(person(**changes), at=NOW, rules=GUARDED) == (reason,)


def test_without_rules_about_people_only_their_credibility_counts() -> None:
    """Leagues where friends judge go on as before."""
    new = person(account_created_at=None, matches=0)
    assert obstacles(new, at=NOW, rules=RULES) == ()
    assert obstacles(replace(new, credibility=49), at=NOW, rules=RULES) != ()


JUDGES = tuple(Judge(name, name) for name in "abcdefgh")


@given(
    order=st.permutations(JUDGES),
    networks=st.dictionaries(st.sampled_from("abcdefghxy"), st.integers(1, 3)),
    newcomers=st.sets(st.sampled_from("abcdefgh")),
    seats=st.integers(0, 3),
    guard=st.booleans(),
)
def test_no_panel_breaks_a_guard_however_its_judges_are_replaced(
    order: list[Judge],
    networks: dict[str, int],
    newcomers: set[str],
    seats: int,
    guard: bool,  # noqa: FBT001 - Hypothesis passes it by name
) -> None:
    """Any subset of judges and reserves may become the panel, so the guards hold for all of them.

    The rest stay, in the order of the draw: nobody is left out without a reason.
    """
    rules = ArenaRules(network_guard=guard, newcomers_per_panel=seats)
    chosen = panel_candidates(
        order, owners=["x", "a", None], networks=networks, newcomers=newcomers, rules=rules
    )
    assert "a" not in chosen
    assert [judge.id for judge in order if judge.id in chosen] == chosen
    assert len(newcomers & set(chosen)) <= seats
    known = [networks[name] for name in chosen if name in networks]
    if guard:
        assert len(set(known)) == len(known)
        assert not {networks.get("a"), networks.get("x")} & set(known)
    left_out = {judge.id for judge in order} - set(chosen) - {"a"} - newcomers
    assert all(guard and name in networks for name in left_out)


def test_of_a_person_and_its_bot_one_sits_on_a_panel() -> None:
    """Two votes of one owner are one person's; without the guard they were allowed."""
    judges = [Judge("ada", "ada"), Judge("ada's bot", "ada"), Judge("bob", "bob")]
    for guard, expected in ((True, ["ada", "bob"]), (False, ["ada", "ada's bot", "bob"])):
        rules = ArenaRules(network_guard=guard)
        chosen = panel_candidates(judges, owners=(), networks={}, newcomers=(), rules=rules)
        assert chosen == expected
