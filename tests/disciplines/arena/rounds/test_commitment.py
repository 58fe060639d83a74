"""Commitments: a draw can be repeated from its seed and head, and every change is named."""

import hashlib

import pytest

from agon.disciplines.arena.rounds.commitment import commitment, drawing_seed, verify_draw

HEAD = "ab" * 32
COMMITTED = {"round": "r12", "commitment": commitment("secret"), "method": "arena-round-2"}
MADE = {
    "purpose": "round r12",
    "seed": "secret",
    "method": "arena-round-2",
    "result": {"head": HEAD, "pairs": []},
}


def test_a_commitment_can_be_repeated_with_sha256sum() -> None:
    """Whoever checks a draw needs no agon for it."""
    assert commitment("secret") == hashlib.sha256(b"secret").hexdigest()
    assert drawing_seed("secret", HEAD) == hashlib.sha256(f"secret/{HEAD}".encode()).hexdigest()


def test_seed_and_head_each_change_all_draws() -> None:
    """Neither the operator (knows the seed) nor a participant (can append) decides alone."""
    seeds = {
        drawing_seed("secret", HEAD),
        drawing_seed("other", HEAD),
        drawing_seed("secret", "cd"),
    }
    assert len(seeds) == 3


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        ({"seed": "other"}, "the secret number does not have the committed SHA-256"),
        ({"result": {"head": "cd"}}, f"the head is cd, before the commitment it was {HEAD}"),
        ({"result": []}, f"the head is None, before the commitment it was {HEAD}"),
        ({"method": "m"}, "the method is m, committed was arena-round-2"),
        ({"purpose": "round r13"}, "the purpose is 'round r13', committed was round r12"),
    ],
)
def test_every_difference_from_the_commitment_is_named(
    change: dict[str, object], difference: str
) -> None:
    """The settled round reveals what was committed, or the check says what it does not."""
    assert verify_draw(COMMITTED, MADE, HEAD) == ()
    assert verify_draw(COMMITTED, {**MADE, **change}, HEAD) == (difference,)
