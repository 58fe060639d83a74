"""The desk: an organizer who never saw a terminal runs a contest to its final result."""

import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from agon.app.access.tokens import public_id
from agon.app.queue.leases import claim, fail
from agon.web.addresses import desks
from agon.web.desk import layout
from web.browser import Browser
from web.desk.league import BOTS, DESK, MATCHES, create, text, upload
from web.markup import Markup


@pytest.mark.exhaustive
def test_an_organizer_runs_a_contest_to_its_final_result(browser: Browser) -> None:
    """Create, upload with errors, correct, freeze, edit, finalize; no terminal, no script."""
    browser.sign_in("organiser")
    create(browser)
    assert "2 rows of bots would be added" in upload(browser, "bots", BOTS, do="check")
    assert "2 rows of bots were added" in upload(browser, "bots", BOTS)
    wrong = MATCHES.replace("rated,a", "rated,ann").replace("m2,2026", "m2,in 2026")
    shown = upload(browser, "matches", wrong)
    assert "Nothing was changed" in shown
    assert (
        "matches.csv, line 2 (row 1), column winner: 'ann' is not one of the known values" in shown
    )
    assert "matches.csv, line 3 (row 2), column played_at: 'in 2026-01-02T00:00:00Z'" in shown
    assert "'zoe'" in upload(
        browser, "matches", MATCHES.replace("ada,bob,rated,b", "ada,zoe,rated,b")
    )
    assert "2 rows of matches were added" in upload(browser, "matches", MATCHES)
    assert "0 rows of matches were added; 2 are stored already" in upload(
        browser, "matches", MATCHES
    )
    assert "Ada" in text(browser, "/c/league") or "ada" in text(browser, "/c/league")
    assert browser.submit(DESK, f"{DESK}/freeze", {}).status_code == 303
    assert "Unfreeze" in text(browser, DESK)
    details = {"title": "The new league", "description": "d", "visibility": "public",
               "starts_at": "2026-01-01T12:00", "zone": "+02:00", "ends_at": ""}  # fmt: skip
    assert browser.submit(DESK, f"{DESK}/details", details).status_code == 303
    assert 'value="2026-01-01T10:00"' in browser.get(DESK).text
    assert browser.submit(DESK, f"{DESK}/unfreeze", {"reason": "too early"}).status_code == 303
    assert browser.submit(DESK, f"{DESK}/finalize", {"name": "league"}).status_code == 303
    assert "corrections are possible as change sets only" in text(browser, DESK)
    public = Browser(browser.instance)
    assert "The new league" in text(public, "/c/league")
    assert "final" in text(public, "/c/league")


@pytest.mark.exhaustive
def test_the_form_keeps_what_was_typed_when_a_contest_cannot_be_created(browser: Browser) -> None:
    """A wrong name must not cost the description."""
    browser.sign_in("organiser")
    fields = {"id": "A b", "title": "T", "discipline": "arena", "description": "long <text>"}
    response = browser.submit("/desk", "/desk", fields)
    page = Markup(response.text)
    assert (response.status_code, page.errors) == (422, [])
    assert "long <text>" in page.text
    assert 'aria-describedby="id-help id-error" aria-invalid="true"' in response.text
    create(browser)
    fields["id"] = "league"
    assert "exists" in Markup(browser.submit("/desk", "/desk", fields).text).text


@pytest.mark.sample(1)
@pytest.mark.parametrize("role", [None, "participant", "judge", "viewer"])
def test_others_have_no_desk(browser: Browser, role: str | None) -> None:
    """The desk is for organizers."""
    Browser(browser.instance).sign_in("organiser")
    browser.instance.contest("league")
    if role:
        browser.sign_in(role)
    status = 403 if role else 401
    assert [browser.get(address).status_code for address in ("/desk", DESK)] == [status, status]
    fields = {"form_token": browser.form_token("/account")} if role else {}
    assert browser.send(f"{DESK}/freeze", fields).status_code == status


