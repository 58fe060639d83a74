"""Change sets on the desk: the effect is shown before anything counts."""

import gzip

import pytest

from web.browser import Browser
from web.desk.league import BOTS, DESK, MATCHES, create, text, upload
from web.markup import Markup


@pytest.mark.exhaustive
def test_rules_are_changed_with_the_effect_in_view(browser: Browser) -> None:
    """Each wrong value has its message at its field; nothing counts before it is applied."""
    browser.sign_in("organiser")
    create(browser)
    upload(browser, "bots", BOTS)
    upload(browser, "matches", MATCHES.replace("rated,b", "rated,a"))
    page = f"{DESK}/rules"
    wrong = {"rule.k_new": "-1", "rule.round_changes": "perhaps", "reason": "too much"}
    response = browser.submit(page, page, wrong)
    shown = Markup(response.text)
    assert (response.status_code, shown.errors) == (422, [])
    assert response.text.count('class="wrong"') == 2
    assert 'value="-1"' in response.text
    assert "too much</textarea>" in response.text
    proposed = browser.submit(page, page, {"rule.k_new": "16", "reason": "too much"})
    change = proposed.headers["location"]
    assert "2 of 2 move, at most by 0 ranks" in text(browser, change)
    assert browser.instance.get("/contests/league").json()["overrides"] == {}
    upload(browser, "bots", "id,name\nzoe,Zoe\n")
    assert "the ledger has grown by 1 since" in text(browser, change)
    assert browser.submit(change, f"{change}/apply", {}).status_code == 422
    assert browser.submit(change, f"{change}/preview", {}).status_code == 303
    assert "the ledger has grown" not in text(browser, change)
    assert browser.submit(change, f"{change}/apply", {}).status_code == 303
    assert "against arena/sentience-1: 1 of" in text(browser, page)
    assert browser.instance.get("/contests/league").json()["overrides"] == {"k_new": 16}


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"kind": "people", "people": "eve"}, "no record about 'eve' counts"),
        ({"kind": "records", "records": "users/eve"}, "there is no record 'users/eve'"),
        ({"kind": "adjustment", "board": "user-score", "id": "u1", "points": "many"}, "a number"),
        ({"kind": "people", "people": ""}, "a void needs at least one record or id"),
        ({"kind": "cat"}, "there is no form for a change of 'cat'"),
    ],
)  # fmt: skip
def test_a_change_without_effect_is_not_proposed(
    browser: Browser, fields: dict[str, str], message: str
) -> None:
    """The form keeps what was typed, and no proposal is left behind."""
    browser.sign_in("organiser")
    page = f"/c/{browser.instance.contest()}/desk/changes"
    response = browser.submit(page, page, {**fields, "reason": "the reason & more"})
    shown = Markup(response.text)
    assert (response.status_code, shown.errors) == (422, [])
    assert message in shown.text
    if fields["kind"] != "cat":
        assert "the reason &amp; more</textarea>" in response.text
    changes = browser.instance.get("/contests/spring/change-sets", "organiser").json()["items"]
    assert {change["state"] for change in changes} <= {"cancelled"}


@pytest.mark.exhaustive
def test_ids_of_a_change_come_from_a_file(browser: Browser) -> None:
    """A list of a hundred records is a file, not typed."""
    browser.sign_in("organiser")
    page = f"/c/{browser.instance.contest()}/desk/changes"
    fields = {"kind": "records", "records": "users/u0", "reason": "r"}
    files = {"file": ("ids.csv", "record,why\nusers/u1,x\nusers/u2,y\n")}
    change = browser.submit(page, page, fields, files).headers["location"]
    assert "users/u0, users/u1, users/u2" in text(browser, change)
    assert browser.submit(change, f"{change}/cancel", {}).status_code == 303
    assert "cancelled" in text(browser, change)


@pytest.mark.exhaustive
def test_misspelled_ids_are_named_and_nothing_is_proposed(browser: Browser) -> None:
    """A typing error next to the right id would leave one of two cheaters on the board."""
    browser.sign_in("organiser")
    page = f"/c/{browser.instance.contest()}/desk/changes"
    for kind, ids, message in (
        ("people", "u0\nuO\neve", "no record about 'uO', 'eve' counts; correct the ids"),
        ("records", "users/u0\nusers/uO\neve", "there is no record 'users/uO', 'eve'"),
        ("records", "users/u0\n1\n999", "there is no record '1', '999'"),
    ):
        wrong = browser.submit(page, page, {"kind": kind, kind: ids, "reason": "r"})
        assert (wrong.status_code, message in Markup(wrong.text).text) == (422, True), ids
        assert f"\n{ids}</textarea>" in wrong.text
    changes = browser.instance.get("/contests/spring/change-sets", "organiser").json()["items"]
    assert {change["state"] for change in changes} <= {"cancelled"}


