"""Detect copied responses by fingerprint and by shared words."""

import hashlib
import unicodedata
from array import array
from dataclasses import dataclass, field
from math import ceil
from typing import Final

_ROUNDING: Final = 1e-9  # by which a product of floats may be too large


def words(response: str) -> list[str]:
    """Split a response into lower-cased words without punctuation.

    Every character other than a letter, mark, digit or blank is punctuation and removed, in any
    script; full-width and other compatibility forms count as the plain ones (NFKC).

    Example:
        >>> words("Don't panic -- it's well-known!")
        ['dont', 'panic', 'its', 'wellknown']
    """
    return unicodedata.normalize("NFKC", response).lower().translate(_PUNCTUATION).split()


class _PunctuationMap(dict[int, int | None]):
    """A cached map of each character to itself or, when it is punctuation, to empty text."""

    def __missing__(self, code: int) -> int | None:
        character = chr(code)
        is_kept = character.isspace() or unicodedata.category(character)[0] in "LMN"
        self[code] = code if is_kept else None
        return self[code]


_PUNCTUATION = _PunctuationMap()


def fingerprint(response: str) -> str:
    """Fingerprint a response: SHA-256 (hex) of its words, sorted and joined by blanks.

    Word order, case and punctuation do not matter.

    Source: document 003, Response Plagiarism Detection.

    Example:
        >>> fingerprint("I like tea.") == fingerprint("Tea: I like!")
        True
        >>> fingerprint("tea tea") == fingerprint("tea")
        False
    """
    return hashlib.sha256(" ".join(sorted(words(response))).encode()).hexdigest()


def jaccard(first: str, second: str) -> float:
    """Return the share of words two responses have in common: |A ∩ B| / |A ∪ B| of their word sets.

    Two responses without any word are equal: 1.

    Example:
        >>> jaccard("red green blue", "green blue grey")  # 2 of 4
        0.5
    """
    a, b = set(words(first)), set(words(second))
    union = len(a | b)
    return len(a & b) / union if union else 1.0


def are_copies(first: str, second: str, *, threshold: float) -> bool:
    """Return whether two responses have equal fingerprints, or a Jaccard of at least ``threshold``.

    A threshold of 1 compares fingerprints alone: the same words, each as often.

    Source: document 003, Response Plagiarism Detection; spec arena, A match, step 3.

    Example:
        >>> are_copies("I like tea.", "Tea: I like!", threshold=0.9)
        True
        >>> [are_copies("tea tea", "tea", threshold=limit) for limit in (0.9, 1)]
        [True, False]
    """
    if fingerprint(first) == fingerprint(second):
        return True
    return threshold < 1 and jaccard(first, second) >= threshold


@dataclass
class EarlierAnswers:
    """The answers of a contest so far, with who wrote each and in which match.

    Of n words that share at least the part t with another answer, at least ⌈t n⌉ are in both. So
    whatever order words have, both answers share one of their first n − ⌈t n⌉ + 1 words: answers
    are found by these alone (prefix filtering; Chaudhuri, Ganti, Kaushik 2006). The order is the
    one in which words were first used, the last first, so that these words are rare ones.

    Attributes:
        threshold: rule ``plagiarism_jaccard``.

    Example:
        >>> earlier = EarlierAnswers(threshold=0.9)
        >>> earlier.add("I like tea.", author="ann", match="r1-1")
        >>> earlier.source_of("Tea: I like!", author="bob")
        'r1-1'
        >>> earlier.source_of("Tea: I like!", author="ann") is None  # its own
        True
    """

    threshold: float
    _equal: dict[str, dict[str, str]] = field(default_factory=dict, repr=False)
    _numbers: dict[str, int] = field(default_factory=dict, repr=False)  # of words
    _answers: "list[tuple[array[int], str, str]]" = field(default_factory=list, repr=False)
    _by_word: dict[int, list[int]] = field(default_factory=dict, repr=False)

    def add(self, text: str, *, author: str, match: str) -> None:
        """Note an answer; it is compared with all later ones of others."""
        self._equal.setdefault(fingerprint(text), {}).setdefault(author, match)
        if self.threshold >= 1:
            return
        numbers = {self._numbers.setdefault(word, len(self._numbers)) for word in words(text)}
        own = array("q", sorted(numbers, reverse=True))
        for number in own[: self._prefix(len(own))]:
            self._by_word.setdefault(number, []).append(len(self._answers))
        self._answers.append((own, author, match))

    def source_of(self, text: str, *, author: str) -> str | None:
        """Return the match of an earlier answer of another one that a text copies; None: none."""
        equal = self._equal.get(fingerprint(text), {})
        source = next((match for who, match in equal.items() if who != author), None)
        if source is not None or self.threshold >= 1:
            return source
        distinct = set(words(text))
        own = {self._numbers[word] for word in distinct if word in self._numbers}
        # Words that were never used are before all others in the order of words.
        prefix = self._prefix(len(distinct)) - (len(distinct) - len(own))
        first = sorted(own, reverse=True)[: max(0, prefix)]
        for place in sorted({place for number in first for place in self._by_word.get(number, ())}):
            theirs, who, match = self._answers[place]
            if who == author:
                continue
            shared = len(own.intersection(theirs))
            if shared >= self.threshold * (len(distinct) + len(theirs) - shared):
                return match
        return None

    def _prefix(self, size: int) -> int:
        """Return how many of the first words of so many decide whether answers are compared."""
        return size - max(1, ceil(self.threshold * size - _ROUNDING)) + 1 if size else 0
