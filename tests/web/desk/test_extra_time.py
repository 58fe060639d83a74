"""One person with extra time submits to a problem that froze for the others; nothing leaks."""

from datetime import datetime, timedelta
from html import unescape
from typing import Any

import orjson
import pytest

from agon.app.access.tokens import Grant, create_token
from agon.app.access.users import create_user
from agon.app.contests.lifecycle.details import edit
from agon.app.worker.submissions import store_judge
from agon.kernel.times import written_time
from fakes.autumn import CUBES, RIGHT, autumn, judged, publish
from fakes.service import OPERATOR, ORGANISER
from web.browser import Browser
from web.desk.league import text

PEOPLE = "/c/autumn/desk/people"
EXTEND = f"{PEOPLE}/members/extend"
REFUSED = "import os\n"
"""A program whose verdict needs no run."""


class Frozen:
    """A contest with a problem that froze an hour ago, and two participants."""

    def __init__(self, desk: Browser) -> None:
        self.desk = desk
        self.instance = desk.instance
        self.service = desk.instance.service
        self.open = autumn(self.service)
        self.freeze = self.now + timedelta(hours=1)
        self.problem = publish(self.service, CUBES, freeze_started_at=written_time(self.freeze))
        create_user(self.service, user="bob", by=OPERATOR)
        bob = create_token(self.service, Grant(user="bob", role="participant"), by=OPERATOR)[1]
        self.tokens = {"ada": self.instance.tokens["participant"], "bob": bob}
        for user in self.tokens:
            assert self.send(user, problem=self.open).status_code == 202
        self.early = self.send("bob").json()["id"]
        self.pass_time(hours=2)

    @property
    def now(self) -> datetime:
        """Return the service's time."""
        return self.service.clock()

    def pass_time(self, **duration: int) -> None:
        """Let time pass."""
        self.service.clock.at += timedelta(**duration)  # type: ignore[attr-defined]

    def extend(self, **changed: str) -> Any:
        """Send the desk's form that gives ada one more hour."""
        until = self.now + timedelta(hours=1)
        fields = {"member": "ada", "reason": "power cut", "zone": "UTC", "problem": self.problem,
                  "ends_at": f"{until:%Y-%m-%dT%H:%M}"}  # fmt: skip
        return self.desk.submit(PEOPLE, EXTEND, fields | changed)

    def send(self, user: str, source: str = RIGHT, problem: str | None = None) -> Any:
        """Submit a program to the frozen problem, or to another, as a user."""
        return self.instance.client.post(
            "/api/v1/contests/autumn/submissions",
            headers={"authorization": f"Bearer {self.tokens[user]}"},
            json={"problem": problem or self.problem, "content": {"source": source}},
        )

    def get(self, user: str, path: str) -> Any:
        """Return what the API gives a user."""
        headers = {"authorization": f"Bearer {self.tokens[user]}"}
        return self.instance.client.get(f"/api/v1/contests/autumn{path}", headers=headers).json()


@pytest.fixture
def frozen(browser: Browser) -> Frozen:
    """Return the contest, with its organizer at the desk."""
    contest = Frozen(browser)
    browser.sign_in("organiser")
    return contest


@pytest.mark.exhaustive
def test_the_problem_takes_programs_of_that_person_alone(frozen: Frozen) -> None:
    """The row states the extra time, so that scoring the records counts it as one in time."""
    assert frozen.send("ada").status_code == 409
    assert frozen.extend().status_code == 303
    assert "until" in text(frozen.desk, PEOPLE)
    sent = frozen.send("ada", REFUSED)
    assert sent.status_code == 202, sent.text
    assert frozen.send("bob").status_code == 409
    problems = {name: frozen.get(name, f"/problems/{frozen.problem}") for name in ("ada", "bob")}
    end = problems["ada"]["extended_until"]
    assert datetime.fromisoformat(end) > frozen.now
    assert problems["bob"]["extended_until"] is None
    assert [problems[name]["takes_submissions"] for name in ("ada", "bob")] == [True, False]
    with frozen.service.store.read() as session:
        job = session.queue.get(sent.json()["jobs"][0]["id"])
    assert job.payload["extended_until"] == end.replace("Z", ".000000Z")
    finish = store_judge(frozen.service, job, {})
    with frozen.service.store.write() as session:
        finish(session)  # type: ignore[operator]
    with frozen.service.store.read() as session:
        (stored,) = session.entries.existing(
            session.contests.get("autumn").no, records=[f"submissions/{sent.json()['id']}"]
        ).values()
    row = orjson.loads(stored.line)["body"]["row"]
    assert (row["verdict"], row["extended_until"]) == (
        "rejected_import", job.payload["extended_until"],
    )  # fmt: skip
    frozen.pass_time(hours=1)
    assert frozen.send("ada").status_code == 409


