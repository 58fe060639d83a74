"""The attack labs, by discipline."""

from typing import TYPE_CHECKING

from agon.disciplines import BUILT_IN, discipline, load_part, names
from agon.errors import NotFound, did_you_mean

if TYPE_CHECKING:  # a list of commands needs the names alone
    from agon.attacks.lab import Lab

LABS = {
    "challenge": "agon.attacks.challenge",
    "arena": "agon.attacks.arena",
    "community": "agon.attacks.community",
    "dojo": "agon.attacks.dojo",
}
"""The module of each of agon's own labs, imported when it is used; its ``LAB`` is the lab."""

DEFAULT_SIZE = 300
"""People of a simulated season where no number is chosen."""


def lab_of(discipline_name: str) -> "Lab":
    """Return the attack lab of a discipline.

    Raises:
        NotFound: it has none.
        Unavailable: the package of the discipline, or its lab, cannot be loaded.

    Example:
        >>> lab_of("challenge").strategies[0].name
        'stake-cartel'
    """
    from agon.attacks.lab import Lab

    place = (
        f"{LABS[discipline_name]}:LAB"
        if discipline_name in LABS
        else discipline(discipline_name).attack_lab
    )
    if place is None:
        raise NotFound(
            f"{discipline_name} has no attack lab: {did_you_mean(discipline_name, LABS)}"
        )
    return load_part(discipline_name, place, Lab)


def further_labs() -> list[str]:
    """Return the names of installed disciplines with an attack lab.

    Raises:
        Unavailable: an installed discipline cannot be loaded.
    """
    return [name for name in names()[len(BUILT_IN) :] if discipline(name).attack_lab is not None]
