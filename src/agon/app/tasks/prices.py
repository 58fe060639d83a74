"""Compute what tokens cost, by prices that an operator gives with their date.

agon knows no prices of its own: they change, and an old one would be a wrong number in a record.
"""

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any, Final

from agon.app.tasks.agents import Usage
from agon.app.tasks.files import read_text
from agon.errors import Unreadable

_MILLION: Final = 1e6
_EXAMPLE: Final = (
    'date = 2026-11-01\n[models."my-model"]\ninput = 2.5\noutput = 10.0\ncached = 0.25\n'
)


@dataclass(frozen=True, kw_only=True)
class TokenPrice:
    """The price of a million tokens, in US dollars.

    Attributes:
        input: of tokens read.
        output: of tokens written.
        cached: of tokens read from the endpoint's cache; None: as all others.
    """

    input: float
    output: float
    cached: float | None = None

    def with_cost(self, usage: Usage) -> Usage:
        """Return a usage with its cost.

        Example:
            >>> used = Usage(input_tokens=1_000_000, cached_tokens=400_000, output_tokens=100_000)
            >>> TokenPrice(input=2, output=10, cached=0.5).with_cost(used).cost_usd
            2.4
        """
        cached = min(usage.cached_tokens, usage.input_tokens)
        cost = math.fsum(
            [
                (usage.input_tokens - cached) * self.input,
                cached * (self.input if self.cached is None else self.cached),
                usage.output_tokens * self.output,
            ]
        )
        return replace(usage, cost_usd=cost / _MILLION)


@dataclass(frozen=True, kw_only=True)
class PriceTable:
    """Prices of models.

    Attributes:
        models: the prices by the models' names; the key ``""`` is the price of every model.
        date: when they were looked up, as a date; empty: unknown.
    """

    models: Mapping[str, TokenPrice] = field(default_factory=dict)
    date: str = ""

    @classmethod
    def from_dict(cls, page: Mapping[str, Any]) -> "PriceTable":
        """Return the table that :meth:`to_dict` wrote."""
        rows = page.get("models", {})
        models = {name: TokenPrice(**row) for name, row in rows.items()}
        return cls(models=models, date=page.get("date", ""))

    def price(self, model: str) -> TokenPrice | None:
        """Return the price of a model; its provider's name in front may be missing.

        Example:
            >>> table = PriceTable(models={"m": TokenPrice(input=1, output=2)})
            >>> table.price("provider/m") == table.price("m"), table.price("n")
            (True, None)
        """
        for name in (model, model.rpartition("/")[2], ""):
            if name in self.models:
                return self.models[name]
        return None

    def to_dict(self) -> dict[str, Any]:
        """Return the table as a run's record has it; empty: there is none."""
        if not self.models:
            return {}
        rows = {
            name: {
                key: value
                for key, value in (("input", one.input), ("output", one.output),
                                   ("cached", one.cached))
                if value is not None
            }
            for name, one in sorted(self.models.items())
        }  # fmt: skip
        return {"date": self.date, "models": rows}


def read_prices(path: Path) -> PriceTable:
    """Return the prices in a file.

    Raises:
        Unreadable: it is no table of prices; the message shows one.
        InvalidPackage: it cannot be read.
    """
    try:
        content = tomllib.loads(read_text(path, where=str(path)))
    except tomllib.TOMLDecodeError as wrong:
        raise Unreadable(f"{path} is no TOML: {wrong}") from None
    issues = [f"{key} is no key of it" for key in sorted(content.keys() - {"date", "models"})]
    day = content.get("date")
    try:
        day = date.fromisoformat(day) if isinstance(day, str) else day
    except ValueError:
        day = None
    if type(day) is not date:
        issues.append(f"date is {content.get('date')!r}, not the day of the prices")
    rows = content.get("models")
    if not isinstance(rows, dict) or not rows:
        issues.append("it has no table models")
        rows = {}
    models = {name: price for name, row in rows.items() if (price := _price(name, row, issues))}
    if issues:
        raise Unreadable(f"{path}: {'; '.join(issues)}. Write prices as in\n{_EXAMPLE}")
    return PriceTable(models=models, date=str(day))


def _price(name: str, row: object, issues: list[str]) -> TokenPrice | None:
    """Return a row's price; what is wrong with it is added to the issues."""
    if not isinstance(row, dict):
        issues.append(f"models.{name} is no table")
        return None
    wrong = [f"models.{name}.{key} is no key of it" for key in sorted(row.keys() - set(_PRICES))]
    for key in _PRICES:
        value = row.get(key)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if (value is None and key != "cached") or (
            value is not None and not (is_number and 0 <= value < math.inf)
        ):
            wrong.append(f"models.{name}.{key} is {value!r}, not US dollars for a million tokens")
    issues += wrong
    return None if wrong else TokenPrice(**row)


_PRICES: Final = ("input", "output", "cached")
