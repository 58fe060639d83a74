"""The same small records of each discipline, spelled as different tools write them."""

import csv
import io
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import orjson

from agon.disciplines import discipline
from agon.records import Column, Kind

Rows = list[dict[str, Any]]

RECORDS: dict[str, dict[str, Rows]] = {
    "community": {
        "users": [
            {"id": 10, "created_at": "2026-01-05T00:00:00Z", "handle": "Ada"},
            {"id": 2, "created_at": "2026-01-06T10:30:00.250000Z", "reputation": 0.5},
        ],
        "org_to_people": [{"user_id": 10, "org_id": 7}, {"user_id": 10, "org_id": 7}],
        "prompts": [{"id": 1, "uploader_id": 10, "created_at": "2026-01-11T00:00:00Z"}],
        "responses": [{"id": 5, "prompt_id": 1, "model": "gpt-4o"}],
        "scores": [{"response_id": 5, "score": score} for score in (0.4, 0.4, 1.0)],
        "quick_feedbacks": [
            {"user_id": 2, "prompt_id": 1, "opinion": opinion,
             "created_at": "2026-01-20T00:00:00Z"}
            for opinion in ("positive", "positive", "negative")
        ],
        "comments": [{"id": 4, "user_id": 2, "created_at": "2026-01-21T00:00:00Z"}],
        "flags": [{"user_id": 2, "reason": "spam", "upheld": True}],
    },
    "challenge": {
        "submissions": [
            {"id": "s1", "miner_uid": 3, "submitted_at": "2026-01-01T00:00:00Z", "source": "a\nb"}
        ],
        "validators": [{"id": "v1", "stake": 400.0}],
        "evaluations": [
            {"submission_id": "s1", "validator_id": "v1", "score": score, "epoch": epoch,
             "evaluated_at": "2026-01-02T03:04:05Z"}
            for score, epoch in ((0.4, 0), (0.4, 0), (0.25, 1))
        ],
        "task_results": [
            {"submission_id": "s1", "validator_id": "v1", "task_id": 7, "passed": False}
        ],
    },
    "dojo": {
        "problems": [
            {"id": "p1", "setter_user_id": 1, "n_check": 200, "title": "1.50",
             "freeze_started_at": "2026-02-02T00:00:00Z"}
        ],
        "submissions": [
            {"id": 1, "problem_id": "p1", "user_id": 2, "created_at": "2026-01-18T19:47:04.095168Z",
             "source": "def solver():\n    return [1]\n", "verdict": "ok", "method_tag": "closed",
             "terms_matched": 200, "cpu_ms": 4.5}
        ],
    },
    "arena": {
        "owners": [{"id": 1, "handle": "o1", "account_created_at": "2024-12-25T00:00:00Z"}],
        "bots": [
            {"id": 1, "owner_id": 1, "name": "one", "qualified_at": "2025-12-31T00:00:00Z"},
            {"id": 2, "name": "two", "is_judge": True},
        ],
        "matches": [
            {"id": 1, "played_at": "2026-01-01T10:00:00Z", "bot_a": 1, "bot_b": 2, "kind": "rated",
             "response_a": "yes", "response_b": "no"}
        ],
        "votes": [
            {"match_id": 1, "judge_id": 2, "shown_first": "b", "vote": "A",
             "voted_at": "2026-01-01T00:00:00Z"}
        ],
    },
}  # fmt: skip
"""Records in normal form; tables without a key have rows that repeat."""

Spelling = Callable[[Column, Any], Any]


def _plain(_: Column, value: Any) -> Any:
    return value


def _zeros(column: Column, value: Any) -> Any:
    return f"{value}0" if column.kind is Kind.NUMBER else value


def _quoted(_: Column, value: Any) -> Any:
    return orjson.dumps(value).decode() if isinstance(value, int | float) else value


def _other_zone(column: Column, value: Any) -> Any:
    if column.kind is not Kind.TIMESTAMP:
        return value
    return datetime.fromisoformat(value).astimezone(timezone(timedelta(hours=1))).isoformat()


def _short(column: Column, value: Any) -> Any:
    """Return a time as its day if it is midnight, else without its zone."""
    if column.kind is not Kind.TIMESTAMP:
        return value
    return value.removesuffix("Z").removesuffix("T00:00:00").replace("T", " ")


def _floats(column: Column, value: Any) -> Any:
    return float(value) if _is_whole(column, value) else value


def _quoted_floats(column: Column, value: Any) -> Any:
    return f"{int(value)}.0" if _is_whole(column, value) else value


def _is_whole(column: Column, value: Any) -> bool:
    return column.kind in {Kind.ID, Kind.INTEGER, Kind.BOOLEAN} and isinstance(value, int)


