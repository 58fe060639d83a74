"""Prompts and human answers are checked as they arrive, each value by its type."""

import json
from typing import Any

import pytest

from agon.app.contests.lifecycle.creation import NewContest, create
from agon.app.contests.lifecycle.transitions import open_contest
from fakes.instance import Instance
from fakes.service import ORGANISER

NDJSON = {"content-type": "application/x-ndjson"}
WHOLE: tuple[object, ...] = (7, -1)
NO_TEXT: tuple[object, ...] = (7.5, 1e300, True, False, {}, {"a": 1}, [], ["p"], [None])
UNUSABLE: tuple[object, ...] = (None, "", "\x00", "a\x00b", "a" * 501)
VALID: dict[str, dict[str, Any]] = {
    "prompts": {"id": "p", "text": "Why?"},
    "human-answers": {"id": "h", "prompt_id": "p", "text": "Because."},
}


@pytest.fixture(autouse=True)
def _league(instance: Instance) -> None:
    create(instance.service, NewContest(id="league", discipline="arena", title="L"), by=ORGANISER)
    open_contest(instance.service, "league", by=ORGANISER)
    assert _sent(instance, "prompts", VALID["prompts"]).status_code == 201


def _sent(instance: Instance, kind: str, *rows: Any) -> Any:
    lines = "\n".join(map(json.dumps, rows))
    path = f"/contests/league/{kind}"
    return instance.post(path, "organiser", content=lines, headers=NDJSON)


@pytest.mark.parametrize("kind", VALID)
def test_every_value_of_another_type_is_named_with_its_line(instance: Instance, kind: str) -> None:
    """A number as text was an internal error, and a list an id of its own notation."""
    valid = VALID[kind]
    for column in valid:
        is_text = column == "text"
        values = (*NO_TEXT, *(WHOLE if is_text else ()), *UNUSABLE[: -1 if is_text else None])
        for value in values:
            sent = _sent(instance, kind, valid, {**valid, column: value})
            assert sent.status_code == 422, (column, value)
            [error] = sent.json()["errors"]
            assert error["pointer"] == f"/2/{column}", error
            assert ";" in error["detail"], error
        alone = instance.post(
            f"/contests/league/{kind}", "organiser", json={**valid, column: values[0]}
        )
        assert alone.status_code == 422
    for row in (7, "p", None, True, [], ["id", "p"]):
        assert _sent(instance, kind, row).status_code == 422


def test_all_wrong_values_are_listed_at_once(instance: Instance) -> None:
    """Who corrects a file wants to correct it once."""
    sent = _sent(instance, "prompts", {"id": 5.5, "text": 7}, {"id": None, "retired": "perhaps"})
    assert sent.status_code == 422
    details = {error["pointer"]: error["detail"] for error in sent.json()["errors"]}
    assert details.keys() == {"/1/id", "/1/text", "/2/id", "/2/text", "/2/retired"}
    assert "'7' is not text; give text in quotes" in details["/1/text"]


def test_a_whole_number_is_the_id_of_its_digits(instance: Instance) -> None:
    """As in records: a CSV file cannot say whether an id is a number."""
    assert _sent(instance, "prompts", {"id": 7, "text": "Why?"}).status_code == 201
    answer = {"id": 8, "prompt_id": "7", "text": "So."}
    assert _sent(instance, "human-answers", answer, {**answer, "id": 9, "prompt_id": 7}).json() == {
        "saved": 2
    }
    twice = _sent(instance, "prompts", {"id": 7, "text": "Why?"}, {"id": "7", "text": "How?"})
    assert twice.status_code == 201


def test_a_text_for_true_or_false_is_read_as_in_records(instance: Instance) -> None:
    """Any text counted as true: a prompt with ``"retired": "false"`` was never drawn."""
    truths = {"false": False, "no": False, "0": False, "TRUE": True, "yes": True, "": False}
    rows = [
        {"id": f"p-{word}", "text": "x", "retired": word} for word in [*truths, True, 0, 1, None]
    ]
    assert _sent(instance, "prompts", *rows).status_code == 201
    with instance.service.store.read() as session:
        stored = session.arena.prompts(session.contests.get("league").no)
    retired = {prompt.id.removeprefix("p-"): prompt.retired for prompt in stored}
    for word, truth in {**truths, "True": True, "0": False, "1": True, "None": False}.items():
        assert retired[word] is truth, word


@pytest.mark.exhaustive
def test_a_line_that_is_no_json_is_refused(instance: Instance) -> None:
    """Half of a surrogate pair is no text in UTF-8."""
    for line in (
        '{"id":"\\ud800","text":"x"}',
        '{"id":"p","text":"x"',
        "\x00",
        '{"id":"p","id":1}',
    ):
        sent = instance.post("/contests/league/prompts", "organiser", content=line, headers=NDJSON)
        assert sent.status_code == 422, line
