"""Organizers and operators in the browser: each a day at the desk, from sign-in to result."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from playwright.sync_api import FilePayload, Page

from agon.app.access.tokens import public_id
from agon.app.queue.leases import claim, fail
from fakes.instance import Instance, instance_at
from web.chromium.browsing import Chromium, Visitor
from web.chromium.serving import serve
from web.desk.league import BOTS, DESK, MATCHES

CASES = f"{DESK}/cases"


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    """Open an instance without contests."""
    opened = instance_at(tmp_path_factory.mktemp("desk"))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def origin(instance: Instance) -> Iterator[str]:
    """Serve the instance."""
    with serve(instance) as address:
        yield address


def sign_in(visitor: Visitor, instance: Instance, role: str, address: str) -> Page:
    """Sign in with a role's token and open a page."""
    page = visitor.open("/sign-in")
    page.fill("#token", instance.tokens[role])
    visitor.follow("main button")
    return visitor.open(address)


def upload(visitor: Visitor, table: str, content: str) -> str:
    """Upload a file on the page of records; return the text of the page that results."""
    page = visitor.page
    page.select_option("#table", table)
    file: FilePayload = {"name": "a.csv", "mimeType": "text/csv", "buffer": content.encode()}
    page.set_input_files("#file", file)
    visitor.follow("main button[value=add]")
    shown: str = page.inner_text("main")
    return shown


@pytest.mark.exhaustive
def test_an_organizer_runs_a_contest_from_files_to_the_final_result(
    instance: Instance, origin: str, chromium: Chromium
) -> None:
    """Without a terminal; a fault, a double click and an ended session cost nothing."""
    visitor = chromium.visitor(origin)
    page = sign_in(visitor, instance, "organiser", "/desk")
    page.fill("#id", "league")
    page.fill("#title", "The league")
    page.select_option("#discipline", "arena")
    visitor.follow("main button")
    visitor.follow("main button >> text=Open")
    visitor.follow("main .tabs >> text=People")
    page.select_option("#role", "judge")
    visitor.follow("main button >> text=Create an invitation")
    assert page.inner_text(".secret").startswith("invite_")
    join(chromium, origin, page.inner_text(".secret >> nth=1"))
    visitor.follow("main .tabs >> text=Records")
    assert "2 rows of bots were added" in upload(visitor, "bots", BOTS)
    shown = upload(visitor, "matches", MATCHES.replace("rated,a", "rated,ann"))
    assert "Nothing was changed" in shown
    assert "line 2 (row 1), column winner: 'ann'" in page.inner_text("#file-error")
    assert page.get_attribute("#file", "aria-invalid") == "true"
    assert "2 rows of matches were added" in upload(visitor, "matches", MATCHES)
    open_case_twice(visitor)
    open_case_without_session(visitor, instance)
    titles = instance.get("/contests/league/cases", "organiser").json()["items"]
    assert [case["title"] for case in titles] == ["Twice", "Late"]
    visitor.open(DESK)
    visitor.follow("main button >> text=Freeze")
    assert "frozen" in page.inner_text(".facts")
    void_and_undo(visitor)
    visitor.open(DESK)
    visitor.follow("main button >> text=Finalize")
    page.fill("#name", "league")
    visitor.follow("main button >> text=Finalize")
    assert "The result is final" in page.inner_text("main")
    visitor.open("/c/league")
    assert page.inner_text("#rows tr:first-child bdi") == "Bob"
    visitor.expect_refusals(422, 401, 403)
    visitor.close()


def join(chromium: Chromium, origin: str, link: str) -> None:
    """Accept an invitation by its link, in a browser of its own."""
    visitor = chromium.visitor(origin)
    page = visitor.open(link.removeprefix(origin))
    visitor.wait("document.getElementById('code').value.startsWith('invite_')")
    page.fill("#user", "newt")
    page.fill("#password", "correct horse battery")
    visitor.follow("main button >> text=Join")
    assert "Nothing is scored yet" in page.inner_text("main")
    visitor.close()


def void_and_undo(visitor: Visitor) -> None:
    """Void the records of a participant with the effect in view, and roll that back."""
    page = visitor.open(f"{DESK}/changes")
    page.click("summary >> text=Void the records of participants")
    page.fill("#people", "bob")
    page.fill("#reason-people", "bob is another account of ada")
    visitor.follow("main .fold[open] button")
    assert "bob (rank 1" in page.inner_text("main")
    visitor.follow("main button >> text=Apply")
    assert "applied" in page.inner_text(".facts >> nth=1")
    page.fill("#reason", "two people")
    visitor.follow("main button >> text=Undo")
    assert "rolled back" in page.inner_text(".facts >> nth=1")


def open_case_twice(visitor: Visitor) -> None:
    """Click twice on a button; the page of the one case that was opened is shown."""
    page = visitor.open(CASES)
    page.fill("#title", "Twice")
    page.fill("#text", "why")
    page.dblclick("main button >> text=Open")
    page.wait_for_url("**/desk/cases/*")


def open_case_without_session(visitor: Visitor, instance: Instance) -> None:
    """Send a form after the session has ended, sign in in another tab, and send it again."""
    page = visitor.open(CASES)
    page.fill("#title", "Late")
    page.fill("#text", "typed for an hour")
    clock = instance.service.clock
    clock.at += timedelta(hours=13)  # type: ignore[attr-defined]  # the clock of tests
    visitor.follow("main button >> text=Open")
    assert "typed for an hour" in page.inner_text("main")
    with visitor.context.expect_page() as popup:
        page.click("text=Sign in in another tab")
    other = popup.value
    other.fill("#token", instance.tokens["organiser"])
    with other.expect_navigation(wait_until="load"):
        other.click("main button")
    other.close()
    visitor.follow("main button")
    assert "typed for an hour" in page.inner_text("main")  # the form was of the session before
    visitor.follow("main button")
    page.wait_for_url("**/desk/cases/*")


@pytest.mark.exhaustive
def test_an_operator_pauses_the_queue_reads_a_failed_job_and_revokes_a_token(
    instance: Instance, origin: str, chromium: Chromium
) -> None:
    """The operator's day; each step is in the audit log."""
    contest = instance.contest("operated")
    queued = instance.post(f"/contests/{contest}/findings", "organiser").json()["id"]
    claimed = claim(instance.service, ["find"], worker="w", contests=None)
    assert claimed is not None
    fail(instance.service, queued, lease=str(claimed.lease), cause="the disk is full", retry=False)
    visitor = chromium.visitor(origin)
    page = sign_in(visitor, instance, "operator", "/desk/queue")
    visitor.follow("main button >> text=Pause")
    assert "paused" in page.inner_text(".facts")
    visitor.follow("main button >> text=Resume")
    assert "running" in page.inner_text(".facts")
    page.select_option("#state", "failed")
    visitor.follow("main .search button")
    visitor.follow("main th a")
    assert "the disk is full" in page.inner_text("main")
    visitor.open("/desk/tokens")
    page.click("summary >> text=Create a token")
    page.fill("#user", "ada")
    page.check("input[name=everywhere]")
    visitor.follow("main button >> text=Create")
    secret = page.inner_text(".secret")
    me = f"{origin}/api/v1/me"
    headers = {"authorization": f"Bearer {secret}"}
    assert visitor.context.request.get(me, headers=headers).ok
    visitor.follow(f"main button[aria-label*='{public_id(secret)}']")
    assert visitor.context.request.get(me, headers=headers).status == 401
    visitor.open("/desk/audit")
    log = page.inner_text("main")
    assert all(action in log for action in ("queue.pause", "queue.resume", "token.revoke"))
    visitor.close()
