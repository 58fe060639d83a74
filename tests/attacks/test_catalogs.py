"""Simulated attackers and strategies of the attack lab: one name, one meaning."""

import pytest

from agon.attacks.catalog import LABS, lab_of
from agon.disciplines import discipline

SHARED = {
    "arena": set[str](),
    "challenge": set[str](),
    "community": {"reciprocal-ring", "self-feedback", "threshold-hugging"},
    "dojo": {"tag-farming"},
}
"""The names in both catalogs (docs/decisions/0019)."""

DIFFERING = {"tag-farming": "attackers are accounts apart, the strategy is a participant"}


@pytest.mark.parametrize("name", LABS)
def test_a_name_in_both_catalogs_has_one_meaning(name: str) -> None:
    """A reader of findings and of prices takes the same name for the same attack."""
    attackers = discipline(name).attacks
    strategies = {strategy.name: strategy for strategy in lab_of(name).strategies}
    assert attackers.keys() & strategies.keys() == SHARED[name]
    for shared in SHARED[name] - DIFFERING.keys():
        assert attackers[shared] in strategies[shared].meaning
    for differing in SHARED[name] & DIFFERING.keys():
        assert attackers[differing] not in strategies[differing].meaning
