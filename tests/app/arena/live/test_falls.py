"""A judge who fell below the threshold takes no further votes in the panels of the same round."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agon.app.access.permissions import LOCAL
from agon.app.arena.draw_audit import DrawReport, check_draws
from agon.app.arena.live.work import HandIn, LeftPool, hand_in, work_of_bot
from agon.disciplines.arena.facts import facts_of
from agon.disciplines.arena.history import credibilities_of, results_of
from agon.disciplines.arena.judges.pool import out_of_pool
from agon.disciplines.arena.records import SCHEMA
from agon.disciplines.arena.rounds.falls import JudgedMatch, fallen_judges
from agon.disciplines.arena.rules import ArenaRules
from agon.ledger.fold import empty_ledger, fold
from agon.records import read_rows
from app.arena.live.conftest import MakeLeague
from disciplines.arena.arenas import match, vote
from fakes.arena import League
from sizes import size


def open_work(league: League, kind: str, bot: str) -> list[dict[str, Any]]:
    """Return the open work of a bot."""
    items = work_of_bot(league.service, "autumn", bot, by=LOCAL)
    return [dict(item) for item in items if item["kind"] == kind]


def begin(make_league: MakeLeague, *, bots: int) -> League:
    """Play a round of bots that ask for work until they vote; some matches are honeypots."""
    names = tuple(f"b{number + 1}" for number in range(bots))
    league = make_league(bots=bots, pulling=names, honeypot_probability=0.5, credibility_start=60)
    league.play()
    for bot in map(league.bot, names):
        for item in open_work(league, "answer", bot.id):
            handed = HandIn(text=f"{bot.name} says {item['id']}")
            hand_in(league.service, league.contest, item["id"], handed, by=LOCAL)
    assert league.work() == []
    return league


def drawn_matches(league: League) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Return the matches of the round, as drawn and as played."""
    with league.service.store.read() as session:
        body = session.arena.round(league.contest.no, "r1").body
    return list(zip(body["draw"]["matches"], body["matches"], strict=True))


def cast(league: League, drawn: dict[str, Any], played: dict[str, Any], *, wrong: bool) -> None:
    """Let the whole panel vote on a match: for the real side of a honeypot, or the robotic one."""
    for judge in played["panel"]:
        for item in open_work(league, "vote", judge):
            shown = {played["answers"][side]["text"]: side for side in ("a", "b")}
            if {item["answers"]["A"], item["answers"]["B"]} != set(shown):
                continue
            side = drawn["honeypot_real"] or "a"
            label = "A" if shown[item["answers"]["A"]] == side else "B"
            label = {"A": "B", "B": "A"}[label] if wrong else label
            hand_in(league.service, league.contest, item["id"], HandIn(vote=label), by=LOCAL)


def finish(league: League) -> None:
    """Cast all votes that are open, until the round is settled."""
    for _ in range(9):
        for drawn, played in drawn_matches(league):
            cast(league, drawn, played, wrong=False)
        assert league.work() == []
        if league.entries("round-settled"):
            return
    raise AssertionError("the round is not settled")


def fool_one_panel(league: League) -> tuple[str, set[str], list[str]]:
    """Let a panel take a robotic text for a person; return match, panel and other open work."""
    drawn, played = next(each for each in drawn_matches(league) if each[0]["honeypot_real"])
    panel = set(played["panel"])
    cast(league, drawn, played, wrong=True)
    others = [item["id"] for judge in panel for item in open_work(league, "vote", judge)]
    assert others
    assert league.work() == []
    return drawn["match"], panel, others


def test_reserves_vote_instead_of_judges_who_fell_in_the_round(make_league: MakeLeague) -> None:
    """Its votes on open panels counted although the arena knew that it is out of the pool."""
    league = begin(make_league, bots=10)
    fooling, fallen, others = fool_one_panel(league)
    assert all(open_work(league, "vote", judge) == [] for judge in fallen)
    with pytest.raises(LeftPool, match=f"fell below 50 by match {fooling}; another judge votes"):
        hand_in(league.service, league.contest, others[0], HandIn(vote="A"), by=LOCAL)
    finish(league)
    (settled,) = league.entries("round-settled")
    replaced = [
        (match["match"], each["judge"], each["code"])
        for match in settled["outcome"]["matches"]
        for each in match["replaced"]
    ]
    assert len(replaced) >= len(others)
    assert {code for _, _, code in replaced} == {"fell-below"}
    assert {judge for _, judge, _ in replaced} == fallen
    assert not any("kept" in match for match in settled["outcome"]["matches"])
    assert {row["match_id"] for row in league.rows("votes") if row["judge_id"] in fallen} == {
        fooling
    }
    lines = league.ledger()
    assert check_draws(lines, fold(lines, start=empty_ledger("autumn"))) == DrawReport()


def test_a_judge_keeps_its_seat_where_no_reserve_is_left(make_league: MakeLeague) -> None:
    """The match is judged as it was drawn, and the outcome says which judge had fallen."""
    league = begin(make_league, bots=5)
    _, fallen, others = fool_one_panel(league)
    assert [item["id"] for judge in fallen for item in open_work(league, "vote", judge)] == others
    finish(league)
    (settled,) = league.entries("round-settled")
    kept = [judge for match in settled["outcome"]["matches"] for judge in match.get("kept", ())]
    assert len(kept) == len(others)
    assert set(kept) <= fallen
    assert all(match["replaced"] == [] for match in settled["outcome"]["matches"])
    lines = league.ledger()
    assert check_draws(lines, fold(lines, start=empty_ledger("autumn"))) == DrawReport()


_SIDES = st.sampled_from(["a", "b", "tie"])


@settings(max_examples=size(200, at_least=3, dear=True), deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from([None, "a", "b"]), st.lists(_SIDES, min_size=3, max_size=4)),
        min_size=1, max_size=8,
    ),
    st.sampled_from(["all", "others"]),
    st.sampled_from([None, 52]),
)  # fmt: skip
def test_falls_are_those_of_the_scored_records(
    panels: list[tuple[str | None, list[str]]], consensus: Any, ceiling: int | None
) -> None:
    """The arena must not put a judge out whom the records of the same votes leave in."""
    values: dict[str, Any] = {
        "credibility_start": 51,
        "credibility_honeypot": 3,
        "credibility_ceiling": ceiling,
    }
    rules = ArenaRules(**values, credibility_consensus=consensus)
    judged = [
        JudgedMatch(match=f"m{at}", real=real,
                    sides={f"j{number}": side for number, side in enumerate(sides)})
        for at, (real, sides) in enumerate(panels)
    ]  # fmt: skip
    tables = {
        "bots": [{"id": name, "name": name} for name in ("x", "y")],
        "matches": [
            match(at, "x", "y") if real is None
            else match(at, "x", None, kind="honeypot", honeypot_real="a")
            if real == "a"
            else match(at, None, "x", kind="honeypot", honeypot_real="b")
            for at, (real, _) in enumerate(panels)
        ],
        "votes": [
            vote(at, judge, side)
            for at, of in enumerate(judged)
            for judge, side in of.sides.items()
        ],
    }  # fmt: skip
    with read_rows(SCHEMA, tables) as records:
        facts = facts_of(records)
        history = credibilities_of(facts, results_of(facts, rules), rules)
    out = out_of_pool(history, level=rules.credibility_active)
    ids = facts.judges.ids.to_pylist()
    start = dict.fromkeys(ids, rules.credibility_start)
    expected = {ids[judge] for judge in np.flatnonzero(out)}
    assert fallen_judges(start, judged, rules=rules).keys() == expected
