"""Copied responses and accounts of one person."""

import hashlib
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agon.disciplines.arena.checks.accounts import (
    edit_distance,
    handle_base,
    similar_handles,
    similarity,
)
from agon.disciplines.arena.checks.plagiarism import (
    EarlierAnswers,
    are_copies,
    fingerprint,
    jaccard,
    words,
)
from sizes import size


def test_a_fingerprint_is_the_hash_of_the_sorted_words() -> None:
    """Lower-cased, without punctuation, sorted, SHA-256: as the seed lists it."""
    assert fingerprint("The cat, the HAT!") == hashlib.sha256(b"cat hat the the").hexdigest()


@given(st.lists(st.sampled_from(["tea", "Milk", "don't", "über", "नमस्ते"]), max_size=8))
def test_order_case_and_punctuation_do_not_change_a_fingerprint(text: list[str]) -> None:
    """In any script; combining marks are part of their word."""
    shouted = "... ".join(reversed(text)).upper() + "?!"
    assert fingerprint(" ".join(text)) == fingerprint(shouted)


def test_words_keep_marks_and_lose_punctuation() -> None:
    """Devanagari vowel signs are no punctuation; a dash is."""
    assert words("नमस्ते — Welt’s") == ["नमस्ते", "welts"]


@pytest.mark.parametrize(("shared", "copied"), [(18, False), (19, True)])
def test_copying_starts_at_nine_words_in_ten(
    shared: int,
    copied: bool,  # noqa: FBT001 - a parameter of the table
) -> None:
    """19 of 21 words are 0.905, 18 of 22 are 0.818."""
    one = " ".join(f"w{n}" for n in range(20))
    other = " ".join([*(f"w{n}" for n in range(shared)), *(f"x{n}" for n in range(20 - shared))])
    assert are_copies(one, other, threshold=0.9) is copied


def test_a_jaccard_at_the_threshold_is_copied() -> None:
    """Nine of ten words: exactly 0.9."""
    one = " ".join("abcdefghi")
    assert jaccard(one, one + " j") == 0.9
    assert are_copies(one, one + " j", threshold=0.9)


def test_empty_responses_are_equal() -> None:
    """Two bots that say nothing have said the same."""
    assert are_copies("", " ... ", threshold=0.9)


@settings(max_examples=size(60), deadline=None)
@given(st.lists(st.text("ab", min_size=3, max_size=12), max_size=12))
def test_similar_handles_are_exactly_the_pairs_that_comparing_all_would(handles: list[str]) -> None:
    """The shortcut over shared deletions loses no pair at two edits, and adds none."""
    result = {(i, j) for i, j, _ in similar_handles(handles, threshold=0.75, base_length=3)}
    for i, j in combinations(range(len(handles)), 2):
        near = edit_distance(handles[i], handles[j], most=2) is not None
        assert ((i, j) in result) is (near and similarity(handles[i], handles[j]) >= 0.75)


def test_short_bases_are_left_out() -> None:
    """`max1` and `max2` are two people."""
    assert handle_base("max1") == "max"
    assert similar_handles(["max1", "max2"], threshold=0.85, base_length=5) == []


def test_a_threshold_of_one_compares_fingerprints_alone() -> None:
    """Equal sets of words are not equal texts: how often each occurs counts, too."""
    assert are_copies("no no no", "no", threshold=0.99)
    assert not are_copies("no no no", "no", threshold=1.0)
    assert are_copies("no, no: yes", "yes no no", threshold=1.0)


TEXTS = st.lists(st.sampled_from("abcdefghij"), max_size=12).map(" ".join)


@given(
    st.lists(st.tuples(TEXTS, st.sampled_from("xyz")), max_size=30),
    st.sampled_from([0.05, 0.3, 0.5, 0.7, 0.75, 0.9, 1]),
)
@settings(max_examples=size(400))
def test_earlier_answers_are_those_that_a_comparison_with_all_finds(
    written: list[tuple[str, str]], threshold: float
) -> None:
    """The index leaves out answers that cannot be similar enough, and no others."""
    earlier = EarlierAnswers(threshold)
    for place, (text, author) in enumerate(written):
        others = [
            (before, match) for match, (before, who) in enumerate(written[:place]) if who != author
        ]
        equal = [match for other, match in others if fingerprint(other) == fingerprint(text)]
        copied = [match for other, match in others if are_copies(text, other, threshold=threshold)]
        found = earlier.source_of(text, author=author)
        expected = equal[:1] or copied[:1]
        if equal:  # the first answer of each author is kept
            assert found is not None
            assert int(found) in equal
        else:
            assert found == (str(expected[0]) if expected else None)
        earlier.add(text, author=author, match=str(place))
