"""The pages of arenas: people vote, and matches are shown when they are settled."""

import re
from collections.abc import Iterator
from math import ceil, floor
from pathlib import Path

import pytest

import agon
from agon.app.access.permissions import LOCAL
from agon.app.arena.published_robustness import store_robustness
from agon.app.contests.boards.publish import publish
from agon.app.contests.ingest.records import record
from agon.app.contests.lifecycle.transitions import open_contest
from agon.entities.arena import HumanAnswer
from agon.web.addresses import board, bot, bots, match, matches, robustness, vote
from agon.web.addresses import judge as judge_page
from agon.web.rendering import number_text
from fakes.arena import League
from fakes.arena import league as make_league
from fakes.instance import instance_of
from web.browser import Browser
from web.markup import Markup


@pytest.fixture
def league(tmp_path: Path) -> Iterator[League]:
    """Return an arena of four bots whose matches are judged by one person or bot each."""
    made = make_league(tmp_path, bots=4, judges_per_match=1, min_judge_pool=1)
    open_contest(made.service, "autumn", by=LOCAL)
    record(made.service, "autumn", [("judges", {"id": "judy", "kind": "person"}, None)], by=LOCAL)
    yield made
    made.service.store.close()


@pytest.fixture
def judge(league: League, tmp_path: Path) -> Iterator[Browser]:
    """Return the browser of a judge who is signed in."""
    with instance_of(league.service, tmp_path) as instance:
        browser = Browser(instance)
        browser.sign_in("judge")
        yield browser


def hidden(page: str, name: str) -> str:
    """Return the value of a hidden field."""
    return page.partition(f'name="{name}" value="')[2].partition('"')[0]


def play_until_asked(league: League, judge: Browser) -> str:
    """Play rounds until the judge has a match to judge; return the page."""
    for _ in range(8):
        shown = Markup(judge.get(vote("autumn")).text).text
        assert "Nothing to judge now" in shown
        assert "The rules ask of people who judge: no bot and no qualification; an acc" in shown
        league.play()
        page: str = judge.get(vote("autumn")).text
        if 'id="vote"' in page:
            return page
    raise AssertionError("the judge was not drawn in 8 rounds")


def test_a_person_votes_and_sees_how_the_match_ended(league: League, judge: Browser) -> None:
    """From the choice to the settled match, without a script and without any bot before."""
    page = play_until_asked(league, judge)
    shown = Markup(page)
    assert shown.errors == []
    assert shown.inline == []
    assert all(bot.id not in page for bot in map(league.bot, ("b1", "b2", "b3", "b4")))
    assert re.search(
        r'<time class="num" datetime="([-0-9]+)T([:0-9]+)[.0-9]*Z">\1 \2 UTC</time>', page
    )
    assert int(page.partition('data-ms="')[2].partition('"')[0]) > 0
    name = hidden(page, "match")
    sealed = judge.get(match("autumn", name))
    assert "is being played" in Markup(sealed.text).text
    assert "/people/" not in sealed.text
    fields = {field: hidden(page, field) for field in ("form_token", "work", "match")}
    wrong = judge.send(vote("autumn"), {**fields, "vote": "C"})
    assert wrong.status_code == 422
    cast = judge.send(vote("autumn"), {**fields, "vote": "B"})
    assert (cast.status_code, cast.headers["location"]) == (303, f"/c/autumn/vote?after={name}")
    assert "Your vote is entered" in Markup(judge.get(cast.headers["location"]).text).text
    again = judge.send(vote("autumn"), {**fields, "vote": "B"})
    assert again.status_code == 303
    other = judge.send(vote("autumn"), {**fields, "vote": "A"})
    assert other.status_code == 409
    text = Markup(other.text).text
    assert "Your vote for A was not entered: something else was handed in" in text
    while "Nothing to judge" not in (page := judge.get(vote("autumn")).text):
        fields = {field: hidden(page, field) for field in ("form_token", "work", "match")}
        judge.send(vote("autumn"), {**fields, "vote": "A"})
    assert league.work() == []
    after = Markup(judge.get(vote("autumn", after=name)).text).text
    assert "is settled: " in after
    publish(judge.instance.service, "autumn")
    settled = Markup(judge.get(match("autumn", name)).text)
    assert settled.errors == []
    for expected in ("printf %s", "agon replay autumn", "judy", "for side "):
        assert expected in settled.text, expected
    assert re.search(r"Rating [\d,.]+ [+−0]|No rating moves", settled.text)


