"""List what a source has and the records have not, and how its names were read.

Nothing is left out in silence: names in another spelling and names that are not used become one
note each. An unused name that is near to a column or a table that the source lacks is probably
meant: a warning where records are scored, an error where they are stored.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from agon.kernel.findings import Finding, Severity
from agon.records.issues import InvalidRecords, RowIssue
from agon.records.names.matching import fold_name, is_ignored, near_names, nearest_file
from agon.records.raw import RawTable, SourceTables
from agon.records.schemas import Schema, Table

_MAX_NAMED: Final = 12
_MAX_SHOWN: Final = 80
_DATA: Final = frozenset(
    [
        "csv",
        "tsv",
        "tab",
        "psv",
        "txt",
        "json",
        "ndjson",
        "jsonl",
        "parquet",
        "pq",
        "arrow",
        "feather",
        "avro",
        "orc",
        "xlsx",
        "xlsm",
        "xls",
        "xlsb",
        "ods",
        "numbers",
        "html",
        "xml",
        "yaml",
        "sql",
        "pkl",
        "rds",
        "dta",
        "sav",
        "dat",
        "sqlite",
        "sqlite3",
        "db",
        "duckdb",
        "gz",
        "zst",
        "zip",
        "bz2",
        "xz",
        "7z",
    ]
)
_OWN_FOLDERS: Final = frozenset({"truth"})
"""Folders that agon writes next to tables and never reads with them."""


@dataclass(frozen=True)
class NameReport:
    """How the names of a source were read.

    Attributes:
        notes: one sentence about other spellings, one about what is not used; none where all names
            are exact and used.
        near: an issue for each unused name that is near to a missing one.
        columns: the source's name of each column that was read, by table and column.
        unused: the source's names of columns that are not read, by table.
    """

    notes: tuple[str, ...] = ()
    near: tuple[RowIssue, ...] = ()
    columns: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    unused: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def findings(self) -> list[Finding]:
        """A warning for each name that is near to a missing one."""
        return [
            Finding(
                code="unused-name",
                severity=Severity.WARNING,
                subjects=(issue.value or "",),
                statistic="names that are not used",
                value=1,
                expected=0,
                probability=None,
                message=f"{issue.value} {issue.reason}; {issue.remedy}",
            )
            for issue in self.near
        ]

    def require_exact(self, *, option: str) -> None:
        """Raise if an unused name is near to a missing one: records are stored as they are read.

        Args:
            option: how a caller says that a name is not to be read.

        Raises:
            InvalidRecords: with every such name.
        """
        if self.near:
            raise InvalidRecords(self.near_issues(option=option))

    def near_issues(self, *, option: str) -> list[RowIssue]:
        """Return the issue of each name that is near to a missing one, with what to do about it."""
        return [replace(issue, remedy=f"{issue.remedy} ({option})") for issue in self.near]


def name_report(schema: Schema, source: SourceTables, ignore: Collection[str] = ()) -> NameReport:
    """Return how the names of a source were read.

    Args:
        schema: the tables, with the columns as the source may name them.
        source: its tables.
        ignore: names that are known to be of no use: ``notes``, ``prompts.notes``, ``flags2.csv``.
    """
    ignored = set(map(fold_name, ignore))
    read_as = [f"{shown_name(stored)} as {table}" for table, stored in source.spelled.items()]
    unused: list[str] = []
    near: dict[str, RowIssue] = {}
    for table in schema:
        raw = source.tables.get(table.name)
        if raw is not None:
            start = f"{table.name}." if len(schema.tables) > 1 else ""
            read_as += [f"{start}{shown_name(name)} as {own}" for own, name in raw.spelled.items()]
            names = [name for name in raw.others if not is_ignored(name, table.name, ignored)]
            unused += [f"{start}{name}" for name in names]
            near |= _near_columns(table, raw, names, start)
    files = [
        name
        for name in source.others
        if _is_data(name) and not {fold_name(name), fold_name(name.partition(".")[0])} & ignored
    ]
    near |= _near_tables(schema, source, files)
    notes = [f"read {_list_names(read_as)}"] if read_as else []
    if unused or files:
        hints = {name: issue.remedy.partition("?")[0] for name, issue in near.items()}
        names = sorted([*unused, *files], key=lambda name: name not in near)
        shown = (
            shown_name(name) + (f" ({hints[name]}?)" if name in hints else "") for name in names
        )
        notes.append(f"not used: {_list_names(shown)}")
    others = {name: raw.others for name, raw in source.tables.items()}
    return NameReport(tuple(notes), tuple(near.values()), columns_read(source), others)


def columns_read(source: SourceTables) -> dict[str, dict[str, str]]:
    """Return the source's name of each column that is read, by table and column."""
    return {
        name: {own: raw.spelled.get(own, own) for own in raw.types}
        for name, raw in source.tables.items()
    }


