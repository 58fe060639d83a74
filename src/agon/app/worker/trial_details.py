"""Hand over the details of a trial from the worker that ran it to the service that stores them."""

from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import orjson

from agon.app.queue.leases import InvalidOutcome
from agon.app.tasks.results.details import (
    details_json,
    details_of_json,
    read_details,
    shorten_details,
)
from agon.app.tasks.trials import TrialResult

MAX_BYTES: Final = 256 << 10
"""Maximum size of the details of one trial as JSON; a worker shortens what is longer."""


def written_details(folder: Path, result: TrialResult) -> list[dict[str, Any]]:
    """Return the details of a trial as a field of an outcome.

    Args:
        folder: the trial's folder.
        result: its result.
    """
    parts = shorten_details(read_details(folder, result), max_bytes=MAX_BYTES)
    return [asdict(part) for part in parts]


def checked_details(value: Any) -> str | None:
    """Return the details in an outcome as they are stored; None: the worker sent none.

    Raises:
        InvalidOutcome: they are none, or too long.
    """
    if value is None:
        return None
    try:
        sent = orjson.dumps(value)
        if len(sent) <= MAX_BYTES:
            stored = details_json(details_of_json(sent))
            if len(stored) <= MAX_BYTES:
                return stored.decode()
    except ValueError as wrong:
        line = " ".join(str(wrong).split())[:200]
        raise InvalidOutcome(
            f"details are no parts of a trial ({line}); send those of its folder, or null"
        ) from None
    raise InvalidOutcome(f"details have more than {MAX_BYTES:,} bytes as JSON; shorten their texts")
