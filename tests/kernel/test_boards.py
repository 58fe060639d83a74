"""Boards: order, shared ranks, ids, and what a board says of those without a score."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agon.errors import NotFound
from agon.kernel.boards import Board, RankedBoard, UnscoredRow, id_order, ranking
from sizes import size

IDS = st.lists(
    st.one_of(st.integers(-50, 50).map(str), st.text("ab01", min_size=1, max_size=3)),
    unique=True,
    min_size=1,
    max_size=20,
)


def naive_id_key(name: str) -> tuple[int, int, bytes]:
    """Order ids as the docstring says, one at a time."""
    try:
        number = int(name)
    except ValueError:
        return (1, 0, name.encode())
    return (0, number, b"") if str(number) == name else (1, 0, name.encode())


@settings(max_examples=size(100), deadline=None)
@given(IDS)
def test_ids_are_in_number_order_then_text_order(ids: list[str]) -> None:
    """A naive sort by the documented key is the oracle of the columnar one."""
    places = id_order(pa.array(ids))
    assert [ids[at] for at in np.argsort(places)] == sorted(ids, key=naive_id_key)


def test_id_order_does_not_depend_on_whether_numbers_came_as_text() -> None:
    """A board from CSV equals the board from Parquet."""
    numbers = [10, 2, 33, 1]
    as_text = id_order(pa.array([str(n) for n in numbers]))
    assert id_order(pa.array(numbers)).tolist() == as_text.tolist()


def test_equal_scores_share_a_rank_and_the_next_one_skips() -> None:
    """The community board ranks 1, 2, 2, 4, rows inside a tie by id."""
    scores = np.array([5.0, 9.0, 5.0, 1.0])
    order, ranks = ranking(pa.array(["b", "c", "a", "d"]), [-scores], shared=True)
    assert order.tolist() == [1, 2, 0, 3]
    assert ranks.tolist() == [1, 2, 2, 4]


@settings(max_examples=size(60), deadline=None)
@given(IDS, st.randoms(use_true_random=False))
def test_ranks_do_not_depend_on_row_order(ids: list[str], dice: object) -> None:
    """Ranks are a total order of what is published, whatever order the rows came in."""
    scores = {name: float(len(name)) for name in ids}

    def ranked(names: list[str]) -> list[tuple[str, int]]:
        keys = [-np.array([scores[name] for name in names])]
        order, ranks = ranking(pa.array(names), keys, shared=True)
        return [(names[at], int(rank)) for at, rank in zip(order, ranks, strict=True)]

    shuffled = list(ids)
    dice.shuffle(shuffled)  # type: ignore[attr-defined]  # hypothesis hands a Random
    assert ranked(ids) == ranked(shuffled)


_SCORES = st.one_of(
    st.lists(st.sampled_from([-0.0, 0.0, 1.5, 2.0, -7.25]), min_size=1, max_size=30),
    st.lists(st.integers(-(10**12), 10**12).map(lambda steps: steps / 10**6), min_size=1),
    st.lists(st.sampled_from([0.5, 0.5 + 1e-6, 0.5 + 1e-7, 2.0**33, 1e300, -1e308]), min_size=1),
    st.lists(st.floats(allow_nan=False), min_size=1),
    st.lists(st.integers(2**62, 2**62 + 3), min_size=1),
)


@settings(max_examples=size(500), deadline=None)
@given(_SCORES)
def test_rows_are_in_the_order_of_one_stable_sort(scores: list[float]) -> None:
    """Quick sorts of published scores, or of any numbers, order equal ones by id."""
    ids = pa.array([f"{(7 * at) % 31}" for at in range(len(scores))])
    keys = np.array(scores)
    expected = np.lexsort([id_order(ids), keys])
    assert ranking(ids, [keys], shared=True)[0].tolist() == expected.tolist()


def test_rows_of_a_board_are_made_when_they_are_asked_for() -> None:
    """The first ones are made alone; a board with another table has that one's rows."""
    asked: list[int] = []

    def rows(at: np.ndarray) -> pa.Table:
        asked.append(len(at))
        return pa.table({"id": ["ann", "bob", "eve"], "score": [1.0, 3.0, 2.0]}).take(pa.array(at))

    board = RankedBoard.of("b", rows, np.array([1, 2, 0]), np.array([1, 2, 3]))
    assert (len(board), board.rows(top=1)) == (3, [{"rank": 1, "id": "bob", "score": 3.0}])
    assert asked == [1]
    assert board.sha256 == Board("b", board.table).sha256
    assert board.head(2).equals(board.table.slice(0, 2))
    assert asked == [1, 3]
    other = replace(board, table=board.table.slice(0, 1))
    assert (len(other), other.rows()) == (1, board.rows(top=1))


def test_an_empty_board_has_no_ranks() -> None:
    """No rows is a board too."""
    order, ranks = ranking(pa.array([], pa.string()), [np.array([])], shared=True)
    assert (order.tolist(), ranks.tolist()) == ([], [])


def board() -> Board:
    """Return a board of two, with one unscored."""
    table = pa.table({"rank": [1, 2], "id": ["a", "b"], "score": [2.0, 1.0]})
    return Board("test", table, (UnscoredRow("c", "only 2 validators reported"),))


def test_an_unscored_id_is_not_found_with_its_reason() -> None:
    """A reader of a missing row reads why it is missing."""
    assert board().row("a") == {"rank": 1, "id": "a", "score": 2.0}
    assert board().row("b") == {"rank": 2, "id": "b", "score": 1.0}
    with pytest.raises(NotFound, match="only 2 validators reported"):
        board().row("c")
    with pytest.raises(NotFound, match="there is no 'x'"):
        board().row("x")


def test_a_boards_hash_depends_on_every_cell() -> None:
    """A published board can be held against its hash."""
    other = Board("test", board().table, ())
    assert board().sha256 == board().sha256
    assert board().sha256 != other.sha256
    assert board().sha256 != Board("other", board().table, board().unscored).sha256


def test_a_board_is_read_by_arrow_and_polars_and_pandas() -> None:
    """People take results where they work."""
    assert pa.table(board()).num_rows == 2
    assert board().to_polars()["id"].to_list() == ["a", "b"]
    assert list(board().to_pandas()["score"]) == [2.0, 1.0]
    assert board().rows(top=1) == [{"rank": 1, "id": "a", "score": 2.0}]
