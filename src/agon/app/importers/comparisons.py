"""Import comparisons of two answers: ``left``, ``right``, ``winner`` and who judged.

==============  ====================================================================
column          what it is
==============  ====================================================================
``left``        name of the model whose answer was shown left; becomes the bot's id
``right``       name of the model whose answer was shown right
``winner``      ``left``, ``right`` or ``tie``
``worker``      optional: who judged; becomes a judge (a person)
``id``          optional: the pair of answers; its rows are the votes of one match
``prompt``      optional: the prompt both answered
``created_at``  optional: ISO 8601, time of the vote
==============  ====================================================================

With workers, a pair is a match and each row a vote (``unit="pairs"``); without workers, or with
``unit="votes"``, each row is a match of its own with its winner. Rows of one pair may show the two
answers in either order. A file ``gpt4-X`` in the folder of the file ``X``, or named by ``audit``,
holds another judge's verdicts on the pairs (``id``, ``winner``): their audit. A file
``models.jsonl`` in that folder (``name``, ``org``) names the models' owners.

The data of the LLMFAO study is in this form.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Literal, get_args

from agon.app.importers.reading import columns_of, foreign
from agon.disciplines import ImportedRecords
from agon.errors import NotFound, Unreadable
from agon.records import Column, CrossRowCheck, Kind, Records, RowCheck, Schema, Table
from agon.records.conditions import SameValue
from agon.records.names.mapping import NO_MAPPING, SourceMapping
from agon.records.names.matching import match_names

MatchUnit = Literal["pairs", "votes"]
"""Whether a match is a pair with its votes, or each vote."""
UNITS: Final[tuple[MatchUnit, ...]] = get_args(MatchUnit)
_NAMES = ("crowd-comparisons", "comparisons")
_AUDITOR = "gpt4-"
_WINNERS = ("left", "right", "tie")
_OTHER_PAIR = (
    'id IN (SELECT id FROM {comparisons} GROUP BY id HAVING count(DISTINCT least("left", '
    '"right") || chr(31) || greatest("left", "right")) > 1)'
)

_COMPARISONS = Table(
    "comparisons",
    (
        Column("id", Kind.ID, required=False),
        Column("prompt", Kind.ID, required=False),
        Column("left", Kind.TEXT),
        Column("right", Kind.TEXT),
        Column("winner", Kind.TEXT, choices=_WINNERS, sides=("left", "right")),
        Column("worker", Kind.ID, required=False),
        Column("created_at", Kind.TIMESTAMP, required=False),
    ),
    required=True,
    key=("id", "worker"),
    checks=(
        RowCheck(
            "right", SameValue("left", "right"), "is also left", "compare two different models"
        ),
        CrossRowCheck(
            "id",
            _OTHER_PAIR,
            ("comparisons",),
            "is the id of different pairs of models",
            "give each pair its own id",
            columns=("id", "left", "right"),
        ),
        *(
            CrossRowCheck(
                name,
                f"{name} IS NULL AND EXISTS (SELECT 1 FROM {{comparisons}} "
                f"WHERE {name} IS NOT NULL)",
                ("comparisons",),
                "is empty, though other rows have one",
                f"give every row its {name}, or none",
                columns=(name,),
            )
            for name in ("id", "worker")
        ),
    ),
)

_AUDIT = Table(
    "audit",
    (
        Column("id", Kind.ID, references="comparisons.id"),
        Column("winner", Kind.TEXT, choices=_WINNERS),
        Column("left", Kind.TEXT, required=False),
    ),
    key=("id",),
)

_MODELS = Table("models", (Column("name", Kind.TEXT), Column("org", Kind.TEXT)), key=("name",))

_SCHEMA = Schema("comparisons", (_COMPARISONS, _AUDIT, _MODELS))

_BOTS = """
SELECT name AS id, org AS owner_id, name
FROM (SELECT "left" AS name FROM comparisons UNION SELECT "right" FROM comparisons)
LEFT JOIN models USING (name) ORDER BY name
"""

_OWNERS = """
SELECT DISTINCT org AS id, org AS handle, NULL::TIMESTAMP AS account_created_at
FROM models ORDER BY org
"""

_EACH_ROW = """
SELECT _row AS id, created_at AS played_at, "left" AS bot_a, "right" AS bot_b,
       prompt AS prompt_id, 'rated' AS kind,
       CASE winner WHEN 'left' THEN 'a' WHEN 'right' THEN 'b' ELSE 'tie' END AS winner
FROM comparisons ORDER BY _row
"""

_PAIRS = """
SELECT c.id, c.played_at, c.bot_a, c.bot_b, c.prompt AS prompt_id, 'rated' AS kind,
       CASE WHEN a.winner = 'tie' THEN 'tie'
            WHEN (a.winner = 'left') = (coalesce(a."left", c.bot_a) = c.bot_a) THEN 'a'
            WHEN a.winner IS NOT NULL THEN 'b' END AS audit_verdict
