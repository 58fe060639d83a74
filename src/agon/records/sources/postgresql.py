"""Read the tables of a PostgreSQL database in place (PeerBench's own schema is supported).

One snapshot, one statement for each table, and batches of bounded size: rows go from the server
into the embedded engine, which writes to disk what does not fit into memory.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qsl, unquote
from urllib.parse import quote as url_quote

import pyarrow as pa

from agon.errors import Unavailable, Unreadable
from agon.kernel.progress import step
from agon.records.issues import RowIssue
from agon.records.names.matching import match_names
from agon.records.raw import RawTable, SourceTables, quote
from agon.records.schemas import Kind, Schema, Table
from agon.records.sources.issues import table_issue
from agon.records.sources.names import pick

_SECONDS_TO_CONNECT = 5
_BATCH_BYTES: Final = 1 << 24
_BATCH_OPTION: Final = "adbc.postgresql.batch_size_hint_bytes"

_HOST = r"(?:[^@:/?,\[\]]*|\[[0-9a-fA-F:.%]*\])(?::\d*)?"
_ADDRESS = re.compile(
    rf"(?P<scheme>postgres(?:ql)?)://(?:(?P<user>[^@/?]*)@)?(?P<hosts>{_HOST}(?:,{_HOST})*)"
    r"(?P<database>/[^@/?]*)?(?:\?(?P<options>(?:[a-z_]+=[^&]*(?:&|$))*))?"
)

# Unless the server, the role or the address states one.
_BUDGET: Final = (
    "SELECT set_config('statement_timeout', '30min', true) "
    "WHERE current_setting('statement_timeout') = '0'"
)
_SETTINGS = (
    "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY",
    "SET LOCAL TIME ZONE 'UTC'",
    "SET LOCAL datestyle = 'ISO'",
    "SET LOCAL lock_timeout = '10s'",
    # Rows come in the order of storage: neither from where another scan is, nor from two at once.
    "SET LOCAL synchronize_seqscans = off",
    "SET LOCAL max_parallel_workers_per_gather = 0",
    _BUDGET,
)
_TIMEOUT: Final = "statement timeout"
_RAISE_TIMEOUT: Final = (
    "; a statement may take 30 minutes unless the role or the address states another limit: "
    "add ?options=-c%20statement_timeout%3D2h"
)

# The catalog, because information_schema hides columns without read permission.
_COLUMNS = """
SELECT n.nspname, c.relname, a.attname, format_type(a.atttypid, NULL),
       has_schema_privilege(n.oid, 'USAGE') AND has_column_privilege(c.oid, a.attnum, 'SELECT'),
       c.reltuples::double precision
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')
  AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\\_toast%'
ORDER BY n.nspname, c.relname, a.attnum
"""

_SIZES: Final = """
SELECT n.nspname, c.relname, c.reltuples::double precision,
       coalesce((SELECT sum(pg_table_size(relid)) FROM pg_partition_tree(c.oid)),
                pg_table_size(c.oid))::bigint
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')
  AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\\_toast%'
"""

_TEXT: Final = "text:"
_TIMES = {"timestamp with time zone", "timestamp without time zone", "date"}

# Types that arrive as they are; everything else (uuid, enums, citext, …) is read as text.
_AS_THEY_ARE = {
    "smallint",
    "integer",
    "bigint",
    "real",
    "double precision",
    "boolean",
    "text",
    "character varying",
}


@dataclass(frozen=True)
class _StoredTable:
    """A table in the database: its columns' types, readable or not, and about how many rows."""

    columns: dict[str, tuple[str, bool]]
    estimated_rows: float


def tables(connection: Any, schema: Schema, address: str) -> SourceTables:
    """Read the schema's tables and known columns in one read-only snapshot.

    Raises:
        Unavailable: the driver is missing, the server cannot be reached, or a statement fails.
    """
    with _snapshot(address) as (place, cursor):
        return _read_tables(connection, schema, place.display_url, cursor)


@contextmanager
def _snapshot(address: str) -> Iterator[tuple["Address", Any]]:
    """Open a read-only transaction that sees one state; yield the address and a cursor."""
    try:
        import adbc_driver_postgresql.dbapi as driver
    except ImportError:
        raise Unavailable(
            "reading PostgreSQL needs its driver: pip install 'agon-engine[postgres]'"
        ) from None
    place = parse_address(address)
    try:
        database = driver.connect(place.patient)
    except driver.Error as error:
        raise Unavailable(f"cannot reach {place.display_url}: {_reason(error, place)}") from None
    try:
        with database, database.cursor() as cursor:
            for setting in _SETTINGS:
                cursor.execute(setting)
            yield place, cursor
    except (driver.Error, pa.ArrowException, OSError) as error:  # a batch fails with the others
        reason = _reason(error, place)
        remedy = _RAISE_TIMEOUT if _TIMEOUT in reason else ""
        raise Unavailable(f"{place.display_url} cannot be read: {reason}{remedy}") from None


