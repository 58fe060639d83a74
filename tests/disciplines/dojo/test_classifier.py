"""Method classifier: coarse, measured, and slow to contradict (document 002, 6.1 and 6.3)."""

from itertools import product
from pathlib import Path
from typing import get_args

import pytest

from agon.disciplines.dojo.classifier import Classification, Tag, classify, contradicts
from disciplines.dojo.reading import read

SOLVERS = sorted(Path(__file__).with_name("solvers").rglob("*.py.txt"))
# Programs whose method does not show in their shape; the folder they stand in is the truth.
MISSED = {
    "accumulate_pairs": "loops",
    "lagrange_by_hand": "loops",
    "newton_differences": "loops",
    "operator_class": "loops",
    "two_variables": "loops",
}


def name_of(path: Path) -> str:
    """Return the name of an example solver."""
    return path.name.removesuffix(".py.txt")


def guess(path: Path) -> Classification:
    """Classify an example solver."""
    return classify(read(path.read_bytes()))


@pytest.mark.parametrize("path", SOLVERS, ids=name_of)
def test_each_example_is_classified_as_measured(path: Path) -> None:
    """The folder names the true method; the known misses are listed, none may be added."""
    assert guess(path).tag == MISSED.get(name_of(path), path.parent.name)


def test_the_accuracy_is_as_documented() -> None:
    """58 of 63 example programs, all seven tags among them."""
    right = sum(guess(path).tag == path.parent.name for path in SOLVERS)
    assert (right, len(SOLVERS)) == (58, 63)
    assert {path.parent.name for path in SOLVERS} == set(get_args(Tag))


@pytest.mark.parametrize("path", SOLVERS, ids=name_of)
def test_an_honest_tag_is_never_contradicted(path: Path) -> None:
    """Ignoring an honest tag takes points from an honest person; the misses are included."""
    assert not contradicts(path.parent.name, guess(path))


def test_only_the_four_visible_methods_can_be_contradicted() -> None:
    """Free words, unspecified, other, loops and guesses on paper say nothing to check."""
    contradicted = {
        declared
        for path, declared in product(
            SOLVERS, [*get_args(Tag), "unspecified", "my own method", "", "CLOSED_FORM"]
        )
        if contradicts(declared, guess(path))
    }
    assert contradicted == {"closed_form", "linear_recurrence", "matrix_power", "search_enum"}


@pytest.mark.parametrize(
    ("declared", "solver"),
    [
        ("matrix_power", "squares"),
        ("linear_recurrence", "catalan_binomial"),
        ("search_enum", "triangular_lambda"),
        ("closed_form", "fibonacci_pair"),
    ],
)
def test_a_plain_lie_is_contradicted(declared: str, solver: str) -> None:
    """A tag farmer who declares what the program cannot be is seen."""
    path = next(path for path in SOLVERS if name_of(path) == solver)
    assert contradicts(declared, guess(path))


def test_evidence_names_the_first_line_that_shows_each_feature() -> None:
    """A finding quotes lines that a person can read."""
    source = (
        "def solver():\n    a = [1, 1]\n    while len(a) < 200:\n        a.append(a[-1] + a[-2])\n"
    )
    assert classify(read(source)).evidence == (
        ("carried state", 3),
        ("linear recurrence", 4),
    )


def test_an_unrecognized_program_is_other_and_contradicts_no_tag() -> None:
    """Missing evidence is no evidence against a user."""
    empty = classify(read(""))
    assert empty == Classification("other", ())
    assert not any(contradicts(tag, empty) for tag in get_args(Tag))


def test_deep_programs_are_classified_without_a_traceback() -> None:
    """The shapes are compared in loops, not by recursion."""
    deep = "for i in x:\n a = [0]\n a.append(" + "+".join(["a[-1]"] * 280) + ")"
    assert classify(read(deep)).tag == "linear_recurrence"
