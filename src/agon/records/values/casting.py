"""SQL that reads raw values as their column's kind, and that finds invalid values.

A number that is stored as a number is read by its value (an integral float is an integer); text
has to be in the notation of a number. Empty text is an empty value in every format, because CSV
cannot distinguish the two. Blanks around numbers, times and Booleans are ignored; ids and texts are
read unchanged.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from agon.records.raw import literal, quote
from agon.records.schemas import SQL_TYPES, Column, Kind
from agon.records.values.words import FALSE, TRUE

# With blanks around them, as a cast of the engine takes numbers.
_WHOLE = r" *[+-]?[0-9]+(\.0*)? *"
_NUMBER = r" *[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|(?i:nan|inf|infinity)) *"
_TIME = (
    r" *[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?( UTC|Z|[+-][01][0-9](:?[0-5][0-9])?)?)? *"
)
_FIRST, _LAST = "0001-01-01 00:00:00", "9999-12-31 23:59:59.999999"
_TRUE = f"({', '.join(map(literal, TRUE))})"
_FALSE = f"({', '.join(map(literal, FALSE))})"

# From here on, different integers may be the same float.
_EXACT = f"{2**53}::DOUBLE"
# Integers of 64 bits are within ± this.
_INT64_LIMIT = f"{2**63}::DOUBLE"

_FAMILIES = {
    **dict.fromkeys(
        ["TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"], "integer"
    ),
    **dict.fromkeys(["UBIGINT", "HUGEINT", "UHUGEINT", "BIGNUM"], "wide"),
    **dict.fromkeys(["FLOAT", "DOUBLE", "DECIMAL"], "number"),
    **dict.fromkeys(["TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "DATE"], "stamp"),
    **dict.fromkeys(["VARCHAR", "ENUM", "UUID"], "text"),
    **dict.fromkeys(["TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ_NS"], "zoned"),
    "BOOLEAN": "boolean",
    "JSON": "json",
    '"NULL"': "empty",
}


@dataclass(frozen=True)
class ColumnCast:
    """How to read one column: SQL over the raw table.

    Attributes:
        raw: the raw value, NULL where it is empty.
        value: the typed value; may fail where ``valid`` is not true.
        valid: whether a value that is not empty is of its column's kind ("true" where the type is).
        beyond: whether it is an integer of more than 64 bits.
        finite: whether the type has neither NaN nor infinity.
        parsed: whether reading is so slow that the result is stored.
    """

    raw: str
    value: str
    valid: str = "true"
    beyond: str = "false"
    finite: bool = True
    parsed: bool = False

    @property
    def is_guarded(self) -> bool:
        """Whether there may be values that cannot be read."""
        return self.valid != "true"

    @property
    def safe(self) -> str:
        """Return SQL for the typed value, NULL where it cannot be read."""
        if not self.is_guarded:
            return self.value
        return f"CASE WHEN {self.valid} THEN {self.value} END"

    @property
    def invalid(self) -> str:
        """Return SQL that is true where a value is not of its column's kind."""
        if not self.is_guarded:
            return "false"
        return f"({self.raw} IS NOT NULL AND ({self.valid}) IS NOT TRUE)"


@dataclass(frozen=True)
class _Raw:
    """A raw column: its quoted name, its value (NULL where empty), how its type is read.

    An empty text is NULL, or what the column reads it as.
    """

    name: str
    engine_type: str
    empty_text: str = ""
    has_empty_texts: bool = True

    @property
    def family(self) -> str:
        return _family(self.engine_type)

    @property
    def raw(self) -> str:
        if not self.is_written:
            return self.name
        text = {"VARCHAR": self.name, "JSON": f"({self.name} ->> '$')"}.get(
            self.engine_type, f"{self.name}::VARCHAR"
        )
        if not self.has_empty_texts:
            return text
        if not self.empty_text:
            return f"nullif({text}, '')"
        return f"CASE WHEN {text} = '' THEN {literal(self.empty_text)} ELSE {text} END"

    @property
    def as_text(self) -> str:
        return self.raw if self.is_written else f"{self.raw}::VARCHAR"

    @property
    def is_written(self) -> bool:
        return self.family in {"text", "json"}


def cast(
    column: Column, engine_type: str, *, integer_ids: bool = False, has_empty_texts: bool = True
) -> ColumnCast:
    """Return how to read one column of a raw table whose engine type is ``engine_type``.

    Args:
        column: what the values should be.
        engine_type: what the engine says they are.
        integer_ids: whether an id column is read as integers (see ``typed.py``).
        has_empty_texts: whether a text of the table may be empty.
    """
    raw = _Raw(quote(column.name), engine_type, column.empty_text, has_empty_texts)
    nothing = f"NULL::{sql_type(column, integer_ids=integer_ids)}"
    if raw.family == "empty":
        return ColumnCast(raw.raw, nothing)
    read = _READERS[column.kind](raw)
    if read is None:
        return ColumnCast(raw.raw, nothing, valid="false")
    if column.kind is Kind.ID:
        return _as_id(read, raw, integers=integer_ids)
    return read


def sql_type(column: Column, *, integer_ids: bool) -> str:
    """Return the engine's type of a typed column."""
    return "BIGINT" if column.kind is Kind.ID and integer_ids else SQL_TYPES[column.kind]


def integer_id(column: Column, engine_type: str, *, has_empty_texts: bool = True) -> str | None:
    """Return SQL that is true of ids that are 64-bit integers in canonical notation.

    None: all values of the type are.
    """
    if _family(engine_type) in {"integer", "number", "empty"}:
        return None
    value = cast(column, engine_type, has_empty_texts=has_empty_texts).safe
    return f"try_cast({value} AS BIGINT)::VARCHAR IS NOT DISTINCT FROM ({value})"


