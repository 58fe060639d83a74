"""Store a run of a strategy, so that it can be repeated exactly."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agon.attacks.strategy import Plan
from agon.errors import Unreadable

_FIELDS: Mapping[str, type | tuple[type, ...]] = {
    "discipline": str,
    "edition": str,
    "rules_sha256": str,
    "attack": str,
    "goal": str,
    "plan": dict,
    "size": (int, type(None)),
    "seed": int,
    "records_sha256": (str, type(None)),
    "result": dict,
}


@dataclass(frozen=True)
class AttackReplay:
    """All that determines a run, and its result.

    Attributes:
        discipline, edition, attack, goal: their names.
        rules_sha256: fingerprint of the rules.
        plan: parameters of the strategy.
        size: of the simulated world; None: real records.
        seed: seed of all draws.
        records_sha256: hash of the real records; None: a simulated world.
        result: cost (without its price), gain, detection and harm, as JSON.
    """

    discipline: str
    edition: str
    rules_sha256: str
    attack: str
    goal: str
    plan: Plan
    size: int | None
    seed: int
    records_sha256: str | None
    result: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Return a plain value for JSON."""
        return dict(vars(self))


def parse_replay(value: Any, *, source: str) -> AttackReplay:
    """Return a replay from the value of its JSON.

    Raises:
        Unreadable: with everything that is wrong, at once.
    """
    if not isinstance(value, dict):
        raise Unreadable(f"{source}: expected a replay, got {type(value).__name__}; {_REMEDY}")
    issues = [f"there is no {name}" for name in _FIELDS if name not in value]
    issues += [f"there is an unknown key {name!r}" for name in value if name not in _FIELDS]
    issues += [
        f"{name}: unexpected {value[name]!r}"
        for name, kind in _FIELDS.items()
        if name in value and not isinstance(value[name], kind)
    ]
    plan = value.get("plan")
    if isinstance(plan, dict) and not all(isinstance(n, int | float) for n in plan.values()):
        issues.append(f"plan: expected numbers by name, got {plan!r}")
    if issues:
        raise Unreadable("\n".join(f"{source}: {issue}; {_REMEDY}" for issue in issues))
    return AttackReplay(**value)


_REMEDY = "give a file that agon attack --out wrote"
