"""Ids of bots: readable on boards, in files and in addresses."""

import re
import unicodedata
from typing import Final

from agon.app.service import Service
from agon.entities.contests import Contest
from agon.store.session import Session

_SHOWN: Final = 40
"""Maximum number of characters of its name in a bot's id."""
_UNIQUE: Final = 6
"""Number of characters of a bot's id that no name chooses."""


def readable_id(name: str, unique: str) -> str:
    """Return an id that shows a name: its letters and digits, and the end of a unique id.

    The unique part keeps a name from being another bot's or a person's id.

    Example:
        >>> readable_id("GPT 4 (turbo)", "01a207831072cb"), readable_id("¡!", "01a207831072cb")
        ('gpt-4-turbo-1072cb', 'bot-1072cb')
    """
    folded = unicodedata.normalize("NFKC", name).casefold()
    words = re.findall(r"[^\W_]+", folded)
    return f"{'-'.join(words)[:_SHOWN].strip('-') or 'bot'}-{unique[-_UNIQUE:]}"


def new_bot_id(service: Service, session: Session, contest: Contest, name: str) -> str:
    """Return an id that no bot of the contest has; the contest is locked."""
    while session.arena.bots_named(contest.no, [bot_id := readable_id(name, service.new_id())]):
        continue
    return bot_id