@cache
def _family(engine_type: str) -> str:
    """Return the family of an engine's type; types of a family are read in the same way."""
    if engine_type.startswith("DECIMAL(") and engine_type.endswith(",0)"):
        return "wide"
    return _FAMILIES.get(engine_type.partition("(")[0], "other")


def _id(raw: _Raw) -> ColumnCast | None:
    value = raw.raw
    if raw.family == "integer":
        return ColumnCast(value, f"{value}::BIGINT")
    if raw.family == "number":
        # Written as a float, an id beyond 2^53 may already be another one's.
        valid = f"isfinite({value}) AND {value} = floor({value}) AND abs({value}) < {_EXACT}"
        return ColumnCast(value, f"{value}::BIGINT", valid)
    if raw.family == "json":
        kind = f"json_type({raw.name})"
        digits = r"-?([0-9]{1,15}\.0|[0-9]+)"
        float_id = f"{kind} = 'DOUBLE' AND regexp_full_match({value}, '{digits}')"
        plain = f"CASE WHEN {kind} = 'DOUBLE' THEN split_part({value}, '.', 1) ELSE {value} END"
        return ColumnCast(
            value, plain, f"{kind} IN ('VARCHAR', 'BIGINT', 'UBIGINT') OR ({float_id})"
        )
    return ColumnCast(value, raw.as_text) if raw.family in {"text", "wide"} else None


def _as_id(read: ColumnCast, raw: _Raw, *, integers: bool) -> ColumnCast:
    if raw.family in {"integer", "number"}:
        return read if integers else ColumnCast(read.raw, f"{read.value}::VARCHAR", read.valid)
    if not integers:
        return read
    return ColumnCast(read.raw, f"try_cast({read.value} AS BIGINT)", read.valid, parsed=True)


def _text(raw: _Raw) -> ColumnCast | None:
    if raw.family == "json":
        plain = f"json_type({raw.name}) NOT IN ('OBJECT', 'ARRAY')"
        return ColumnCast(raw.raw, raw.raw, plain, parsed=True)
    return None if raw.family == "other" else ColumnCast(raw.raw, raw.as_text)


def _integer(raw: _Raw) -> ColumnCast | None:
    value = raw.raw
    if raw.family == "integer":
        return ColumnCast(value, f"{value}::BIGINT")
    if raw.family == "number":
        is_integral = f"isfinite({value}) AND {value} = floor({value})"
        fits = f"abs({value}) < {_INT64_LIMIT}"
        return ColumnCast(
            value,
            f"{value}::BIGINT",
            f"{is_integral} AND {fits}",
            f"{is_integral} AND NOT ({fits})",
        )
    if raw.family == "wide":
        read = f"try_cast({value} AS BIGINT)"
        return ColumnCast(
            value, read, f"{read} IS NOT NULL", f"{value} IS NOT NULL AND {read} IS NULL"
        )
    if raw.is_written:
        is_integral = f"regexp_full_match({value}, '{_WHOLE}')"
        read = f"try_cast(split_part({value}, '.', 1) AS BIGINT)"
        valid, exceeding = (
            f"{is_integral} AND {read} IS NOT NULL",
            f"{is_integral} AND {read} IS NULL",
        )
        return ColumnCast(value, read, valid, exceeding, parsed=True)
    return None


def _number(raw: _Raw) -> ColumnCast | None:
    value = raw.raw
    if raw.family in {"integer", "number", "wide"}:
        return ColumnCast(value, f"{value}::DOUBLE", finite=raw.family == "integer")
    if raw.is_written:
        read = f"try_cast({value} AS DOUBLE)"
        valid = f"regexp_full_match({value}, '{_NUMBER}') AND {read} IS NOT NULL"
        return ColumnCast(value, read, valid, finite=False, parsed=True)
    return None


def _boolean(raw: _Raw) -> ColumnCast | None:
    value = raw.raw
    if raw.family == "boolean":
        return ColumnCast(value, value)
    if raw.family in {"integer", "number"}:
        return ColumnCast(value, f"({value} = 1)", f"{value} IN (0, 1)")
    if raw.is_written:
        text = f"lower(trim({value}))"
        valid = f"({text} IN {_TRUE} OR {text} IN {_FALSE})"
        return ColumnCast(value, f"({text} IN {_TRUE})", valid, parsed=True)
    return None


def _timestamp(raw: _Raw) -> ColumnCast | None:
    value = raw.raw
    if raw.family == "stamp":
        read = f"try_cast({value} AS TIMESTAMP)"
        valid = f"{read} BETWEEN TIMESTAMP '{_FIRST}' AND TIMESTAMP '{_LAST}'"
        return ColumnCast(value, read, valid)
    first, last = f"TIMESTAMPTZ '{_FIRST}+00'", f"TIMESTAMPTZ '{_LAST}+00'"
    if raw.family == "zoned":
        read = f"{value}::TIMESTAMPTZ"
        return ColumnCast(
            value, f"({read} AT TIME ZONE 'UTC')", f"{read} BETWEEN {first} AND {last}"
        )
    if raw.is_written:
        read = f"try_cast(trim({value}) AS TIMESTAMPTZ)"  # a day with blanks after it is none
        valid = f"regexp_full_match({value}, '{_TIME}') AND {read} BETWEEN {first} AND {last}"
        return ColumnCast(value, f"({read} AT TIME ZONE 'UTC')", valid, parsed=True)
    return None


_READERS: dict[Kind, Callable[[_Raw], ColumnCast | None]] = {
    Kind.ID: _id,
    Kind.TEXT: _text,
    Kind.INTEGER: _integer,
    Kind.NUMBER: _number,
    Kind.BOOLEAN: _boolean,
    Kind.TIMESTAMP: _timestamp,
}
