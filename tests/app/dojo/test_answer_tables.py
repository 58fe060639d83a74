"""Test answer tables without literals: which editions reject them; honest programs pass."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import agon
from agon.app.dojo.example import example_problems
from agon.app.dojo.inspection import inspect, rules_in_force
from agon.app.sandbox import RunRequest
from agon.disciplines.dojo.payload import measure
from agon.disciplines.dojo.records import SCHEMA
from agon.records import read_rows
from disciplines.dojo.reading import read
from fakes.sandbox import FakeSandbox

TERMS = [1, 2]
while len(TERMS) < 200:
    TERMS.append((TERMS[-1] * 7919 + TERMS[-2] * 104_729 + 12_345) % 9973)
"""Terms of up to four digits that no short program gives."""

NAMES = [f"t{at:03d}_{term}" for at, term in enumerate(TERMS)]

CHEATS = {
    "keyword names": (
        "def f(**k):\n    return [int(n[5:]) for n in k]\n"
        f"def solver():\n    return f({', '.join(f'{name}=f' for name in NAMES)})\n"
    ),
    "names read by dir()": (
        f"def f():\n    {'='.join(NAMES)}=0\n    return [int(n[5:]) for n in dir()]\n"
        "def solver():\n    return f()\n"
    ),
    "names in a class body": (
        f"class T:\n    {'='.join(NAMES)}=0\n"
        "def solver():\n    return [int(n[5:]) for n in dir(T) if n[0] == 't']\n"
    ),
    "texts of NameErrors": (
        "def solver():\n    digits = []\n"
        + "".join(
            f"    try: {'_'.join(['t', *map(str, TERMS[at : at + 20])])}\n"
            "    except NameError as e: digits += str(e).split(\"'\")[1][2:].split('_')\n"
            for at in range(0, 200, 20)
        )
        + "    return [int(digit) for digit in digits]\n"
    ),
    "one huge hexadecimal integer": (
        f"def solver():\n    n = {sum(t << 14 * at for at, t in enumerate(TERMS)):#x}\n"
        "    return [n >> 14 * i & 16383 for i in range(200)]\n"
    ),
}
"""Programs that contain all 200 terms, by the place of the terms."""

HONEST = {
    "long descriptive names": """
from math import comb

number_of_terms_to_compute = 200


def number_of_partitions_into_distinct_parts(largest_number_to_partition):
    partitions_by_number = [1] + [0] * largest_number_to_partition
    for size_of_the_next_part in range(1, largest_number_to_partition + 1):
        for number_to_partition in range(largest_number_to_partition, size_of_the_next_part, -1):
            partitions_by_number[number_to_partition] += partitions_by_number[
                number_to_partition - size_of_the_next_part
            ]
    return partitions_by_number


def binomial_transform_of_the_sequence(original_sequence_terms):
    transformed_sequence_terms = []
    for index_of_the_transformed_term in range(len(original_sequence_terms)):
        running_sum_of_products = 0
        for index_of_the_original_term in range(index_of_the_transformed_term + 1):
            binomial_coefficient = comb(index_of_the_transformed_term, index_of_the_original_term)
            running_sum_of_products += (
                binomial_coefficient * original_sequence_terms[index_of_the_original_term]
            )
        transformed_sequence_terms.append(running_sum_of_products)
    return transformed_sequence_terms


def solver():
    partitions_into_distinct_parts = number_of_partitions_into_distinct_parts(
        number_of_terms_to_compute - 1
    )
    return binomial_transform_of_the_sequence(partitions_into_distinct_parts)
""",
    "a class with many methods": """
class PolynomialOverTheIntegers:
    def __init__(self, coefficients):
        self.coefficients = list(coefficients)

    def degree(self):
        return len(self.coefficients) - 1

    def multiplied_by(self, other_polynomial, maximum_degree):
        product_coefficients = [0] * (maximum_degree + 1)
        for left_exponent, left_coefficient in enumerate(self.coefficients):
            for right_exponent, right_coefficient in enumerate(other_polynomial.coefficients):
                if left_exponent + right_exponent <= maximum_degree:
                    product_coefficients[left_exponent + right_exponent] += (
                        left_coefficient * right_coefficient
                    )
        return PolynomialOverTheIntegers(product_coefficients)

    def evaluated_at(self, point):
        value = 0
        for coefficient in reversed(self.coefficients):
            value = value * point + coefficient
        return value


