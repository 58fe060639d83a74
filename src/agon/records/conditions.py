"""Conditions on rows for all engines: SQL and Ibis over a table, Python over columns.

A condition is about one row and has SQL's three truth values: true, false, and None (unknown)
where a value it needs is missing. A row check fails a row only where its condition is true.
"""

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from agon.records.raw import literal, quote

Columns: TypeAlias = Mapping[str, Sequence[Any]]
"""Typed values by column; all columns have the same length."""


class Condition:
    """A condition on the values of one row; ``&``, ``|`` and ``~`` combine conditions.

    Example:
        >>> bad = Equals("kind", "rated") & IsNull("bot_a")
        >>> print(bad.sql())
        (("kind" = 'rated') AND ("bot_a" IS NULL))
        >>> bad.evaluate({"kind": ["rated", "skipped"], "bot_a": [None, None]})
        [True, False]
    """

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns whose values it needs."""
        return self._columns()

    def sql(self) -> str:
        """Return the condition as SQL over the table's typed columns."""
        return self._sql()

    def expression(self, table: Any) -> Any:
        """Return the condition as an Ibis expression over the table."""
        return self._expression(table)

    def evaluate(self, columns: Columns) -> list[bool | None]:
        """Return the truth value for each row."""
        return self._evaluate(columns)

    def _columns(self) -> tuple[str, ...]:
        raise NotImplementedError

    def _sql(self) -> str:
        raise NotImplementedError

    def _expression(self, table: Any) -> Any:
        raise NotImplementedError

    def _evaluate(self, columns: Columns) -> list[bool | None]:
        raise NotImplementedError

    def __and__(self, other: "Condition") -> "Condition":
        return _Both(self, other)

    def __or__(self, other: "Condition") -> "Condition":
        return _Either(self, other)

    def __invert__(self) -> "Condition":
        return _Not(self)


@dataclass(frozen=True)
class IsNull(Condition):
    """True where a column has no value."""

    column: str

    def _columns(self) -> tuple[str, ...]:
        return (self.column,)

    def _sql(self) -> str:
        return f"({quote(self.column)} IS NULL)"

    def _expression(self, table: Any) -> Any:
        return table[self.column].isnull()

    def _evaluate(self, columns: Columns) -> list[bool | None]:
        return [value is None for value in columns[self.column]]


@dataclass(frozen=True)
class Equals(Condition):
    """True where a column of texts has one value."""

    column: str
    value: str

    def _columns(self) -> tuple[str, ...]:
        return (self.column,)

    def _sql(self) -> str:
        return f"({quote(self.column)} = {literal(self.value)})"

    def _expression(self, table: Any) -> Any:
        return table[self.column] == self.value

    def _evaluate(self, columns: Columns) -> list[bool | None]:
        text = self.value
        return [None if value is None else value == text for value in columns[self.column]]


@dataclass(frozen=True)
class IsBlank(Condition):
    """True where a column of texts has only spaces."""

    column: str

    def _columns(self) -> tuple[str, ...]:
        return (self.column,)

    def _sql(self) -> str:
        return f"(trim({quote(self.column)}) = '')"

    def _expression(self, table: Any) -> Any:
        return table[self.column].strip() == ""

    def _evaluate(self, columns: Columns) -> list[bool | None]:
        return [None if value is None else not value.strip(" ") for value in columns[self.column]]


@dataclass(frozen=True)
class Compare(Condition):
    """True where a column of numbers is ``<``, ``<=``, ``>`` or ``>=`` a number.

    Example:
        >>> Compare("rate", "<=", 0).evaluate({"rate": [0.0, 0.5, None]})
        [True, False, None]
    """

    column: str
    sign: str
    value: float

    def __post_init__(self) -> None:
        if self.sign not in _SIGNS:
            raise ValueError(f"{self.sign!r} is not a comparison; give one of {', '.join(_SIGNS)}")

    def _columns(self) -> tuple[str, ...]:
        return (self.column,)

    def _sql(self) -> str:
        return f"({quote(self.column)} {self.sign} {self.value!r})"

    def _expression(self, table: Any) -> Any:
        return _SIGNS[self.sign](table[self.column], self.value)

    def _evaluate(self, columns: Columns) -> list[bool | None]:
        compare, number = _SIGNS[self.sign], self.value
        return [None if value is None else compare(value, number) for value in columns[self.column]]


_SIGNS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True)
class SameValue(Condition):
    """True where two columns of ids or texts have the same value."""

    first: str
    second: str

    def _columns(self) -> tuple[str, ...]:
        return (self.first, self.second)

    def _sql(self) -> str:
        # Of two id columns that do not refer to each other one may hold numbers, the other text.
        return f"({quote(self.first)}::VARCHAR = {quote(self.second)}::VARCHAR)"

    def _expression(self, table: Any) -> Any:
        return table[self.first].cast("string") == table[self.second].cast("string")

    def _evaluate(self, columns: Columns) -> list[bool | None]:
        return [
            None if first is None or second is None else first == second
            for first, second in zip(columns[self.first], columns[self.second], strict=True)
        ]


@dataclass(frozen=True)
class _Not(Condition):
    of: Condition

    def _columns(self) -> tuple[str, ...]:
        return self.of.columns

    def _sql(self) -> str:
        return f"(NOT {self.of.sql()})"

    def _expression(self, table: Any) -> Any:
        return ~self.of.expression(table)

    def _evaluate(self, columns: Columns) -> list[bool | None]:
        return [None if value is None else not value for value in self.of.evaluate(columns)]


@dataclass(frozen=True)
class _BinaryCondition(Condition):
    left: Condition
    right: Condition

    def _columns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.left.columns + self.right.columns))

    def _join(self, columns: Columns, *, decides: bool) -> list[bool | None]:
        """Join two conditions by OR (true decides) or AND (false decides)."""
        first = self.left.evaluate(columns)
        if first.count(decides) == len(first):
            return first
        return [
            decides if left is decides or right is decides
            else None if left is None or right is None
            else not decides
            for left, right in zip(first, self.right.evaluate(columns), strict=True)
        ]  # fmt: skip


@dataclass(frozen=True)
class _Both(_BinaryCondition):
    def _sql(self) -> str:
        return f"({self.left.sql()} AND {self.right.sql()})"

    def _expression(self, table: Any) -> Any:
        return self.left.expression(table) & self.right.expression(table)

    def _evaluate(self, columns: Columns) -> list[bool | None]:
        return self._join(columns, decides=False)


@dataclass(frozen=True)
class _Either(_BinaryCondition):
    def _sql(self) -> str:
        return f"({self.left.sql()} OR {self.right.sql()})"

    def _expression(self, table: Any) -> Any:
        return self.left.expression(table) | self.right.expression(table)

    def _evaluate(self, columns: Columns) -> list[bool | None]:
        return self._join(columns, decides=True)
