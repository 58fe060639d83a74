"""Compare an edition with the fingerprint of its rules that a ledger, board or proof records."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import orjson

from agon.editions.mismatch import RulesMismatch, compare
from agon.editions.registry import edition, editions
from agon.errors import InvalidRule
from agon.kernel.rules import Rules


def compare_recorded(
    full_name: str, overrides: Mapping[str, Any], recorded: str
) -> RulesMismatch | None:
    """Compare an edition's rules with the recorded ``rules_sha256``.

    Args:
        full_name: the recorded edition.
        overrides: the recorded overrides.
        recorded: the recorded ``rules_sha256``.

    Returns:
        The mismatch with the rules that differ; None where the rules are the recorded ones.

    Raises:
        NotFound: this agon has no such edition.
        Conflict: the edition's file does not state the rules that were released.
        InvalidRule: this agon has no rule that was overridden, or not with that value.

    Example:
        >>> from agon.editions.registry import lock
        >>> compare_recorded("dojo/0.1", {}, lock()["dojo/0.1"]) is None
        True
        >>> str(compare_recorded("dojo/0.1", {}, lock()["dojo/0.2"]).rules[0])
        'max_literal_digits was 64 and is None'
    """
    return _compare(full_name, orjson.dumps(overrides, option=orjson.OPT_SORT_KEYS), recorded)


@lru_cache(maxsize=4096)
def _compare(full_name: str, overrides: bytes, recorded: str) -> RulesMismatch | None:
    values = orjson.loads(overrides)
    released = edition(full_name)
    return compare(
        released.with_rules(values),
        edition=full_name,
        recorded=recorded,
        alternatives=_alternatives(released.discipline, full_name, values),
    )


def _alternatives(
    discipline_name: str, full_name: str, overrides: Mapping[str, Any]
) -> list[Rules]:
    """Return the rules of the other editions of a discipline, with and without overrides."""
    rules = [edition(full_name).rules] if overrides else []
    for name in editions(discipline_name):
        if name != full_name:
            try:
                rules += [edition(name).with_rules(overrides), edition(name).rules]
            except InvalidRule:  # the overrides do not fit there
                continue
    return rules
