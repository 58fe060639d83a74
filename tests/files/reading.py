"""Read one file of the corpus through its door, and say what came out in one line."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from agon.app.analysis.records import inspect_records, normal_tables
from agon.app.importers import import_records
from agon.errors import AgonError
from agon.records import InvalidRecords
from agon.records.look_alikes import source_findings
from agon.records.sources.formats import ending_of

_SUBMISSIONS = "id,miner_uid,submitted_at\n1,1,2026-01-01\n2,2,2026-01-01\n"
_VALIDATORS = "id,stake\nv,1\n"
_EVALUATIONS = "submission_id,validator_id,score\n1,v,0.5\n"
_RUNS = "id,problem_id,user_id,created_at,source,verdict\n1,p,u,2026-01-01,x,ok\n"
_COMPANIONS: Mapping[str, Mapping[str, str]] = {
    "community:quick_feedbacks": {
        "users.csv": "id\n1\n2\n",
        "prompts.csv": "id,uploader_id\n10,1\n",
    },
    "community:prompt_sets": {"users.csv": "id\n1\n"},
    "challenge:evaluations": {"submissions.csv": _SUBMISSIONS, "validators.csv": _VALIDATORS},
    "challenge:task_results": {"submissions.csv": _SUBMISSIONS, "validators.csv": _VALIDATORS},
    "challenge:submissions": {"evaluations.csv": _EVALUATIONS, "validators.csv": _VALIDATORS},
    "challenge:validators": {"evaluations.csv": _EVALUATIONS, "submissions.csv": _SUBMISSIONS},
    "dojo:problems": {"submissions.csv": _RUNS},
    "dojo:submissions": {"problems.csv": "id\np\n"},
    "arena:matches": {"bots.csv": "id,owner_id,name\nx,,x\ny,,y\n"},
}
"""The other tables that a table needs."""


def outcome(file: Path, door: str, options: Mapping[str, Any], folder: Path) -> str:
    """Return what a file is read as, with notes and findings, or the message that refuses it.

    Args:
        file: the file.
        door: the format of an import, or discipline and table of a folder.
        options: ``mapping`` and ``where``.
        folder: an empty folder, in which a table gets the others that it needs.
    """
    try:
        return _read(file, door, options, folder)
    except InvalidRecords as error:
        places = (
            f"{issue.code} row {issue.row} column {issue.column}".replace("row None ", "")
            for issue in error.issues
        )
        return "\n".join(["refused", *sorted(set(places))])
    except AgonError as error:
        return f"refused\n{str(error).partition(';')[0]}"


def _read(file: Path, door: str, options: Mapping[str, Any], folder: Path) -> str:
    if ":" not in door:
        imported = import_records(door, file, **options)
        shown = _lines(imported.tables["evaluations" if door.startswith("bit") else "matches"])
        codes = {finding.code for finding in imported.findings}
        if _MAY_LOOK_ALIKE & set(file.read_bytes()):
            with inspect_records(imported.discipline, imported)[0] as records:
                codes |= {finding.code for finding in source_findings(records)}
        return _outcome(shown, imported.notes, codes)
    discipline, table = door.split(":")
    shutil.copy(file, folder / f"{table}{ending_of(file.name)}")
    for name, text in _COMPANIONS.get(door, {}).items():
        (folder / name).write_text(text)
    records, issues = inspect_records(discipline, folder, **options)
    with records:
        if issues:
            raise InvalidRecords(issues)
        codes = {finding.code for finding in source_findings(records)}
        return _outcome(_lines(normal_tables(records)[table]), records.notes, codes)


_MAY_LOOK_ALIKE = frozenset(range(128, 256))
"""Bytes of signs that may look like others."""


def _lines(table: pa.Table) -> list[str]:
    """Return the number of rows, and the values of the first ones."""
    lines = [f"read {table.num_rows}"]
    for row in table.slice(0, 5).to_pylist():
        values = (f"{name}={str(value)[:40]!r}" for name, value in row.items() if value is not None)
        lines.append(", ".join(values))
    return lines


def _outcome(lines: list[str], notes: tuple[str, ...], codes: set[str]) -> str:
    return "\n".join(
        [
            *lines,
            *(f"note: {note}" for note in notes),
            *(f"finding: {code}" for code in sorted(codes)),
        ]
    )
