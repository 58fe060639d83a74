"""Payload policy: what a program carries in literals (document 002, 3)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agon.disciplines.dojo.payload import PayloadLimits, ProgramPayload, check, measure
from agon.disciplines.dojo.program import Violation
from agon.disciplines.dojo.rules import DojoRules
from disciplines.dojo.reading import read
from sizes import size


def payload(source: str) -> ProgramPayload:
    """Measure a source."""
    return measure(read(source))


def violations(source: str, *, digits: int | None = 64) -> list[Violation]:
    """Check a source against the spec's numbers."""
    rules = DojoRules(
        max_numeric_literals=120,
        max_string_literal_chars=2000,
        max_list_tuple_elements=400,
        max_literal_digits=digits,
        max_information_bytes=None,
        max_string_bytes=None,
    )
    return check(payload(source), PayloadLimits.of(rules))


@pytest.mark.parametrize(
    ("source", "numbers", "digits"),
    [
        ("", 0, 0),
        ("x = -1", 1, 1),
        ("x = 0xff + 0X_F_F + 0b1010 + 0o17", 4, 4),
        ("x = 1_000_000", 1, 7),
        ("x = 123456.75e10 + 12345j", 2, 0),
        ("x = 10**99", 2, 2),
        ("x = True + None", 0, 0),
        ("x = 00000", 1, 5),
        ("x1 = y22", 0, 0),
        ("x = '1 2 3'  # 4 5", 0, 0),
        ("x = 1 + \\\n 2", 2, 1),
        ("x = [1,\n\f\t2]", 2, 1),
        ("x = f'{1}{y:{22}}{f\"{333}\"}'", 3, 3),
        ("x = f'{0xff}{1.5}{True}'", 2, 3),
        ("x = 1if y else 2", 2, 1),
        ("x[1:2, ...]", 2, 1),
        ("match x:\n case -1 | 2+3j: pass", 3, 1),
    ],
)
def test_numbers_are_counted_as_written(source: str, numbers: int, digits: int) -> None:
    """Each number is one literal wherever it hides; digits leave out prefix and underscores."""
    measured = payload(source)
    assert (measured.numeric_literals, measured.longest_integer) == (numbers, digits)


@pytest.mark.parametrize(
    ("source", "chars"),
    [
        ("x = 'abc'", 3),
        ("x = b'abc\\x00'", 4),
        ("x = '\\u00e9'", 1),
        ("x = r'\\n'", 2),
        ("x = 'a' 'b'\\\n 'c'", 3),
        ("x = '\\ud800'", 1),
        ("x = '𝟙'", 1),
        ("def f():\n    '''doc\n    string'''", 14),
        ("x = f'ab{y}c'", 3),
        ("x = f'{{}}'", 2),
        ("x = f'{y:>10}'", 3),
        ("x = f'{y!r}{\"in\"}'", 2),
        ("x = f'a' 'b' f'{y}c'", 3),
        ("x = {'k': 'v'}", 2),
        ("x: 'int' = 1", 3),
        ("# 'comment'", 0),
    ],
)
def test_string_characters_are_those_of_the_value(source: str, chars: int) -> None:
    """Escapes count once, docstrings and every text part of an f-string count."""
    assert payload(source).string_chars == chars


@pytest.mark.parametrize(
    ("source", "elements"),
    [
        ("x = []", 0),
        ("x = [y, z, *w]", 3),
        ("x = y, z", 2),
        ("x = [[y] * 3, (z, z, z, z)]", 4),
        ("a, b, c = x", 0),
        ("x = {y, z}; w = {y: z}", 0),
        ("x = f'{[y, z]}'", 2),
        ("x = [y for y in z]", 0),
    ],
)
def test_elements_are_those_of_the_largest_list_or_tuple(source: str, elements: int) -> None:
    """Displays count, targets, comprehensions, sets and dicts do not."""
    assert payload(source).largest_sequence == elements


@pytest.mark.parametrize(
    ("at_limit", "above", "what"),
    [
        ("x = " + "1+" * 119 + "1", "x = " + "1+" * 120 + "1", "121 numeric literals, 120"),
        (f"x = '{'a' * 2000}'", f"x = '{'a' * 2000}' + 'b'", "2001 string characters, 2000"),
        (f"x = [{'y,' * 400}]", f"x = [{'y,' * 401}]", "401 elements, 400"),
        (f"x = {'9' * 64}", f"x = {'9' * 65}", "65 digits, 64"),
    ],
)
def test_a_limit_allows_itself_and_rejects_one_more(at_limit: str, above: str, what: str) -> None:
    """Exceeding is being strictly above (document 002, 3.2)."""
    assert violations(at_limit) == []
    (violation,) = violations(above)
    assert what in violation.what
    assert violation.verdict == "rejected_policy"


def test_edition_0_1_leaves_long_integers_alone() -> None:
    """The hole is closed by edition 0.2; the reference edition follows the seed."""
    source = f"x = 0x{'f' * 50_000}"
    assert violations(source, digits=None) == []
    assert "50000 digits" in violations(source)[0].what


def test_everything_is_reported_at_once_and_in_its_place() -> None:
    """One round of correction, not four."""
    source = f"x = '{'a' * 2001}'\ny = [{'z, ' * 401}]\n\nw = {'1, ' * 120}{'9' * 65}\n"
    result = [(v.line, v.column) for v in violations(source)]
    assert result == [(1, 5), (2, 5), (4, 365), (4, 365)]


def test_a_total_is_reported_where_it_goes_over() -> None:
    """The literal that crosses the limit is reported."""
    (violation,) = violations("x = 1\n" * 125)
    assert (violation.line, violation.column) == (121, 5)


def test_a_number_in_an_f_string_has_its_decimal_digits() -> None:
    """How it was written is not known in every Python version; its value is."""
    assert payload("x = f'{0x" + "f" * 6000 + "}'").longest_integer == 7225


@given(st.integers(min_value=0, max_value=10**80))
@settings(max_examples=size(100), deadline=None)
def test_digits_in_and_outside_f_strings_agree_for_decimals(value: int) -> None:
    """The same integer must not become shorter by hiding it."""
    plain, hidden = payload(f"x = {value}"), payload(f"x = f'{{{value}}}'")
    assert plain.longest_integer == hidden.longest_integer == len(str(value))


@given(st.lists(st.text(max_size=6), max_size=6))
@settings(max_examples=size(50), deadline=None)
def test_string_characters_add_up(texts: list[str]) -> None:
    """Splitting a text over literals hides none of it."""
    source = "x = [" + ", ".join(ascii(text) for text in texts) + "]"
    assert payload(source).string_chars == sum(map(len, texts))
