"""Recorded fingerprints: which rule differs is found wherever agon knows the recorded value."""

from typing import Any

import pytest

from agon.editions import compare_recorded, edition, editions, rules_sha256
from agon.editions.mismatch import compare
from agon.errors import InvalidRule, NotFound


@pytest.mark.parametrize("name", editions())
def test_an_untouched_edition_has_no_mismatch(name: str) -> None:
    """With and without overrides."""
    released = edition(name)
    assert compare_recorded(name, {}, released.rules_sha256) is None
    rule = next(iter(type(released.rules).model_fields))
    overrides = {rule: getattr(released.rules, rule)}
    assert compare_recorded(name, overrides, released.rules_sha256) is None


def _recorded(name: str, changes: dict[str, Any]) -> str:
    return rules_sha256(edition(name).rules.model_copy(update=changes))


@pytest.mark.parametrize(
    ("changes", "differences"),
    [
        # An edition whose file was changed differs from the defaults in what was changed.
        ({"n_check": 100}, ["n_check was 200 and is 100"]),
        ({"n_check": 100, "stage_base": 7}, ["n_check was 200 and is 100",
                                             "stage_base was 200 and is 7"]),
    ],
)  # fmt: skip
def test_rules_that_were_changed_in_an_edition_are_found(
    changes: dict[str, Any], differences: list[str]
) -> None:
    """With the value that was recorded and the value of now."""
    for name in ("dojo/0.1", "dojo/0.2"):
        released = edition(name)
        tampered = released.rules.model_copy(update=changes)
        mismatch = compare(
            tampered,
            edition=name,
            recorded=released.rules_sha256,
            alternatives=[edition("dojo/0.1").rules],
        )
        assert mismatch is not None
        assert [str(one) for one in mismatch.rules] == differences
        assert str(mismatch).startswith(
            f"expected rules_sha256 {released.rules_sha256} as recorded"
        )


@pytest.mark.parametrize(
    ("recorded", "difference"),
    [
        ({"diversity": False}, "diversity was False and is True"),  # the other choice
        ({"tag_conflict": "ignore"}, "tag_conflict was 'ignore' and is 'keep'"),
        ({"max_literal_digits": 64}, "max_literal_digits was 64 and is None"),  # of dojo/0.2
    ],
)
def test_a_recorded_value_is_found_among_those_agon_knows(
    recorded: dict[str, Any], difference: str
) -> None:
    """Choices of a rule and values of other editions."""
    mismatch = compare_recorded("dojo/0.1", {}, _recorded("dojo/0.1", recorded))
    assert mismatch is not None
    assert [str(one) for one in mismatch.rules] == [difference]


def test_a_recorded_value_that_agon_does_not_know_leaves_the_candidates() -> None:
    """A hash does not contain its values; nothing is guessed."""
    mismatch = compare_recorded("dojo/0.1", {}, _recorded("dojo/0.1", {"n_check": 123}))
    assert mismatch is not None
    assert mismatch.rules == ()
    assert set(mismatch.candidates) == edition("dojo/0.1").stated
    assert "agon rules show dojo/0.1" in str(mismatch)


def test_overrides_are_part_of_what_is_compared() -> None:
    """And a ledger may name what this agon lacks."""
    recorded = _recorded("dojo/0.1", {"n_check": 50})
    assert compare_recorded("dojo/0.1", {"n_check": 50}, recorded) is None
    mismatch = compare_recorded("dojo/0.2", {"n_check": 50}, recorded)
    assert mismatch is not None
    assert [one.name for one in mismatch.rules] == [
        "max_literal_digits", "max_information_bytes", "max_string_bytes", "feedback",
        "max_submissions", "allowed_modules", "tag_spelling",
    ]  # fmt: skip
    with pytest.raises(NotFound):
        compare_recorded("dojo/9", {}, recorded)
    with pytest.raises(InvalidRule):
        compare_recorded("dojo/0.1", {"no_rule": 1}, recorded)
