"""Detect similar handles."""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations

import pyarrow as pa

from agon.disciplines.community.facts import Facts
from agon.kernel.boards import id_order
from agon.kernel.findings import Finding, RecordRefs, Severity
from agon.kernel.tails import poisson_tail
from agon.records.look_alikes import MAX_LENGTH

_LOOK_ALIKE = str.maketrans("013457", "oleast") | {ord("i"): "l", ord("|"): "l", ord("$"): "s"}
_SEPARATORS = re.compile(r"[\s._\-]+")
_NUMBERED = re.compile(r"\d\d\d")


def skeleton(handle: str) -> str:
    """Normalize a handle to its appearance: look-alikes unified, separators and case removed.

    Example:
        >>> skeleton("Ada_L0velace"), skeleton("ada.1ovelace"), skeleton("modern")
        ('adalovelace', 'adalovelace', 'modem')
    """
    plain = _SEPARATORS.sub("", unicodedata.normalize("NFKC", handle).casefold())
    return plain.translate(_LOOK_ALIKE).replace("rn", "m").replace("vv", "w")


def one_letter_apart(text: str, other: str) -> bool:
    """Return whether two texts differ by one letter changed, left out or added.

    Example:
        >>> one_letter_apart("lovelace", "lovelacy"), one_letter_apart("love", "lovely")
        (True, False)
    """
    if len(text) > len(other):
        text, other = other, text
    index = next(
        (index for index, (a, b) in enumerate(zip(text, other, strict=False)) if a != b), len(text)
    )
    # From the first difference on, the longer text without its letter must equal the rest.
    rest = text[index:] if len(text) < len(other) else text[index + 1 :]
    return text != other and other[index + 1 :] == rest


def find(facts: Facts) -> Iterator[Finding]:
    """Report groups with one skeleton, and pairs of skeletons one letter apart.

    The handle is ``users.handle``, else an id that is text. Expected is how many of the others
    would look the same by chance, with letters drawn at the community's frequencies.
    Numbered handles (three digits in a row) are compared by skeleton alone. A text that is longer
    than the values that are compared in records is no handle.
    """
    rows = facts.records.sql("SELECT id::VARCHAR AS id, handle FROM users")
    named = pa.types.is_string(facts.people.ids.type)
    people = [
        (person, handle or person)
        for person, handle in zip(rows["id"].to_pylist(), rows["handle"].to_pylist(), strict=True)
        if (handle or named) and len(handle or person) <= MAX_LENGTH
    ]
    groups: dict[str, list[str]] = defaultdict(list)
    for person, handle in people:
        form = skeleton(handle)
        if len(form) >= facts.rules.handle_length:
            groups[form].append(person)
    same = _same_letter(groups)
    handle_of = dict(people)
    for form, members in groups.items():
        if len(members) > 1:
            # Each letter equals by chance with the same probability, independently.
            expected = (len(people) - 1) * same ** len(form)
            yield from _finding(facts, members, handle_of, expected, "look the same")
    numbered = {
        form
        for form, members in groups.items()
        if any(_NUMBERED.search(handle_of[member]) for member in members)
    }
    for form, other in _neighbors([form for form in groups if form not in numbered]):
        length = min(len(form), len(other))
        # One letter may differ in any of length + 1 places; the others must be equal.
        expected = (len(people) - 1) * (length + 1) * same ** (length - 1)
        members = [groups[form][0], groups[other][0]]
        yield from _finding(facts, members, handle_of, expected, "are one letter apart")


def _same_letter(groups: dict[str, list[str]]) -> float:
    """Return the chance that two letters, each drawn as the community uses them, are the same."""
    letters = Counter("".join(groups))
    total = max(sum(letters.values()), 1)
    return sum((count / total) ** 2 for count in letters.values())


def _neighbors(forms: Sequence[str]) -> list[tuple[str, str]]:
    """Return the pairs one letter apart; both then share what is left when a letter is dropped."""
    buckets: dict[str, list[str]] = defaultdict(list)
    for form in forms:
        for rest in {form, *(form[:index] + form[index + 1 :] for index in range(len(form)))}:
            buckets[rest].append(form)
    pairs = {
        (min(pair), max(pair))
        for bucket in buckets.values()
        if len(bucket) > 1
        for pair in combinations(bucket, 2)
    }
    return sorted(pair for pair in pairs if one_letter_apart(*pair))


def _finding(
    facts: Facts, members: list[str], handle_of: dict[str, str], expected: float, how: str
) -> Iterator[Finding]:
    chance = poisson_tail(len(members) - 1, mean=expected)
    if chance >= facts.rules.finding_alpha:
        return
    order = id_order(pa.array(members))
    members = [name for _, name in sorted(zip(order.tolist(), members, strict=True))]
    shown = ", ".join(f"{name} ({handle_of[name]})" for name in members)
    yield Finding(
        "near-duplicate-handle",
        Severity.INFO,
        tuple(members),
        "others with a handle this close",
        float(len(members) - 1),
        expected,
        chance,
        f"the handles of {shown} {how}",
        (RecordRefs.of("users", members),),
    )
