"""Draw verifiable random samples: every draw is a hash of the recorded seed.

A draw is SHA-256 of the seed, the match and what is drawn, joined by ``/``; its first 53 bits,
read as a fraction of 2^53, are a number uniform in 0 … 1. Whoever knows the seed can repeat any
draw with only a SHA-256 tool, in any order and without earlier draws. A draw does not show that the
seed was not chosen, or that the result was secret before the votes (docs/rules/arena.md).
"""

import hashlib
from collections.abc import Iterable

_BITS = 53  # of a double's mantissa


def uniform(seed: str, *names: str) -> float:
    """Draw a number in 0 … 1 (1 excluded) from a seed and the names of what is drawn.

    Example:
        >>> uniform("s1", "m7", "honeypot") == uniform("s1", "m7", "honeypot")
        True
        >>> import hashlib  # the same by hand with sha256sum
        >>> digest = hashlib.sha256(b"s1/m7/honeypot").hexdigest()
        >>> (int(digest, 16) >> (256 - 53)) / 2**53 == uniform("s1", "m7", "honeypot")
        True
    """
    digest = hashlib.sha256("/".join((seed, *names)).encode()).digest()
    return (int.from_bytes(digest[:8], "big") >> (64 - _BITS)) / 2**_BITS


def is_honeypot(seed: str, match: str, *, probability: float) -> bool:
    """Draw whether a match is a honeypot (seed 003, The Honeypot System); drawn before all else.

    Example:
        >>> is_honeypot("s1", "m7", probability=0), is_honeypot("s1", "m7", probability=1)
        (False, True)
    """
    return uniform(seed, match, "honeypot") < probability


def honeypot_real(seed: str, match: str) -> str:
    """Draw which side of a honeypot is the real answer: ``a`` or ``b``, even odds."""
    return "a" if uniform(seed, match, "honeypot-real") < 0.5 else "b"  # noqa: PLR2004 - even odds


def is_audited(seed: str, match: str, *, probability: float) -> bool:
    """Draw whether a rated match is audited (seed 003, The Audit System).

    Example:
        >>> is_audited("s1", "m7", probability=0), is_audited("s1", "m7", probability=1)
        (False, True)
    """
    return uniform(seed, match, "audit") < probability


def shown_first(seed: str, match: str, judge: str) -> str:
    """Draw which response a judge sees as A: ``a`` or ``b``, even odds, each judge its own.

    Source: seed 003, Label Randomization.
    """
    return "a" if uniform(seed, match, "label", judge) < 0.5 else "b"  # noqa: PLR2004 - even odds


def sample(seed: str, match: str, ids: Iterable[str], *, size: int) -> list[str]:
    """Draw ``count`` of the ids, each subset equally likely.

    Each id gets :func:`uniform` of its name; the lowest values are drawn, lowest first
    (equal values: smaller id first). The order of the ids does not matter.

    Example:
        >>> drawn = sample("s1", "m7", ["j1", "j2", "j3", "j4"], size=3)
        >>> len(set(drawn)), drawn == sample("s1", "m7", ["j4", "j3", "j2", "j1"], size=3)
        (3, True)
    """
    lots = sorted((uniform(seed, match, "panel", judge), judge) for judge in set(ids))
    return [judge for _, judge in lots[:size]]