@pytest.mark.exhaustive
def test_saving_a_title_leaves_the_times_as_they_are(browser: Browser) -> None:
    """The field of a form has minutes only."""
    browser.sign_in("organiser")
    create(browser)
    body = {"starts_at": "2026-01-01T10:00:30.5Z"}
    browser.instance.client.patch(
        "/api/v1/contests/league", json=body, headers=browser.instance.as_("organiser")
    )
    fields = {"title": "Another", "description": "", "visibility": "public",
              "starts_at": "2026-01-01T10:00", "ends_at": ""}  # fmt: skip
    assert browser.submit(DESK, f"{DESK}/details", fields).status_code == 303
    contest = browser.instance.get("/contests/league", "organiser").json()
    assert (contest["title"], contest["starts_at"]) == ("Another", "2026-01-01T10:00:30.500000Z")


USERS = (
    "id,handle,affiliation\nada,ada_lovelace_1815,org\neve,ada_love1ace_1815,org\n"
    "bob,robert_the_builder,\nzoe,zoe_from_the_north,org\n"
)
SPRING = "/c/spring/desk"


def field(page: str, begin: str) -> str:
    """Return the rest of the first link of a page that begins with a text."""
    return begin + page.partition(f'href="{begin}')[2].partition('"')[0]


def require_listed_entries(browser: Browser, address: str, *, count: int) -> None:
    """Require that the links of a page to entries of the ledger lead to those."""
    pattern = re.compile(r"/c/spring/ledger\?as_of=(\d+)#(entry-\1)")
    found = [entry for link in Markup(browser.get(address).text).links
             if (entry := pattern.fullmatch(link))]  # fmt: skip
    assert len(found) == count, address
    for entry in found:
        page = Markup(browser.get(entry.string.partition("#")[0]).text)
        assert (page.errors, entry[2] in page.ids) == ([], True), entry.string
        assert "An entry that organizers read" not in page.text
        assert f"The decisions up to position {entry[1]}" in page.text


@pytest.mark.exhaustive
def test_an_organizer_voids_a_cheater_and_undoes_it(browser: Browser) -> None:
    """Finding, case, change set with its effect, decision, appeal, undo, final result."""
    browser.sign_in("organiser")
    fields = {"id": "spring", "title": "Spring", "discipline": "community"}
    browser.submit("/desk", "/desk", fields)
    browser.submit(SPRING, f"{SPRING}/open", {})
    browser.submit(SPRING, f"{SPRING}/records", {"table": "users", "do": "add"},
                   {"file": ("users.csv", USERS)})  # fmt: skip
    assert browser.submit(SPRING, f"{SPRING}/findings", {}).status_code == 303
    shown = browser.get(f"{SPRING}/findings").text
    finding = field(shown, f"{SPRING}/findings/")
    assert "near duplicate handle" in Markup(shown).text
    evidence = text(browser, finding)
    assert "ada_love1ace_1815" in evidence  # the record, not only its id
    require_listed_entries(browser, finding, count=2)
    opened = browser.submit(finding, finding, {"text": "Both submit at the same minute."})
    case = opened.headers["location"]
    assert "ada_love1ace_1815" in text(browser, case)
    assert "A case about it is open" in text(browser, finding)

    fields = {"kind": "people", "people": "eve\n", "reason": "eve is another account of ada"}
    proposed = browser.submit(f"{SPRING}/changes", f"{SPRING}/changes", fields)
    change = proposed.headers["location"]
    effect = text(browser, change)
    assert "1 leave the board" in effect or "Leave the board" in effect
    assert "eve" in text(browser, "/c/spring")  # nothing counts yet
    assert browser.submit(change, f"{change}/apply", {}).status_code == 303
    assert "people/eve?" not in browser.get("/c/spring").text

    wrong = browser.submit(case, f"{case}/decision", {"decision": "", "reason": "seen"})
    assert (wrong.status_code, "Fill in this field." in wrong.text) == (422, True)
    assert "seen</textarea>" in wrong.text
    decision = {
        "decision": "records voided",
        "reason": "the log",
        "change": change.rpartition("/")[2],
    }
    assert browser.submit(case, f"{case}/decision", decision).status_code == 303
    assert (
        browser.submit(case, f"{case}/appeal", {"appeal_text": "I am not ada."}).status_code == 303
    )
    assert "Decide on the appeal" in text(browser, case)
    granted = {"decision": "appeal granted", "reason": "two people", "change": ""}
    assert browser.submit(case, f"{case}/decision", granted).status_code == 303
    assert browser.submit(change, f"{change}/rollback", {"reason": ""}).status_code == 422
    assert browser.submit(change, f"{change}/rollback", {"reason": "granted"}).status_code == 303
    assert "people/eve?" in browser.get("/c/spring").text
    assert browser.submit(case, f"{case}/close", {"close_text": "done"}).status_code == 303
    require_listed_entries(browser, case, count=4)  # two decisions, two records
    require_listed_entries(browser, change, count=3)
    steps = text(browser, case)
    assert all(word in steps for word in ("Opened", "Decision: appeal granted", "Appeal", "Closed"))
    assert browser.submit(SPRING, f"{SPRING}/finalize", {"name": "spring"}).status_code == 303
    assert "The contest is final" in text(browser, SPRING)


