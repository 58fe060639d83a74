"""Repeat published results about attacks, on the example data that is shipped with agon."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from agon.app.examples import dataset
from agon.app.importers import import_records
from agon.attacks.published import Row, reproduce


def published_rows(*, clock: Callable[[], float]) -> Iterator[Row]:
    """Yield every published figure next to ours.

    Args:
        clock: returns the time in seconds.

    Raises:
        Unavailable: agon was installed without its data.
    """
    votes = dataset("llmfao")

    def tables(file: str) -> Mapping[str, Any]:
        return import_records(votes.format, votes.folder / file, unit="votes").tables

    sources = {
        "crowd": lambda: tables("crowd-comparisons.csv"),
        "gpt-4": lambda: tables("gpt4-crowd-comparisons.csv"),
    }
    yield from reproduce(sources, clock=clock)
