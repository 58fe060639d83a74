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
    # 53 bits are exact in a double: every reader of the ledger gets the same fraction.
    return (int.from_bytes(digest[:8], "big") >> (64 - _BITS)) / 2**_BITS


def lots(seed: str, match: str, what: str, names: Iterable[str]) -> list[tuple[int, str]]:
    """Draw a number in 0 … 2^53 (2^53 excluded) for each name: :func:`uniform` times 2^53.

    Example:
        >>> [(number, _)] = lots("s1", "m7", "panel", ["j1"])
        >>> number / 2**53 == uniform("s1", "m7", "panel", "j1")
        True
    """
    start = hashlib.sha256(f"{seed}/{match}/{what}/".encode())
    drawn = []
    for name in names:
        lot = start.copy()  # half of the time that hashing all of it takes
        lot.update(name.encode())
        drawn.append((int.from_bytes(lot.digest()[:8], "big") >> (64 - _BITS), name))
    return drawn


def is_honeypot(seed: str, match: str, *, probability: float) -> bool:
    """Draw whether a match is a honeypot (document 003, The Honeypot System), before all else.

    Example:
        >>> is_honeypot("s1", "m7", probability=0), is_honeypot("s1", "m7", probability=1)
        (False, True)
    """
    return uniform(seed, match, "honeypot") < probability


def honeypot_real(seed: str, match: str) -> str:
    """Draw which side of a honeypot is the real answer: ``a`` or ``b``, even odds."""
    return "a" if uniform(seed, match, "honeypot-real") < 0.5 else "b"  # noqa: PLR2004 - even odds


def is_audited(seed: str, match: str, *, probability: float) -> bool:
    """Draw whether a rated match is audited (document 003, The Audit System).

    Example:
        >>> is_audited("s1", "m7", probability=0), is_audited("s1", "m7", probability=1)
        (False, True)
    """
    return uniform(seed, match, "audit") < probability


def shown_first(seed: str, match: str, judges: Iterable[str]) -> dict[str, str]:
    """Draw which response each judge sees as A: ``a`` or ``b``, even odds.

    Source: document 003, Label Randomization.
    """
    # Compared as whole numbers, since lots() saves the division for each judge.
    half = 2 ** (_BITS - 1)
    return {judge: "a" if lot < half else "b" for lot, judge in lots(seed, match, "label", judges)}


def sample(seed: str, match: str, ids: Iterable[str], *, size: int) -> list[str]:
    """Draw ``count`` of the ids, each subset equally likely.

    Each id gets a number (:func:`lots`); the lowest are drawn, lowest first (equal numbers: smaller
    id first). The order of the ids does not matter.

    Example:
        >>> drawn = sample("s1", "m7", ["j1", "j2", "j3", "j4"], size=3)
        >>> len(set(drawn)), drawn == sample("s1", "m7", ["j4", "j3", "j2", "j1"], size=3)
        (3, True)
    """
    # set(): an id that is listed twice has one number, and would be drawn twice.
    return [judge for _, judge in sorted(lots(seed, match, "panel", set(ids)))[:size]]
