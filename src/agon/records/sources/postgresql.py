"""Read the tables of a PostgreSQL database into Arrow (PeerBench's own schema is supported)."""

import re
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qsl, unquote
from urllib.parse import quote as url_quote

from agon.errors import Unavailable, Unreadable
from agon.records.issues import RowIssue
from agon.records.raw import SourceTables, quote
from agon.records.schemas import Kind, Schema, Table
from agon.records.sources.issues import table_issue
from agon.records.sources.memory import register
from agon.records.sources.names import pick

_SECONDS_TO_CONNECT = 5

_HOST = r"(?:[^@:/?,\[\]]*|\[[0-9a-fA-F:.%]*\])(?::\d*)?"
_ADDRESS = re.compile(
    rf"(?P<scheme>postgres(?:ql)?)://(?:(?P<user>[^@/?]*)@)?(?P<hosts>{_HOST}(?:,{_HOST})*)"
    r"(?P<database>/[^@/?]*)?(?:\?(?P<options>(?:[a-z_]+=[^&]*(?:&|$))*))?"
)

_SETTINGS = (
    "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY",
    "SET LOCAL TIME ZONE 'UTC'",
    "SET LOCAL datestyle = 'ISO'",
    "SET LOCAL lock_timeout = '10s'",
)

# The catalog, because information_schema hides columns without read permission.
_COLUMNS = """
SELECT n.nspname, c.relname, a.attname, format_type(a.atttypid, NULL),
       has_schema_privilege(n.oid, 'USAGE') AND has_column_privilege(c.oid, a.attnum, 'SELECT')
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')
  AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\\_toast%'
ORDER BY n.nspname, c.relname, a.attnum
"""

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

_Columns = dict[tuple[str, str], dict[str, tuple[str, bool]]]


def tables(connection: Any, schema: Schema, address: str) -> SourceTables:
    """Fetch the schema's tables and known columns in one read-only snapshot."""
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
            return _fetch_tables(connection, schema, place.display_url, cursor)
    except driver.Error as error:
        raise Unavailable(f"{place.display_url} cannot be read: {_reason(error, place)}") from None


def _fetch_tables(connection: Any, schema: Schema, display_url: str, cursor: Any) -> SourceTables:
    cursor.execute(_COLUMNS)
    columns: _Columns = {}
    for space, name, column, kind, readable in cursor.fetchall():
        columns.setdefault((space, name), {})[column] = (kind, readable)
    picked = pick(schema, columns, default_space="public")
    others = tuple(
        sorted({name for space, name in columns if (space, name) not in picked.values()})
    )
    tables_read = SourceTables(display_url, others=others)
    for name, place in picked.items():
        table, location = schema.table(name), f"table {place[0]}.{place[1]}"
        known = [c for c in table.columns if c.name in columns[place]]
        hidden = [c.name for c in known if not columns[place][c.name][1]]
        if hidden:
            tables_read.issues.append(_hidden_table_issue(table, location, hidden))
            continue
        source = f"{quote(place[0])}.{quote(place[1])}"
        kinds = {c.name: columns[place][c.name][0] for c in known}
        native = _native_times(cursor, source, kinds)
        values = [_value(c.name, c.kind, kinds[c.name], native) for c in known]
        selected = ", ".join(values) or 'NULL AS "no known column"'
        cursor.execute(f"SELECT {selected} FROM {source}")
        raw = register(connection, table, location, cursor.fetch_arrow_table())
        names = {c.name for c in known}
        unknown = tuple(column for column in columns[place] if column not in names)
        tables_read.tables[name] = replace(raw, others=unknown)
    return tables_read


def _hidden_table_issue(table: Table, location: str, columns: list[str]) -> RowIssue:
    reason = f"may not be read (columns {', '.join(columns)})"
    remedy = f"GRANT USAGE on its schema and SELECT on {location.removeprefix('table ')}"
    return table_issue(table.name, location, reason, remedy)


def _native_times(cursor: Any, source: str, kinds: dict[str, str]) -> set[str]:
    """Return the time columns that Arrow can represent: years 1 to 9999, none infinite."""
    times = [name for name, kind in kinds.items() if kind in _TIMES]
    if not times:
        return set()
    fits = "coalesce(bool_and({0} >= '0001-01-01' AND {0} < '10000-01-01'), true)"
    checks = ", ".join(fits.format(quote(name)) for name in times)
    cursor.execute(f"SELECT {checks} FROM {source}")
    return {name for name, fit in zip(times, cursor.fetchone(), strict=True) if fit}


def _value(column: str, kind: Kind, stored: str, native: set[str]) -> str:
    name = quote(column)
    if stored in _AS_THEY_ARE or column in native:
        return name
    if stored == "numeric" and kind is Kind.NUMBER:
        return f"{name}::double precision AS {name}"
    if stored == "numeric":
        return f"trim_scale({name})::text AS {name}"
    return f"{name}::text AS {name}"


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
