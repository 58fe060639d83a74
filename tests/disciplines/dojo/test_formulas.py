"""Points of the dojo: gates, brevity, diversity (document 002, 2 to 7)."""

from decimal import Decimal, localcontext
from itertools import permutations
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agon.disciplines.dojo.formulas import (
    UNSPECIFIED,
    base_score,
    brevity,
    diversity_points,
    families,
    gates,
    normal_tag,
    stage_length,
)
from disciplines.dojo.naive_diversity import (
    Entry,
    earliest_per_user_and_tag,
    naive_diversity,
)
from sizes import size

VECTORS = {0: 200, 80: 180, 100: 176, 200: 155, 400: 121, 800: 73, 1600: 27, 4238: 1, 4239: 0}
ENTRIES = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from(["x", "y", UNSPECIFIED]), st.integers(0, 2)),
    max_size=8,
).map(
    lambda rows: [
        Entry(user, tag, when, f"h{when % 2}", f"s{number}")
        for number, (user, tag, when) in enumerate(rows)
    ]
)


def points(entries: list[Entry], *, ignored: str | None = None, cap: int = 50) -> list[int]:
    """Return the points of the entries of one problem as scoring does, by the page's numbers.

    Scoring has them in the order of arrival; here they are put into it and back.
    """
    arrival = sorted(
        (at for at, entry in enumerate(entries) if entry.tag != ignored),
        key=lambda at: entries[at].order,
    )
    tags = sorted({entry.tag for entry in entries})
    tag = np.array([tags.index(entries[at].tag) for at in arrival], dtype=np.int64)
    result = families(np.zeros_like(tag), tag, problems=1, tags=len(tags))
    first = dict(zip(arrival, result.first_of_tag.tolist(), strict=True))
    return [
        diversity_points(
            first_of_tag=first.get(at, False),
            distinct_tags=int(result.distinct_tags[0]),
            first_tag_bonus=30,
            shared_bonus_each=10,
            shared_repeats=2,
            cap=cap,
        ).bonus
        for at in range(len(entries))
    ]


@pytest.mark.parametrize(("length", "bonus"), VECTORS.items())
def test_brevity_gives_the_vectors_of_the_page(length: int, bonus: int) -> None:
    """Published numbers, reproduced."""
    assert brevity(length, b_max=200, beta=1 / 800) == bonus


def test_brevity_of_an_array_is_brevity_of_its_elements() -> None:
    """The board and the explanation must show the same number."""
    lengths = np.array([[4239, 0, 800], [800, 1600, 4238]])
    bonus = brevity(lengths, b_max=200, beta=1 / 800)
    assert bonus.tolist() == [[VECTORS[length] for length in row] for row in lengths.tolist()]
    assert brevity(np.array([], dtype=np.int64), b_max=200, beta=1 / 800).shape == (0,)


def test_brevity_agrees_with_fifty_decimal_digits() -> None:
    """No length is near enough to a whole point for floats to matter."""
    with localcontext() as context:
        context.prec = 50
        for length in range(5_000):
            exact = int(200 * (Decimal(-length) / 800).exp())
            assert brevity(length, b_max=200, beta=1 / 800) == exact


@given(st.integers(0, 10_000), st.integers(0, 10_000))
@settings(max_examples=size(50), deadline=None)
def test_a_longer_program_never_gets_more(one: int, other: int) -> None:
    """The bonus falls with the length and stays within its bounds."""
    short, long = sorted((one, other))
    less, more = (brevity(length, b_max=200, beta=1 / 800) for length in (long, short))
    assert 0 <= less <= more <= 200


def test_a_negative_length_is_rejected() -> None:
    """It would give more than the largest bonus."""
    with pytest.raises(ValueError, match="never negative, got -1"):
        brevity(-1, b_max=200, beta=1 / 800)
    with pytest.raises(ValueError, match="never negative, got -2"):
        brevity(np.array([5, -2]), b_max=200, beta=1 / 800)


@pytest.mark.parametrize(("n_check", "stage"), [(200, 100), (2, 1), (51, 25), (1000, 500)])
def test_the_stage_is_half_of_the_terms_rounded_down(n_check: int, stage: int) -> None:
    """100 of 200, and N_check/2 elsewhere."""
    assert stage_length(n_check) == stage


@pytest.mark.parametrize("n_check", [1, 0, -3])
def test_a_stage_without_terms_is_rejected(n_check: int) -> None:
    """A gate of no terms would accept every program."""
    with pytest.raises(ValueError, match="at least 2"):
        stage_length(n_check)


@pytest.mark.parametrize(
    ("matched", "base"), [(0, 0), (99, 0), (100, 200), (199, 200), (200, 1000), (250, 1000)]
)
def test_gates_open_at_half_and_at_all_terms(matched: int, base: int) -> None:
    """A list that is too short fails the gate it does not reach; terms beyond do not count."""
    passed = gates(matched, n_check=200)
    assert base_score(passed, stage_base=200, reward_base=1000) == base
    many = base_score(gates(np.array([matched, 0]), n_check=200), stage_base=200, reward_base=1000)
    assert many.tolist() == [base, 0]


