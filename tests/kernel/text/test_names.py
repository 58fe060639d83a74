"""Test how names are shown, folded and found."""

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agon.kernel.text.names import MAX_BEGINNING, MAX_WORDS, beginnings, fold, found_at, shown_name


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Ada Lovelace", "Ada Lovelace"),
        ("  Ada \t\n Lovelace\x00\x1b[2J", "Ada Lovelace [2J"),
        ("\ud800Ada", "Ada"),
        ("\u202eadA", "\u202eadA"),
        ("", ""),
        (" \u200b\u2060\u00ad ", ""),
        ("a" * 600, "a" * 500),
    ],
)
def test_a_name_is_shown_on_one_line(text: str, shown: str) -> None:
    """Records hold what anyone wrote: controls, half characters, nothing that is visible."""
    assert shown_name(text) == shown


def test_ascii_is_folded_like_other_text() -> None:
    """The fast way and the general one agree on every character."""
    for code in range(128):
        separates = unicodedata.category(chr(code))[0] in "CPZ"
        expected = "a b" if separates else f"a{chr(code).casefold()}b"
        assert fold(f"a{chr(code)}b") == expected
        assert fold(f"a{chr(code)}bé") == f"{expected}e"


@given(st.text())
def test_folding_twice_changes_nothing_and_case_and_accents_do_not_matter(text: str) -> None:
    """What is stored is folded; a search is folded on its own."""
    once = fold(text)
    assert fold(once) == once == fold(unicodedata.normalize("NFD", text))
    assert not any(map(unicodedata.combining, once))


@given(st.text(st.characters(codec="utf-8")), st.integers(0, 5), st.integers(1, 80))
def test_a_name_is_found_at_the_beginning_of_each_of_its_first_words(
    name: str, word: int, length: int
) -> None:
    """Whatever one types of a name from a word on finds it."""
    words = fold(name).split()[word:]
    prefix = " ".join(words)[:length].rstrip()
    text = found_at(name, prefix)
    assert (text is None) == (not prefix)
    assert text is None or text.startswith(prefix[:MAX_BEGINNING].rstrip())


def test_what_is_stored_of_a_name_is_bounded() -> None:
    """A key of an index has at most some kilobytes."""
    stored = beginnings(shown_name(chr(0xFDFA) * sys.maxsize.bit_length() * 8))
    assert max(map(len, stored)) <= MAX_BEGINNING
    assert len(beginnings(" ".join(f"w{n}" for n in range(100)))) == MAX_WORDS
