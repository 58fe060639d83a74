"""Import a subnet's evaluations: validator, miner, score, stake and time.

One row is one validator's evaluation of one miner in one epoch. Columns, each under any of the
names listed (the first that is there):

============  =============================================  =====================================
field         names                                          becomes
============  =============================================  =====================================
miner         ``uid``, ``miner_uid``                         ``submissions.miner_uid``
key           ``hotkey``, ``miner_hotkey``                   the submission's id and its
                                                             ``miner_hotkey``; beside a uid also
                                                             ``registrations``
validator     ``validator``, ``validator_hotkey``,           ``validators.id``
              ``validator_id``, ``validator_uid``
score         ``score``                                      ``evaluations.score`` (0 … 1)
stake         ``stake``, ``validator_stake``                 ``validators.stake`` of the epoch
epoch         ``epoch``, ``tempo``                           ``epoch`` (without it: 0)
submission    ``submission_id``, ``submission``, ``agent``   the submission's id, if there is one
time          ``evaluated_at``, ``timestamp``                ``evaluations.evaluated_at``
start         ``submitted_at``                               ``submissions.submitted_at``
============  =============================================  =====================================

Where uids and hotkeys are columns, the seats come from them: a hotkey holds a uid from the first
epoch in which the two stand in one row until another hotkey stands there, or it has another uid.

A submission is named by its own id, else by the miner's hotkey, else by the uid. Without a column
of uids, hotkeys are numbered from 1 in their order: a note says so, and ``submissions.uid_from`` is
``import``, of which ``agon challenge weights --bittensor`` and ``submit`` warn. Without
``submitted_at`` a submission counts as made in the second of its first epoch after the start of
1970, so that ties go to the earlier epoch.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agon.app.importers.reading import columns_of, foreign
from agon.disciplines import ImportedRecords
from agon.errors import Unreadable, did_you_mean
from agon.records import Column, CrossRowCheck, Kind, Schema, Table
from agon.records.names.mapping import NO_MAPPING, SourceMapping
from agon.records.names.matching import match_names

FIELDS = {
    "uid": ("uid", "miner_uid"),
    "hotkey": ("hotkey", "miner_hotkey"),
    "validator": ("validator", "validator_hotkey", "validator_id", "validator_uid"),
    "score": ("score",),
    "stake": ("stake", "validator_stake"),
    "epoch": ("epoch", "tempo"),
    "submission": ("submission_id", "submission", "agent"),
    "evaluated_at": ("evaluated_at", "timestamp"),
    "submitted_at": ("submitted_at",),
}
"""The names a column may have, by field."""

_KINDS = {
    "uid": Column("uid", Kind.INTEGER, low=0, high=65_535),
    "hotkey": Column("hotkey", Kind.TEXT),
    "validator": Column("validator", Kind.ID),
    "score": Column("score", Kind.NUMBER, low=0, high=1),
    "stake": Column("stake", Kind.NUMBER, low=0),
    "epoch": Column("epoch", Kind.INTEGER, low=0),
    "submission": Column("submission", Kind.ID),
    "evaluated_at": Column("evaluated_at", Kind.TIMESTAMP, nullable=True),
    "submitted_at": Column("submitted_at", Kind.TIMESTAMP),
}
_NEEDED = ("validator", "score", "stake")


@dataclass(frozen=True)
class _Fields:
    """The column of the file for each field, and SQL that reads it."""

    columns: dict[str, str]

    def sql(self, field: str, otherwise: str = "NULL") -> str:
        if field in self.columns:
            return f'"{self.columns[field]}"'
        return otherwise

    def in_source_names(self, mapping: SourceMapping) -> SourceMapping:
        """Return a mapping of a source's columns: by its names where fields are stated."""

        def name_of(name: str) -> str:
            field = name.removeprefix("evaluations.")
            return self.columns.get(field, name)

        values = {name_of(name): words for name, words in mapping.values.items()}
        skipped = tuple(map(name_of, mapping.skip_missing))
        return replace(mapping, columns={}, values=values, skip_missing=skipped)

    @property
    def has_seats(self) -> bool:
        """Whether the file says which hotkey holds which uid."""
        return {"uid", "hotkey"} <= set(self.columns)

    @property
    def uid(self) -> str:
        hotkey = self.sql("hotkey")
        return self.sql("uid", f"dense_rank() OVER (ORDER BY {hotkey})")

    @property
    def submission(self) -> str:
        return self.sql("submission", self.sql("hotkey", f"{self.sql('uid')}::VARCHAR"))

    @property
    def epoch(self) -> str:
        return self.sql("epoch", "CAST(0 AS BIGINT)")


