"""The cache of submissions gives the boards of the records, whatever was computed before."""

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agon.app.analysis.score import score
from agon.disciplines.dojo import submission_cache
from agon.disciplines.dojo.records import SCHEMA
from agon.disciplines.dojo.submission_cache import CachedNames, CachedTexts, SubmissionCache
from agon.records import read_rows
from agon.records.append_only import AppendOnlyTables
from sizes import size

SOURCES = ["def f(n):\n    return n\n", "def f( n ):\n    return n  # same\n", "def f(n): return 1"]


def _submission(number: int, **columns: Any) -> dict[str, Any]:
    row = {
        "id": f"s{number}",
        "problem_id": "p",
        "user_id": f"u{number % 3}",
        "created_at": f"2026-01-01T00:00:{number % 7:02}",
        "method_tag": ["loops", "sums", None][number % 3],
        "verdict": "ok" if number % 4 else "wrong_answer",
        "terms_matched": 3,
    }
    written = number % 2 == 0
    text = {"source": SOURCES[number % 5 % 3]} if written else {"source_hash": "0" * 64}
    return row | text | ({} if written else {"l_chars": 10 * number}) | columns


@settings(max_examples=size(15, at_least=3, dear=True), deadline=None)
@given(stops=st.lists(st.integers(2, 13), min_size=1, max_size=4), gone=st.integers(2, 12))
def test_boards_do_not_depend_on_boards_computed_before(stops: list[int], gone: int) -> None:
    """Boards of positions in any order equal those of a scorer without a cache."""
    growing = AppendOnlyTables(SCHEMA)
    growing.append("problems", [{"id": "p"}], [1])
    rows = {number: _submission(number) for number in range(2, 13)}
    growing.append("submissions", list(rows.values()), list(rows))
    growing.end([gone], at=13)
    for stop in stops:
        submissions = [row for at, row in rows.items() if at <= stop and (at != gone or stop < 13)]
        grown = growing.records(stop)
        alone = read_rows(SCHEMA, {"problems": [{"id": "p"}], "submissions": submissions})
        for rules in ({}, {"max_numeric_literals": 0}, {"require_notes": True}):
            mine = score("dojo", grown, overrides=rules)
            theirs = score("dojo", alone, overrides=rules)
            for board in ("season", "problem:p"):
                assert mine.board(board).sha256 == theirs.board(board).sha256
        alone.close()
    growing.close()


def test_a_row_is_read_once(monkeypatch: Any) -> None:
    """A further submission must not make a million others be read again."""
    growing = AppendOnlyTables(SCHEMA)
    growing.append("submissions", [_submission(number) for number in range(4)], range(1, 5))
    growing.append("problems", [{"id": "p"}], [9])
    first = growing.records()
    cache: SubmissionCache = first.caches.setdefault("dojo", SubmissionCache())
    assert cache.places(first).tolist() == [0, 1, 2, 3]
    monkeypatch.setattr(submission_cache, "_canonical", None)
    growing.append("submissions", [_submission(5)], [10])
    assert cache.places(growing.records()).tolist() == [0, 1, 2, 3, 4]
    checked: list[str] = []

    def length(source: str) -> int:
        checked.append(source)
        return len(source)

    for _ in range(2):
        lengths = cache.check_sources("length", length)
    assert checked == cache.sources
    assert list(lengths.values()) == [len(source) for source in cache.sources]
    growing.close()


def test_late_rows_are_inserted_at_their_position() -> None:
    """An earlier position may be computed first, or a voided record be restored."""
    growing = AppendOnlyTables(SCHEMA)
    growing.append("problems", [{"id": "p"}], [1])
    growing.append("submissions", [_submission(number) for number in (1, 2, 3)], [2, 3, 4])
    growing.end([3], at=5)
    growing.begin([3], at=6)
    cache = SubmissionCache()
    assert cache.places(growing.records(5)).tolist() == [0, 1]
    assert cache.places(growing.records(6)).tolist() == [0, 1, 2]
    assert cache.numbers["row"].tolist() == [2, 3, 4]
    filed = cache.numbers["filed"]
    assert list(CachedTexts[str](cache.texts["id"], filed)) == ["s1", "s2", "s3"]
    growing.close()


@settings(max_examples=size(30, at_least=3, dear=True), deadline=None)
@given(seconds=st.lists(st.integers(0, 2), min_size=1, max_size=9), step=st.integers(1, 9))
def test_the_order_of_arrival_does_not_depend_on_the_order_of_reading(
    seconds: list[int], step: int
) -> None:
    """It breaks ties of brevity and decides which user had a tag first."""
    growing = AppendOnlyTables(SCHEMA)
    growing.append("problems", [{"id": "p"}], [1])
    cache = SubmissionCache()
    rows = [
        _submission(number, created_at=f"2026-01-01T00:00:0{second}", source=SOURCES[number % 3])
        for number, second in enumerate(seconds)
    ]
    for begin in range(0, len(rows), step):
        some = rows[begin : begin + step]
        growing.append("submissions", some, range(begin + 2, begin + 2 + len(some)))
        cache.places(growing.records())
    growing.close()
    texts = {name: CachedTexts[str](column, cache.numbers["filed"]).all().to_pylist()
             for name, column in cache.texts.items()}  # fmt: skip
    order = list(zip(cache.numbers["created"].tolist(), texts["hash"], texts["id"],
                     strict=True))  # fmt: skip
    assert order == sorted(order)
    assert cache.numbers["row"].tolist() == [2 + int(name[1:]) for name in texts["id"]]


@pytest.mark.exhaustive
def test_many_small_chunks_are_combined() -> None:
    """With a chunk per appended record every access to a text would be a search."""
    growing = AppendOnlyTables(SCHEMA)
    growing.append("problems", [{"id": "p"}], [1])
    cache = SubmissionCache()
    for number in range(2, 70):
        growing.append("submissions", [_submission(number)], [number])
        cache.places(growing.records())
    assert cache.texts["id"].num_chunks < 10
    assert cache.texts["id"].to_pylist() == [f"s{number}" for number in range(2, 70)]
    growing.close()


def test_the_number_of_a_name_does_not_change() -> None:
    """A number with another text would give the points of one user to another."""
    names = CachedNames()
    assert names.numbers(pa.array(["b", None, "10", "b"])).tolist() == [0, -1, 1, 0]
    assert names.places.tolist() == [1, 0]
    assert names.numbers(pa.array(["2", "10"])).tolist() == [2, 1]
    assert names.places.tolist() == [2, 1, 0]


def test_texts_are_shown_in_their_order() -> None:
    """They stand for a list, and a part of them for a part of it."""
    texts = CachedTexts[str](pa.chunked_array([["a"], ["b", "c"]]), pa.array([2, 0, 1]).to_numpy())
    assert (list(texts), len(texts), texts[0], list(texts[1:])) == (list("cab"), 3, "c", ["a", "b"])