def sizes(schema: Schema, address: str) -> tuple[str, list[tuple[str, int, int, bool]]]:
    """Return the database's name in messages, and the size of each of the schema's tables.

    A table's rows are the server's estimate (``pg_class.reltuples``), or counted where the server
    has none because the table was never analyzed.

    Returns:
        The address without secrets; name, rows, bytes, and whether the rows are counted.

    Raises:
        Unavailable: the driver is missing, the server cannot be reached, or a statement fails.
    """
    with _snapshot(address) as (place, cursor):
        cursor.execute(_SIZES)
        stored = {(space, name): (rows, size) for space, name, rows, size in cursor.fetchall()}
        rows_of = []
        for table, (space, name) in pick(schema, stored, default_space="public").items():
            rows, size = stored[space, name]
            counted = rows < 0
            if counted:
                cursor.execute(f"SELECT count(*) FROM {quote(space)}.{quote(name)}")
                rows = cursor.fetchone()[0]
            rows_of.append((table, int(rows), int(size), counted))
        return place.display_url, rows_of


def _read_tables(connection: Any, schema: Schema, display_url: str, cursor: Any) -> SourceTables:
    cursor.execute(_COLUMNS)
    stored: dict[tuple[str, str], _StoredTable] = {}
    for space, name, column, kind, readable, rows in cursor.fetchall():
        table = stored.setdefault((space, name), _StoredTable({}, rows))
        table.columns[column] = (kind, readable)
    picked = pick(
        schema, {place: each.columns for place, each in stored.items()}, default_space="public"
    )
    others = tuple(sorted({name for space, name in stored if (space, name) not in picked.values()}))
    source = SourceTables(display_url, others=others)
    cursor.adbc_statement.set_options(**{_BATCH_OPTION: str(_BATCH_BYTES)})
    for name, place in picked.items():
        location = f"table {place[0]}.{place[1]}"
        columns = stored[place].columns
        matched = match_names([c.name for c in schema.table(name).columns], columns)
        hidden = [column for column in matched.names.values() if not columns[column][1]]
        if hidden:
            source.issues.append(_hidden_table_issue(schema.table(name), location, hidden))
            continue
        source.tables[name] = _read_table(
            connection, schema.table(name), place, stored[place], cursor
        )
    return source


def _read_table(
    connection: Any, table: Table, place: tuple[str, str], stored: _StoredTable, cursor: Any
) -> RawTable:
    """Copy the known columns of a table into the engine, batch by batch."""
    matched = match_names([column.name for column in table.columns], stored.columns)
    kinds = {own: stored.columns[name][0] for own, name in matched.names.items()}
    times = {name for name, kind in kinds.items() if kind in _TIMES}
    values = [_time(c.name, matched.names[c.name]) if c.name in times
              else _value(c.name, matched.names[c.name], c.kind, kinds[c.name])
              for c in table.columns if c.name in kinds]  # fmt: skip
    selected = ", ".join(values) or 'NULL AS "no known column"'
    cursor.execute(f"SELECT {selected} FROM {quote(place[0])}.{quote(place[1])}")
    copy = quote(f"raw:{table.name}")
    rows = 0
    with (
        cursor.fetch_record_batch() as batches,
        step(f"reading {table.name}", lambda: _share(rows, stored.estimated_rows)),
    ):
        _insert(connection, f"CREATE TABLE {copy} AS", batches.schema.empty_table())
        for batch in batches:
            _insert(connection, f"INSERT INTO {copy}", batch)
            rows += batch.num_rows
    exceeding = _times_as_text(connection, copy, times)
    described = connection.execute(f"DESCRIBE {copy}").fetchall()
    types = {column: kind for column, kind, *_ in described if column in kinds}
    types |= dict.fromkeys(exceeding, "VARCHAR")
    return RawTable(
        table.name,
        f"table {place[0]}.{place[1]}",
        _relation(copy, exceeding),
        types,
        row="_row",
        others=matched.unused,
        spelled=matched.respelled,
    )


