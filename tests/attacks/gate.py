"""The price of each attack under each edition, kept in a file: a rule that makes one cheaper fails.

After a change that is meant: ``python tests/attacks/gate.py`` writes the file again.
"""

import json
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from agon.attacks.catalog import LABS, lab_of
from agon.attacks.prices import default_prices
from agon.attacks.results import AttackResult
from agon.attacks.runner import Runner, select
from agon.editions import edition

FILE = Path(__file__).with_name("prices.json")
SEED = 1
SIZES = {"challenge": 24, "arena": 12, "community": 300, "dojo": 40}
"""People of each world."""
EDITIONS = {
    "challenge": ("challenge/term-1", "challenge/hardened-1"),
    "arena": ("arena/sentience-1", "arena/hardened-1"),
    "community": ("community/scores0002-1", "community/hardened-1"),
    "dojo": ("dojo/0.1", "dojo/0.2", "dojo/hardened-1"),
}
ALLOWED_FALL = 0.05

Price = dict[str, float]


@cache
def runner(name: str) -> Runner:
    """Return the runner of an edition in the world of the gate."""
    discipline = name.partition("/")[0]
    lab = lab_of(discipline)
    return Runner(lab, _world(discipline), edition(name).rules)


@cache
def result(name: str, attack: str) -> AttackResult:
    """Return the result of an attack under an edition."""
    under = runner(name)
    return under.run(select(under.lab, [attack])[0])


def price(name: str, attack: str) -> Price | None:
    """Return the price of reaching the attack's goal and its parts; None: no plan reaches it.

    Most of a small attack's money is days of attention, so accounts and actions are compared, too.
    """
    under = runner(name)
    effort = under.effort(select(under.lab, [attack])[0])
    if effort is None:
        return None
    cost = effort.to_dict(default_prices())
    return {part: cost[part] for part in ("money", "accounts", "actions")}


def stored() -> dict[str, dict[str, Price | None]]:
    """Return the prices of the file, by edition and attack."""
    prices: dict[str, dict[str, Price | None]] = json.loads(FILE.read_text(encoding="utf-8"))
    return prices


def cheaper(before: Price | None, now: Price | None) -> bool:
    """Return whether an attack became possible, or a part cheaper by more than is allowed."""
    if now is None:
        return False
    return before is None or any(now[part] < before[part] * (1 - ALLOWED_FALL) for part in before)


def attacks() -> Iterator[tuple[str, str]]:
    """Yield each edition with each attack of its discipline."""
    for discipline in LABS:
        for name in EDITIONS[discipline]:
            yield from ((name, strategy.name) for strategy in lab_of(discipline).strategies)


@cache
def _world(discipline: str) -> Any:
    return lab_of(discipline).simulate(size=SIZES[discipline], seed=SEED)


def _write(pairs: Sequence[tuple[str, str]]) -> None:
    prices: dict[str, dict[str, Price | None]] = {}
    for name, attack in pairs:
        prices.setdefault(name, {})[attack] = price(name, attack)
    FILE.write_text(json.dumps(prices, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    _write(list(attacks()))