def solver():
    generating_function = PolynomialOverTheIntegers([1, 1, 2, 5])
    power = PolynomialOverTheIntegers([1])
    terms = []
    for exponent in range(200):
        power = power.multiplied_by(generating_function, maximum_degree=20)
        terms.append(power.evaluated_at(point=exponent) % 1000003)
    return terms
""",
    "a recurrence of order 20 with six-digit coefficients": (
        f"COEFFICIENTS = {[100_003 + 7919 * k for k in range(20)]}\n"
        f"INITIAL_TERMS = {[200_003 + 104_729 * k % 799_999 for k in range(20)]}\n"
        "MODULUS = 1000000007\n"
        "def solver():\n    terms = list(INITIAL_TERMS)\n    while len(terms) < 200:\n"
        "        window = terms[-20:]\n"
        "        terms.append(sum(c * t for c, t in zip(COEFFICIENTS, window)) % MODULUS)\n"
        "    return terms\n"
    ),
    "symbolic computation with sympy": """
from fractions import Fraction
from itertools import accumulate, islice, repeat

from sympy import Function, Matrix, Poly, Rational, Symbol, bernoulli, binomial, divisor_sigma
from sympy import factorial, fibonacci, lucas, mobius, primepi, primerange, rsolve, series, totient


def solver():
    index, unknown = Symbol("n", integer=True, positive=True), Function("a")
    closed_form = rsolve(
        unknown(index + 2) - unknown(index + 1) - unknown(index), unknown(index),
        {unknown(0): 0, unknown(1): 1},
    )
    transition = Matrix([[1, 1], [1, 0]])
    return [int(closed_form.subs(index, k).simplify()) + int((transition**k)[0, 1])
            for k in range(200)]
""",
}
"""Programs as users write them."""


def rejected(source: str, edition: str) -> bool:
    """Return whether an edition's scan or payload policy rejects a program."""
    inspection = inspect(source.encode(), kind="solver", rules=rules_in_force(edition))
    return bool(inspection.rejected_for())


@pytest.mark.exhaustive
@pytest.mark.parametrize("cheat", CHEATS)
def test_a_table_without_literals_passes_0_1_with_a_finding_and_not_0_2(cheat: str) -> None:
    """The seed counts literals; 0.2 counts what names and digits can hold."""
    source = CHEATS[cheat]
    run = FakeSandbox().run(RunRequest(source=source.encode()))
    assert run.terms == tuple(map(str, TERMS)), run.reason
    assert not rejected(source, "0.1")
    assert rejected(source, "0.2")
    row = {"id": "s", "problem_id": "p", "user_id": "u", "created_at": "2026-01-01",
           "source": source, "verdict": "ok"}  # fmt: skip
    records = read_rows(SCHEMA, {"problems": [{"id": "p"}], "submissions": [row]})
    lax, strict = (agon.score("dojo", records, edition=name) for name in ("0.1", "0.2"))
    assert [result.board("problem:p").rows()[0]["base"] for result in (lax, strict)] == [1000, 0]
    for result in (lax, strict):
        assert "name-payload" in {finding.code for finding in result.findings}


@pytest.mark.parametrize("name", HONEST)
def test_honest_programs_are_far_below_the_limits_of_both_editions(name: str) -> None:
    """A limit must not reject what users write."""
    source = HONEST[name]
    assert not rejected(source, "0.1")
    assert not rejected(source, "0.2")
    assert measure(read(source)).information_bytes <= 500


def example_sources() -> Iterator[Path]:
    """Yield the programs of the example season and those of the tests of the classifier."""
    for package in example_problems():
        yield from package.rglob("solver.py")
    yield from (Path(__file__).parents[2] / "disciplines" / "dojo" / "solvers").rglob("*.py")


