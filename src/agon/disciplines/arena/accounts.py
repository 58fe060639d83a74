"""Detect accounts that may belong to one person by similar handles."""

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import combinations


def handle_base(handle: str) -> str:
    """Return what remains of a handle without case, punctuation and trailing digits.

    Example:
        >>> handle_base("@Ada_Lovelace_42"), handle_base("ada.lovelace7"), handle_base("1234")
        ('adalovelace', 'adalovelace', '')
    """
    folded = unicodedata.normalize("NFKC", handle).casefold()
    plain = "".join(c for c in folded if unicodedata.category(c)[0] in "LMN")
    return plain.rstrip("0123456789")


def edit_distance(first: str, second: str, *, most: int) -> int | None:
    """Count the letters to insert, delete or replace (Levenshtein); None when more than ``most``.

    Example:
        >>> edit_distance("kitten", "sitting", most=3), edit_distance("kitten", "sitting", most=2)
        (3, None)
    """
    if abs(len(first) - len(second)) > most:
        return None
    row = list(range(len(second) + 1))
    for i, letter in enumerate(first, start=1):
        corner, row[0] = row[0], i
        for j, against in enumerate(second, start=1):
            step = min(row[j] + 1, row[j - 1] + 1, corner + (letter != against))
            corner, row[j] = row[j], step
        if min(row) > most:
            return None
    return row[-1] if row[-1] <= most else None


def similarity(first: str, second: str) -> float:
    """Return the edit similarity of two words: 1 − distance / length of the longer.

    Example:
        >>> similarity("moonlight", "moonlught")  # 1 of 9
        0.8888888888888888
    """
    longer = max(len(first), len(second))
    distance = edit_distance(first, second, most=longer)
    return 1.0 if not longer or distance is None else 1.0 - distance / longer


_MAX_EDITS = 2  # handles are short; three edits in twenty letters are another name


def similar_handles(
    handles: Sequence[str], *, threshold: float, base_length: int
) -> list[tuple[int, int, float]]:
    """Return pairs of handles with the same base, or bases at least ``threshold`` similar.

    Bases (:func:`handle_base`) shorter than ``base_length`` are left out. Bases are compared when
    at most two edits turn one into the other: then both give the same text after at most
    two deletions, so that only such pairs are compared.

    Returns:
        ``(i, j, similarity)`` with i < j, ascending; similarity 1 for the same base.

    Source: seed 003, Additional Protections (Handle Similarity).

    Example:
        >>> similar_handles(["moonlight1", "moonlight22", "moonlught", "sunshine"], threshold=0.85,
        ...       base_length=5)
        [(0, 1, 1.0), (0, 2, 0.8888888888888888), (1, 2, 0.8888888888888888)]
    """
    owners: dict[str, list[int]] = defaultdict(list)
    for at, handle in enumerate(handles):
        base = handle_base(handle)
        if len(base) >= base_length:
            owners[base].append(at)
    pairs_found = [
        (i, j, 1.0) for members in owners.values() for i, j in combinations(sorted(members), 2)
    ]
    for first, other_base in _near(owners):
        distance = edit_distance(first, other_base, most=_MAX_EDITS)
        if distance is None:
            continue
        share = 1.0 - distance / max(len(first), len(other_base))
        if share >= threshold:
            pairs_found += [
                (min(i, j), max(i, j), share) for i in owners[first] for j in owners[other_base]
            ]
    return sorted(pairs_found)


def _near(bases: Iterable[str]) -> set[tuple[str, str]]:
    """Pair different bases that share a text after at most two deletions each."""
    sharing: dict[str, list[str]] = defaultdict(list)
    for base in bases:
        for shortened in _deletions(base):
            sharing[shortened].append(base)
    return {(min(pair), max(pair)) for group in sharing.values() for pair in combinations(group, 2)}


def _deletions(word: str) -> set[str]:
    """List a word and what up to two deletions leave of it."""
    shortened = {word}
    for _ in range(_MAX_EDITS):
        shortened |= {text[:at] + text[at + 1 :] for text in shortened for at in range(len(text))}
    return shortened