@pytest.mark.exhaustive
def test_nothing_is_disclosed_before_the_extra_time_ends(frozen: Frozen) -> None:
    """Neither how many terms of anybody's program are right, nor the answer."""
    assert frozen.extend().status_code == 303
    judged(frozen.service, frozen.early, frozen.problem, user_id="bob", verdict="wrong_answer",
           terms_matched=17, reason="17 of 200 terms")  # fmt: skip

    def matched() -> int | None:
        (row,) = frozen.get("bob", f"/submissions/{frozen.early}")["records"]
        return row["terms_matched"]  # type: ignore[no-any-return]

    reveal = f"/contests/autumn/problems/{frozen.problem}/reveal"
    refused = frozen.instance.post(reveal, "organiser")
    assert refused.status_code == 409
    assert "of somebody with extra time" in refused.json()["detail"]
    assert matched() is None
    frozen.pass_time(hours=1)
    assert matched() == 17
    assert frozen.instance.post(reveal, "organiser").status_code == 200


@pytest.mark.exhaustive
def test_withdrawn_people_hold_nothing_back(frozen: Frozen) -> None:
    """Nothing is accepted from them, so the answer may be shown."""
    assert frozen.extend().status_code == 303
    why = {"member": "ada", "reason": "asked to leave"}
    assert frozen.desk.submit(PEOPLE, f"{PEOPLE}/members/withdraw", why).status_code == 303
    reveal = f"/contests/autumn/problems/{frozen.problem}/reveal"
    assert frozen.instance.post(reveal, "organiser").status_code == 200


@pytest.mark.exhaustive
def test_extra_time_that_makes_no_sense_is_refused(frozen: Frozen) -> None:
    """One message each, and nothing is changed."""
    service = frozen.service
    edit(service, "autumn", {"ends_at": frozen.now + timedelta(hours=3)}, by=ORGANISER)
    before = f"{frozen.freeze - timedelta(hours=1):%Y-%m-%dT%H:%M}"
    after = f"{frozen.now + timedelta(hours=4):%Y-%m-%dT%H:%M}"
    for changed, message in (
        ({"ends_at": before}, "of ada is past; give a later one"),
        ({"ends_at": after}, "is after autumn ends for ada"),
        ({"ends_at": "", "attempts": "1"}, "no end is given for problem"),
        ({"zone": ""}, "has no zone"),
        ({"member": ""}, "No person is named"),
        ({"member": "eve"}, "takes no part in autumn"),
        ({"problem": "none"}, "autumn has no problem 'none'"),
        ({"problem": frozen.open}, "has no freeze; give ada a later end of the contest instead"),
        ({"problem": ""}, "is not after that of autumn"),
    ):
        refused = frozen.extend(**changed)
        assert refused.status_code == 422, changed
        assert message in unescape(refused.text), changed
    later = written_time(frozen.now + timedelta(hours=2))
    other = publish(service, f"{CUBES}# again\n", freeze_started_at=later)
    assert "is not after the freeze of problem" in unescape(frozen.extend(problem=other).text)


def test_the_pages_offer_the_form_to_whom_it_is_open(frozen: Frozen) -> None:
    """A frozen problem offers none; in extra time the page says until when and why."""
    page = f"/c/autumn/problems/{frozen.problem}"
    ada = Browser(frozen.instance)
    ada.sign_in("participant")
    assert "takes no programs since" in text(ada, page)
    assert frozen.problem not in ada.get("/c/autumn/submit").text
    assert frozen.extend().status_code == 303
    assert "For you it takes programs until" in text(ada, page)
    assert "power cut" in text(ada, page)
    assert frozen.problem in ada.get("/c/autumn/submit").text
