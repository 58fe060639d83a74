"""Give released rules by name: immutable editions, each with its fingerprint and examples."""

from agon.editions.edition import Edition, Example, rules_sha256
from agon.editions.registry import default_edition, edition, editions, lock

__all__ = [
    "Edition",
    "Example",
    "default_edition",
    "edition",
    "editions",
    "lock",
    "rules_sha256",
]
