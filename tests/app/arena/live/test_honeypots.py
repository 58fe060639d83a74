"""No judge sees a honeypot's text twice; the text may be the real answer of a weak bot."""

from collections import defaultdict
from typing import Any

from agon.app.access.permissions import LOCAL
from agon.app.arena.draw_check import DrawReport, check_draws
from agon.app.arena.live.work import HandIn, hand_in, work_of_judge
from agon.app.contests.ingest.records import record
from agon.ledger.fold import empty_ledger, fold
from app.arena.live.conftest import MakeLeague
from fakes.arena import League
from fakes.service import JUDGE


def played_rounds(league: League) -> list[Any]:
    """Return the matches of all settled rounds, as drawn and as stored."""
    with league.service.store.read() as session:
        rounds = session.arena.rounds(session.contests.get("autumn").no)
    return [
        pair
        for of in reversed(rounds)
        for pair in zip(of.body["draw"]["matches"], of.body["matches"], strict=True)
    ]


def vote_as_judy(league: League) -> None:
    """Cast all votes of the person who judges."""
    while items := work_of_judge(league.service, "autumn", by=JUDGE):
        for item in items:
            hand_in(league.service, league.contest, item["id"], HandIn(vote="A"), by=JUDGE)
        assert league.work() == []


def require_repeatable(league: League) -> None:
    """Require that the ledger alone shows which text each honeypot had to have."""
    lines = league.ledger()
    assert check_draws(lines, fold(lines, start=empty_ledger("autumn"))) == DrawReport()


def test_no_judge_sees_a_template_twice(make_league: MakeLeague) -> None:
    """Not in two matches of one round, not as a person, and not in place of another judge."""
    rules = {"judges_per_match": 2, "credibility_honeypot": 0}
    league = make_league(bots=6, honeypot_probability=1.0, **rules)
    record(league.service, "autumn", [("judges", {"id": "judy", "kind": "person"}, None)], by=LOCAL)
    league.fail("b1", only="vote")
    for _ in range(7):
        assert work_of_judge(league.service, "autumn", by=JUDGE) == []
        assert league.play() == []
        vote_as_judy(league)
    seen = defaultdict[str, list[str]](list)
    for drawn, match in played_rounds(league):
        side = "b" if drawn["honeypot_real"] == "a" else "a"
        replaced = [each["judge"] for each in match["replaced"]]
        for judge in [*match["panel"], *replaced]:
            seen[judge] += match["answers"][side]["templates"]
    assert len(played_rounds(league)) == 21
    assert len(seen["judy"]) >= 5
    assert any(match["replaced"] for _, match in played_rounds(league))
    repeated = {judge: names for judge, names in seen.items() if len(names) > len(set(names))}
    assert repeated == {}
    require_repeatable(league)


def test_a_honeypot_may_show_an_earlier_answer_of_a_weak_bot(make_league: MakeLeague) -> None:
    """To the same prompt, of no owner concerned, unknown to the panel, and much weaker."""
    rules = {"honeypot_weak_share": 1.0, "honeypot_weak_distance": 30.0, "prompts_unseen": 0}
    league = make_league(bots=10, honeypot_probability=0.4, judges_per_match=1, **rules)
    for _ in range(12):
        assert league.play() == []
    past: dict[str, Any] = {}
    used = 0
    for drawn, match in played_rounds(league):
        if drawn["honeypot_real"] is None:
            for side in "ab":
                past[f"{drawn['match']}/{side}"] = (drawn, match, side)
        elif "honeypot_answer" in match:
            used += 1
            before, stored, side = past[match["honeypot_answer"]["answer"]]
            robotic = "b" if drawn["honeypot_real"] == "a" else "a"
            assert match["answers"][robotic]["text"] == stored["answers"][side]["text"]
            assert before["prompt"] == drawn["prompt"]
            bot = before[f"bot_{side}"]
            assert bot == match["honeypot_answer"]["bot"]
            assert bot not in {drawn["bot_a"], drawn["bot_b"], *match["panel"]}
            assert not {vote["judge_id"] for vote in stored["votes"]} & set(match["panel"])
    assert used > 3
    require_repeatable(league)
    settled = league.entries("round-settled")
    recorded = [one for body in settled for one in body["outcome"]["matches"]
                if "honeypot_answer" in one]  # fmt: skip
    assert len(recorded) == used
    assert all(row["bot_a"] is None or row["bot_b"] is None
               for row in league.rows("matches") if row["kind"] == "honeypot")  # fmt: skip