def read(
    source: Any,
    *,
    mapping: SourceMapping = NO_MAPPING,
    where: Mapping[str, Any] | None = None,
) -> ImportedRecords:
    """Read evaluations as challenge records.

    Args:
        source: a CSV, JSON, NDJSON or Parquet file, or a data frame.
        mapping: how names and values of the source are read; its ``columns`` name the source's
            column of a field (``uid``, ``score``, …) where its name is none of the usual ones.
        where: a value, or several, by column of the source; only such rows are read.

    Raises:
        InvalidRecords: rows that are not evaluations or contradict each other, in one error.
        NotFound, Unreadable: there is no such file, its format is unknown, or a column is missing.
    """
    fields = _Fields(_columns(source, mapping.columns))
    reads = fields.in_source_names(mapping)
    with foreign(_schema(fields), {"evaluations": source}, mapping=reads, where=where) as records:
        rows = f"""
            SELECT _row, {fields.uid} AS uid, ({fields.submission})::VARCHAR AS submission,
                   {fields.sql("validator")} AS validator, {fields.sql("score")} AS score,
                   {fields.sql("stake")} AS stake, {fields.epoch} AS epoch,
                   {fields.sql("evaluated_at", "NULL::TIMESTAMP")} AS evaluated_at,
                   {fields.sql("hotkey", "NULL::VARCHAR")} AS hotkey,
                   {fields.sql("submitted_at", "NULL::TIMESTAMP")} AS submitted_at
            FROM evaluations"""
        tables = {
            "submissions": records.sql(
                f"SELECT submission AS id, arg_min(uid, _row)::BIGINT AS miner_uid, "
                f"coalesce(min(submitted_at), make_timestamp(min(epoch) * 1000000)) "
                f"AS submitted_at{_mark(fields)}{_key(fields)} FROM ({rows}) "
                "GROUP BY submission ORDER BY min(_row)"
            ),
            "evaluations": records.sql(
                f"SELECT submission AS submission_id, validator AS validator_id, score, "
                f"epoch::BIGINT AS epoch, evaluated_at FROM ({rows}) ORDER BY _row"
            ),
            "validators": records.sql(
                f"SELECT validator AS id, min(stake) AS stake, epoch::BIGINT AS epoch "
                f"FROM ({rows}) GROUP BY validator, epoch ORDER BY min(_row)"
            ),
        }
        if fields.has_seats:
            tables["registrations"] = records.sql(_seats(rows))
        notes = (*_notes(fields), *records.notes)
    return ImportedRecords("challenge", tables, notes, records.names)


def _key(fields: _Fields) -> str:
    """Return SQL of the miner's hotkey, where seats are known; empty where they are not."""
    return ", min(hotkey) AS miner_hotkey" if fields.has_seats else ""


def _seats(rows: str) -> str:
    """Return SQL of the changes of seats: a uid's next hotkey, or none where its hotkey moved."""
    return f"""
        WITH seen AS (SELECT DISTINCT uid::BIGINT AS uid, hotkey, epoch::BIGINT AS epoch
                      FROM ({rows})),
        moved AS (SELECT uid, NULL AS hotkey, next AS epoch FROM
                  (SELECT *, lead(uid) OVER keys AS next_uid, lead(epoch) OVER keys AS next
                   FROM seen WINDOW keys AS (PARTITION BY hotkey ORDER BY epoch))
                  WHERE next_uid <> uid),
        every AS (FROM seen UNION ALL SELECT * FROM moved
                  WHERE NOT EXISTS (FROM seen WHERE uid = moved.uid AND epoch = moved.epoch))
        SELECT uid, hotkey, epoch AS from_epoch FROM
        (SELECT *, row_number() OVER seat AS nth, lag(hotkey) OVER seat AS before FROM every
         WINDOW seat AS (PARTITION BY uid ORDER BY epoch))
        WHERE nth = 1 OR hotkey IS DISTINCT FROM before ORDER BY from_epoch, uid"""


