"""Compare rules with a recorded fingerprint, and find out which rule differs.

A ledger, a board and a proof record the ``rules_sha256`` of the rules they were made under, not
their values. Where the fingerprint differs, values that agon knows (the rules' defaults, those of
other editions, other choices of a rule) are put in one by one and in groups: values that give the
recorded fingerprint are the recorded ones.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final, Literal, get_args, get_origin

from agon.editions.edition import rules_sha256
from agon.kernel.rules import Rules

_MAX_TRIES: Final = 4096
"""Maximum number of groups of values that are put in for each alternative."""


@dataclass(frozen=True)
class RuleDifference:
    """A rule whose recorded value is known and differs from the edition's."""

    name: str
    recorded: Any
    value: Any

    def __str__(self) -> str:
        return f"{self.name} was {self.recorded!r} and is {self.value!r}"


@dataclass(frozen=True)
class RulesMismatch:
    """Rules that are not the recorded ones.

    Attributes:
        edition: full name of the edition.
        recorded, value: the recorded fingerprint, and that of the rules.
        rules: the rules that differ, where their recorded values could be found.
        candidates: where they could not: the names of the rules that may differ.
    """

    edition: str
    recorded: str
    value: str
    rules: tuple[RuleDifference, ...]
    candidates: tuple[str, ...]

    @property
    def what(self) -> str:
        """Return what is wrong."""
        hashes = (
            f"expected rules_sha256 {self.recorded} as recorded, edition {self.edition} gives "
            f"{self.value}"
        )
        if self.rules:
            return f"{hashes}: {', '.join(map(str, self.rules))}"
        return (
            f"{hashes}: no value that agon knows gives the recorded one, so it may be any of "
            f"{', '.join(self.candidates)}"
        )

    @property
    def remedy(self) -> str:
        """Return what to do."""
        if self.rules:
            return "restore the released edition"
        return f"compare agon rules show {self.edition} with the agon that made the record"

    def __str__(self) -> str:
        return f"{self.what}; {self.remedy}"


def compare(
    rules: Rules, *, edition: str, recorded: str, alternatives: Iterable[Rules] = ()
) -> RulesMismatch | None:
    """Compare rules with a recorded fingerprint.

    Args:
        rules: the rules of the edition, overrides included.
        edition: the edition's full name.
        recorded: the ``rules_sha256`` that was recorded.
        alternatives: rules whose values may be the recorded ones, besides the defaults.

    Returns:
        The mismatch; None where the fingerprints are equal.
    """
    value = rules_sha256(rules)
    if value == recorded:
        return None
    defaults = type(rules).of(type(rules)().model_dump())
    for changes in _changes(rules, [*alternatives, defaults]):
        if rules_sha256(rules.model_copy(update=changes)) == recorded:
            differences = tuple(
                RuleDifference(name, changed, getattr(rules, name))
                for name, changed in changes.items()
            )
            return RulesMismatch(edition, recorded, value, differences, ())
    candidates = tuple(rules.stated_values())
    return RulesMismatch(edition, recorded, value, (), candidates)


def _changes(rules: Rules, alternatives: Sequence[Rules]) -> Iterator[Mapping[str, Any]]:
    """Yield values that may be the recorded ones: of alternatives in groups, then other choices."""
    for alternative in alternatives:
        names = [name for name in type(rules).model_fields
                 if getattr(rules, name) != getattr(alternative, name)]  # fmt: skip
        yield {name: getattr(alternative, name) for name in names}
        sizes = range(1, len(names)) if 2 ** len(names) <= _MAX_TRIES else (1,)
        for size in sizes:
            for group in combinations(names, size):
                yield {name: getattr(alternative, name) for name in group}
    for name, field in type(rules).model_fields.items():
        for choice in _choices(field.annotation):
            yield {name: choice}


def _choices(annotation: Any) -> Sequence[Any]:
    if annotation is bool:
        return (True, False)
    return get_args(annotation) if get_origin(annotation) is Literal else ()
