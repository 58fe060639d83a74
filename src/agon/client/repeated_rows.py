"""Name rows without a key in a stream that is sent in several requests.

The n-th row of a table with the same content is one record. A server counts within a request; of a
longer stream only its sender sees all rows, and a row that repeats one of an earlier request would
be taken for that one.
"""

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any, Final

import orjson

from agon.disciplines import discipline, is_discipline
from agon.kernel.text.plain_json import InvalidJson, read_json
from agon.records import Table
from agon.records.names.matching import fold_name, is_ignored, own_name
from agon.records.normal import normal_form

_SORTED: Final = orjson.OPT_SORT_KEYS


def name_rows(
    discipline_name: str, contents: Iterable[bytes], *, table: str | None, ignore: Iterable[str]
) -> Iterator[bytes]:
    """Yield the contents of requests; rows without a key have an external id, in an envelope.

    What is no row, or has a key or an id of its sender, is left as it is, and so is all of a
    discipline that is not installed here.

    Args:
        discipline_name: the discipline.
        contents: complete lines of NDJSON.
        table: the table of all lines, which are then bare rows.
        ignore: names of keys that are not read.
    """
    from agon.app.contests.ingest.identities import RowIdentities

    identities = RowIdentities()
    schema = discipline(discipline_name).schema if is_discipline(discipline_name) else ()
    tables = {each.name: each for each in schema}
    ignored = frozenset(map(fold_name, ignore))
    for content in contents:
        lines = []
        for line in content.split(b"\n"):
            envelope = _envelope(line, table)
            if envelope is None:
                lines.append(line)
                continue
            known = tables.get(own_name(tables, envelope["table"]))
            if known is not None and envelope.get("external_id") is None:
                normal = _normal(known, envelope["row"], ignored)
                if not known.key or not normal.keys() >= set(known.key):
                    written = orjson.dumps(normal, option=_SORTED)
                    envelope["external_id"] = identities.of(known.name, written)
            lines.append(orjson.dumps(envelope))
        yield b"\n".join(lines)


def _envelope(line: bytes, table: str | None) -> dict[str, Any] | None:
    """Return the table and the row of a line; None: it has none."""
    try:
        value = read_json(line)
    except InvalidJson:
        return None
    if not isinstance(value, dict):
        return None
    if table is not None:
        return {"table": table, "row": value}
    is_row = isinstance(value.get("table"), str) and isinstance(value.get("row"), dict)
    return value if is_row else None


def _normal(table: Table, row: dict[str, Any], ignored: frozenset[str]) -> dict[str, Any]:
    read = {key: value for key, value in row.items() if not is_ignored(key, table.name, ignored)}
    return normal_form(table).row(read)


def of_several(contents: Iterable[bytes]) -> tuple[Iterator[bytes], bool]:
    """Return contents, and whether there are several.

    Example:
        >>> contents, are_several = of_several([b"a", b"b"])
        >>> list(contents), are_several
        ([b'a', b'b'], True)
    """
    remaining = iter(contents)
    first = list(islice(remaining, 2))
    return chain(first, remaining), len(first) > 1
