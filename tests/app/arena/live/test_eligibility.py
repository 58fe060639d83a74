"""Whether a judge is in the pool now is one answer, wherever it is asked for."""

from dataclasses import replace
from datetime import timedelta
from random import Random
from typing import Any

import pytest

from agon.app.access.permissions import LOCAL
from agon.app.arena.live.beginning import read_scores
from agon.app.arena.live.entrants.eligibility import judge_obstacles
from agon.app.arena.live.scored import scored_arena
from agon.app.contests.boards.publish import publish
from agon.app.contests.ingest.records import record
from agon.app.contests.lifecycle.transitions import open_contest
from agon.entities.members import MemberTerms
from agon.kernel.times import written_time
from app.arena.live.conftest import MakeLeague
from fakes.arena import OLD, League, league
from fakes.instance import Instance, instance_at
from web.browser import Browser
from web.markup import Markup

STATES = {
    "fine": [],
    "below": ["credibility 40 is below 50"],
    "left out": ["fell below 50 and was not reinstated"],
    "reinstated": [],
    "not qualified": ["has not qualified"],
    "too new": ["the owner's account is 3 days old; 7 days are needed"],
    "of unknown age": ["the age of the owner's account is unknown"],
    "too few matches": ["has completed 0 matches: 2 more matches"],
    "paused": ["is paused: its owner asked for it"],
    "withdrawn": ["its owner is withdrawn by the organizers"],
    "all at once": [
        "has not qualified",
        "the age of the owner's account is unknown",
        "has completed 0 matches: 2 more matches",
        "credibility 40 is below 50",
    ],
}
NO_RECORDS = {"paused", "withdrawn"}
"""What no record says, so that a board, which follows from records alone, does not either."""

RULES: dict[str, Any] = {"judge_min_matches": 2,
         "credibility_start": 60, "credibility_honeypot": 20,
         "credibility_agree": 10}  # fmt: skip


def rows_of(state: str, bot: str, opponent: str, now: Any) -> list[tuple[str, dict[str, Any]]]:
    """Return the records that bring a bot into a state."""
    unknown, few = {"of unknown age", "all at once"}, {"too few matches", "all at once"}
    created = written_time(now - timedelta(days=3)) if state == "too new" else OLD
    owner = {"id": f"o-{state}", "handle": state}
    row = {"id": bot, "name": state, "owner_id": owner["id"], "is_judge": True}
    qualified = state not in {"not qualified", "all at once"}
    rows: list[tuple[str, dict[str, Any]]] = [
        ("owners", owner if state in unknown else {**owner, "account_created_at": created}),
        ("bots", {**row, "qualified_at": OLD} if qualified else row),
    ]
    match = {"played_at": written_time(now), "bot_a": bot, "bot_b": opponent, "kind": "rated"}
    rows += [
        ("matches", {**match, "id": f"{state} {number}", "winner": "a"})
        for number in range(0 if state in few else 2)
    ]
    fooled = {"below", "left out", "reinstated", "all at once"}
    pot = {"id": f"pot {state}", "played_at": OLD, "bot_a": opponent, "kind": "honeypot"}
    vote = {"judge_id": bot, "shown_first": "a"}
    if state in fooled:
        rows.append(("matches", {**pot, "honeypot_real": "a"}))
        rows.append(("votes", {**vote, "match_id": pot["id"], "vote": "B"}))
    if state == "left out":
        judged = {"id": "judged", "played_at": written_time(now), "bot_a": opponent, "bot_b": "x"}
        rows += [
            ("bots", {"id": "x", "name": "x", "owner_id": None}),
            ("matches", {**judged, "kind": "rated"}),
            ("votes", {**vote, "match_id": "judged", "vote": "A"}),
        ]
    if state == "reinstated":
        back = {"judge_id": bot, "reinstated_at": written_time(now), "reason": "a mistake"}
        rows.append(("reinstatements", back))
    return rows


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Return what each place answers for a bot in each state."""
    folder = tmp_path_factory.mktemp("pool")
    played = league(folder, bots=1, **RULES)
    open_contest(played.service, "autumn", by=LOCAL)
    ids = {state: played.add_bot(state) for state in STATES}
    for state, bot in ids.items():
        rows = rows_of(state, bot, played.bot("b1").id, played.clock.at)
        for table, row in rows:
            record(played.service, "autumn", [(table, row, None)], by=LOCAL, replace=True)
    with played.service.store.write() as session:
        no = session.contests.get("autumn").no
        paused = session.arena.bot(no, ids["paused"])
        session.arena.save_bot(replace(paused, paused="its owner asked for it"))
        left = session.arena.bot(no, ids["withdrawn"])
        session.arena.save_bot(replace(left, user="ada"))
    publish(played.service, "autumn")
    played.service = replace(played.service, random=Random(1).randbytes)
    served = instance_at(folder, service=played.service)
    with played.service.store.write() as session:
        session.members.save(
            MemberTerms(
                contest_no=no, user="ada", reason="two accounts", by="org",
                changed_at=played.clock.at, withdrawn_at=played.clock.at,
            )
        )  # fmt: skip
    answered = {state: asked(played, served, bot) for state, bot in ids.items()}
    served.close()
    return answered


def asked(played: League, served: Instance, bot: str) -> dict[str, Any]:
    """Return what every place answers on a judge."""
    own = served.get(f"/contests/autumn/bots/{bot}/eligibility", "organiser").json()
    scores = read_scores(played.service, "autumn", has_model=False)
    board = served.get("/contests/autumn/boards/judges").json()["rows"]
    why = served.get(f"/contests/autumn/boards/judges/explanations/{bot}").json()
    browser = Browser(served)
    shown = Markup(browser.get(f"/c/autumn/judges/{bot}").text)
    assert shown.errors == []
    return {
        "eligibility": own,
        "judge": served.get(f"/contests/autumn/judges/{bot}").json()["obstacles"],
        "drawn": bot in {judge["id"] for judge in scores["judges"]},
        "board": next(row["active"] for row in board if row["id"] == bot),
        "explanation": why["parts"][-1]["text"],
        "page": shown.text,
    }


@pytest.mark.sample(3)
@pytest.mark.parametrize("state", STATES)
def test_all_places_give_one_answer(state: str, answers: dict[str, dict[str, Any]]) -> None:
    """A judge out of the pool was active on the board, and eligible to no one else."""
    reasons, of = STATES[state], answers[state]
    assert of["eligibility"] == {"judge": not reasons, "reasons": reasons}
    assert of["judge"] == reasons
    assert of["drawn"] is not bool(reasons)
    in_records = [] if state in NO_RECORDS else reasons
    assert of["board"] is not bool(in_records)
    assert of["explanation"].endswith(
        f"; not active: {'; '.join(in_records)}." if in_records else ": active."
    )
    for reason in reasons:
        assert reason in of["page"]
    assert ("Nothing keeps this judge from the pool" in of["page"]) is not bool(reasons)


def test_a_bot_that_does_not_judge_reads_what_else_it_would_need(make_league: MakeLeague) -> None:
    """It had not qualified, it was told, although it plays."""
    played = make_league(bots=1, **RULES)
    quiet = played.add_bot("quiet", judges=False)
    with (
        scored_arena(played.service, played.contest) as (scored, _),
        played.service.store.read() as session,
    ):
        reasons = judge_obstacles(session, played.contest, quiet, scored=scored, at=played.clock.at)
    assert reasons == (
        "does not want to judge; set judges",
        "has completed 0 matches: 2 more matches",
    )