def _insert(connection: Any, statement: str, rows: pa.Table | pa.RecordBatch) -> None:
    connection.register("postgresql batch", rows)
    connection.execute(f'{statement} SELECT * FROM "postgresql batch"')
    connection.unregister("postgresql batch")


def _share(rows: int, estimated_rows: float) -> float | None:
    """Return the share of a table that is read; None for a table that was never analyzed."""
    return min(rows / estimated_rows, 1.0) if estimated_rows > 0 else None


def _times_as_text(connection: Any, copy: str, times: set[str]) -> list[str]:
    """Return the columns with a time that only PostgreSQL can represent."""
    counts = ", ".join(f"count({quote(_TEXT + name)})" for name in sorted(times))
    if not counts:
        return []
    exceeding = connection.execute(f"SELECT {counts} FROM {copy}").fetchall()[0]
    return [name for name, count in zip(sorted(times), exceeding, strict=True) if count]


def _relation(copy: str, beyond: list[str]) -> str:
    """Return the SQL after ``FROM`` for a copy, where some columns of times are text."""
    texts = ", ".join(
        f"coalesce({quote(_TEXT + name)}, {quote(name)}::VARCHAR) AS {quote(name)}"
        for name in beyond
    )
    replaced = f" REPLACE ({texts})" if texts else ""
    return f"(SELECT rowid + 1 AS _row, *{replaced} FROM {copy})"


def _hidden_table_issue(table: Table, location: str, columns: list[str]) -> RowIssue:
    reason = f"may not be read (columns {', '.join(columns)})"
    remedy = f"GRANT USAGE on its schema and SELECT on {location.removeprefix('table ')}"
    return table_issue(table.name, location, reason, remedy)


def _time(own: str, column: str) -> str:
    """Select a time that Arrow can represent (years 1 to 9999), and any other one as text."""
    name = quote(column)
    fits = f"{name} >= '0001-01-01' AND {name} < '10000-01-01'"
    return (
        f"CASE WHEN {fits} THEN {name} END AS {quote(own)}, "
        f"CASE WHEN NOT ({fits}) THEN {name}::text END AS {quote(_TEXT + own)}"
    )


def _value(own: str, column: str, kind: Kind, stored: str) -> str:
    name, alias = quote(column), quote(own)
    if stored in _AS_THEY_ARE:
        return f"{name} AS {alias}"
    if stored == "numeric" and kind is Kind.NUMBER:
        return f"{name}::double precision AS {alias}"
    if stored == "numeric":
        return f"trim_scale({name})::text AS {alias}"
    return f"{name}::text AS {alias}"


@dataclass(frozen=True)
class Address:
    """A ``postgresql://`` URL, parsed strictly enough to know which parts are secret.

    Attributes:
        display_url: the URL without user, password and options.
        patient: the URL to connect to, with a connection timeout unless it has one.
        secrets: texts that no message may contain.
    """

    display_url: str
    patient: str
    secrets: tuple[str, ...]


def parse_address(address: str) -> Address:
    """Parse a URL.

    Raises:
        Unreadable: it is ambiguous where the password ends.

    Example:
        >>> parse_address("postgresql://ada:secret@host:5433/contest?sslmode=require").display_url
        'postgresql://host:5433/contest'
    """
    match = _ADDRESS.fullmatch(address)
    if match is None:
        raise Unreadable(
            "this is not the URL of a PostgreSQL database; expected "
            "postgresql://user:password@host:port/database?option=value, and a user name or "
            "password has %40, %3A, %2F and %3F for @, :, / and ?"
        )
    options = parse_qsl(match["options"] or "")
    _, _, password = (match["user"] or "").partition(":")
    written = {password, *(value for key, value in options if "password" in key)}
    patient = address
    if not any(key == "connect_timeout" for key, _ in options):
        patient += f"{'&' if match['options'] else '?'}connect_timeout={_SECONDS_TO_CONNECT}"
    written |= {address, patient}
    secrets = {
        form
        for secret in written
        if secret
        for form in (secret, unquote(secret), url_quote(secret))
    }
    display_url = f"{match['scheme']}://{match['hosts']}{match['database'] or ''}"
    return Address(display_url, patient, tuple(sorted(secrets, key=len, reverse=True)))


def _reason(error: Exception, address: Address) -> str:
    """Return the driver's message in one line and without secrets."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    reason = lines[0] if lines else type(error).__name__
    _, _, reason = reason.rpartition("[libpq] ")
    for secret in address.secrets:
        reason = reason.replace(secret, "…")
    return reason