@pytest.mark.exhaustive
def test_a_late_vote_is_explained(league: League, judge: Browser) -> None:
    """What was chosen is repeated, and that it did not count."""
    page = play_until_asked(league, judge)
    league.later(3000)
    fields = {field: hidden(page, field) for field in ("form_token", "work", "match")}
    late = judge.send(vote("autumn"), {**fields, "vote": "A"})
    assert late.status_code == 409
    text = Markup(late.text).text
    assert "Your vote for A was not entered: the deadline of" in text
    assert "Nothing to judge now" in text


def test_visitors_see_who_may_vote(league: League, judge: Browser) -> None:
    """The page is linked from every page of an arena."""
    visitor = Browser(judge.instance)
    assert "Sign in</a> as a judge" in visitor.get(vote("autumn")).text
    visitor.sign_in("viewer")
    assert "no permission to judge" in visitor.get(vote("autumn")).text
    assert league.service is not judge.instance.service


@pytest.mark.exhaustive
def test_matches_are_listed_with_filters_and_pages(league: League, judge: Browser) -> None:
    """Matches that were recorded elsewhere have a page as well."""
    rows = [
        ("matches", {"id": f"old/{n}", "played_at": f"2026-01-0{n}T00:00:00Z", "kind": "rated",
                     "bot_a": league.bot("b1").id, "bot_b": league.bot(f"b{n + 1}").id,
                     "response_a": "one <b>", "winner": "a"}, None)
        for n in (1, 2, 3)
    ]  # fmt: skip
    record(league.service, "autumn", rows, by=LOCAL)
    publish(judge.instance.service, "autumn")
    page = judge.get(matches("autumn", limit=2)).text
    shown = Markup(page)
    assert (shown.errors, "old/3" in shown.text, "old/1" in shown.text) == ([], True, False)
    following = next(link for link in shown.links if "before=" in link)
    assert "old/1" in Markup(judge.get(following).text).text
    only = Markup(judge.get(matches("autumn", bot=league.bot("b2").id)).text).text
    assert ("old/1" in only, "old/2" in only) == (True, False)
    assert "No match is like that" in judge.get(matches("autumn", judge="judy")).text
    assert judge.get(matches("autumn", kind="x")).status_code == 422
    recorded = Markup(judge.get(match("autumn", "old/1")).text)
    for expected in ("Side a won", "one <b>", "No votes: the result was recorded", "+16"):
        assert expected in recorded.text, expected
    api = judge.instance.get("/contests/autumn/matches/old%2F1").json()
    assert api["result"]["rating"]["a"] == {"before": 1000.0, "change": 16.0}
    assert judge.get(match("autumn", "nothing")).status_code == 404


def test_a_page_states_which_matches_hold_a_rank(league: League, judge: Browser) -> None:
    """Each number leads to its matches; without ratings the page says why."""
    names = [league.bot(f"b{n}").id for n in (1, 2, 3)]
    empty = judge.get(robustness("autumn"))
    assert empty.status_code == 200
    assert "Nothing is scored yet" in empty.text
    results = [(0, 1, "a"), (0, 1, "a"), (0, 1, "b"), (1, 2, "a"), (1, 2, "a"), (1, 2, "b"),
               (0, 1, "a"), (0, 1, "b")]  # fmt: skip
    rows = [
        ("matches", {"id": f"m{n}", "played_at": f"2026-01-01T00:00:{n:02}Z", "kind": "rated",
                     "bot_a": names[a], "bot_b": names[b], "winner": winner}, None)
        for n, (a, b, winner) in enumerate(results)
    ]  # fmt: skip
    record(league.service, "autumn", rows, by=LOCAL)
    publish(judge.instance.service, "autumn")
    page = Markup(judge.get(robustness("autumn")).text)
    assert page.errors == []
    assert "at most 2 matches (25 %)" in " ".join(page.text.split())
    assert "/c/autumn/matches/m0" in page.links
    known = judge.instance.get("/contests/autumn/robustness").json()
    assert known["ranks"][0]["left_out"] == ["m0", "m1"]
    assert known["bands"][0]["rank_high"] == 3
    assert "How sure is this board?" in page.text
    assert [probe["name"] for probe in known["probes"]] == [
        "separation", "robustness", "position", "ties", "cycles", "connectivity", "coverage",
        "voters", "influence", "duplicates", "names",
    ]  # fmt: skip
    bots = [{"id": bot, "owner_id": None, "name": bot} for bot in names]
    same = agon.audit({"bots": bots, "matches": [row for _, row, _ in rows]})
    assert known["probes"] == same.rows()
    said = "".join(page.text.split())
    for probe in known["probes"]:
        stated = ("none", "") if probe["figure"] is None else (
            number_text(probe["figure"]), number_text(probe["expected"])
        )  # fmt: skip
        words = (probe["name"], probe["verdict"], *stated, f"{probe['sentence']}.")
        assert "".join("".join(words).split()) in said
    assert known["names"] == {bot: f"b{n}" for n, bot in enumerate(names, 1)}
    assert f"b1 {names[0]}" in " ".join(page.text.split())
    separation = known["probes"][0]
    assert (separation["verdict"], separation["figure"]) == ("cannot tell", None)


