"""What changed since an earlier position, and since a visitor's last visit."""

import math
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agon.app.contests.boards.publish import publish
from agon.app.contests.ingest.records import record
from agon.app.contests.ledgers.append import append
from agon.app.contests.lifecycle import details, transitions
from agon.kernel.explanations import Explanation, Part
from agon.kernel.findings import RecordRefs
from agon.ledger.entry import Draft
from agon.web import addresses
from agon.web.last_visit import GAP, LAST_VISIT, last_visit
from agon.web.pages.boards.since import changed_parts
from fakes.instance import Instance, instance_at
from fakes.service import ORGANISER, Clock, service_at
from web.browser import Browser
from web.markup import Markup
from web.test_site import fill

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def clock() -> Clock:
    """The clock of the instance."""
    return Clock()


@pytest.fixture
def site(tmp_path_factory: pytest.TempPathFactory, clock: Clock) -> Iterator[Instance]:
    """An instance with a league that a test continues."""
    folder = tmp_path_factory.mktemp("since")
    instance = instance_at(folder, service=service_at(folder, clock=clock))
    fill(instance)
    yield instance
    instance.close()


def lose(site: Instance, *names: str) -> None:
    """Let ada lose matches to bob, and publish."""
    rows = [
        ("matches", {"id": name, "played_at": "2026-01-15T00:00:00Z", "kind": "rated",
                     "bot_a": "bob", "bot_b": "ada", "winner": "a"}, name)
        for name in names
    ]  # fmt: skip
    record(site.service, "league", rows, by=ORGANISER)
    publish(site.service, "league")


def explained(*parts: tuple[str, float, list[str]]) -> Explanation:
    """Return an explanation of parts with the records of a table."""
    made = tuple(
        Part(name, points, {}, {}, "", records=(RecordRefs.of("matches", ids, most=3),))
        for name, points, ids in parts
    )
    return Explanation("bots", "ada", 1, math.fsum(points for _, points, _ in parts), made)


PARTS = st.dictionaries(
    st.sampled_from("abcd"),
    st.tuples(st.integers(-9, 9), st.lists(st.sampled_from("mnopq"), unique=True, max_size=5)),
).map(lambda parts: explained(*((name, *rest) for name, rest in parts.items())))


@given(PARTS, PARTS)
def test_the_changes_sum_to_the_difference_and_name_only_records_that_differ(
    before: Explanation, after: Explanation
) -> None:
    """A change without its cause, or a cause that was there before, would mislead."""
    parts = changed_parts(before, after)
    assert sum(part.change for part in parts) == (after.score or 0) - (before.score or 0)
    assert [abs(part.change) for part in parts] == sorted(
        (abs(part.change) for part in parts), reverse=True
    )
    old, new = ({part.name: part.records[0] for part in each.parts} for each in (before, after))
    for part in parts:
        for changed in part.records:
            refs = [each.get(part.name, RecordRefs("matches", (), 0)) for each in (old, new)]
            assert (changed.before, changed.after) == (refs[0].count, refs[1].count)
            assert not set(changed.added) & set(refs[0].ids)
            assert not set(changed.removed) & set(refs[1].ids)
            if refs[0].count == len(refs[0].ids):
                assert set(changed.added) == set(refs[1].ids) - set(refs[0].ids)


@pytest.mark.exhaustive
def test_a_step_of_the_history_leads_to_the_records_that_caused_it(site: Instance) -> None:
    """Two clicks: from the history to what changed, and from there to the match."""
    lose(site, "n1")
    lose(site, "n2", "n3")
    steps = site.get("/contests/league/boards/bots/history/ada").json()["items"]
    assert len(steps) > 2
    history = Markup(site.client.get(addresses.person("league", "ada")).text)
    address = addresses.row(
        "league",
        "ada",
        board="bots",
        discipline_name="arena",
        as_of=steps[-1]["seq"],
        since=steps[-2]["seq"],
    )
    assert f"{address}#since" in history.links  # the cause
    assert address in history.links  # the point of the plot
    text = site.client.get(address).text
    page, section = Markup(text), text.partition('id="since"')[2].partition("</section>")[0]
    assert (page.errors, page.inline) == ([], [])
    links = [link for link in Markup(f"<main>{section}</main>").links if "/matches/" in link]
    assert {re.sub(r"\?.*", "", link) for link in links} == {
        "/c/league/matches/n2", "/c/league/matches/n3",
    }  # fmt: skip
    assert all(site.client.get(link).status_code == 200 for link in links)
    early = addresses.row(
        "league", "ada", board="bots", discipline_name="arena", as_of=steps[0]["seq"], since=1
    )
    assert "nothing was published" in Markup(site.client.get(early).text).text
    same = addresses.row(
        "league", "ada", board="bots", discipline_name="arena", since=steps[-1]["seq"]
    )
    assert "No part of the score changed" in Markup(site.client.get(same).text).text
    wrong = addresses.person("league", "ada", since="yesterday")
    assert site.client.get(wrong).status_code == 422
    judge = addresses.row("league", "judy", board="judges", discipline_name="arena", since=7)
    assert judge == "/c/league/judges/judy?since=7"


