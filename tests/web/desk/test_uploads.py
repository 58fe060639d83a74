"""Uploads on the desk: files that spreadsheets write, wrong ones and large ones."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes.instance import instance_at
from web.browser import Browser
from web.desk.league import BOTS, DESK, create, text, upload
from web.markup import Markup


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty; choose one with a header"),
        ("id,name\nada,\xe4".encode("latin-1"), "is not UTF-8; save the text as UTF-8"),
        (b"id,name\nada,Ada,more\n", "has 3 fields, the header has 2"),
        (b'id,name\nada,"Ada\n', "opens a quote and never closes it"),
        (b"id,nome\nada,Ada\n", "column name"),
        (b"PK\x03\x04" + bytes(200), "holds a zip archive or a workbook"),
        (b"id,name\n" + b"x" * (5 << 20), "has 1 fields, the header has 2"),
        (b"id;name\nada;Ada\n", "1 row of bots would be added"),
        (",".join(f"c{n}" for n in range(300)).encode() + b"\n" + b"," * 299 + b"\n", "c"),
        (",".join(f"c{n}" for n in range(1001)).encode() + b"\nx\n", "column id, name: is missing"),
        (b"id,name\n=cmd(),+1\n", "1 row of bots would be added"),
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


@pytest.mark.exhaustive
def test_a_stored_record_is_shown_by_its_id(browser: Browser) -> None:
    """What a finding or a change set names must be readable."""
    browser.sign_in("organiser")
    create(browser)
    upload(browser, "bots", 'id,name\na/1,"Ada\'s, first"\nbob,Bob\n')
    assert "Ada's, first" in text(browser, f"{DESK}/records?table=bots&record=a%2F1")
    assert "Bob" in text(browser, f"{DESK}/records?table=bots")
    assert "has no record" in text(browser, f"{DESK}/records?table=bots&record=eve")
    assert browser.get(f"{DESK}/records?table=cats").status_code == 404


def test_a_file_is_read_from_those_only_who_may_add_records(browser: Browser) -> None:
    """A large file would cost memory before it is rejected."""
    browser.instance.contest("league")
    broken = {"content-type": "multipart/form-data"}
    assert browser.send(f"{DESK}/records", {}, **broken).status_code == 401
    browser.sign_in("participant")
    assert browser.send(f"{DESK}/records", {}, **broken).status_code == 403
    browser.sign_in("organiser")
    assert browser.send(f"{DESK}/records", {}, **broken).status_code == 400


def test_a_file_that_is_too_large_is_rejected_before_it_is_read(tmp_path: Path) -> None:
    """A gigabyte would fill the disk of the server; the page says how large it may be."""
    instance = instance_at(tmp_path, max_body_mib=1)
    browser = Browser(instance)
    browser.sign_in("organiser")
    create(browser)
    headers = {"cookie": browser.cookie, "accept": "text/html",
               "content-type": "multipart/form-data; boundary=x"}  # fmt: skip
    declared = {**headers, "content-length": str(1 << 30)}
    response = instance.client.post(f"{DESK}/records", content=b"", headers=declared)
    assert (response.status_code, "larger than 1 MiB" in response.text) == (413, True)
    assert Markup(response.text).errors == []

    def endless() -> Iterator[bytes]:
        yield b'--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n'
        for _ in range(40):
            yield b"0123456789" * 6_554

    response = instance.client.post(f"{DESK}/records", content=endless(), headers=headers)
    assert (response.status_code, "larger than 1 MiB" in response.text) == (413, True)
    instance.close()


@pytest.mark.exhaustive
def test_a_file_is_shown_as_it_was_read_before_it_is_added(browser: Browser) -> None:
    """A column that was read as another one, or not at all, is seen before it is stored."""
    browser.sign_in("organiser")
    create(browser)
    page = upload(
        browser, "bots", "ID;Name;qualifiedAt;colour\n1.0;Ada;2026-01-01;red\n", do="check"
    )
    for part in (
        "read ID as id",
        "ID: read 10.0 as 10",
        "not used: colour",
        "owner_idnot in the file",
        "qualifiedAttimestamp",
        "2026-01-01T00:00:00Z",
        "1 row of bots would be added; 0 are stored already.",
        "Add these 1",
    ):
        assert part in page
    page = upload(browser, "bots", "id,name,qualifid_at\n1,Ada,\n,Bob,\n2,,x\n", do="add")
    assert "did you mean qualified_at? rename it, or leave it out (the field Not read)" in page
    assert "line 3 (row 2), column id: is empty" in page
    assert "line 4 (row 3), column name: is empty" in page
    assert "Nothing was changed" in page
    fields = {"table": "bots", "do": "add", "ignore": "qualifid_at", "mapping": ""}
    file = {"file": ("bots.csv", "id,name,qualifid_at\n1,Ada,x\n")}
    assert "1 row of bots was added" in browser.submit(DESK, f"{DESK}/records", fields, file).text
    mapped = {**fields, "mapping": '[columns]\nname = "Called"\n'}
    file = {"file": ("bots.csv", "id,Called\n3,Eve\n")}
    done = Markup(browser.submit(DESK, f"{DESK}/records", mapped, file).text).text
    assert [part in done for part in ("1 row of bots was added", "nameCalledtext")] == [True] * 2
    assert done.count("Eve") == 1
    wrong = {**fields, "mapping": "[columns\n"}
    assert "the mapping, line 1" in browser.submit(DESK, f"{DESK}/records", wrong, file).text


def test_faults_of_an_upload_say_what_in_a_mapping_may_help(browser: Browser) -> None:
    """The command line names its options; a person at the desk writes a mapping."""
    browser.sign_in("organiser")
    create(browser)
    bots = "id,name,qualified_at\n1,Ada,2026-01-01\n2,Bob,NA\n"
    hint = 'texts that are no value are named in the mapping: null = ["NA"]'
    page = upload(browser, "bots", bots, do="check")
    assert "line 3 (row 2), column qualified_at: 'NA'" in page
    assert hint in page
    fields = {"table": "bots", "do": "check", "ignore": "", "mapping": 'null = ["NA"]\n'}
    file = {"file": ("bots.csv", bots)}
    helped = Markup(browser.submit(DESK, f"{DESK}/records", fields, file).text).text
    assert ("2 rows of bots would be added" in helped, hint in helped) == (True, False)


def test_values_and_references_are_reported_together(browser: Browser) -> None:
    """Who corrects the values would otherwise upload the file again to learn of the references."""
    browser.sign_in("organiser")
    create(browser)
    bots = "id,name,owner_id,qualified_at\n1,Ada,9,NA\n2,Bob,8,\n3,Cy,,\n"
    page = upload(browser, "bots", bots, do="add")
    assert "line 2 (row 1), column qualified_at: 'NA'" in page
    assert "without these rows: 1 issue in the records:" in page
    assert "line 3, column owner_id: '8' is not in owners.id" in page
    assert 'null = ["NA"]' in page
    assert "'9'" not in page  # its row is invalid
    page = upload(browser, "bots", "id,owner_id\n1,9\n", do="check")
    assert ("name" in page, "'9'" in page) == (True, False)  # no row can be checked


@pytest.mark.exhaustive
@pytest.mark.parametrize("do", ["check", "add"])
def test_names_that_look_alike_are_a_warning_beside_the_rows(browser: Browser, do: str) -> None:
    """Two bots that a reader takes for one split a score; a hidden sign is written out."""
    browser.sign_in("organiser")
    create(browser)
    names = "id,name\n1,Ada\n2,ada\u200b\n3,\u202eada\n4,Bob\n"
    fields, file = {"table": "bots", "do": do}, {"file": ("bots.csv", names)}
    text = browser.submit(DESK, f"{DESK}/records", fields, file).text
    [warning] = re.findall(r"<li><bdi>(bots.name has .*?)</bdi></li>", text)
    shown = ("&#39;Ada&#39;", r"&#39;ada\u200b&#39;", "count as different values")
    assert [part in warning for part in shown] == [True] * 3
    assert "Bob" not in warning
    assert Markup(text).errors == []


@pytest.mark.exhaustive
def test_rows_are_replaced_after_their_changes_were_shown(browser: Browser) -> None:
    """A wrong file would overwrite what is right; the page holds the file, without scripts."""
    browser.sign_in("organiser")
    create(browser)
    upload(browser, "bots", BOTS)
    file = {"file": ("bots.csv", "id,name\nada,Ada L.\nbob,Bob\neve,Eve\n")}
    fields = {"table": "bots", "do": "add", "replace": "yes"}
    response = browser.submit(DESK, f"{DESK}/records", fields, file)
    page = Markup(response.text)
    assert page.errors == []
    for part in ("bots/adanameAdaAda L.", "1 would be replaced; 1 is stored already",
                 "Replace 1 and add 1"):  # fmt: skip
        assert part in page.text
    assert browser.instance.get("/contests/league", "organiser").json()["seq"] == 4
    hidden = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', response.text))
    for name in ("held", "seen"):
        damaged = {**hidden, "do": "add", name: "x"}
        assert "were added" not in browser.send(f"{DESK}/records", damaged).text
    other = {**hidden, "do": "add", "mapping": '[values.name]\nEve = "Eva"\n'}
    again = Markup(browser.send(f"{DESK}/records", other).text).text
    assert ("Replace 1 and add 1" in again, "was added" in again) == (True, False)
    done = browser.send(f"{DESK}/records", {**hidden, "do": "add"}).text
    assert "1 row of bots was added; 1 was replaced; 1 is stored already." in done
    assert "Ada L." in text(browser, f"{DESK}/records?table=bots&record=ada")


@pytest.mark.exhaustive
def test_an_answer_about_a_line_is_about_the_file(browser: Browser) -> None:
    """What the contest alone knows, references and other content, is named by the file's lines."""
    browser.sign_in("organiser")
    create(browser)
    page = upload(browser, "bots", "id,name,owner_id\n1,Ada,9\n")
    assert "line 2, column owner_id: '9' is not in owners.id; add a row of owners first" in page
    assert "request" not in page
    upload(browser, "bots", BOTS)
    page = upload(browser, "bots", 'id,name\n4,"two\nlines"\n\nbob,Robert\n')
    assert "line 5: the record bots/bob is entry" in page


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("bots.parquet", b"PAR1" + bytes(100) + b"PAR1"),
        ("bots.csv.gz", b"\x1f\x8b" + bytes(30)),
        ("bots.csv.zip", b"PK\x03\x04" + bytes(30)),
        ("bots.xlsx", b"PK\x03\x04" + bytes(100)),
        ("bots.csv", b'id,name\r1,Ada\r2,"Bob\r'),
    ],
)
def test_no_text_of_a_library_reaches_a_person(browser: Browser, name: str, content: bytes) -> None:
    """It is about code that they do not know, and would name folders of the server."""
    browser.sign_in("organiser")
    create(browser)
    fields = {"table": "bots", "do": "check"}
    page = Markup(browser.submit(DESK, f"{DESK}/records", fields, {"file": (name, content)}).text)
    assert "Nothing was changed" in page.text
    for word in ("Error", "agon-upload", "magic", "compression method", "universal"):
        assert word not in page.text
