"""Hold the routes, one file for each noun."""

from collections.abc import Iterator
from importlib import import_module
from typing import Final

from fastapi import APIRouter

NOUNS: Final = (
    "ledgers",
    "contests",
    "boards",
    "snapshots",
    "records",
    "submissions",
    "problems",
    "changes",
    "cases",
    "events",
    "webhooks",
    "jobs",
    "house",
)
"""All nouns; the import of ledgers comes before the contest that could be called import."""


def all_routers() -> Iterator[APIRouter]:
    """Yield the router of every noun."""
    for noun in NOUNS:
        yield import_module(f"agon.http.routes.{noun}").router
