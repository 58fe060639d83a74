"""Read the keys of a package's JSON files: exactly, or as people spell them.

A file that commits its author to something has no unknown key (:func:`unknown_keys`). In a file
about a submission, a key in another spelling is read, and one that is not read is reported
(:func:`read_keys`).
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from agon.app.files import FileIssue
from agon.errors import did_you_mean
from agon.records.names.matching import fold_name

OWN: Final = "x-"
"""How keys begin that agon leaves to the author of a package."""

_MAX_SHOWN: Final = 80


def unknown_keys(
    content: Mapping[str, Any],
    *,
    known: Collection[str],
    synonyms: Mapping[str, str],
    where: str,
) -> Iterator[FileIssue]:
    """Yield an issue for each key that is neither known nor the author's own (``x-…``).

    Args:
        content: the file's object.
        known: the keys that are read.
        synonyms: the known key for each, by folded names that are not similar to it.
        where: the file's name in messages.

    Example:
        >>> issues = unknown_keys({"deadline": "", "x-mood": 1}, known=["freeze_started_at"],
        ...                       synonyms={"deadline": "freeze_started_at"}, where="problem.json")
        >>> print(*issues)
        problem.json: unknown key 'deadline'; did you mean freeze_started_at? own keys begin with x-
    """
    meant = {**synonyms, **{fold_name(name): name for name in known}}
    for name in content:
        if name not in known and not name.startswith(OWN):
            exact = meant.get(fold_name(name))
            hint = f"did you mean {exact}?" if exact else did_you_mean(name[:_MAX_SHOWN], known)
            fact = f"unknown key {name[:_MAX_SHOWN]!r}"
            yield FileIssue(where, fact, f"{hint} own keys begin with {OWN}")


def read_keys(
    content: Mapping[str, Any], *, known: Collection[str], where: str
) -> tuple[dict[str, Any], list[FileIssue]]:
    """Return the values of known keys, in any spelling, and what there is to check.

    A key in its exact spelling comes before others. Keys of the author (``x-…``) are left alone.

    Example:
        >>> values, issues = read_keys({"createdAt": "2026", "mood": 1}, known=["created_at"],
        ...                            where="submission.json")
        >>> values, [issue.what for issue in issues]
        ({'created_at': '2026'}, ["'createdAt' is read as created_at", "'mood' is not used"])
    """
    values = {name: content[name] for name in known if content.get(name) is not None}
    meant = {fold_name(name): name for name in known}
    issues = []
    for name, value in content.items():
        if name in known or name.startswith(OWN):
            continue
        shown, exact = repr(name[:_MAX_SHOWN]), meant.get(fold_name(name))
        if exact is None:
            hint = did_you_mean(name[:_MAX_SHOWN], known)
            issue = FileIssue(where, f"{shown} is not used", hint)
        elif exact in values:
            issue = FileIssue(where, f"{shown} is not used: there is {exact}", "keep one of them")
        else:
            values[exact] = value
            issue = FileIssue(where, f"{shown} is read as {exact}", f"write {exact}")
        issues.append(issue)
    return values, issues
