"""Uploads on the desk: files that spreadsheets write, wrong ones and large ones."""

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest

from agon.web.desk.uploads import csv_rows
from fakes.instance import instance_at
from web.browser import Browser
from web.desk.league import DESK, create, text, upload
from web.markup import Markup


@pytest.mark.sample(2)
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


def test_the_rows_of_a_file_are_read_one_by_one() -> None:
    """A file of the largest size is not held in memory."""
    file = BytesIO(b"id,name\n" + b"ada,Ada\n" * 100_000)
    rows = csv_rows(file)
    assert next(rows) == {"id": "ada", "name": "Ada"}
    assert file.tell() < 100
