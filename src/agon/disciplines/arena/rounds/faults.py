"""State who is at fault when a bot, a judge or a model gave no answer: a closed list."""

import re
from dataclasses import dataclass
from typing import Final, Literal

FaultOwner = Literal["ours", "transport", "bot"]

CODES: Final[dict[FaultOwner, frozenset[str]]] = {
    "ours": frozenset({"ours-error", "ours-budget", "ours-worker"}),
    "transport": frozenset({"refused", "reset", "dns", "tls", "unreachable", "address-refused"}),
    "bot": frozenset(
        {"empty", "late", "invalid", "too-large", "redirect", "refused-work", "fell-below"}
    ),
}
"""The codes of each owner; ``fell-below``: a judge left the pool by other matches of the round. A
bot's are also ``status-NNN``, the HTTP status it answered with."""

_STATUS: Final = re.compile(r"status-[1-9]\d\d", re.ASCII)


@dataclass(frozen=True)
class Fault:
    """Why there is no answer.

    Attributes:
        owner: ``ours`` (agon, its database, a worker, a budget), ``transport`` (the network), or
            ``bot`` (who was asked, a judge or a model too).
        code: one of the owner's codes.
        detail: what happened, in words; it is public once the match is settled.

    Raises:
        ValueError: the code is not one of the owner's.

    Example:
        >>> Fault("bot", "status-503").code
        'status-503'
    """

    owner: FaultOwner
    code: str
    detail: str = ""

    def __post_init__(self) -> None:
        """Check the code."""
        if self.code in CODES[self.owner]:
            return
        if self.owner == "bot" and _STATUS.fullmatch(self.code):
            return
        raise ValueError(f"{self.owner} has no fault {self.code!r}; choose one of the closed list")
