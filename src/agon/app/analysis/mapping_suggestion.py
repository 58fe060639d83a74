"""Write a first mapping of a source from what a check of it saw."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from agon.app.analysis.check import CheckReport
from agon.records import Column, Kind, RowIssue
from agon.records.look_alikes import MISSING_WORDS
from agon.records.names.matching import near_names
from agon.records.values.words import choice_of

_SIDES: Final = Column("side", Kind.TEXT, choices=("model_a", "model_b", "tie"))
_MAX_LISTED: Final = 50


def suggest_mapping(report: CheckReport) -> str:
    """Return a mapping as TOML: what was read under another name, and guesses as comments.

    Example:
        >>> from agon.app.analysis.check import check
        >>> battles = [{"modelA": "ann", "model_b": "bob", "winner": "H", "notes": "x"}]
        >>> print(suggest_mapping(check("arena", battles)))
        # How the names and the values of memory are read; remove # where a guess is right.
        <BLANKLINE>
        # ignore = ["notes"]
        <BLANKLINE>
        [columns]
        model_a = "modelA"
        <BLANKLINE>
        [values.winner]
        # H = "…"  # one of model_a, model_b, tie, A>>B, B<<A, B>>A, A<<B
        <BLANKLINE>
    """
    title = f"# How the names and the values of {report.source} are read; remove # where a guess"
    lines = [
        f"{title} is right.",
        "",
        *_lists(report),
        "[columns]",
        *_columns(report),
        "",
        *_values(report.problems),
    ]
    return "\n".join(lines)


def mapping_hints(issues: Sequence[RowIssue]) -> list[str]:
    """Return what in a mapping may help against issues, one sentence each.

    Example:
        >>> wrong = RowIssue("bad-timestamp", "bots", "bots.csv", 1, "qualified_at", "NA",
        ...                  "is not an ISO 8601 time", "give a time")
        >>> mapping_hints([wrong])
        ['texts that are no value are named in the mapping: null = ["NA"]']
    """
    hints = {
        "texts that are no value are named in the mapping: null": sorted(_missing_words(issues)),
        "rows without a value are left out by the mapping: skip_missing": _empty_columns(issues),
    }
    lines = [f"{hint} = {_toml_list(texts)}" for hint, texts in hints.items() if texts]
    for issue in issues:
        if _is_about_a_word(issue) and (issue.value or "").lower() not in MISSING_WORDS:
            pair = f'{_key(issue.value or "")} = "…"'
            table = f"[values.{_key(issue.column or '')}]"
            lines.append(f"what a value means is stated in the mapping: {table}, then {pair}")
            break
    return lines


def _missing_words(issues: Iterable[RowIssue]) -> set[str]:
    texts = {(issue.value or "").strip() for issue in issues}
    return {text for text in texts if text and text.lower() in MISSING_WORDS}


def _empty_columns(issues: Iterable[RowIssue]) -> list[str]:
    empty = (issue.column for issue in issues if issue.code == "empty" and issue.column)
    return list(dict.fromkeys(empty))


def _is_about_a_word(issue: RowIssue) -> bool:
    has_word = bool(issue.column and issue.value)
    return has_word and issue.code in {"unknown-value", "ambiguous-value"}


def _lists(report: CheckReport) -> Iterator[str]:
    words = _missing_words(report.problems) | {
        str(text)
        for finding in report.findings
        if finding.code == "missing-word"
        for text in finding.subjects
    }
    guessed = {
        stored for table in report.names.columns for stored in _guesses(report, table).values()
    }
    names = [name for listed in report.names.unused.values() for name in listed]
    unused = [name for name in names if name not in guessed]
    listed: dict[str, Iterable[str]] = {
        "null": sorted(words),
        "skip_missing": _empty_columns(report.problems),
        "ignore": unused[:_MAX_LISTED],
    }
    for name, texts in listed.items():
        if texts:
            yield f"# {name} = {_toml_list(texts)}"
            yield ""


def _columns(report: CheckReport) -> Iterator[str]:
    several = len(report.names.columns) > 1
    missing = _missing(report.problems)
    for table, columns in report.names.columns.items():
        start = f"{table}." if several else ""
        for own, stored in columns.items():
            if own != stored:
                yield f"{_key(start + own)} = {_toml_text(stored)}"
        unused = list(report.names.unused.get(table, ()))
        absent = missing.get(table, [])
        guesses = _guesses(report, table)
        for own in absent:
            guess = guesses.get(own)
            hint = f"  # the source has {', '.join(unused[:_MAX_LISTED])}" if unused else ""
            yield f"# {_key(start + own)} = {_toml_text(guess or '…')}{hint}"
        for issue in report.names.near:
            if issue.table == table and issue.column:
                meant = issue.remedy.partition("?")[0].removeprefix("did you mean ")
                yield f"# {_key(start + meant)} = {_toml_text(issue.column)}  # is it meant?"


def _guesses(report: CheckReport, table: str) -> dict[str, str]:
    """Return which unused column of a table may be one that is missing, by its name."""
    unused = list(report.names.unused.get(table, ()))
    absent = _missing(report.problems).get(table, [])
    near = {own: stored for stored, own in near_names(unused, absent).items()}
    sides = {side: name for name in unused if (side := choice_of(_SIDES, name)) is not None}
    return {own: stored for own, stored in {**sides, **near}.items() if own in absent}


def _missing(issues: Iterable[RowIssue]) -> dict[str, list[str]]:
    missing: dict[str, list[str]] = {}
    for issue in issues:
        if issue.code == "missing-column" and issue.column:
            missing.setdefault(issue.table, []).extend(issue.column.split(", "))
    return missing


def _values(issues: Iterable[RowIssue]) -> Iterator[str]:
    by_column: dict[str, dict[str, str]] = {}
    for issue in issues:
        if _is_about_a_word(issue):
            choices = issue.remedy.removeprefix("give ")
            by_column.setdefault(issue.column or "", {}).setdefault(issue.value or "", choices)
    for column, texts in by_column.items():
        yield f"[values.{_key(column)}]"
        for text, choices in texts.items():
            yield f'# {_key(text)} = "…"  # {choices}'
        yield ""


def _key(name: str) -> str:
    is_bare = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if is_bare else _toml_text(name)


def _toml_list(texts: Iterable[str]) -> str:
    return f"[{', '.join(map(_toml_text, texts))}]"


def _toml_text(text: Any) -> str:
    return json.dumps(str(text), ensure_ascii=False)
