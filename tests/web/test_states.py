"""A state is the same everywhere: pages, pictures, feeds, files and the API say where a contest is.

Addresses are those of the routes and operations, so that a new one is asked as well.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from agon.api.catalog import all_operations
from agon.app.contests.boards.publish import publish
from agon.app.contests.changes.change_sets import apply, propose, roll_back
from agon.app.contests.changes.dry_runs import dry_run
from agon.app.contests.ingest.records import record
from agon.app.contests.lifecycle.creation import NewContest, create
from agon.app.contests.lifecycle.details import edit
from agon.app.contests.lifecycle.finality import restore, void
from agon.app.contests.lifecycle.transitions import finalize, freeze, open_contest
from agon.app.service import Service
from agon.disciplines import discipline
from agon.web.addresses import submit
from agon.web.site import DOCUMENTS, PAGES
from fakes.autumn import autumn
from fakes.contests import simulated_rows
from fakes.instance import Instance, instance_at
from fakes.service import ORGANISER
from web.browser import Browser

STARTS, ENDS = datetime(2026, 12, 1, tzinfo=UTC), datetime(2026, 12, 24, 18, tzinfo=UTC)
BEFORE, DURING, AFTER = STARTS - timedelta(days=1), STARTS + timedelta(days=1), ENDS
REASON = "u2 is u1"
VOID = "the records were public"
PHASES = ("not started", "open", "frozen", "ended", "final", "amended", "void")
VALUES = {"contest": "spring", "board": "user-score", "id": "u2", "n": "1"}


def addresses(**values: str) -> Iterator[str]:
    """Yield every address about a contest that is public: pages, pictures, feeds, API, files."""
    values = VALUES | values
    public = [path for path, _ in (*PAGES, *DOCUMENTS)]
    public += [each.url for each in all_operations()
               if each.method == "GET" and each.permission == "contest.read"]  # fmt: skip
    for path in public:
        is_public = "/desk" not in path and "/submissions/{id}" not in path
        if "{contest}" in path and is_public and not path.endswith("/events"):
            yield re.sub(r"{(\w+)}", lambda match: values.get(match[1], "1"), path)
    yield from (f"/c/{values['contest']}.{form}" for form in ("json", "csv", "ndjson", "parquet"))


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    """Open an instance with a contest of three people, of whom u2 leads in the end."""
    opened = instance_at(Path(tmp_path_factory.mktemp("states")))
    opened.contest("spring", starts_at=STARTS, ends_at=ENDS)
    yield opened
    opened.close()


def at(service: Service, time: datetime) -> None:
    """Set the clock, which only tests can."""
    service.clock.at = time  # type: ignore[attr-defined]


def amend(service: Service) -> str:
    """Correct the final result, and return the change set."""
    points = {"board": "user-score", "id": "u2", "points": 5}
    change = propose(
        service, "spring", kind="adjustment", params=points, reason=REASON, by=ORGANISER
    )
    dry_run(service, "spring", change.id)
    apply(service, "spring", change.id, by=ORGANISER)
    publish(service, "spring")
    return change.id


def ask(instance: Instance, phase: str, **values: str) -> dict[str, Any]:
    """Return what every address responds, after each response has said the phase."""
    found: dict[str, Any] = {}
    for address in addresses(**values):
        response = instance.client.get(address)
        assert response.status_code in {200, 202, 404, 409, 410}, (address, response.text[:300])
        if response.status_code == 200:
            assert response.headers.get("agon-phase") == phase, (phase, address)
            found[address] = response
            if response.headers["content-type"].startswith("text/html"):
                assert phase.capitalize() in response.text, (phase, address)
    assert len(found) > 15, sorted(found)
    if values:
        return found
    for address in ("/c/spring/badge/u2.svg", "/c/spring/feed.xml", "/"):
        page = found.get(address) or instance.client.get(address)
        assert phase in page.text, (phase, address)
    for address in ("/c/spring.json", "/api/v1/contests/spring/boards/user-score/rows/u2"):
        assert found[address].json()["phase"] == phase
    assert found["/api/v1/contests/spring"].json()["clock"]["phase"] == phase
    return found


def leader(found: dict[str, Any]) -> set[str]:
    """Return who leads, on everything that says who does."""
    rows = found["/c/spring.json"].json()["rows"]
    csv = found["/c/spring.csv"].text.splitlines()[1].split(",")[1]
    page = re.search(r"people/(u\d)", found["/c/spring"].text)
    assert page is not None
    return {rows[0]["id"], csv, page[1]}


@pytest.mark.exhaustive
def test_every_public_address_says_the_same_in_each_state(instance: Instance) -> None:
    """After a correction the old winner still led everywhere but on one page."""
    service = instance.service
    for time, phase in ((BEFORE, "not started"), (DURING, "open")):
        at(service, time)
        ask(instance, phase)
    at(service, AFTER)
    ask(instance, "ended")
    at(service, DURING)
    freeze(service, "spring", by=ORGANISER)
    ask(instance, "frozen")
    at(service, AFTER)
    finalize(service, "spring", by=ORGANISER)
    found = ask(instance, "final")
    assert leader(found) == {"u0"}
    change = amend(service)
    found = ask(instance, "amended")
    assert leader(found) == {"u2"}
    for address in ("/c/spring", "/c/spring/people/u2", "/c/spring/distribution", "/",
                    "/c/spring/feed.xml"):  # fmt: skip
        page = found.get(address) or instance.client.get(address)
        assert REASON in page.text, address
    assert "rank 1 of 3" in found["/c/spring/badge/u2.svg"].text
    assert found["/c/spring.json"].json()["amendment"]["reason"] == REASON
    home = instance.client.get("/").text
    assert "/c/spring/people/u2" in home.partition("Won by")[2][:80]
    final = found["/c/spring.json"].json()["amendment"]["final_seq"]
    before = instance.client.get(f"/c/spring?as_of={final}").text
    assert "This result was amended" in before
    assert REASON in before
    roll_back(service, "spring", change, reason="they are two", by=ORGANISER)
    publish(service, "spring")
    assert leader(ask(instance, "final")) == {"u0"}
    void(service, "spring", reason=VOID, by=ORGANISER)
    found = ask(instance, "void")
    for address, page in found.items():
        if page.headers["content-type"].startswith("text/html"):
            assert VOID in page.text, address
    assert VOID in instance.client.get("/").text
    assert VOID in found["/c/spring/feed.xml"].text
    assert found["/c/spring.json"].json()["void_reason"] == VOID
    assert found["/api/v1/contests/spring"].json()["clock"]["void_reason"] == VOID
    restore(service, "spring", reason="another contest", by=ORGANISER)
    ask(instance, "final")


@pytest.mark.exhaustive
def test_every_public_address_says_that_a_frozen_contest_is_void_and_no_figure(
    instance: Instance,
) -> None:
    """Pages said it, and the ledger in words was silent until the freeze ended."""
    service = instance.service
    instance.contest("autumn")
    frozen = freeze(service, "autumn", by=ORGANISER).frozen_at
    instance.people("autumn", 7, begin=3)
    void(service, "autumn", reason=VOID, by=ORGANISER)
    found = ask(instance, "void", contest="autumn")
    said = ["/c/autumn/ledger", "/c/autumn.json", "/c/autumn/feed.xml",
            "/api/v1/contests/autumn", "/api/v1/contests/autumn/log"]  # fmt: skip
    for address in said:
        assert VOID in found[address].text, address
    assert found["/api/v1/contests/autumn"].json()["voided_at"] == frozen
    newest = found["/api/v1/contests/autumn/log"].json()["items"][0]
    assert (newest["kind"], newest["seq"]) == ("contest-voided", frozen)
    path = "/api/v1/contests/autumn/log"
    for size in (1, 2, 3):
        items, query = [], f"limit={size}"
        while query:
            page = instance.client.get(f"{path}?{query}").json()
            items += page["items"]
            query = page["next"] and f"limit={size}&cursor={page['next']}"
        assert items == found[path].json()["items"], size
    for address, page in found.items():
        assert "u9" not in page.text, address


def test_a_hidden_name_is_on_no_public_address(browser: Browser) -> None:
    """Pictures, files, feeds and searches name people as well as pages do."""
    instance = browser.instance
    instance.contest("spring", names="shown")

    def naming() -> list[str]:
        asked = [*addresses(), "/c/spring?q=zo", "/c/spring?as_of=5", "/"]
        return [each for each in asked if "Zoë 2" in instance.client.get(each).text]

    assert len(naming()) > 3
    path = "/contests/spring/members/u2/{}"
    why = {"reason": "asked for it"}
    assert instance.post(path.format("hide"), "organiser", json=why).json()["terms"]["hidden_at"]
    assert naming() == []
    assert instance.post(path.format("unhide"), "organiser", json=why).status_code == 200
    assert len(naming()) > 3


@pytest.mark.exhaustive
@pytest.mark.parametrize("of", ["arena", "challenge", "dojo"])
def test_the_states_of_every_discipline_are_said_everywhere(browser: Browser, of: str) -> None:
    """Problems, matches and epochs are pages of one discipline each, which could disagree."""
    instance, service = browser.instance, browser.instance.service
    at(service, BEFORE)
    new = NewContest(id="cup", discipline=of, title="Cup", starts_at=STARTS, ends_at=ENDS)
    create(service, new, by=ORGANISER)
    open_contest(service, "cup", by=ORGANISER)
    record(service, "cup", simulated_rows(of, 30), by=ORGANISER)
    publish(service, "cup")
    board = discipline(of).boards[0]
    rows = instance.get(f"/contests/cup/boards/{board}?limit=1", "organiser").json()["rows"]
    of_one = {"contest": "cup", "board": board, "id": rows[0]["id"]}
    for time, phase in ((BEFORE, "not started"), (DURING, "open"), (AFTER, "ended")):
        at(service, time)
        ask(instance, phase, **of_one)
    at(service, DURING)
    freeze(service, "cup", by=ORGANISER)
    ask(instance, "frozen", **of_one)
    at(service, AFTER)
    ask(instance, "ended", **of_one)
    finalize(service, "cup", by=ORGANISER)
    ask(instance, "final", **of_one)
    points = {"board": board, "id": of_one["id"], "points": 5 if of != "challenge" else 0.01}
    change = propose(service, "cup", kind="adjustment", params=points, reason=REASON, by=ORGANISER)
    dry_run(service, "cup", change.id)
    apply(service, "cup", change.id, by=ORGANISER)
    publish(service, "cup")
    ask(instance, "amended", **of_one)
    void(service, "cup", reason=VOID, by=ORGANISER)
    ask(instance, "void", **of_one)


def test_problems_are_hidden_everywhere_until_the_contest_starts(browser: Browser) -> None:
    """Whoever read them early had more time; organizers prepare them and see them."""
    service = browser.instance.service
    name = autumn(service)
    edit(service, "autumn", {"starts_at": STARTS}, by=ORGANISER)
    publish(service, "autumn")
    at(service, BEFORE)
    asked = [*addresses(contest="autumn", id=name, board=f"problem:{name}"), "/",
             "/c/autumn/problems", "/api/v1/contests"]  # fmt: skip

    def showing() -> list[str]:
        pages = {each: browser.get(each) for each in asked}  # an error repeats what was asked for
        return [
            each for each, page in pages.items() if page.status_code < 400 and name in page.text
        ]

    assert showing() == []
    browser.sign_in("participant")
    assert showing() == []
    assert "starts at" in browser.get(submit("autumn")).text
    seen = browser.instance.get("/contests/autumn/problems", "organiser").json()["items"]
    assert [each["id"] for each in seen] == [name]
    at(service, STARTS)
    assert {"/c/autumn/problems", "/api/v1/contests/autumn/problems"} <= set(showing())
    listed = browser.instance.client.get("/api/v1/contests/autumn/boards").json()["items"]
    assert f"problem:{name}" in {each["board"] for each in listed}


def test_boards_without_a_row_say_what_comes_next(browser: Browser) -> None:
    """The page of a board that was published empty was a search field and no way on."""
    service = browser.instance.service
    create(service, NewContest(id="new", discipline="dojo", title="New"), by=ORGANISER)
    open_contest(service, "new", by=ORGANISER)
    publish(service, "new")
    page = browser.get("/c/new").text
    assert "Nothing is scored yet" in page
    assert "/c/new/problems" in page
    assert browser.get("/c/new.csv").status_code == 200
    assert browser.get("/c/new.json").json()["rows"] == []
    freeze(service, "new", by=ORGANISER)
    assert "Frozen" in browser.get("/c/new").text


@pytest.mark.exhaustive
def test_titles_are_isolated_from_the_text_around_them(browser: Browser) -> None:
    """A title that ends in an Arabic word or an open embedding turned the text after it around."""
    title = "كأس الربيع 2026"
    browser.instance.contest("spring")
    edit(browser.instance.service, "spring", {"title": title}, by=ORGANISER)
    browser.sign_in("organiser")
    for page in ("/", "/c/spring", "/desk", "/c/spring/desk"):
        assert f"<bdi>{title}</bdi>" in browser.get(page).text, page
