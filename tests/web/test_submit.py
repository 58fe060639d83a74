"""Participants submit programs and agents on one page."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from agon.app.contests.ingest.records import record
from agon.app.contests.lifecycle.creation import NewContest, create
from agon.app.contests.lifecycle.details import edit
from agon.app.contests.lifecycle.transitions import open_contest
from agon.app.dojo.grading import precheck
from agon.app.dojo.inspection import rules_in_force
from agon.app.sandbox import RunRequest
from agon.web.addresses import problem, rules, submit
from agon.web.pages.submit import example
from fakes.autumn import RIGHT, autumn
from fakes.instance import instance_at
from fakes.sandbox import FakeSandbox
from fakes.service import ORGANISER, service_at
from web.browser import Browser
from web.markup import Markup

PAGE = submit("autumn")


@pytest.fixture
def organizer(tmp_path: Path) -> Iterator[Browser]:
    """Return the browser of an organizer of a challenge with one task."""
    service = replace(service_at(tmp_path), tasks=lambda: ("sums",))
    browser = Browser(instance_at(tmp_path, service=service))
    create(service, NewContest(id="autumn", discipline="challenge", title="C"), by=ORGANISER)
    open_contest(service, "autumn", by=ORGANISER)
    record(service, "autumn", [("validators", {"id": "house", "stake": 1.0}, None)], by=ORGANISER)
    browser.sign_in("organiser")
    yield browser
    browser.instance.close()


@pytest.mark.exhaustive
def test_a_program_is_submitted_for_the_chosen_problem(browser: Browser) -> None:
    """The form keeps what was typed; its verdict is on the problem's page."""
    name = autumn(browser.instance.service)
    assert "Sign in</a> to submit" in browser.get(PAGE).text
    browser.sign_in()
    page = Markup(browser.get(f"{PAGE}?problem={name}").text)
    assert (page.errors, page.inline) == ([], [])
    assert f'value="{name}" selected' in browser.get(f"{PAGE}?problem={name}").text
    nothing = browser.submit(PAGE, PAGE, {"source": RIGHT})
    assert nothing.status_code == 422
    assert "problem: expected one of the open problems" in nothing.text
    wrong = browser.submit(PAGE, PAGE, {"problem": name, "source": "\n" * 300_000 + "def typed("})
    assert (wrong.status_code, "def typed(" in wrong.text) == (422, True)
    fields = {"problem": name, "source": RIGHT, "once": "a", "form_token": browser.form_token(PAGE)}
    for _ in range(2):  # a double click
        sent = browser.send(PAGE, fields)
        assert sent.headers["location"] == f"{problem('autumn', name)}#submissions"
    own = browser.instance.get("/contests/autumn/submissions", "participant").json()["items"]
    assert len(own) == 1
    assert "waiting" in browser.get(PAGE).text


@pytest.mark.parametrize("terms", [1, 20, 200])
def test_the_program_that_a_form_begins_with_is_right_in_form(terms: int) -> None:
    """Whoever sends it unchanged gets a verdict on its terms, not on its type."""
    request = RunRequest(source=example(terms).encode(), n_check=terms)
    assert precheck(request.source, rules=rules_in_force()).verdict is None
    run = FakeSandbox().run(request)
    assert (run.outcome, len(run.terms)) == ("ok", terms)


@pytest.mark.exhaustive
def test_pages_of_a_dojo_say_what_a_program_may_use(browser: Browser) -> None:
    """The rulebook, the problem and the form have the same list."""
    name = autumn(browser.instance.service)
    browser.sign_in()
    for address in (PAGE, problem("autumn", name), rules("autumn")):
        page = browser.get(address).text
        assert "What a program may use" in page
        assert "sympy, math, fractions, itertools, each with its submodules" in page
        assert f"{sys.version_info.major}.{sys.version_info.minor}" in page
        assert "liealgebras" in page
    form = browser.get(problem("autumn", name)).text
    assert "for _ in range(200)" in form
    assert "returns or yields" not in form + browser.get(PAGE).text


@pytest.mark.exhaustive
def test_an_agent_is_submitted_with_its_file(organizer: Browser) -> None:
    """Its trials are queued, one for each task of the server."""
    page = Markup(organizer.get(PAGE).text)
    assert (page.errors, page.inline) == ([], [])
    fields = {"command": "python3 /agent/main.py {instruction}", "miner_uid": "7"}
    for content, message in ((b"\xff", "is not UTF-8"), (b"x" * 1_048_577, "more than 1,048,576")):
        wrong = organizer.submit(PAGE, PAGE, fields, {"file": ("main.py", content)})
        assert (wrong.status_code, message in wrong.text) == (422, True)
        assert "python3 /agent/main.py" in wrong.text
    for uid in ("", "seven", "-1"):
        wrong = organizer.submit(PAGE, PAGE, {**fields, "miner_uid": uid})
        assert "expected a whole number" in wrong.text
    sent = organizer.submit(PAGE, PAGE, fields, {"file": ("main.py", b"print(1)\n")})
    assert (sent.status_code, sent.headers["location"]) == (303, f"{PAGE}#submissions")
    [entered] = organizer.instance.get("/contests/autumn/submissions", "organiser").json()["items"]
    assert entered["content"]["agent"] == {
        "command": fields["command"], "files": {"main.py": "print(1)\n"}
    }  # fmt: skip
    jobs = organizer.instance.get("/jobs?contest=autumn", "organiser").json()["items"]
    assert [job["kind"] for job in jobs].count("trial") == 1
    assert "miner 7" in organizer.get(PAGE).text


def test_a_contest_that_takes_no_submissions_has_no_such_page(browser: Browser) -> None:
    """It says what kind of contest it is."""
    contest = browser.instance.contest()
    response = browser.get(submit(contest))
    assert response.status_code == 404
    assert "takes no submissions" in response.text


def test_a_form_goes_when_the_contest_has_ended(browser: Browser) -> None:
    """Who wrote a program learned of the end by an error."""
    service = browser.instance.service
    name = autumn(service)
    browser.sign_in()
    edit(service, "autumn", {"ends_at": service.clock()}, by=ORGANISER)
    for page in (PAGE, problem("autumn", name)):
        shown = browser.get(page).text
        assert "Nothing can be submitted now: autumn ended at" in shown
        assert "<textarea" not in shown
    organizer = Browser(browser.instance)
    organizer.sign_in("organiser")
    assert "<textarea" in organizer.get(PAGE).text