def test_all_programs_of_the_repository_except_a_table_are_below_a_fifth_of_the_limit() -> None:
    """79 programs: all except one, which is a table of primes, are far below."""
    sizes = {
        path: measure(read(path.read_text())).information_bytes
        for path in example_sources()
        if "def solver" in path.read_text()
    }
    above = {path.parts[-5] + "/" + path.parts[-3] for path, size in sizes.items() if size > 120}
    assert len(sizes) > 75
    assert above == {"primes/jo"}


@pytest.mark.parametrize(
    ("source", "size"),
    [
        ("", 0),
        ("x = 1", 2),
        ("x = x", 1),
        ("abcd = abcd", 2),
        ("abc = abc", 2),
        ("x = 0xff + 1_000 + 12.5e3", 11),
        ("f(keyword=value.attribute)", 1 + 7 + 5 + 9),
        ("def f(a, *b, c=1, **d): pass", 5 + 1),
        ("import math as m", 4 + 1),
        ("from math import comb, gcd as g", 4 + 4 + 3 + 1),
        ("class Name(Base): pass", 8),
        ("try: pass\nexcept E as error: pass", 6),
        ("global one, two", 6),
        ("match x:\n case P(key=v): pass\n case {**rest}: pass", 1 + 1 + 3 + 1 + 4),
        ("x = 'text' # comment", 1),
        ("x = f'{name:{12}}'", 1 + 4 + 2),
        ("größe = größe", 4),
    ],
)
def test_information_is_the_bytes_of_names_and_digits(source: str, size: int) -> None:
    """Computed by hand: names once, half if they occur again; digits as written."""
    assert measure(read(source)).information_bytes == size


WIDE = "".join(chr(0x20000 + TERMS[at] * 80 + at % 80) for at in range(200))
"""A term in each character, next to which there is room for much more."""


def wide_tables(digits: int) -> dict[str, str]:
    """Return programs with a table of so many digits in characters of twenty bits."""
    text = "".join(chr(0x10000 + (7 * at * at + at) % 0xF0000) for at in range(digits // 6))
    pieces = [text[at : at + 4] for at in range(0, len(text), 4)]
    halves = text[: len(text) // 2], text[len(text) // 2 :]
    escaped = "".join(f"\\U{ord(each):08x}" for each in text)
    return {
        "one string": f"t = '{text}'\n",
        "escapes": f"t = '{escaped}'\n",
        "two strings": f"t = '{halves[0]}' + '{halves[1]}'\n",
        "adjacent strings": f"t = '{halves[0]}' '{halves[1]}'\n",
        "f-string": f"t = f'{text}{{1}}'\n",
        "format specification": f"t = f'{{1:{text}}}'\n",
        "docstring": f"def f():\n    '{text}'\n",
        "many strings": f"t = ({', '.join(map(repr, pieces))})\n",
    }


@pytest.mark.parametrize("place", wide_tables(8000))
def test_a_table_in_wide_characters_passes_0_1_alone(place: str) -> None:
    """1,334 characters of twenty bits hold 8,000 digits, forty for each of 200 terms."""
    source = wide_tables(8000)[place]
    payload = measure(read(source))
    assert payload.string_chars <= 2000
    assert payload.string_bytes > 2000
    assert not rejected(source, "0.1")
    assert rejected(source, "0.2")
    assert rejected(source, "hardened-1")


def test_a_table_of_two_hundred_wide_characters_passes_0_2_and_not_hardened_1() -> None:
    """Its two hundred characters were room for 1,200 digits."""
    source = f"def solver():\n    return [(ord(c) - 0x20000) // 80 for c in '{WIDE}']\n"
    assert FakeSandbox().run(RunRequest(source=source.encode())).terms == tuple(map(str, TERMS))
    assert not rejected(source, "0.2")  # 800 bytes
    assert rejected(source, "hardened-1")
    assert not rejected("x = '" + "a" * 200 + "'\n", "hardened-1")
    assert not rejected("x = b'" + "a" * 200 + "'\n", "hardened-1")
    assert rejected("x = '" + "\xe9" * 101 + "'\n", "hardened-1")
    assert rejected("x = '\\ud800" + "a" * 198 + "'\n", "hardened-1")
