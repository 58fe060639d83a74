"""The desk: an organizer who never saw a terminal runs a contest to its final result."""

import pytest

from web.browser import Browser
from web.markup import Markup

DESK = "/c/league/desk"
BOTS = "id,name\nada,Ada\nbob,Bob\n"
MATCHES = (
    "id,played_at,bot_a,bot_b,kind,winner\n"
    "m1,2026-01-01T00:00:00Z,ada,bob,rated,a\nm2,2026-01-02T00:00:00Z,ada,bob,rated,b\n"
)


def text(browser: Browser, address: str) -> str:
    """Return the text of a page whose HTML is valid."""
    page = Markup(browser.get(address).text)
    assert (page.errors, page.inline) == ([], [])
    return page.text


def upload(browser: Browser, table: str, content: str | bytes, *, do: str = "add") -> str:
    """Upload a file on the desk; return the text of the page that results."""
    response = browser.submit(
        DESK, f"{DESK}/records", {"table": table, "do": do}, {"file": (f"{table}.csv", content)}
    )
    assert response.status_code in {200, 422}
    page = Markup(response.text)
    assert page.errors == []
    return page.text


def create(browser: Browser) -> None:
    """Create and open a contest."""
    fields = {"id": "league", "title": "The league", "discipline": "arena", "edition": ""}
    assert browser.submit("/desk", "/desk", fields).headers["location"] == DESK
    assert browser.submit(DESK, f"{DESK}/open", {}).headers["location"] == DESK


def test_an_organizer_runs_a_contest_to_its_final_result(browser: Browser) -> None:
    """Create, upload with errors, correct, freeze, edit, finalize; no terminal, no script."""
    browser.sign_in("organiser")
    create(browser)
    assert "2 rows of bots would be added" in upload(browser, "bots", BOTS, do="check")
    assert "2 rows of bots were added" in upload(browser, "bots", BOTS)
    wrong = MATCHES.replace("rated,a", "rated,ann").replace("m2,2026", "m2,in 2026")
    shown = upload(browser, "matches", wrong)
    assert "Nothing was changed" in shown
    assert "matches, row 1, column winner: 'ann' is not one of the known values" in shown
    assert "matches, row 2, column played_at: 'in 2026-01-02T00:00:00Z'" in shown
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
               "starts_at": "2026-01-01T10:00", "ends_at": ""}  # fmt: skip
    assert browser.submit(DESK, f"{DESK}/details", details).status_code == 303
    assert 'value="2026-01-01T10:00"' in browser.get(DESK).text
    assert browser.submit(DESK, f"{DESK}/unfreeze", {"reason": "too early"}).status_code == 303
    assert browser.submit(DESK, f"{DESK}/finalize", {}).status_code == 303
    assert "corrections are possible as change sets only" in text(browser, DESK)
    public = Browser(browser.instance)
    assert "The new league" in text(public, "/c/league")
    assert "final" in text(public, "/c/league")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty; choose a CSV file"),
        ("id,name\nada,\xe4".encode("latin-1"), "the file is not UTF-8 text (byte 13)"),
        (b"id,name\nada,Ada,more\n", "row 1 has more values than the header has names (2)"),
        (b'id,name\nada,"Ada\n', "correct the quotes there"),
        (b"id,nome\nada,Ada\n", "column name"),
        (b"PK\x03\x04" + bytes(200), "it is a workbook or a ZIP archive"),
        (b"id,name\n" + b"x" * (5 << 20), "a line is longer than 4 MiB"),
        (b"id;name\nada;Ada\n", "1 rows of bots would be added"),
        (",".join(f"c{n}" for n in range(300)).encode() + b"\n" + b"," * 299 + b"\n", "c"),
        (",".join(f"c{n}" for n in range(1001)).encode() + b"\nx\n", "the header has 1,001 names"),
        (b"id,name\n=cmd(),+1\n", "1 rows of bots would be added"),
    ],
)
def test_a_wrong_file_is_explained_and_nothing_is_stored(
    browser: Browser, content: bytes, message: str
) -> None:
    """Spreadsheets write all of these."""
    browser.sign_in("organiser")
    create(browser)
    before = browser.instance.get("/contests/league", "organiser").json()["seq"]
    assert message in upload(browser, "bots", content, do="check")
    assert browser.instance.get("/contests/league", "organiser").json()["seq"] == before


def test_a_stored_record_is_shown_by_its_id(browser: Browser) -> None:
    """What a finding or a change set names must be readable."""
    browser.sign_in("organiser")
    create(browser)
    upload(browser, "bots", 'id,name\na/1,"Ada\'s, first"\nbob,Bob\n')
    assert "Ada's, first" in text(browser, f"{DESK}/records?table=bots&record=a%2F1")
    assert "Bob" in text(browser, f"{DESK}/records?table=bots")
    assert "has no record" in text(browser, f"{DESK}/records?table=bots&record=eve")
    assert browser.get(f"{DESK}/records?table=cats").status_code == 404


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


def test_a_file_is_read_from_those_only_who_may_add_records(browser: Browser) -> None:
    """A large file would cost memory before it is rejected."""
    browser.instance.contest("league")
    broken = {"content-type": "multipart/form-data"}
    assert browser.send(f"{DESK}/records", {}, **broken).status_code == 401
    browser.sign_in("participant")
    assert browser.send(f"{DESK}/records", {}, **broken).status_code == 403
    browser.sign_in("organiser")
    assert browser.send(f"{DESK}/records", {}, **broken).status_code == 400


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
