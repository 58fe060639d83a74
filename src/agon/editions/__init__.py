"""Released sets of rules by name: immutable editions with fingerprints and worked examples."""

from agon.editions.edition import Edition, Example, rules_sha256
from agon.editions.recorded import compare_recorded
from agon.editions.registry import default_edition, edition, editions, lock

__all__ = [
    "Edition",
    "Example",
    "compare_recorded",
    "default_edition",
    "edition",
    "editions",
    "lock",
    "rules_sha256",
]
