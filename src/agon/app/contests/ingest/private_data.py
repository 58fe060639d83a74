"""Keep personal data out of ledgers: replace IP addresses by keyed hashes."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from agon.app.contests.ingest.errors import ErrorCollector
from agon.networks import keyed_network, network_of
from agon.records import RowIssue

_DIGITS: Final = 32
_HASH: Final = re.compile(r"[0-9a-f]{16,128}")  # senders choose the length


def without_addresses(
    table: str,
    row: Mapping[str, Any],
    columns: Iterable[str],
    *,
    line: int,
    key: bytes,
    errors: ErrorCollector,
) -> Mapping[str, Any]:
    """Return a row with the IP addresses of some columns as keyed hashes of 32 hex digits.

    A value that is such a hash already stays. Any other value is an issue: it might be an address
    in an unknown notation.
    """
    changed = {}
    for column in columns:
        value = row.get(column)
        if value is None or value == "" or _HASH.fullmatch(str(value)):
            continue
        address = str(value).partition("/")[0]
        if network_of(address) is None:
            errors.add(
                RowIssue("no-address", table, table, line, column, None,
                        "is neither an IP address nor a keyed hash of one",
                        "give an address, or its keyed hash: 16 hex digits or more")
            )  # fmt: skip
        else:
            changed[column] = keyed_network(address, key=key, digits=_DIGITS)
    return {**row, **changed} if changed else row
