"""Read the prices of what an attacker uses, with their sources."""

import math
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from agon.errors import Unreadable, did_you_mean

_KEYS = ("amount", "per", "source")


@dataclass(frozen=True)
class UnitPrice:
    """The price of one unit.

    Attributes:
        amount: in US dollars.
        per: the unit.
        source: where the price comes from, or that it is an assumption.
    """

    amount: float
    per: str
    source: str


Prices = Mapping[str, UnitPrice]
"""Prices by the name of what is used: ``miner``, ``stake``, …"""


@cache
def default_prices() -> Prices:
    """Return the prices that agon states.

    Example:
        >>> default_prices()["evaluation"].amount
        0.0
    """
    text = files("agon.attacks").joinpath("prices.toml").read_text(encoding="utf-8")
    return _prices(tomllib.loads(text))


def read_prices(text: str, *, source: str, default: Prices | None = None) -> Prices:
    """Return the default prices with those of a TOML file in their place.

    Args:
        text: tables ``[name]`` with ``amount``, ``per`` and ``source``.
        source: the file's name, for messages.
        default: the prices of a lab; None: those that agon states.

    Raises:
        Unreadable: with everything that is wrong, at once.

    Example:
        >>> text = 'day = {amount = 5, per = "day", source = "ours"}'
        >>> prices = read_prices(text, source="prices.toml")
        >>> prices["day"].amount, prices["miner"].amount
        (5.0, 0.26)
    """
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise Unreadable(f"{source}: {error}; give TOML such as [day] amount = 5") from None
    stated = default or default_prices()
    issues = list(_issues(tables, stated))
    if issues:
        raise Unreadable("\n".join(f"{source}: {issue}" for issue in issues))
    return {**stated, **_prices(tables)}


def _prices(tables: Mapping[str, Any]) -> Prices:
    return {
        name: UnitPrice(float(table["amount"]), table["per"], table["source"])
        for name, table in tables.items()
    }


def _issues(tables: Mapping[str, Any], stated: Prices) -> Iterator[str]:
    for name, table in tables.items():
        if name not in stated:
            yield f"there is no price {name!r}: {did_you_mean(name, stated)}"
        elif not isinstance(table, dict):
            yield f"{name}: expected a table, got {table!r}; write [{name}] above its amount"
        else:
            yield from _issues_of(name, table)


def _issues_of(name: str, table: Mapping[str, Any]) -> Iterator[str]:
    for key in table:
        if key not in _KEYS:
            yield f"{name}: there is no key {key!r}: {did_you_mean(key, _KEYS)}"
    amount = table.get("amount")
    is_number = isinstance(amount, int | float) and not isinstance(amount, bool)
    if not is_number or not math.isfinite(amount or 0) or (amount or 0) < 0:
        shown = "nothing" if amount is None else repr(amount)
        yield f"{name}.amount: expected dollars, 0 or more, got {shown}; give a number"
    for key in ("per", "source"):
        if not isinstance(table.get(key), str) or not table[key].strip():
            yield f"{name}.{key}: expected text, got {table.get(key)!r}; state it, or assumption"