@pytest.mark.exhaustive
def test_a_visitor_sees_what_changed_since_the_last_visit(site: Instance, clock: Clock) -> None:
    """A participant comes back after a day and asks whether anything happened."""
    address = addresses.person("league", "ada")
    ada = Browser(site)
    ada.sign_in()
    first = ada.get(address)
    assert "Since your last visit" not in first.text
    cookie = first.headers["set-cookie"]
    assert cookie.startswith(f"{LAST_VISIT}=")
    assert "; HttpOnly; SameSite=Lax; Path=/c/league; " in cookie
    session = ada.cookie
    ada.cookie = f"{session}; {cookie.partition(';')[0]}"
    before = site.get("/contests/league/boards/bots/rows/ada").json()
    clock.at += 2 * GAP
    nothing = Markup(ada.get(address).text).text
    assert "nothing was published" in " ".join(nothing.split())
    lose(site, "n1", "n2", "n3")
    changed = ada.get(address)
    text = " ".join(Markup(changed.text).text.split())
    after = site.get("/contests/league/boards/bots/rows/ada").json()
    rank = [next(row["rank"] for row in rows["rows"] if row["id"] == "ada")
            for rows in (before, after)]  # fmt: skip
    assert rank[0] < rank[1]
    assert f"rank {rank[0]} → {rank[1]}" in text
    link = next(link for link in Markup(changed.text).links if link.endswith("#since"))
    assert "/c/league/matches/n1" in Markup(ada.get(link.partition("#")[0]).text).links
    ada.cookie = f"{session}; {changed.headers['set-cookie'].partition(';')[0]}"
    assert f"rank {rank[0]} → {rank[1]}" in " ".join(Markup(ada.get(address).text).text.split())
    tag = ada.get(address)
    again = site.client.get(
        address, headers={"cookie": ada.cookie, "if-none-match": tag.headers["etag"]}
    )
    assert (again.status_code, LAST_VISIT in again.headers["set-cookie"]) == (304, True)
    past = ada.get(addresses.person("league", "ada", as_of=before["seq"]))
    assert ("set-cookie" in past.headers, "last visit" in past.text) == (False, False)
    public = Browser(site, cookie=ada.cookie.partition("; ")[2])
    page = public.get(address)
    assert ("set-cookie" in page.headers, "last visit" in page.text) == (False, False)
    other = Browser(site)
    other.sign_in("judge")
    other.cookie = f"{other.cookie}; {ada.cookie.partition('; ')[2]}"
    assert "last visit" not in other.get(address).text


@pytest.mark.exhaustive
def test_pages_of_the_past_have_the_rules_the_title_and_the_state_of_then(site: Instance) -> None:
    """A decision is judged by the rules that were in force."""
    before = site.get("/contests/league").json()
    with site.service.store.write() as session:
        contest = session.contests.lock("league")
        body = {"edition": contest.edition, "overrides": {"k_new": 17}, "rules_sha256": "0" * 64,
                "change": None, "reason": "why"}  # fmt: skip
        draft = Draft(kind="edition-adopted", body=body, at=site.service.clock(), by="user:olga")
        append(site.service, session, contest, [draft])
    details.edit(site.service, "league", {"title": "The cup"}, by=ORGANISER)
    transitions.freeze(site.service, "league", by=ORGANISER)
    now = Markup(site.client.get(addresses.rules("league")).text).text
    assert "This contest sets 1 of the rules" in now
    assert "The cup" in now
    address = addresses.rules("league", as_of=before["seq"])
    past = Markup(site.client.get(address).text)
    assert (past.errors, "The cup" in past.text, "This contest sets" in past.text) == (
        [], False, False,
    )  # fmt: skip
    expected = f"The rules at position {before['seq']} of the ledger, when the contest was open"
    assert expected in " ".join(past.text.split())
    assert before["clock"]["phase"] == "open"
    expected_data = {**before, "clock": None}  # the same in a year, when another phase holds
    assert site.client.get(f"/c/league/rules.json?as_of={before['seq']}").json() == expected_data
    board = Markup(site.client.get(addresses.board("league", "bots", as_of=before["seq"])).text)
    assert address in board.links
    assert ("The cup" in board.text, "frozen" in board.text) == (False, False)
    log = Markup(site.client.get(addresses.ledger("league")).text)
    assert (log.errors, log.inline) == ([], [])
    assert "details set: The cup, public" in log.text
    assert addresses.rules("league", as_of=contest.seq + 1) in log.links
    assert "user:olga" in log.text
    early = Markup(site.client.get(addresses.ledger("league", as_of=before["seq"])).text)
    assert ("The cup" in early.text, "opened for records" in early.text) == (False, True)
    first = site.get("/contests/league/log?limit=1").json()
    assert first["items"][0]["text"] == "boards frozen for the public"
    following = site.get(f"/contests/league/log?limit=1&cursor={first['next']}").json()["items"]
    assert following[0]["kind"] == "contest-edited"
    assert site.client.get(addresses.rules("league", as_of="0")).status_code == 404
    assert site.client.get(addresses.rules("league", as_of="x")).status_code == 422


@given(st.text(max_size=60) | st.from_regex(r"[0-9a-f]{8}(\.[0-9]{1,20}){4}", fullmatch=True))
def test_a_cookie_that_someone_wrote_by_hand_breaks_no_page(text: str) -> None:
    """The cookie comes from outside."""
    seen = last_visit(text, name="ada", seq=5, now=NOW)
    assert seen.seen >= 5
    assert last_visit(seen.text(), name="ada", seq=5, now=seen.seen_at) == seen


@given(st.lists(st.tuples(st.integers(0, 10**5), st.integers(0, 9)), min_size=1, max_size=9))
def test_a_visit_lasts_until_half_an_hour_without_a_page(steps: list[tuple[int, int]]) -> None:
    """Loading a page again must not hide what changed since the visit before."""
    now, seq, cookie = NOW, 1, ""
    visits: list[int] = []
    for gap, entries in steps:
        begins = not visits or timedelta(seconds=gap) > GAP
        now, previous, seq = now + timedelta(seconds=gap), seq, seq + entries
        if begins:
            visits.append(previous)
        seen = last_visit(cookie, name="ada", seq=seq, now=now)
        assert seen.since == (visits[-1] if len(visits) > 1 else None)
        cookie = seen.text()
