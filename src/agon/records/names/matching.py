"""Match the names that a source has with those of a schema, in any spelling.

``uploaderId``, ``Uploader ID`` and ``UPLOADER-ID`` are the column ``uploader_id``: names are
compared without case, blanks, ``_`` and ``-``. A name that is spelled exactly is preferred. All
that matches nothing is not used, and is listed.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import Final

_SEPARATORS: Final = re.compile(r"[\s_\-]+")
_INVISIBLE: Final = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_WORDS: Final = re.compile(r"[^\W\d_]+")
_OF_EXPORTS: Final = frozenset([
    "all", "backup", "clean", "copy", "csv", "data", "dbo", "dump", "export", "exported", "final",
    "gz", "json", "jsonl", "latest", "ndjson", "new", "parquet", "public", "table", "tbl", "tsv",
    "txt", "xlsx", "zip", "zst",
])  # fmt: skip
_ALIKE: Final = 0.8
_NEAR: Final = 0.75  # of columns a source has not: one slip in four letters; right is no weight
_NEAR_FROM_START: Final = 0.7  # where the names begin alike: state is status
_START: Final = 3


def fold_name(name: str) -> str:
    """Return a name without what may differ between spellings of it.

    Example:
        >>> {fold_name(name) for name in ("uploader_id", "uploaderId", " Uploader ID")}
        {'uploaderid'}
    """
    if not name.isascii():
        name = _INVISIBLE.sub("", unicodedata.normalize("NFKC", name))
    return _SEPARATORS.sub("", name.casefold())


@dataclass(frozen=True)
class MatchedNames:
    """The names of a source by the names of a schema.

    Attributes:
        names: the source's name by the schema's, in the schema's order.
        unused: the source's names that no name of the schema is read from.
    """

    names: Mapping[str, str]
    unused: tuple[str, ...]

    @property
    def respelled(self) -> dict[str, str]:
        """The names that are spelled in another way, by the schema's."""
        return {own: name for own, name in self.names.items() if own != name}


def match_names(known: Sequence[str], present: Iterable[str]) -> MatchedNames:
    """Match names with those of a schema; an exact one is preferred to another spelling.

    Args:
        known: the schema's names.
        present: the source's names; empty ones are left out.

    Example:
        >>> match_names(("id", "uploader_id"), ["ID", "uploaderId", "notes"]).names
        {'id': 'ID', 'uploader_id': 'uploaderId'}
        >>> match_names(("id",), ["ID", "id"])
        MatchedNames(names={'id': 'id'}, unused=('ID',))
    """
    names = [name for name in dict.fromkeys(present) if name]
    exact = set(known) & set(names)
    own_of = _own_names(tuple(known))
    spelled: dict[str, str] = {name: name for name in exact}
    if len(exact) < len(names):
        for name in names:
            own = own_of.get(fold_name(name))
            if own is not None and name not in exact:
                spelled.setdefault(own, name)
    used = set(spelled.values())
    return MatchedNames(
        {own: spelled[own] for own in known if own in spelled},
        tuple(name for name in names if name not in used),
    )


def own_name(known: Iterable[str], name: str) -> str:
    """Return the schema's name that is read from a name; the name itself where there is none.

    Example:
        >>> own_name(("votes", "human_answers"), "HumanAnswers"), own_name(("votes",), "bots")
        ('human_answers', 'bots')
    """
    return _own_names(tuple(known)).get(fold_name(name), name)


@cache
def _own_names(known: tuple[str, ...]) -> dict[str, str]:
    return {fold_name(name): name for name in known}


def nearest(expected: str, names: Iterable[str], *, alike: float = _ALIKE) -> str | None:
    """Return the name that may be ``expected`` with another case, ending or spelling.

    Example:
        >>> nearest("prompts", ["truth.csv", "promts.csv"])
        'promts.csv'
        >>> nearest("users", ["Users.xlsx"])
        'Users.xlsx'
        >>> nearest("users", ["votes.csv"])
    """
    plain: dict[str, str] = {}
    for name in sorted(names):
        plain.setdefault(fold_name(name.partition(".")[0]), name)
    close = get_close_matches(fold_name(expected), plain, n=1, cutoff=alike)
    return plain[close[0]] if close else None


def nearest_file(expected: str, names: Collection[str]) -> str | None:
    """Return the file that may hold the table ``expected``; words such as ``export`` say nothing.

    Example:
        >>> nearest_file("quick_feedbacks", ["notes.md", "export_quick_feedbacks_2026-01-20.csv"])
        'export_quick_feedbacks_2026-01-20.csv'
        >>> nearest_file("users", ["public.users.csv"]), nearest_file("users", ["user_roles.csv"])
        ('public.users.csv', None)
    """
    found = nearest(expected, names)
    if found is not None:
        return found
    for name in sorted(names):
        words = [word.casefold() for word in _WORDS.findall(name)]
        if "".join(word for word in words if word not in _OF_EXPORTS) == fold_name(expected):
            return name
    return None


def near_names(unused: Iterable[str], absent: Collection[str]) -> dict[str, str]:
    """Return the names that are so near to an absent one that it is probably meant.

    Args:
        unused: names of a source that are not used.
        absent: names of a schema that the source does not have.

    Returns:
        The absent name by the unused one.

    Example:
        >>> near_names(["handel", "notes"], ["handle", "created_at"])
        {'handel': 'handle'}
        >>> near_names(["nmae", "right", "state"], ["name", "weight", "status"])
        {'nmae': 'name', 'state': 'status'}
    """
    remaining = list(unused)
    near: dict[str, str] = {}
    for name in absent if remaining else ():
        others = [other for other in remaining if other not in near]
        start = fold_name(name)[:_START]
        alike = [other for other in others if fold_name(other).startswith(start)]
        candidate = nearest(name, others, alike=_NEAR) or nearest(
            name, alike, alike=_NEAR_FROM_START
        )
        if candidate is not None:
            near[candidate] = name
    return near


def is_ignored(name: str, table: str, ignored: Collection[str]) -> bool:
    """Return whether a table's name is one of some folded names that are not to be read.

    Example:
        >>> is_ignored("My Notes", "prompts", {"prompts.mynotes"})
        True
    """
    folded = fold_name(name)
    return folded in ignored or f"{fold_name(table)}.{folded}" in ignored