def test_boards_state_robustness_once_a_job_has_computed_it(league: League, judge: Browser) -> None:
    """A page never waits for it, and one of the past does not change when it is there."""
    names = [league.bot(f"b{n}").id for n in (1, 2)]
    rows = [
        ("matches", {"id": f"m{n}", "played_at": f"2026-01-01T00:00:0{n}Z", "kind": "rated",
                     "bot_a": names[0], "bot_b": names[1], "winner": winner}, None)
        for n, winner in enumerate("aaaabb")
    ]  # fmt: skip
    record(league.service, "autumn", rows, by=LOCAL)
    service = judge.instance.service
    seq = publish(service, "autumn").snapshots[0].seq
    strengths = board("autumn", "bradley-terry")
    past = judge.get(f"{strengths}?as_of={seq}").content
    assert "Robustness: not computed yet." in judge.get(strengths).text
    assert (store_robustness(service, "autumn"), store_robustness(service, "autumn")) == (seq, None)
    page = Markup(judge.get(strengths).text)
    assert page.errors == []
    assert "3 matches (50 %)" in page.text
    assert "not computed" not in page.text
    assert f"{robustness('autumn')}#ranks" in page.links
    assert judge.get(f"{strengths}?as_of={seq}").content == past
    stored = judge.instance.get("/contests/autumn/board-robustness").json()
    assert (stored["seq"], stored["is_computed"], stored["matches"]) == (seq, True, 6)


@pytest.mark.exhaustive
def test_the_elo_board_shows_the_noise_of_ratings_as_bands(league: League, judge: Browser) -> None:
    """A difference within the band is chance; new bots have the wider one."""
    names = [league.bot(f"b{n}").id for n in (1, 2)]
    row = {"id": "m", "played_at": "2026-01-01T00:00:00Z", "kind": "rated", "bot_a": names[0],
           "bot_b": names[1], "winner": "a"}  # fmt: skip
    record(league.service, "autumn", [("matches", row, None)], by=LOCAL)
    publish(judge.instance.service, "autumn")
    page = Markup(judge.get(board("autumn", "bots")).text)
    assert page.errors == []
    new, _ = judge.instance.get("/contests/autumn/board-robustness").json()["noise"]
    rows = judge.instance.get("/contests/autumn/boards/bots").json()["rows"]
    low, high = floor(rows[0]["score"] - new["width"]), ceil(rows[0]["score"] + new["width"])
    assert f"{low:,} to {high:,}" in page.text  # whole, as the scores, and never narrower
    assert f"±{new['width']:.0f} while a bot is new" in " ".join(page.text.split())