@pytest.mark.exhaustive
def test_an_operator_pauses_the_queue_reads_a_failed_job_and_revokes_a_token(
    browser: Browser,
) -> None:
    """The operator's day without a terminal; each step is in the audit log."""
    instance = browser.instance
    service = instance.service
    contest = instance.contest()
    browser.sign_in("operator")
    assert "No worker was seen" in text(browser, "/desk/queue")
    browser.submit("/desk/queue", "/desk/queue", {"do": "pause"})
    assert instance.get("/queue", "operator").json()["paused"]
    assert "paused" in text(browser, "/desk/queue")
    browser.submit("/desk/queue", "/desk/queue", {"do": "resume"})
    assert not instance.get("/queue", "operator").json()["paused"]
    queued = instance.post(f"/contests/{contest}/findings", "organiser").json()["id"]
    claimed = claim(service, ["find"], worker="w", contests=None)
    assert claimed is not None
    fail(service, queued, lease=str(claimed.lease), cause="the disk is full", retry=False)
    failed = f"/desk/queue/{queued}"
    assert failed in browser.get("/desk/queue?state=failed").text
    assert "the disk is full" in text(browser, failed)
    assert "the disk is full" in text(browser, f"/c/{contest}/desk/jobs/{queued}")
    assert browser.submit(failed, f"{failed}/retry", {}).headers["location"] == failed
    assert "0 before it" in text(browser, failed)
    fields = {"user": "ada", "role": "participant", "days": "1"}
    asked = browser.submit("/desk/tokens", "/desk/tokens", fields)
    assert (asked.status_code, "Name the contests, or confirm" in asked.text) == (422, True)
    fields["everywhere"] = "yes"
    page = browser.submit("/desk/tokens", "/desk/tokens", fields)
    secret = page.text.partition('class="secret">')[2].partition("<")[0]
    headers = {"authorization": f"Bearer {secret}"}
    assert instance.client.get("/api/v1/me", headers=headers).json()["user"] == "ada"
    name = public_id(secret)
    assert secret not in browser.get("/desk/tokens").text
    browser.submit("/desk/tokens", f"/desk/tokens/{name}/revoke", {})
    assert instance.client.get("/api/v1/me", headers=headers).status_code == 401
    wrong = browser.submit("/desk/tokens", "/desk/tokens", {**fields, "user": "A B"})
    assert 'id="user-error"' in wrong.text
    fields = {"id": "nora", "name": "Nora", "password": "correct horse battery"}
    assert browser.submit("/desk/users", "/desk/users", fields).status_code == 303
    browser.submit("/desk/users", "/desk/users/nora/disable", {})
    assert "disabled" in text(browser, "/desk/users")
    log = text(browser, "/desk/audit")
    actions = ("queue.pause", "queue.resume", "job.retry", "token.revoke", "user.disable")
    assert all(action in log for action in actions)


@pytest.mark.exhaustive
def test_an_organizer_invites_a_judge(browser: Browser) -> None:
    """The code is shown once; the invitation can be revoked."""
    page = f"/c/{browser.instance.contest()}/desk/people"
    browser.sign_in("organiser")
    wrong = browser.submit(page, page, {"role": "judge", "max_uses": "0", "note": "for Ada"})
    assert (wrong.status_code, 'id="max_uses-error"' in wrong.text) == (422, True)
    assert 'value="for Ada"' in wrong.text
    shown = browser.submit(page, page, {"role": "judge", "max_uses": "2", "note": "for Ada"}).text
    code = shown.partition('class="secret">')[2].partition("<")[0]
    assert code.startswith("invite_")
    assert code not in browser.get(page).text
    [invitation] = browser.instance.get("/contests/spring/invitations", "organiser").json()["items"]
    assert browser.submit(page, f"{page}/{invitation['id']}/revoke", {}).status_code == 303
    assert "revoked" in text(browser, page)


