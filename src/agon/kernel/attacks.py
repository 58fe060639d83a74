"""Attacks that a simulation can add to honest records."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from agon.errors import NotFound, did_you_mean

Simulated = TypeVar("Simulated")
"""The records that a simulation creates."""


@dataclass(frozen=True)
class Attack(Generic[Simulated]):
    """One attack: a row of a discipline's table.

    Attributes:
        name: for example ``self-feedback``.
        meaning: what each attacker does.
        play: adds the attackers and their records.
    """

    name: str
    meaning: str
    play: Callable[[Simulated], None]


def select(attacks: Sequence[Attack[Simulated]], names: Sequence[str]) -> list[Attack[Simulated]]:
    """Return the attacks of some names, in the order of the names.

    Raises:
        NotFound: the attack does not exist; the message suggests one.

    Example:
        >>> attacks = [Attack("spam", "writes spam", print), Attack("ring", "likes friends", print)]
        >>> [attack.meaning for attack in select(attacks, ["ring"])]
        ['likes friends']
    """
    known = {attack.name: attack for attack in attacks}
    require_known(names, known)
    return [known[name] for name in names]


def require_known(names: Sequence[str], known: Mapping[str, object]) -> None:
    """Check that every name is the name of an attack.

    Raises:
        NotFound: the attack does not exist; the message suggests one.
    """
    for name in names:
        if name not in known:
            raise NotFound(f"there is no attack {name!r}: {did_you_mean(name, list(known))}")


def meanings(attacks: Sequence[Attack[Simulated]]) -> dict[str, str]:
    """Return the meaning of each attack by its name."""
    return {attack.name: attack.meaning for attack in attacks}
