"""Refusals: exit codes as specified, and suggestions that help."""

import importlib
import pkgutil

import pytest

import agon
from agon import errors


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.CheckFailed, 1),
        (errors.Unreadable, 2),
        (errors.InvalidRule, 2),
        (errors.NotScorable, 2),
        (errors.NotFound, 3),
        (errors.Conflict, 4),
        (errors.Forbidden, 4),
        (errors.Gone, 4),
        (errors.Unauthenticated, 4),
        (errors.TooMany, 5),
        (errors.Unavailable, 5),
    ],
)
def test_every_refusal_has_the_exit_code_of_the_contract(
    error: type[errors.AgonError], code: int
) -> None:
    """Scripts branch on these numbers."""
    assert error.exit_code == code


def test_a_suggestion_ignores_case() -> None:
    """People type gpt-4 for GPT 4."""
    assert errors.did_you_mean("gpt-4", ["GPT 4", "command"]) == "did you mean GPT 4?"


def test_a_long_list_of_choices_is_cut() -> None:
    """A thousand names are no help."""
    hint = errors.did_you_mean("zzz", [f"name{n:04}" for n in range(1000)])
    assert hint.startswith("known: name0000, ")
    assert hint.endswith(" and 988 more")


def test_every_refusal_has_a_stable_code() -> None:
    """Programs that call the API branch on the code; messages may be reworded."""
    codes = {error.__name__: error.code for error in errors.AgonError.__subclasses__()}
    assert codes["NotFound"] == "not-found"
    assert codes["TooMany"] == "too-many"
    assert codes["Unauthenticated"] == "unauthenticated"
    assert errors.AgonError.code == "agon-error"


def test_no_two_errors_share_a_code() -> None:
    """A client would take a wrong URL, ``forbidden``, for a missing permission."""
    for _, name, _ in pkgutil.walk_packages(agon.__path__, "agon."):
        if not name.startswith(("agon.examples", "agon.__main__", "agon.store.migrations")):
            importlib.import_module(name)
    kinds = [errors.AgonError]
    for kind in kinds:
        kinds += kind.__subclasses__()
    known: dict[str, set[type[errors.AgonError]]] = {}
    for kind in kinds:
        known.setdefault(kind.code, set()).add(kind)
    assert {code: classes for code, classes in known.items() if len(classes) > 1} == {}


def test_too_many_says_when_to_come_back() -> None:
    """HTTP answers it as Retry-After."""
    assert errors.TooMany("slow down; come back later", retry_after=1.5).retry_after == 1.5