@pytest.mark.exhaustive
def test_a_form_that_is_sent_twice_does_its_work_once(browser: Browser) -> None:
    """A double click opens one case; the next case of the same words is another one."""
    browser.sign_in("organiser")
    page = f"/c/{browser.instance.contest()}/desk/cases"
    fields = {"title": "T", "text": "why", "once": "a"}
    with ThreadPoolExecutor(2) as threads:
        token = browser.form_token(page)
        sent = [
            threads.submit(browser.send, page, {**fields, "form_token": token}) for _ in range(2)
        ]
        [address] = {each.result().headers["location"] for each in sent}
    assert browser.submit(page, page, {**fields, "once": "b"}).headers["location"] != address
    wrong = browser.submit(page, page, {**fields, "title": "", "once": "c"})
    assert wrong.status_code == 422
    assert browser.submit(page, page, {**fields, "title": "U", "once": "c"}).status_code == 303
    cases = browser.instance.get("/contests/spring/cases", "organiser").json()["items"]
    assert [case["title"] for case in cases] == ["T", "T", "U"]
    people = "/c/spring/desk/people"
    invitation = {"role": "judge", "max_uses": "1", "once": "d"}
    assert browser.submit(people, people, invitation).status_code == 200
    again = browser.submit(people, people, invitation)
    assert (again.status_code, "not shown again" in again.text) == (409, True)
    stored = browser.instance.get("/contests/spring/invitations", "organiser").json()["items"]
    assert len(stored) == 1


def test_a_session_that_has_ended_costs_nothing_that_was_typed(browser: Browser) -> None:
    """A long reason is typed for an hour; the page has it until the visitor is signed in again."""
    browser.sign_in("organiser")
    page = f"/c/{browser.instance.contest()}/desk/cases"
    token, origin = browser.form_token(page), "http://testserver"
    fields = {"title": "T", "text": "line 1\n</textarea>line 2", "form_token": token}
    browser.send("/sign-out", {"form_token": token})
    ended = browser.send(page, fields, origin=origin)
    shown = Markup(ended.text)
    assert (ended.status_code, shown.errors, token in ended.text) == (401, [], False)
    assert "line 1\n</textarea>line 2" in shown.text
    browser.sign_in("organiser")
    stale = browser.send(page, fields, origin=origin)
    assert (stale.status_code, "line 1" in stale.text) == (403, True)
    fields["form_token"] = stale.text.partition('name="form_token" value="')[2].partition('"')[0]
    assert browser.send(page, fields, origin=origin).status_code == 303
    [case] = browser.instance.get("/contests/spring/cases", "organiser").json()["items"]
    assert case["steps"][0]["text"] == "line 1\n</textarea>line 2"
    secret = {"id": "nora", "password": "correct horse battery", "form_token": "x"}
    assert "horse" not in browser.send("/desk/users", secret, origin=origin).text
    files = {"file": ("a.csv", "id\n1\n")}
    upload = browser.send("/c/spring/desk/records", {"table": "users"}, files, origin=origin)
    assert (upload.status_code, "choose the file again" in upload.text) == (403, True)


def test_long_lists_have_pages(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    """All rows can be reached, the newest first, with the filter of the list."""
    monkeypatch.setattr(layout, "SHOWN", 3)
    browser.sign_in("operator")
    for number in range(7):
        browser.submit(desks("users"), desks("users"), {"id": f"user{number}"})
    seen: list[str] = []
    address: str | None = desks("users")
    while address is not None:
        page = browser.get(address).text
        seen += re.findall(r'<th scope="row">(user\d)</th>', page)
        following = re.search(r'rel="next" href="(\?page=\d+)"', page)
        address = None if following is None else f"{desks('users')}{following[1]}"
    assert seen == [f"user{number}" for number in range(7)]
    assert 'rel="prev" href="?page=2"' in browser.get(f"{desks('users')}?page=3").text
    assert browser.get(f"{desks('users')}?page=0").status_code == 422
    audit = browser.get(desks("audit")).text
    assert "user6" in audit
    assert "user1" not in audit
