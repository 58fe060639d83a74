"""Read a row check's SQL as a function of columns, so that rows that arrive need no engine.

Only what such checks are made of is understood: comparisons, IS NULL, AND, OR, NOT, texts,
numbers and casts to text, with SQL's three truth values. A check that looks at other rows (it
selects from a table) is none of one row's.
"""

import operator
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from itertools import repeat
from typing import Any, TypeAlias

Condition: TypeAlias = Callable[[Mapping[str, list[Any]]], list[Any]]
"""Takes typed values by column; gives true, false or (unknown) None for each row."""

_Operand: TypeAlias = Callable[[Mapping[str, list[Any]]], Iterable[Any]]


@cache
def condition_of(sql: str) -> Condition | None:
    """Return what the SQL of a row check says of one row; None when it asks for other rows too.

    Raises:
        ValueError: the SQL holds what no row check has had so far.

    Example:
        >>> bad = condition_of("kind = 'rated' AND bot_a IS NULL")
        >>> bad({"kind": ["rated", "skipped"], "bot_a": [None, None]})
        [True, False]
    """
    import sqlglot
    from sqlglot import expressions as e

    tree = sqlglot.parse_one(sql, dialect="duckdb")
    return None if tree.find(e.Select) else _read(tree)


def _read(node: Any) -> Any:
    from sqlglot import expressions as e

    readers: dict[type, Callable[[Any], Any]] = {
        e.Paren: lambda node: _read(node.this),
        e.Column: lambda node: operator.itemgetter(node.name),
        e.Literal: lambda node: _constant(node.this if node.is_string else float(node.this)),
        e.Not: lambda node: _not(_read(node.this)),
        e.And: lambda node: _joined(_read(node.left), _read(node.right), decides=False),
        e.Or: lambda node: _joined(_read(node.left), _read(node.right), decides=True),
    }
    compared = {
        e.EQ: operator.eq,
        e.NEQ: operator.ne,
        e.LT: operator.lt,
        e.LTE: operator.le,
        e.GT: operator.gt,
        e.GTE: operator.ge,
    }
    if type(node) in readers:
        return readers[type(node)](node)
    if type(node) in compared:
        return _compared(compared[type(node)], _read(node.left), _read(node.right))
    if isinstance(node, e.Is) and isinstance(node.expression, e.Null):
        return _is_null(_read(node.this))
    if isinstance(node, e.Cast) and node.to.is_type("VARCHAR", "TEXT"):
        # Ids are text already, and nothing else is compared as text.
        return _read(node.this)
    raise ValueError(f"a row check holds {node.sql()!r}; teach conditions.py to read it")


def _constant(value: Any) -> _Operand:
    return lambda _: repeat(value)


def _is_null(of: _Operand) -> Condition:
    return lambda columns: [value is None for value in of(columns)]


def _not(of: Condition) -> Condition:
    return lambda columns: [None if value is None else not value for value in of(columns)]


def _joined(left: Condition, right: Condition, *, decides: bool) -> Condition:
    """Join two conditions by OR (true decides) or AND (false decides)."""

    def condition(columns: Mapping[str, list[Any]]) -> list[Any]:
        first = left(columns)
        if first.count(decides) == len(first):
            return first
        return [
            decides if one is decides or two is decides
            else None if one is None or two is None
            else not decides
            for one, two in zip(first, right(columns), strict=True)
        ]  # fmt: skip

    return condition


def _compared(how: Callable[[Any, Any], Any], left: _Operand, right: _Operand) -> Condition:
    return lambda columns: [
        None if one is None or two is None else bool(how(one, two))
        for one, two in zip(left(columns), right(columns), strict=False)  # a constant never ends
    ]
