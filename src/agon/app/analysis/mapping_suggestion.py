"""Write a first mapping of a source from what a check of it saw."""

import json
from collections.abc import Iterable, Iterator
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


def _lists(report: CheckReport) -> Iterator[str]:
    words = {
        text
        for issue in report.problems
        if (text := issue.value or "").strip().lower() in MISSING_WORDS and text.strip()
    }
    words |= {
        str(text)
        for finding in report.findings
        if finding.code == "missing-word"
        for text in finding.subjects
    }
    empty = dict.fromkeys(
        issue.column for issue in report.problems if issue.code == "empty" and issue.column
    )
    unused = [name for names in report.names.unused.values() for name in names]
    listed: dict[str, Iterable[str]] = {
        "null": sorted(words), "skip_missing": empty, "ignore": unused[:_MAX_LISTED],
    }  # fmt: skip
    for name, texts in listed.items():
        if texts:
            yield f"# {name} = [{', '.join(map(_toml_text, texts))}]"
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
        near = {own: stored for stored, own in near_names(unused, absent).items()}
        sides = {side: name for name in unused if (side := choice_of(_SIDES, name)) is not None}
        for own in absent:
            guess = near.get(own) or sides.get(own)
            hint = f"  # the source has {', '.join(unused[:_MAX_LISTED])}" if unused else ""
            yield f"# {_key(start + own)} = {_toml_text(guess or '…')}{hint}"
        for issue in report.names.near:
            if issue.table == table and issue.column:
                meant = issue.remedy.partition("?")[0].removeprefix("did you mean ")
                yield f"# {_key(start + meant)} = {_toml_text(issue.column)}  # is it meant?"


def _missing(issues: Iterable[RowIssue]) -> dict[str, list[str]]:
    missing: dict[str, list[str]] = {}
    for issue in issues:
        if issue.code == "missing-column" and issue.column:
            missing.setdefault(issue.table, []).extend(issue.column.split(", "))
    return missing


def _values(issues: Iterable[RowIssue]) -> Iterator[str]:
    by_column: dict[str, dict[str, str]] = {}
    for issue in issues:
        if issue.code in {"unknown-value", "ambiguous-value"} and issue.column and issue.value:
            choices = issue.remedy.removeprefix("give ")
            by_column.setdefault(issue.column, {}).setdefault(issue.value, choices)
    for column, texts in by_column.items():
        yield f"[values.{_key(column)}]"
        for text, choices in texts.items():
            yield f'# {_key(text)} = "…"  # {choices}'
        yield ""


def _key(name: str) -> str:
    is_bare = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if is_bare else _toml_text(name)


def _toml_text(text: Any) -> str:
    return json.dumps(str(text), ensure_ascii=False)