def _near_columns(
    table: Table, raw: RawTable, names: Iterable[str], start: str
) -> dict[str, RowIssue]:
    absent = [
        column.name
        for column in table.columns
        if not column.required and column.name not in raw.types
    ]
    return {
        f"{start}{name}": _near(
            "unknown-column", table.name, raw.location, name, f"{start}{name}", meant
        )
        for name, meant in near_names(names, absent).items()
    }


def _near_tables(schema: Schema, source: SourceTables, files: Iterable[str]) -> dict[str, RowIssue]:
    near: dict[str, RowIssue] = {}
    for table in schema:
        # A required table is reported as missing, together with the name that comes near it.
        if table.name not in source.tables and not table.required:
            name = nearest_file(table.name, [file for file in files if file not in near])
            if name is not None:
                near[name] = _near("unknown-table", table.name, name, None, name, table.name)
                if fold_name(name.partition(".")[0]) == fold_name(table.name):  # all but its ending
                    remedy = f"did you mean {table.name}? save it as CSV, or leave it out"
                    near[name] = replace(near[name], remedy=remedy)
    return near


def without_ignored(source: SourceTables, ignore: Collection[str]) -> SourceTables:
    """Return a source without the columns and tables that are not to be read.

    Args:
        source: its tables, with the columns as the source names them.
        ignore: names such as ``notes``, ``prompts.notes``, ``flags`` or ``flags.csv``.
    """
    ignored = {fold_name(name) for name in ignore}
    if not ignored:
        return source
    tables = {
        name: replace(raw, types={own: kind for own, kind in raw.types.items()
                                  if not is_ignored(raw.spelled.get(own, own), name, ignored)})
        for name, raw in source.tables.items()
        if not {fold_name(name), fold_name(raw.location)} & ignored
    }  # fmt: skip
    return replace(source, tables=tables)


def _near(
    code: str, table: str, location: str, column: str | None, shown: str, meant: str
) -> RowIssue:
    remedy = f"did you mean {meant}? rename it, or leave it out"
    return RowIssue(code, table, location, None, column, shown, "is not used", remedy)


def shown_name(name: str) -> str:
    """Return a name as messages show it: of a very long one the beginning.

    Example:
        >>> shown_name("notes"), len(shown_name("x" * 1_000))
        ('notes', 81)
    """
    return name if len(name) <= _MAX_SHOWN else f"{name[:_MAX_SHOWN]}…"


def _is_data(name: str) -> bool:
    """Return whether a name in a folder or a database may be a table's.

    Example:
        >>> [_is_data(name) for name in ("flags2.csv", "README.md", ".git", "truth", "auth_log")]
        [True, False, False, False, True]
    """
    if name.startswith((".", "_", "sqlite_")) or name in _OWN_FOLDERS:
        return False
    _, dot, ending = name.rpartition(".")
    return not dot or ending.lower() in _DATA


def _list_names(names: Iterable[str]) -> str:
    """Return the first names, and the number of the others."""
    listed = list(names)
    rest = len(listed) - _MAX_NAMED
    more = f" and {rest:,} more" if rest > 0 else ""
    return ", ".join(listed[:_MAX_NAMED]) + more
