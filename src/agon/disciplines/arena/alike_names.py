"""Find names of bots that look alike: one bot, perhaps, under several."""

import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from typing import Final

from agon.kernel.text.names import words_without_case

_SHOWN: Final = 3  # groups in a note
_DASHES: Final = frozenset({"Pd", "Pc"})  # and underscores, as categories of characters
_HIDDEN: Final = frozenset({"Cf", "Cc", "Mn"})  # categories of characters that are not seen


def alike_names(names: Iterable[str]) -> list[list[str]]:
    r"""Return groups of names that are equal without case, dashes, spaces and hidden letters.

    Example:
        >>> alike_names(["GPT-4 ", "ada", "gpt-4", "gpt\u20114"])
        [['GPT-4 ', 'gpt-4', 'gpt‑4']]
    """
    groups = defaultdict(list)
    for name in names:
        groups[_looks(name)].append(name)
    return [group for group in groups.values() if len(group) > 1]


def alike_note(names: Iterable[str]) -> str | None:
    """Return a note on names that look alike; None: there are none.

    Example:
        >>> alike_note(["Ada", "ada ", "bob"])
        "these names look alike and are rated as different bots: 'Ada', 'ada '"
    """
    groups = alike_names(names)
    if not groups:
        return None
    shown = "; ".join(", ".join(map(repr, group)) for group in groups[:_SHOWN])
    more = f" and {len(groups) - _SHOWN:,} more groups" if len(groups) > _SHOWN else ""
    return f"these names look alike and are rated as different bots: {shown}{more}"


# Names of bots are compared more loosely than the values of a source (``records.look_alikes``):
# "gpt 4" beside "gpt-4" may be one bot, while two such prompts or categories are two texts.
def _looks(name: str) -> str:
    r"""Return what a name looks like.

    Example:
        >>> {_looks(name) for name in ("GPT-4 ", "gpt-4", "gpt\u20114", "gpt-4\u200b")}
        {'gpt 4'}
    """
    return words_without_case(
        name,
        is_separator=lambda letter: unicodedata.category(letter) in _DASHES,
        is_hidden=lambda letter: unicodedata.category(letter) in _HIDDEN,
    )
