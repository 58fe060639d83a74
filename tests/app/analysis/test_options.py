"""The options of reading and scoring, which functions hand on as they get them."""

from inspect import signature
from typing import Any

import pytest

import agon

EXAMPLE = "examples/tutorial"
READING = {"columns", "where", "mapping", "ignore", "engine"}
RULES = {"edition", "overrides", "as_of"}


@pytest.mark.parametrize(
    ("function", "options"),
    [
        (agon.read_records, READING),
        (agon.compare, READING),
        (agon.score, READING | RULES),
        (agon.explain, READING | RULES),
        (agon.check, READING | RULES),
        (agon.rate, READING | RULES),
        (agon.audit, READING | RULES),
    ],
)
def test_signatures_name_every_option(function: Any, options: set[str]) -> None:
    """``help()`` and editors without a type checker show signatures, not ``**options``."""
    parameters = signature(function).parameters
    assert options <= set(parameters)
    assert not [one for one in parameters.values() if one.kind is one.VAR_KEYWORD]
    assert {parameters[name].default for name in options} == {None}


@pytest.mark.parametrize("function", [agon.score, agon.check, agon.compare, agon.read_records])
def test_a_misspelled_option_is_an_error_of_the_function_that_was_called(function: Any) -> None:
    """An option that is swallowed would give the board of all rows."""
    with pytest.raises(
        TypeError, match=rf"^{function.__name__}\(\) has no option 'wher': .* where"
    ):
        function("community", EXAMPLE, wher={"language": "en"})


@pytest.mark.exhaustive
def test_options_that_are_none_are_options_that_are_not_stated() -> None:
    """A caller that hands on what it got need not leave out what it did not get."""
    stated: agon.ScoringOptions = {
        "columns": None, "where": None, "mapping": None, "ignore": None, "engine": None,
        "edition": None, "overrides": None, "as_of": None,
    }  # fmt: skip
    whole = agon.score("community", EXAMPLE)
    assert agon.score("community", EXAMPLE, **stated).fingerprint == whole.fingerprint
    assert agon.explain("community", EXAMPLE, "ada", **stated).score == whole.explain("ada").score
