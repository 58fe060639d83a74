"""Commit to the seed of a round before anything is drawn from it, and verify that afterwards.

``draw-committed`` holds the SHA-256 of a secret seed. What is drawn depends on that seed and on the
ledger's head when the commitment was appended: the operator cannot choose the seed after the head
is known, and a participant, who can change the head, does not know the seed.
"""

import hashlib
from collections.abc import Mapping
from typing import Any


def commitment(seed: str) -> str:
    """Return the commitment to a seed: its SHA-256 (hex).

    Example:
        >>> commitment("s1")[:16]  # printf s1 | sha256sum
        'e8bc163c82eee187'
    """
    return hashlib.sha256(seed.encode()).hexdigest()


def drawing_seed(seed: str, head: str) -> str:
    """Return the seed of all draws of a round: SHA-256 (hex) of ``seed/head``.

    Args:
        seed: the secret seed.
        head: the hash (hex) of the ledger's last entry before ``draw-committed``.

    Example:
        >>> drawing_seed("s1", "00") == commitment("s1/00")
        True
    """
    return hashlib.sha256(f"{seed}/{head}".encode()).hexdigest()


def verify_draw(
    committed: Mapping[str, Any], made: Mapping[str, Any], head: str
) -> tuple[str, ...]:
    """Return everything in which a draw differs from its commitment; empty when it holds.

    Args:
        committed: the body of ``draw-committed``: ``round``, ``commitment``, ``method``.
        made: the body of ``draw-made``: ``purpose``, ``seed``, ``method`` and in ``result`` the
            ``head``.
        head: the hash (hex) of the ledger's last entry before ``draw-committed``.

    Example:
        >>> committed = {"round": "r1", "commitment": commitment("s1"), "method": "m"}
        >>> made = {"purpose": "round r1", "seed": "s1", "method": "m", "result": {"head": "00"}}
        >>> verify_draw(committed, made, "00")
        ()
        >>> verify_draw(committed, {**made, "seed": "s2"}, "00")
        ('the seed does not have the committed SHA-256',)
    """
    differences = []
    if commitment(str(made["seed"])) != committed["commitment"]:
        differences.append("the seed does not have the committed SHA-256")
    result = made.get("result")
    recorded_head = result.get("head") if isinstance(result, Mapping) else None
    if recorded_head != head:
        differences.append(f"the head is {recorded_head}, before the commitment it was {head}")
    if made["method"] != committed["method"]:
        differences.append(f"the method is {made['method']}, committed was {committed['method']}")
    if made["purpose"] != f"round {committed['round']}":
        differences.append(
            f"the purpose is {made['purpose']!r}, committed was round {committed['round']}"
        )
    return tuple(differences)
