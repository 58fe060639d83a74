"""Faults: a closed list of codes, each with the one owner that answers for it."""

import pytest

from agon.disciplines.arena.rounds.faults import CODES, Fault, FaultOwner


def test_every_code_has_one_owner() -> None:
    """A code in two lists would leave open whether a match is void or counted against a bot."""
    codes = [code for owned in CODES.values() for code in owned]
    assert len(codes) == len(set(codes))
    assert set(CODES) == {"ours", "transport", "bot"}


@pytest.mark.parametrize(
    ("owner", "code"),
    [
        ("ours", "late"),
        ("transport", "status-503"),
        ("bot", "refused"),
        ("bot", "status-5"),
        ("bot", "status-099"),
        ("bot", "status-2000"),
        ("bot", "status-５03"),
    ],
)
def test_codes_outside_the_list_are_rejected(owner: FaultOwner, code: str) -> None:
    """The list is part of the ledger's format."""
    with pytest.raises(ValueError, match="choose one of the closed list"):
        Fault(owner, code)


def test_listed_codes_are_accepted() -> None:
    """All of them, and every HTTP status of a bot."""
    assert {Fault(owner, code).owner for owner, codes in CODES.items() for code in codes} == set(
        CODES
    )
    assert Fault("bot", "status-301", "moved").detail == "moved"