@pytest.mark.parametrize(
    ("tag", "notes", "with_notes", "without"),
    [
        ("loops", "because", "loops", "loops"),
        ("loops", "", UNSPECIFIED, "loops"),
        ("loops", " \n", UNSPECIFIED, "loops"),
        ("loops", None, UNSPECIFIED, "loops"),
        ("loops", 7, UNSPECIFIED, "loops"),
        ("x" * 64, "n", "x" * 64, "x" * 64),
        ("x" * 65, "n", UNSPECIFIED, UNSPECIFIED),
        ("é" * 64, "n", "é" * 64, "é" * 64),
        ("", "n", UNSPECIFIED, UNSPECIFIED),
        ("  ", "n", UNSPECIFIED, UNSPECIFIED),
        (None, "n", UNSPECIFIED, UNSPECIFIED),
        (5, "n", UNSPECIFIED, UNSPECIFIED),
        (["loops"], "n", UNSPECIFIED, UNSPECIFIED),
        (" Loops ", "n", " Loops ", " Loops "),
    ],
)
def test_an_unusable_tag_is_unspecified(
    tag: object, notes: object, with_notes: str, without: str
) -> None:
    """solution.json may hold anything; the seed names what counts as no tag."""
    assert normal_tag(tag, notes, require_notes=True, max_length=64) == with_notes
    assert normal_tag(tag, notes, require_notes=False, max_length=64) == without


def test_the_first_of_each_tag_and_all_entries_get_points() -> None:
    """30 for the first of a tag, 2 × 10 for all once two tags agree, 50 at most."""
    entries = [
        Entry("ada", "loops", 2, "h", "s1"),
        Entry("bob", "loops", 1, "h", "s2"),
        Entry("bob", "loops", 3, "h", "s3"),
        Entry("cy", "closed_form", 4, "h", "s4"),
    ]
    assert points(entries) == [20, 50, 20, 50]
    assert points(entries[:3]) == [0, 30, 0]
    assert points(entries, cap=40) == [20, 40, 20, 40]
    assert points([]) == []


def test_unspecified_can_be_left_out() -> None:
    """In edition 0.1 it is a tag like any other; a rule may take it out of the count."""
    entries = [Entry("ada", UNSPECIFIED, 1, "h", "s1"), Entry("bob", "loops", 2, "h", "s2")]
    assert points(entries) == [50, 50]
    assert points(entries, ignored=UNSPECIFIED) == [0, 30]


@given(ENTRIES, st.sampled_from([None, UNSPECIFIED]), st.sampled_from([0, 30, 50]))
@settings(max_examples=size(200), deadline=None)
def test_diversity_is_what_the_naive_oracle_gives(
    entries: list[Entry], ignored: str | None, cap: int
) -> None:
    """The page compares each user's earliest entry of a tag; arrays compute the first at once."""
    expected = naive_diversity(entries, ignored=ignored, cap=cap)
    assert points(entries, ignored=ignored, cap=cap) == expected


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), max_size=12))
@settings(max_examples=size(100), deadline=None)
def test_families_of_a_problem_do_not_depend_on_the_others(rows: list[tuple[int, int]]) -> None:
    """The problems of a season are computed together; the rule is about one."""
    problem, tag = np.array(rows, dtype=np.int64).reshape(-1, 2).T
    together = families(problem, tag, problems=4, tags=5)
    for one in range(4):
        here = problem == one
        alone = families(np.zeros_like(tag)[here], tag[here], problems=1, tags=5)
        assert together.first_of_tag[here].tolist() == alone.first_of_tag.tolist()
        assert together.distinct_tags[one] == alone.distinct_tags[0]


def test_equal_moments_fall_back_to_hash_then_id() -> None:
    """Replay must not depend on the order of rows (document 002, 6.4)."""
    entries = [
        Entry("ada", "loops", 1, "h2", "s1"),
        Entry("bob", "loops", 1, "h1", "s9"),
        Entry("cy", "loops", 1, "h1", "s8"),
    ]
    for order in permutations(entries):
        firsts = [e.user for e, d in zip(order, points(list(order)), strict=True) if d]
        assert firsts == ["cy"]


def test_one_user_counts_once_per_tag() -> None:
    """Sending the same method again is spam, another method is not."""
    entries = [
        Entry("ada", "loops", 1, "h", "s1"),
        Entry("ada", "loops", 2, "h", "s2"),
        Entry("ada", "other", 3, "h", "s3"),
        Entry("bob", "loops", 4, "h", "s4"),
    ]
    assert [e.submission for e in earliest_per_user_and_tag(entries)] == ["s1", "s3", "s4"]


@given(ENTRIES, st.randoms(use_true_random=False))
@settings(max_examples=size(100), deadline=None)
def test_points_do_not_depend_on_the_order_of_rows(entries: list[Entry], dice: Random) -> None:
    """A table has no order; each distinct tag has exactly one first."""
    shuffled = list(entries)
    dice.shuffle(shuffled)
    result = dict(zip([e.submission for e in entries], points(entries), strict=True))
    again = dict(zip([e.submission for e in shuffled], points(shuffled), strict=True))
    assert result == again
    shared = 20 if len({e.tag for e in entries}) > 1 else 0
    assert sum(d - shared == 30 for d in result.values()) == len({e.tag for e in entries})
