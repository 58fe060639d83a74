"""One set of limits for JSON: what is read can be written, and read again to the same."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agon.kernel.text.plain_json import (
    MAX_DEPTH,
    MAX_KEYS,
    InvalidJson,
    parse_objects,
    read_json,
    write_json,
    write_objects,
)

PIECES = st.sampled_from(
    ["{", "}", "[", "]", ",", ":", '"a"', '"b"', '"\\u0061"', '"\\u003a"', '":"', "1", "-0.0",
     "18446744073709551616", "1e20", "1e400", "null", " ", '"\\ud800"', "\\", '"', "NaN"]
)  # fmt: skip
TEXTS = st.one_of(
    st.lists(PIECES, max_size=12).map("".join),
    st.lists(st.tuples(st.sampled_from(["a", "b", "\\u0061"]), PIECES), max_size=4).map(
        lambda pairs: "{" + ",".join(f'"{key}":{value}' for key, value in pairs) + "}"
    ),
)


def _read(text: bytes) -> Any:
    try:
        return read_json(text)
    except InvalidJson:
        return None


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    assert len(dict(pairs)) == len(pairs)
    return dict(pairs)


@given(TEXTS)
def test_nothing_is_lost_between_reading_and_writing(text: str) -> None:
    """The standard library's reader, which keeps integers and sees each key, reads the same."""
    try:
        value = read_json(text.encode())
    except InvalidJson:
        return
    expected = json.loads(text, object_pairs_hook=_each_once)
    assert repr(value) == repr(expected)
    assert repr(json.loads(write_json(value))) == repr(expected)


def _read_together(lines: list[bytes]) -> list[Any] | None:
    """Return the objects of lines if they can be written together, as they were written."""
    objects = parse_objects(lines)
    written = None if objects is None else write_objects(lines, objects)
    if objects is None or written is None:
        return None
    assert list(map(_read, written)) == objects
    return objects


@given(st.lists(TEXTS, min_size=1, max_size=5))
def test_many_lines_are_read_as_strictly_as_each(texts: list[str]) -> None:
    """The fast path accepts no value that the exact one rejects."""
    lines = [text.encode() for text in texts]
    objects = _read_together(lines)
    assert objects is None or repr(objects) == repr(list(map(_read, lines)))


@given(st.lists(st.tuples(PIECES, TEXTS), min_size=1, max_size=4))
def test_objects_within_lines_are_written_as_strictly_as_the_lines(
    pairs: list[tuple[str, str]],
) -> None:
    """A key that an envelope has twice is no key of its row, and is missed no more than that."""
    lines = [f'{{"table":{name},"row":{text}}}'.encode() for name, text in pairs]
    envelopes = parse_objects(lines)
    if envelopes is None:
        return
    names = [value["table"] for value in envelopes if isinstance(value.get("table"), str)]
    rows = [value["row"] for value in envelopes if isinstance(value.get("row"), dict)]
    if len(names) < len(lines) or len(rows) < len(lines):
        return
    written = write_objects(
        lines, rows, colons_around=2 * len(lines) + "".join(names).count(":")
    )  # fmt: skip
    if written is not None:
        assert repr([_read(line) for line in lines]) == repr(envelopes)
        assert [_read(text) for text in written] == rows


@pytest.mark.parametrize("text", ["},{", "}", "[", '"},{"', "a"])
def test_objects_are_parted_at_their_ends_whatever_they_say(text: str) -> None:
    """The mark between two objects can be a text within one."""
    rows = [{"b": text, "a": 1}, {}, {text: text}]
    lines = [json.dumps(row).encode() for row in rows]
    assert _read_together(lines) == rows


@pytest.mark.parametrize("number", [b"18446744073709551616", b"-9223372036854775809", b"9" * 400])
def test_integers_of_more_than_64_bits_are_refused_and_not_rounded(number: bytes) -> None:
    """A float in the place of an id would be another id."""
    with pytest.raises(InvalidJson, match="64 bits"):
        read_json(b'{"id":%b}' % number)
    assert _read_together([b'{"id":%b}' % number]) is None


def test_limits_are_inclusive() -> None:
    """At the limit a value is read and written; one beyond, it is neither."""
    for count, is_valid in ((MAX_DEPTH, True), (MAX_DEPTH + 1, False), (5_000, False)):
        nested = b"[" * count + b"]" * count
        assert (_read(nested) is not None) == is_valid
        assert (_read_together([b'{"a":%b}' % nested[1:-1]]) is not None) == is_valid
    for count, is_valid in ((MAX_KEYS, True), (MAX_KEYS + 1, False)):
        wide = json.dumps({str(number): number for number in range(count)}).encode()
        assert (_read(wide) is not None) == is_valid
        assert _read_together([wide]) is None  # left to the exact path


@pytest.mark.parametrize("value", ["\ud800", 2**64, {1: 2}, object(), [[]] * 2 + [b""]])
def test_what_json_cannot_hold_is_not_written(value: object) -> None:
    """It is an error with a remedy."""
    with pytest.raises(InvalidJson, match="; give text in Unicode"):
        write_json(value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1]".encode("utf-16"), "has NUL bytes (UTF-16 text or no text); give UTF-8"),
        ("[1]".encode("utf-16-be"), "has NUL bytes (UTF-16 text or no text); give UTF-8"),
        ('["\u00eb"]'.encode("latin-1"), "is not UTF-8 (byte 3 is 0xeb); give UTF-8"),
    ],
)
def test_bytes_in_another_encoding_are_refused_with_the_cure(text: bytes, message: str) -> None:
    """The reader of JSON speaks of surrogates, which is no help to who saved a file as UTF-16."""
    with pytest.raises(InvalidJson) as error:
        read_json(text)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("value", "message"),
    [
        *(
            (
                value,
                (
                    f"has {value} for a value, which JSON does not know; "
                    "write a finite number, or null where there is none"
                ),
            )
            for value in ("NaN", "-Infinity", "Infinity", "nan", "-inf")
        ),
        ("None", "has None for a value, which JSON does not know; write null"),
        ("True", "has True for a value, which JSON does not know; write true"),
        ("1e400", "has a number beyond 1.8e308, the largest of 64 bits; write a smaller one"),
    ],
)  # fmt: skip
def test_values_as_python_writes_them_are_named(value: str, message: str) -> None:
    """Its module json writes NaN and Infinity unless told otherwise; a column number is no help."""
    for text in (f'{{"w": {value}}}', f'{{"é":{value},"b":1}}'):
        with pytest.raises(InvalidJson) as error:
            read_json(text.encode())
        assert str(error.value) == message
