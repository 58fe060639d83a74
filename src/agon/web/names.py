"""Show participants by id and name: on pages, in titles, and in sentences of explanations."""

import re
from collections.abc import Callable, Mapping
from html import escape
from typing import Final

from markupsafe import Markup

from agon.kernel.text.bidi import closed_text, isolated_text

_HASH_SHOWN: Final = 12
_HOTKEY: Final = re.compile(r"5[1-9A-HJ-NP-Za-km-z]{47}")
"""An address of Substrate's generic network: 48 characters of base 58 from 5 on."""
_BEFORE_ID: Final = r"((?:^|[,;:(] |\b(?:Beat|with|to|against|by|of|and|without|them) ))"
_AFTER_ID: Final = r"(?= \(|[,;:.)]|$| and | is | by )"
"""What is around an id of a participant in a sentence of an explanation."""


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


def participant(
    name: str | None,
    id: str,  # noqa: A002 (an id is called id everywhere)
    label: Callable[[str], str] = short_id,
) -> Markup:
    """Return a participant as HTML: the name with the id, which no other participant has.

    Args:
        name: its name; None: it has none.
        id: its id.
        label: returns what one without a name is called, from its id.

    Example:
        >>> print(participant("Ada", "u1"), participant(None, "u1"), participant("u1", "u1"))
        <bdi>Ada</bdi> <bdi class="id">u1</bdi> <bdi>u1</bdi> <bdi>u1</bdi>
    """
    if not name or name == id:
        return Markup(f"<bdi>{escape(label(id))}</bdi>")  # noqa: S704 - it is escaped
    named = f'<bdi>{escape(name)}</bdi> <bdi class="id">{escape(short_id(id))}</bdi>'
    return Markup(named)  # noqa: S704 - both are escaped


def participant_text(
    name: str | None,
    id: str,  # noqa: A002 (as above)
    label: Callable[[str], str] = str,
) -> str:
    """Return a participant as text: the name, with marks that isolate its direction, and the id.

    The arguments are those of :func:`participant`.

    Example:
        >>> participant_text("Ada", "u1"), participant_text(None, "u1")
        ('Ada (u1)', 'u1')
    """
    if not name or name == id:
        return isolated_text(label(id))
    return f"{isolated_text(name)} ({isolated_text(short_id(id))})"


def named_text(text: str, names: Mapping[str, str]) -> Markup:
    """Return a sentence as HTML in which a participant has the name that boards show.

    Args:
        text: a sentence that names participants by their ids.
        names: names by id; an id that is none of a participant of the sentence is not replaced.

    Example:
        >>> print(named_text("Beat b2 (9 against 8): 3 matches of b2 and b4.", {"b2": "Zoe"}))
        Beat <bdi>Zoe</bdi> <bdi class="id">b2</bdi> (9 against 8): 3 matches of <bdi>Zoe</bdi> \
<bdi class="id">b2</bdi> and b4.
    """
    known = {closed_text(key): key for key, name in names.items() if name and name != key}
    if not known:
        return Markup("") + text
    ids = "|".join(map(re.escape, sorted(known, key=len, reverse=True)))
    pieces = re.split(f"{_BEFORE_ID}({ids}){_AFTER_ID}", text)
    shown = Markup("")
    for before, lead, found in zip(pieces[::3], pieces[1::3], pieces[2::3], strict=False):
        shown += before + lead + participant(names[known[found]], known[found])
    return shown + pieces[-1]
