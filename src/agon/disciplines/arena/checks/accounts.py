"""Detect accounts that may belong to one person: by their networks and by similar handles."""

import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from agon.networks import network_of
from agon.records import Records


def networks_of_owners(records: Records) -> dict[str, str]:
    """Return the network of each owner that has one: its ``network``, or that of its ``ip``."""
    owners = records.sql(
        "SELECT id, coalesce(network, ip) AS network FROM owners "
        "WHERE coalesce(network, ip) IS NOT NULL ORDER BY _row"
    )
    columns = (column.to_pylist() for column in owners)
    return {str(name): network_of(ip) or ip for name, ip in zip(*columns, strict=True)}


def handle_base(handle: str) -> str:
    """Normalize a handle: no case, no punctuation, no trailing digits.

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
        for j, other in enumerate(second, start=1):
            step = min(row[j] + 1, row[j - 1] + 1, corner + (letter != other))
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


_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # of a polynomial hash modulo 2^64; odd

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

    Source: document 003, Additional Protections (Handle Similarity).

    Example:
        >>> similar_handles(["moonlight1", "moonlight22", "moonlught", "sunshine"], threshold=0.85,
        ...       base_length=5)
        [(0, 1, 1.0), (0, 2, 0.8888888888888888), (1, 2, 0.8888888888888888)]
    """
    owners: dict[str, list[int]] = defaultdict(list)
    for index, handle in enumerate(handles):
        base = handle_base(handle)
        if len(base) >= base_length:
            owners[base].append(index)
    pairs_found = [
        (i, j, 1.0) for members in owners.values() for i, j in combinations(sorted(members), 2)
    ]
    for first, other_base in _near(list(owners)):
        distance = edit_distance(first, other_base, most=_MAX_EDITS)
        if distance is None:
            continue
        share = 1.0 - distance / max(len(first), len(other_base))
        if share >= threshold:
            pairs_found += [
                (min(i, j), max(i, j), share) for i in owners[first] for j in owners[other_base]
            ]
    return sorted(pairs_found)


def _near(bases: Sequence[str]) -> set[tuple[str, str]]:
    """Pair different bases of which at most two deletions each may leave the same text.

    Texts are compared by a hash, so that a pair may be there by chance.
    """
    if not bases:
        return set()
    hashed, owner = _hashes(bases)
    order = np.argsort(hashed, kind="stable")
    hashed, owner = hashed[order], owner[order]
    starts = np.concatenate([[0], 1 + np.flatnonzero(np.diff(hashed)), [len(hashed)]])
    shared = np.flatnonzero(np.diff(starts) > 1)
    near = set()
    for start, stop in zip(starts[shared].tolist(), starts[shared + 1].tolist(), strict=True):
        group = {bases[index] for index in owner[start:stop].tolist()}
        near |= {(min(pair), max(pair)) for pair in combinations(group, 2)}
    return near


def _hashes(bases: Sequence[str]) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
    """Return the hash of each word after each choice of deletions, and the index of the word."""
    by_length: dict[int, list[int]] = defaultdict(list)
    for index, base in enumerate(bases):
        by_length[len(base)].append(index)
    hashes, owners = [], []
    for length, members in by_length.items():
        text = "".join(bases[index] for index in members)
        letters = np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32).reshape(-1, length)
        for deleted in _deletions(length):
            left = np.delete(letters, deleted, axis=1).astype(np.uint64)
            weights = _FACTOR ** np.arange(1, left.shape[1] + 1, dtype=np.uint64)
            hashes.append((left * weights).sum(axis=1, dtype=np.uint64))
            owners.append(np.array(members, dtype=np.int64))
    return np.concatenate(hashes), np.concatenate(owners)


def _deletions(length: int) -> Iterator[tuple[int, ...]]:
    """Yield each choice of at most two places of a word."""
    for count in range(min(_MAX_EDITS, length) + 1):
        yield from combinations(range(length), count)
