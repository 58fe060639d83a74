"""Prompts and human answers are uploaded on the desk, with errors next to the file."""

import gzip

import pytest

from web.browser import Browser
from web.desk.league import DESK, create
from web.desk.league import text as text_of
from web.markup import Markup


def test_an_organizer_uploads_prompts_and_answers(browser: Browser) -> None:
    """A league without prompts plays nothing; a terminal must not be needed for them."""
    browser.sign_in("organiser")
    create(browser)
    assert "upload records, or begin a round" in text_of(browser, DESK)

    def send(kind: str, content: str, name: str = "file.csv") -> tuple[int, str]:
        response = browser.submit(
            f"{DESK}/rounds", f"{DESK}/prompts", {"kind": kind}, {"file": (name, content)}
        )
        page = Markup(response.text)
        assert (page.errors, page.inline) == ([], [])
        return response.status_code, page.text

    def stored() -> dict[str, bool]:
        service = browser.instance.service
        with service.store.read() as session:
            prompts = session.arena.prompts(session.contests.get("league").no)
        return {prompt.id: prompt.retired for prompt in prompts}

    status, text = send("prompts", "id;text;retired\np1;What?;\np2;Why?;TRUE\np3;Who?;false\n")
    assert (status, "3 prompts were added or replaced" in text) == (200, True)
    assert stored() == {"p1": False, "p2": True, "p3": False}
    status, text = send("prompts", "id,text\np4,\np1,Changed?\n,x\n")
    assert (status, "Nothing was changed" in text) == (422, True)
    assert "line 2 (row 1), column text: is empty" in text
    assert "line 4 (row 3), column id: is empty" in text
    assert len(stored()) == 3
    # An organizer who sets a rule reads beside it that what it promises is off.
    assert "Off now: no model is configured." in text_of(browser, f"{DESK}/rules")
    assert send("prompts", "id,text,retired\np5,x,perhaps\n")[0] == 422
    answers = '{"id": "h1", "prompt_id": "p1", "text": "Soup."}\n'
    assert "1 human answer was" in send("human_answers", answers, "a.ndjson")[1]
    status, text = send("human_answers", answers.replace("p1", "p9"), "a.ndjson")
    assert (status, "is no prompt" in text) == (422, True)
    assert "honeypots show built-in templates" in text
    robotic = "id;text;prompt_id;retired\nk1;As requested: soup.;p1;\nk2;Noted.;;true\n"
    text = send("honeypot_answers", robotic)[1]
    assert "2 honeypot answers were added" in text
    assert "1 left, 0 shown" in text
    assert "honeypots show built-in templates" not in text
    changed = robotic.replace("Noted", "Changed")
    status, text = send("honeypot_answers", changed)
    assert (status, "differs from the text of k2 that is stored" in text) == (422, True)
    status, text = send("poems", answers)
    assert (status, "expected one of prompts, human_answers, honeypot_answers" in text) == (
        422, True,
    )  # fmt: skip
    assert send("prompts", "PK\x03\x04 a workbook")[0] == 422
    other = Browser(browser.instance)
    other.sign_in("participant")
    token = {"form_token": other.form_token("/account"), "kind": "prompts"}
    assert other.send(f"{DESK}/prompts", token).status_code == 403


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", b"\xef\xbb\xbfID;Prompt ID;Text;;\nh1;p1;Soup, and bread.;;\n;;;;\n"),
        ("a.txt", b"id\tpromptId\ttext\nh1\tp1\tSoup, and bread.\n"),
        ("a.CSV.gz", gzip.compress(b'sep=,\nid,prompt-id,text\nh1,p1,"Soup, and bread."\n')),
        ("a.json", b'[{"Id": "h1", "promptID": "p1", "text": "Soup, and bread."}]'),
    ],
    ids=["separators", "tabs", "packed", "json"],
)
def test_files_of_prompts_are_read_as_those_of_records(
    browser: Browser, name: str, content: bytes
) -> None:
    """The desk had a second reader for them, which knew none of these."""
    browser.sign_in("organiser")
    create(browser)

    def send(kind: str, name: str, content: bytes) -> str:
        fields, file = {"kind": kind}, {"file": (name, content)}
        return Markup(browser.submit(f"{DESK}/rounds", f"{DESK}/prompts", fields, file).text).text

    said = send("prompts", "p.csv", b"id,text,remark\np1,What?,x\n")
    assert "1 prompt was added or replaced. Not used: remark." in said
    said = send("human_answers", name, content)
    assert "1 human answer was added or replaced. Read " in said
    service = browser.instance.service
    with service.store.read() as session:
        [answer] = session.arena.human_answers(session.contests.get("league").no)
    assert (answer.id, answer.prompt_id, answer.text) == ("h1", "p1", "Soup, and bread.")
    assert "save the file as UTF-8" in send("prompts", "p.csv", "id\n1".encode("utf-16"))
    long = b'id,text\np2,"two\nlines"\n\np3,' + b"x" * 90_000 + b"\n"
    assert "line 5, column text: has 90,000 characters" in send("prompts", "p.csv", long)
