"""The attack labs, by discipline."""

from importlib import import_module
from typing import TYPE_CHECKING

from agon.errors import NotFound, did_you_mean

if TYPE_CHECKING:  # a list of commands needs the names alone
    from agon.attacks.lab import Lab

LABS = {
    "challenge": "agon.attacks.challenge",
    "arena": "agon.attacks.arena",
    "community": "agon.attacks.community",
    "dojo": "agon.attacks.dojo",
}
"""The module of each lab, imported when it is used; its ``LAB`` is the lab."""

DEFAULT_SIZE = 300
"""People of a simulated season where no number is chosen."""


def lab_of(discipline: str) -> "Lab":
    """Return the attack lab of a discipline.

    Raises:
        NotFound: it has none.

    Example:
        >>> lab_of("challenge").strategies[0].name
        'stake-cartel'
    """
    if discipline not in LABS:
        raise NotFound(f"{discipline} has no attack lab: {did_you_mean(discipline, LABS)}")
    lab: Lab = import_module(LABS[discipline]).LAB
    return lab