def _microseconds(column: Column, value: Any) -> Any:
    if column.kind is not Kind.TIMESTAMP:
        return value
    since = datetime.fromisoformat(value) - datetime(1970, 1, 1, tzinfo=UTC)
    return since // timedelta(microseconds=1)


def _milliseconds(column: Column, value: Any) -> Any:
    micros = _microseconds(column, value)
    return micros / 1_000 if column.kind is Kind.TIMESTAMP else value


def _words(column: Column, value: Any) -> Any:
    """Return words of truth and of closed lists as people write them."""
    if column.kind is Kind.BOOLEAN:
        return "Yes" if value else "no"
    return f" {value}" if column.choices else value


SPELLINGS: dict[str, Spelling] = {
    "plain": _plain,
    "camel": _plain,
    "upper case": _plain,
    "title case": _plain,
    "excel": _plain,
    "carriage returns": _plain,
    "words": _words,
    "milliseconds": _milliseconds,
    "0.40": _zeros,
    "quoted": _quoted,
    "zone": _other_zone,
    "day": _short,
    "10.0": _floats,
    "quoted 10.0": _quoted_floats,
    "microseconds": _microseconds,
}


def _decimal_comma(column: Column, value: Any) -> Any:
    return str(value).replace(".", ",") if column.kind is Kind.NUMBER else value


REFUSED: dict[str, tuple[Spelling, str]] = {
    "decimal comma": (_decimal_comma, "with a point before decimals"),
    "UTF-16": (_plain, "UTF-8"),
}
"""Spellings that no door reads, each with what the remedy names."""


def _spelling(name: str) -> Spelling:
    return SPELLINGS[name] if name in SPELLINGS else REFUSED[name][0]


def spelled(of: str, spelling: str) -> dict[str, Rows]:
    """Return the records of a discipline in a spelling; values are as JSON has them."""
    schema, spell = discipline(of).schema, _spelling(spelling)
    name_of = name_speller(spelling)
    return {
        table: [
            {
                name_of(name): spell(schema.table(table).column(name), value)
                for name, value in row.items()
            }
            for row in rows
        ]
        for table, rows in RECORDS[of].items()
    }


def camel(name: str) -> str:
    """Return a name as JavaScript has it: ``uploader_id`` is ``uploaderId``."""
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))


_NAMES: dict[str, Callable[[str], str]] = {
    "camel": camel,
    "upper case": str.upper,
    "title case": lambda name: name.replace("_", " ").title(),
}


def name_speller(spelling: str) -> Callable[[str], str]:
    """Return how a spelling writes names."""
    return _NAMES.get(spelling, str)


def filled(rows: Rows) -> Rows:
    """Return rows that all have all columns."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    return [{name: row.get(name) for name in names} for row in rows]


def csv_of(rows: Rows, *, delimiter: str = ",", line_end: str = "\n") -> str:
    """Return rows as CSV; a value that a row lacks is empty."""
    text = io.StringIO()
    writer = csv.writer(
        text,
        delimiter=delimiter,
        lineterminator=line_end,
        quoting=csv.QUOTE_MINIMAL if line_end == "\n" else csv.QUOTE_NONNUMERIC,
    )
    writer.writerow(filled(rows)[0])
    for row in filled(rows):
        values = ("" if value is None else value for value in row.values())
        writer.writerow(str(v).lower() if isinstance(v, bool) else v for v in values)
    return text.getvalue()


def file_of(spelling: str, rows: Rows) -> tuple[str, bytes]:
    """Return rows as a file: the ending of its name, and its content.

    NDJSON has what CSV cannot have: numbers in quotes.
    """
    if spelling.startswith("quoted"):
        return ".ndjson", b"".join(orjson.dumps(row) + b"\n" for row in rows)
    if spelling == "excel":
        text = "sep=;\r\n" + csv_of(rows, delimiter=";", line_end="\r\n")
        return ".CSV", text.encode("utf-8-sig")
    if spelling == "decimal comma":
        return ".csv", csv_of(rows, delimiter=";").encode()
    if spelling == "UTF-16":
        return ".csv", csv_of(rows).encode("utf-16")
    line_end = "\r" if spelling == "carriage returns" else "\n"
    return ".csv", csv_of(rows, line_end=line_end).encode()


def write_folder(folder: Path, of: str, spelling: str) -> Path:
    """Write a file for each table."""
    folder.mkdir(parents=True, exist_ok=True)
    for table, rows in spelled(of, spelling).items():
        ending, content = file_of(spelling, rows)
        (folder / f"{table}{ending}").write_bytes(content)
    return folder
