"""A judge votes by keyboard: a choice is held, taken back, made again and entered."""

import secrets
from dataclasses import replace
from pathlib import Path

from agon.app.access.permissions import LOCAL
from agon.app.contests.ingest.records import record
from agon.app.contests.lifecycle.transitions import open_contest
from agon.web.addresses import vote
from fakes.arena import league as make_league
from fakes.instance import instance_at
from web.browser import Browser
from web.chromium.browsing import Chromium
from web.chromium.serving import serve

STATUS = "#vote-status"
NO_END = """const timeout = window.setTimeout;
window.setTimeout = (run, ms, ...values) => ms === 3000 ? 0 : timeout(run, ms, ...values);"""
"""A choice is held without end, so that a slow machine does not enter it."""


def test_a_judge_votes_by_keyboard_alone(tmp_path: Path, chromium: Chromium) -> None:
    """Without a pointer, and with a chance to take a slip back before it is entered."""
    league = make_league(tmp_path, bots=4, judges_per_match=1, min_judge_pool=1)
    open_contest(league.service, "autumn", by=LOCAL)
    record(league.service, "autumn", [("judges", {"id": "judy", "kind": "person"}, None)], by=LOCAL)
    instance = instance_at(tmp_path, service=replace(league.service, random=secrets.token_bytes))
    judge = Browser(instance)
    judge.sign_in("judge")
    for _ in range(8):
        if 'id="vote"' in judge.get(vote("autumn")).text:
            break
        league.play()
    with serve(instance) as origin:
        visitor = chromium.visitor(origin, cookie=judge.cookie)
        visitor.page.add_init_script(NO_END)
        page = visitor.open(vote("autumn"))
        work = str(page.get_attribute("input[name=work]", "value"))
        page.keyboard.press("ArrowLeft")
        assert page.get_attribute("button[value=A]", "aria-pressed") == "true"
        page.keyboard.press("u")
        assert "A is taken back" in str(page.text_content(STATUS))
        page.keyboard.press("=")  # not allowed here: nothing is chosen
        assert "A is taken back" in str(page.text_content(STATUS))
        page.keyboard.press("ArrowRight")
        assert "B is entered in" in str(page.text_content(STATUS))
        page.keyboard.press("Enter")
        page.wait_for_url("**/vote?after=*")
        assert "Your vote is entered" in str(page.text_content("main"))
        visitor.close()
    with league.service.store.read() as session:
        assert session.arena.work(work).result == {"vote": "B"}
    instance.close()
