"""Participants as text: by name and id, where ids that are hashes are shortened."""

import re
from collections.abc import Callable
from typing import Final

from agon.kernel.text.bidi import isolated_text

_HASH_SHOWN: Final = 12
_HOTKEY: Final = re.compile(r"5[1-9A-HJ-NP-Za-km-z]{47}")
"""An address of Substrate's generic network: 48 characters of base 58 from 5 on."""


def short_id(text: str) -> str:
    """Return an id as it is shown: hashes and hotkeys are shortened to their beginning.

    Example:
        >>> short_id("ada"), short_id("problem:" + "ab" * 32)
        ('ada', 'problem:abababababab…')
        >>> short_id("5GrwvaEF5zXb26Fz9rcQpDWS57CtERHpNehXCPcNoHGKutQY")
        '5GrwvaEF5zXb…'
    """
    family, separator, name = text.rpartition(":")
    is_hash = len(name) == 64 and not set(name) - set("0123456789abcdef")  # noqa: PLR2004 (SHA-256)
    is_hotkey = _HOTKEY.fullmatch(name) is not None
    return f"{family}{separator}{name[:_HASH_SHOWN]}…" if is_hash or is_hotkey else text


def named_participant(
    name: str | None,
    id: str,  # noqa: A002 (an id is called id everywhere)
    label: Callable[[str], str],
) -> tuple[str, str | None]:
    """Return what a participant is called, and the id that no other of that name has.

    Args:
        name: its name; None: it has none.
        id: its id.
        label: returns what one without a name is called, from its id.

    Returns:
        The name and the shortened id; without a name, what it is called and None.

    Example:
        >>> named_participant("Ada", "u1", str), named_participant("u1", "u1", str)
        (('Ada', 'u1'), ('u1', None))
    """
    return (name, short_id(id)) if name and name != id else (label(id), None)


def participant_text(
    name: str | None,
    id: str,  # noqa: A002 (an id is called id everywhere)
    label: Callable[[str], str] = str,
) -> str:
    """Return a participant as text: the name, with marks that isolate its direction, and the id.

    Args:
        name: its name; None: it has none.
        id: its id.
        label: returns what one without a name is called, from its id.

    Example:
        >>> participant_text("Ada", "u1"), participant_text(None, "u1")
        ('Ada (u1)', 'u1')
    """
    called, unique_id = named_participant(name, id, label)
    if unique_id is None:
        return isolated_text(called)
    return f"{isolated_text(called)} ({isolated_text(unique_id)})"
