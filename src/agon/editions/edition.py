"""An edition: one released set of rules with its reasons, changelog and worked examples."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agon.kernel.fingerprints import sha256
from agon.kernel.rules import Rules


@dataclass(frozen=True)
class Example:
    """A worked example: records, and the expected rows of the board.

    Attributes:
        title: what it shows, with its source clause.
        records: tables as lists of rows.
        overrides: rules set for this example only.
        board: the board that is compared.
        expect: id → expected columns; a nested table is compared key by key.
        unscored: ids that must be unscored.
        tolerance: the largest difference at which two numbers count as equal.
    """

    title: str
    records: Mapping[str, Any]
    overrides: Mapping[str, Any]
    board: str
    expect: Mapping[str, Mapping[str, Any]]
    unscored: tuple[str, ...]
    tolerance: float


@dataclass(frozen=True, repr=False)
class Edition:
    """One released edition.

    Attributes:
        discipline: the discipline it belongs to.
        name: the name without the discipline (``scores0002-1``).
        agon: the version of agon it was released with.
        title: one line on what it is.
        released: ISO date.
        base: full name of the edition it states the differences from; None for a reference edition.
        versions: versions it is made of (algorithm, list of SOTA models, …).
        changelog: what changed against the edition before, newest first.
        rules: the value of every rule.
        stated: the rules its file and its base state; any other rule has its default.
        reasons: why a rule has its value, where that differs from the reason in the code.
        examples: worked examples, run by ``agon rules lint``; those of its base included.
    """

    discipline: str
    name: str
    agon: str
    title: str
    released: str
    base: str | None
    versions: Mapping[str, str]
    changelog: tuple[str, ...]
    rules: Rules
    stated: frozenset[str]
    reasons: Mapping[str, str]
    examples: tuple[Example, ...]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.full_name}: {self.title}>"

    @property
    def full_name(self) -> str:
        """Return ``discipline/name``."""
        return f"{self.discipline}/{self.name}"

    @property
    def rules_sha256(self) -> str:
        """Return the fingerprint of its rules, as the lock holds it."""
        return rules_sha256(self.rules)

    def with_rules(self, overrides: Mapping[str, Any]) -> Rules:
        """Return its rules with some values replaced.

        Raises:
            InvalidRule: unknown names and values out of bounds, all at once.
        """
        return self.rules.override(overrides)


def rules_sha256(rules: Rules) -> str:
    """Return the fingerprint of rules: the SHA-256 of the values they state, as canonical JSON.

    Stated are the rules of the first version of agon, and of later rules those that differ from
    their default (:meth:`agon.kernel.rules.Rules.stated`). So equal rules have equal fingerprints,
    however they came about; an override adds a rule that the edition does not state, unless it sets
    the default; and a rule that a later version of agon adds leaves every fingerprint as it is.
    """
    return sha256(rules.stated_values())