def test_the_page_of_a_judge_states_figures_with_their_cases(
    league: League, judge: Browser
) -> None:
    """A share without its number of cases is no figure."""
    bots = [league.bot(f"b{n}").id for n in (1, 2, 3)]
    rows: list[tuple[str, dict[str, object], None]] = []
    for n in range(4):
        at = f"2026-01-01T00:00:0{n}Z"
        rows.append(("matches", {"id": f"m{n}", "played_at": at, "kind": "rated",
                                 "bot_a": bots[0], "bot_b": bots[1],
                                 **({"audit_verdict": "a"} if n else {})}, None))  # fmt: skip
        rows += [("votes", {"match_id": f"m{n}", "judge_id": name, "shown_first": "a",
                            "vote": "B" if name == "judy" and n == 3 else "A", "voted_at": at},
                  None) for name in ("judy", "j2", bots[2])]  # fmt: skip
    rows.append(("matches", {"id": "h", "played_at": "2026-01-02T00:00:00Z", "kind": "honeypot",
                             "bot_a": bots[0], "bot_b": None, "honeypot_real": "a"},
                 None))  # fmt: skip
    rows.append(("votes", {"match_id": "h", "judge_id": "judy", "shown_first": "b", "vote": "B",
                           "voted_at": "2026-01-02T00:00:00Z"}, None))  # fmt: skip
    record(league.service, "autumn", rows, by=LOCAL)
    publish(judge.instance.service, "autumn")
    page = Markup(judge.get(judge_page("autumn", "judy")).text)
    assert page.errors == []
    assert "Nothing keeps this judge from the pool" in page.text
    assert "/c/autumn/matches/m3" in page.links
    report = judge.instance.get("/contests/autumn/judges/judy").json()
    figures = {each["name"]: (each["value"], each["cases"]) for each in report["figures"]}
    assert figures["agreement with the consensus"] == (0.75, 4)
    assert figures["agreement with audits"] == (pytest.approx(2 / 3), 3)
    assert figures["position"] == (0.6, 5)
    assert figures["honeypots passed"] == (1.0, 1)
    assert figures["accuracy"][1] == 4
    assert judge.instance.get("/contests/autumn/judges/unknown").status_code == 404
    match = judge.instance.get("/contests/autumn/matches/m0").json()
    assert match["result"]["names"] == dict(zip(bots, ("b1", "b2", "b3"), strict=True))
    assert judge.get("/c/autumn/matches/m0").text.count("<bdi>b3</bdi>") == 1
    bot = judge.instance.get(f"/contests/autumn/judges/{bots[0]}").json()
    assert bot["obstacles"] == []


def test_an_owner_registers_a_bot_and_reads_why_it_failed(league: League, judge: Browser) -> None:
    """The secret is shown once; everything typed is kept where something is wrong."""
    owner = Browser(judge.instance)
    assert "Sign in</a> to register" in owner.get(bots("autumn")).text
    owner.sign_in("participant")
    wrong = owner.submit(bots("autumn"), bots("autumn"), {"name": "", "version": "<7>"})
    assert (wrong.status_code, "&lt;7&gt;" in wrong.text) == (422, True)
    fields = {"name": "<Ada's>", "judges": "yes"}
    created = owner.submit(bots("autumn"), bots("autumn"), fields)
    page = Markup(created.text)
    assert (created.status_code, page.errors, "<Ada's>" in page.text) == (200, [], True)
    assert "has not qualified" in page.text
    assert "The bot has not tried to qualify." in page.text
    again = owner.submit(bots("autumn"), bots("autumn"), fields)
    assert (again.status_code, "bots_per_owner" in again.text) == (422, True)
    address = next(link for link in Markup(owner.get(bots("autumn")).text).links
                   if "Ada" in owner.get(link).text and "/bots/" in link)  # fmt: skip
    assert address in Markup(owner.get("/account").text).links
    for action, text in (
        ({"action": "pause"}, "paused"),
        ({"action": "resume"}, "registered"),
        ({"action": "version", "version": "8"}, "8, since"),
        ({"action": "judges", "judges": "no"}, "The bot does not judge"),
    ):
        assert owner.submit(address, address, action).status_code == 303
        assert text in Markup(owner.get(address).text).text
    refused = owner.submit(address, address, {"action": "qualify"})
    assert (refused.status_code, "human answers" in refused.text) == (422, True)
    with league.service.store.write() as session:
        session.arena.save_human_answers(
            league.contest.no, [HumanAnswer(id="h1", prompt_id="p1", text="Soup, of course.")]
        )
    assert owner.submit(address, address, {"action": "qualify"}).status_code == 200
    league.work()
    waiting = Markup(owner.get(address).text).text
    assert "Attempt q1" in waiting
    assert "It waits for: the answer of the bot." in waiting
    assert "The bot may try again from" in waiting
    assert "Pause" not in judge.get(address).text
    league.fail("b1")
    league.play()
    failed = Markup(owner.get(bot("autumn", league.bot("b1").id)).text).text
    assert "the bot's" in failed
    assert "status 500" in failed
