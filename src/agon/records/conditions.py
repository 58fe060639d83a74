"""Read a row check's SQL as a function of one row, so that a single row needs no engine.

Only what such checks are made of is understood: comparisons, IS NULL, AND, OR, NOT, texts,
numbers and casts to text, with SQL's three truth values. A check that looks at other rows (it
selects from a table) is none of one row's.
"""

import operator
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeAlias

Condition: TypeAlias = Callable[[Mapping[str, Any]], Any]
"""Takes typed values by column; gives true, false or (unknown) None."""


@cache
def condition_of(sql: str) -> Condition | None:
    """Return what the SQL of a row check says of one row; None when it asks for other rows too.

    Raises:
        ValueError: the SQL holds what no row check has had so far.

    Example:
        >>> bad = condition_of("kind = 'rated' AND bot_a IS NULL")
        >>> bad({"kind": "rated", "bot_a": None}), bad({"kind": "skipped", "bot_a": None})
        (True, False)
    """
    import sqlglot
    from sqlglot import expressions as e

    tree = sqlglot.parse_one(sql, dialect="duckdb")
    return None if tree.find(e.Select) else _read(tree)


def _read(node: Any) -> Condition:
    from sqlglot import expressions as e

    readers: dict[type, Callable[[Any], Condition]] = {
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


def _constant(value: Any) -> Condition:
    return lambda _: value


def _is_null(of: Condition) -> Condition:
    return lambda row: of(row) is None


def _not(of: Condition) -> Condition:
    def condition(row: Mapping[str, Any]) -> bool | None:
        value = of(row)
        return None if value is None else not value

    return condition


def _joined(left: Condition, right: Condition, *, decides: bool) -> Condition:
    """Join two conditions by OR (true decides) or AND (false decides)."""

    def condition(row: Mapping[str, Any]) -> bool | None:
        one = left(row)
        if one is decides:
            return decides
        two = right(row)
        if two is decides:
            return decides
        return None if one is None or two is None else not decides

    return condition


def _compared(how: Callable[[Any, Any], Any], left: Condition, right: Condition) -> Condition:
    def condition(row: Mapping[str, Any]) -> bool | None:
        one, two = left(row), right(row)
        return None if one is None or two is None else bool(how(one, two))

    return condition