def _mark(fields: _Fields) -> str:
    """Return SQL of the column that marks uids which are numbered here; empty where none are."""
    return "" if "uid" in fields.columns else ", 'import' AS uid_from"


def _columns(source: Any, columns: Mapping[str, str]) -> dict[str, str]:
    """Return the column of each field.

    Raises:
        Unreadable: a field that is needed has no column, or there is no such field.
    """
    if unknown := [field for field in columns if field not in FIELDS]:
        raise Unreadable(f"columns: no field {unknown[0]!r}: {did_you_mean(unknown[0], FIELDS)}")
    names_of = {**FIELDS, **{field: (name,) for field, name in columns.items()}}
    present = columns_of(source, [name for names in names_of.values() for name in names])
    spelled = {
        own: [*match_names([own], present).names] for names in names_of.values() for own in names
    }
    mapped = {
        field: next(name for name in names if spelled[name])
        for field, names in names_of.items()
        if any(spelled[name] for name in names)
    }
    missing = [field for field in _NEEDED if field not in mapped]
    if "uid" not in mapped and "hotkey" not in mapped:
        missing.append("uid")
    if missing:
        expected = "; ".join(
            f"no column for the {field}: give one of "
            + ", ".join(names_of[field] + (FIELDS["hotkey"] if field == "uid" else ()))
            for field in missing
        )
        place = source if isinstance(source, Path) else "evaluations"
        raise Unreadable(f"{place}: {expected}; its columns are {', '.join(present) or 'none'}")
    return mapped


def _schema(fields: _Fields) -> Schema:
    """Return a schema with the file's column names, so that issues name them."""
    columns = tuple(
        Column(
            name=name,
            kind=_KINDS[field].kind,
            nullable=_KINDS[field].nullable,
            low=_KINDS[field].low,
            high=_KINDS[field].high,
        )
        for field, name in fields.columns.items()
    )
    return Schema(
        "bittensor evaluations",
        (Table("evaluations", columns, required=True, checks=tuple(_checks(fields))),),
    )


def _checks(fields: _Fields) -> list[CrossRowCheck]:
    checks = [
        _one_per(
            "stake",
            f"{fields.sql('validator')}, {fields.epoch}",
            fields,
            "differs from another row of the same validator and epoch",
            "give a validator one stake per epoch",
        )
    ]
    owner = "hotkey" if fields.has_seats else "uid"
    checks += [
        _one_per(
            field,
            f"({fields.submission})::VARCHAR",
            fields,
            "differs from another row of the same submission",
            "give each submission its own id in a column submission_id",
        )
        for field in (owner, "submitted_at")
        if field in fields.columns and fields.sql(field) != fields.submission
    ]
    if fields.has_seats:
        checks += [
            _one_per(
                field,
                f"{fields.sql(seat)}, {fields.epoch}",
                fields,
                f"differs from another row of the same {seat} and epoch",
                "a uid is one hotkey's in an epoch, and a hotkey holds one uid",
            )
            for field, seat in (("hotkey", "uid"), ("uid", "hotkey"))
        ]
    return checks


def _one_per(field: str, group: str, fields: _Fields, reason: str, remedy: str) -> CrossRowCheck:
    """Return a check that a field has one value in each group (SQL, comma-separated)."""
    same = f"({group})"
    violations = (
        f"{same} IN (SELECT {same} FROM {{evaluations}} GROUP BY {group} "
        f"HAVING count(DISTINCT {fields.sql(field)}) > 1)"
    )
    column = fields.columns[field]
    read = tuple(name for name in fields.columns.values() if f'"{name}"' in group)
    return CrossRowCheck(
        column, violations, ("evaluations",), reason, remedy, columns=(*read, column)
    )


def _notes(fields: _Fields) -> list[str]:
    notes = []
    if "uid" not in fields.columns:
        notes.append(
            "there is no column of uids: hotkeys are numbered from 1 in their order; "
            "do not set weights from these numbers"
        )
    if "epoch" not in fields.columns:
        notes.append("there is no column of epochs: all rows are of epoch 0")
    return notes
