"""Keep the promises of :mod:`agon.client.ports` beside the database."""

from agon.client.local.house import Local

__all__ = ["Local"]