FROM (SELECT id, min(created_at) AS played_at, arg_min("left", _row) AS bot_a,
             arg_min("right", _row) AS bot_b, arg_min(prompt, _row) AS prompt,
             min(_row) AS place FROM comparisons GROUP BY id) c
LEFT JOIN audit a USING (id) ORDER BY place
"""

_VOTES = """
SELECT c.id AS match_id, c.worker AS judge_id,
       CASE WHEN c."left" = first.bot_a THEN 'a' ELSE 'b' END AS shown_first,
       CASE c.winner WHEN 'left' THEN 'A' WHEN 'right' THEN 'B' ELSE 'tie' END AS vote,
       c.created_at AS voted_at
FROM comparisons c
JOIN (SELECT id, arg_min("left", _row) AS bot_a FROM comparisons GROUP BY id) first USING (id)
ORDER BY c._row
"""

_JUDGES = """
SELECT DISTINCT worker AS id, 'person' AS kind FROM comparisons ORDER BY worker
"""


def read(
    source: Any,
    *,
    audit: Any = None,
    unit: MatchUnit = "pairs",
    mapping: SourceMapping = NO_MAPPING,
    where: Mapping[str, Any] | None = None,
) -> ImportedRecords:
    """Read comparisons as arena records.

    Args:
        source: a CSV, JSON, NDJSON or Parquet file, a folder with ``crowd-comparisons.csv`` or
            ``comparisons.csv`` (or one of the other endings), or a data frame.
        audit: a file or data frame of verdicts; None: ``gpt4-…`` in the file's folder, if it
            exists.
        unit: ``pairs`` (a pair is a match, its rows are votes) or ``votes`` (a row is a match).
        mapping: how names and values of the source are read.
        where: a value, or several, by column of the comparisons; only such rows are read.

    Raises:
        InvalidRecords: rows that are not comparisons, all in one error.
        NotFound, Unreadable: a file does not exist, or is of an unknown format.
    """
    if unit not in UNITS:
        raise Unreadable(f"{unit!r} is not a unit of a match; give one of {', '.join(UNITS)}")
    sources = _sources(source, audit)
    known = [column.name for column in _COMPARISONS.columns]
    own_names = {stored: name.rpartition(".")[2] for name, stored in mapping.columns.items()}
    columns = columns_of(sources["comparisons"], [*known, *own_names])
    present = match_names(known, [own_names.get(name, name) for name in columns]).names
    pairs = unit == "pairs" and {"id", "worker"} <= present.keys()
    if not pairs and audit is None:
        sources.pop("audit", None)
    named = replace(mapping, columns=_qualify(mapping.columns))
    with foreign(_SCHEMA, sources, mapping=named, where=_qualify(where)) as comparisons:
        tables = {"owners": comparisons.sql(_OWNERS)} if "models" in sources else {}
        tables["bots"] = comparisons.sql(_BOTS)
        if not pairs:
            tables["matches"] = comparisons.sql(_EACH_ROW)
            notes = ("each row is a match of its own", *comparisons.notes)
            return ImportedRecords("arena", tables, notes, comparisons.names)
        tables["judges"] = comparisons.sql(_JUDGES)
        tables["matches"] = comparisons.sql(_PAIRS)
        tables["votes"] = comparisons.sql(_VOTES)
        notes = (*_notes(comparisons, sources), *comparisons.notes)
        return ImportedRecords("arena", tables, notes, comparisons.names)


def _sources(source: Any, audit: Any) -> dict[str, Any]:
    """Return the comparisons, their audit and the models, if they exist."""
    if not isinstance(source, Path):
        return {"comparisons": source} if audit is None else {"comparisons": source, "audit": audit}
    file = _file(source)
    sources = {"comparisons": file}
    default = file.with_name(_AUDITOR + file.name)
    if audit is not None or default.is_file():
        sources["audit"] = default if audit is None else audit
    if (models := file.with_name("models.jsonl")).is_file():
        sources["models"] = models
    return sources


def _qualify(columns: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return values by column, each with its table: the comparisons where no table is named."""
    return {
        name if "." in name else f"comparisons.{name}": value
        for name, value in (columns or {}).items()
    }


def _file(source: Path) -> Path:
    if not source.is_dir():
        return source
    files = [path for name in _NAMES for path in sorted(source.glob(f"{name}.*"))]
    if not files:
        raise NotFound(f"{source} contains no {' or '.join(f'{name}.csv' for name in _NAMES)}")
    return files[0]


def _notes(comparisons: Records, sources: Mapping[str, Any]) -> tuple[str, ...]:
    matches = "a pair is a match, its rows are the votes of its workers"
    audit = sources.get("audit")
    if audit is None:
        return (matches, "no audit: there is no file of verdicts on the pairs")
    source = f" by {audit.name}" if isinstance(audit, Path) else ""
    return (matches, f"audited{source}: {comparisons.count('audit'):,} verdicts")