@pytest.mark.exhaustive
def test_a_value_is_corrected_with_the_effect_in_view_and_undone(browser: Browser) -> None:
    """A wrong winner of a final contest: seen before it counts, marked, taken back."""
    browser.sign_in("organiser")
    create(browser)
    upload(browser, "bots", BOTS)
    upload(browser, "matches", MATCHES.replace("rated,b", "rated,a"))
    browser.submit(DESK, f"{DESK}/finalize", {"name": "league"})
    page = f"{DESK}/changes"
    fields = {"kind": "correction", "table": "matches", "reason": "the log says so"}
    for rows, message in (
        ("id,winner\nm1,ann\n", "column winner: 'ann' is not one of the known values"),
        ("id,winner\nm9,b\n", "there is no record 'matches/m9'"),
        ("winner\nb\n", "column id: is missing"),
        ("id,winner\nm1,a\n", "there is nothing to change"),
        ("", "the file is empty"),
    ):
        wrong = browser.submit(page, page, {**fields, "rows": rows})
        assert (wrong.status_code, message in Markup(wrong.text).text) == (422, True), rows
    proposed = browser.submit(page, page, {**fields, "rows": "id,winner\nm1,b\nm2,b\n"})
    change = proposed.headers["location"]
    assert "2 of 2 move, at most by 1 rank" in text(browser, change)
    board = browser.get("/c/league").text
    assert board.index("people/ada") < board.index("people/bob")
    assert browser.submit(change, f"{change}/apply", {}).status_code == 303
    board = Browser(browser.instance).get("/c/league").text
    assert board.index("people/bob") < board.index("people/ada")
    assert "Amended" in board
    assert "the log says so" in board
    before = browser.get("/c/league/boards/bots?as_of=7").text
    assert "This result was amended" in before
    assert 'href="/c/league/boards/bots?as_of=9"' in before
    assert before.index("people/ada") < before.index("people/bob")
    record = text(browser, f"{DESK}/records?table=matches&record=m1")
    assert "replaces an earlier one" in record
    assert browser.submit(change, f"{change}/rollback", {"reason": "no"}).status_code == 303
    assert "This result was amended" not in browser.get("/c/league/boards/bots?as_of=7").text
    assert "Amended" not in browser.get("/c/league").text


ODD_CORRECTIONS = (
    ("m.csv", b"\xef\xbb\xbfID;Winner;;\nm1;B ;;\n\n;;;\n"),
    ("m.csv", b"Id\tWinner\nm1\tb\n"),
    ("m.csv.gz", gzip.compress(b"sep=;\nid;winner\nm1;bob\n")),
    ("m.ndjson", b'{"ID": "m1", "winner": "b"}\n'),
)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("name", "content"), ODD_CORRECTIONS, ids=["separators", "tabs", "packed", "ndjson"]
)
def test_files_of_changes_are_read_as_those_of_records(
    browser: Browser, name: str, content: bytes
) -> None:
    """One contest had two readers: what records may look like, a correction could not."""
    browser.sign_in("organiser")
    create(browser)
    upload(browser, "bots", BOTS)
    upload(browser, "matches", MATCHES.replace("rated,b", "rated,a"))
    page = f"{DESK}/changes"
    fields = {"kind": "correction", "table": "matches", "reason": "the log says so"}

    def send(fields: dict[str, str], name: str, content: bytes) -> str:
        response = browser.submit(page, page, fields, {"file": (name, content)})
        if response.status_code == 422:
            return Markup(response.text).text
        return text(browser, response.headers["location"])

    assert "m1" in send(fields, name, content)
    changes = browser.instance.get("/contests/league/change-sets", "organiser").json()["items"]
    assert changes[0]["params"]["rows"][0]["winner"] == "b"
    said = send(fields, "m.csv", b"id,winner,remark\nm1,b,x\n")
    assert "matches: not used: remark; correct the names" in said
    said = send(fields, "m.csv", b"id,k\n,1\nm1,1,2,3\nm2,b\n")
    assert "line 2 (row 1), column id: is empty" in said
    assert "line 3" in said


@pytest.mark.exhaustive
def test_a_list_of_ids_is_read_below_a_name(browser: Browser) -> None:
    """The first record of a list without a header was taken for its name, and stayed."""
    browser.sign_in("organiser")
    page = f"/c/{browser.instance.contest()}/desk/changes"
    fields = {"kind": "records", "records": "", "reason": "spam"}
    files = {"file": ("ids.csv", b"users/u1\nusers/u2\n")}
    wrong = browser.submit(page, page, fields, files)
    assert (wrong.status_code, "is a record and no name" in wrong.text) == (422, True)
    files = {"file": ("ids.csv", b"Record ID;why\n;none\nusers/u2;y\n")}
    wrong = browser.submit(page, page, fields, files)
    assert "line 2 (row 1), column Record ID: is empty" in Markup(wrong.text).text
    files = {"file": ("ids.csv", b"Record ID;why\nusers/u1;x\nusers/u2;y\n")}
    change = browser.submit(page, page, fields, files).headers["location"]
    assert "users/u1, users/u2" in text(browser, change)
