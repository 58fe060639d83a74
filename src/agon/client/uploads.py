"""Send records over HTTP: a stream of any length, in chunks of complete lines."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from agon.api.models.records import ImportSummary
from agon.client.connection import Connection
from agon.client.repeated_rows import name_rows, of_several
from agon.errors import Unreadable

NDJSON: Final = "application/x-ndjson"

MAX_CHANGES: Final = 100
"""Maximum number of changes of replaced records in a summary."""

MAX_CHUNK: Final = 16 << 20
"""Maximum number of bytes of a request; a longer stream is sent in several."""


_NOTHING: Final = ImportSummary(
    added=0,
    repeated=0,
    replaced=0,
    first_seq=None,
    last_seq=None,
    notes=(),
    warnings=(),
    changes=(),
)


def add_records(
    connection: Connection,
    contest: str,
    chunks: Iterable[bytes],
    *,
    query: Mapping[str, Any],
    chunk: int,
    progress: Callable[[int], object],
) -> ImportSummary:
    """Send records chunk by chunk.

    When a chunk is rejected, those before it stay; sending the whole stream again adds only what
    is missing.

    Args:
        connection: the connection to the server.
        contest: the contest's id.
        chunks: the NDJSON, split at any byte.
        query: the query parameters of each request.
        chunk: maximum number of bytes of a request.
        progress: called with the number of bytes sent so far.

    Raises:
        Unreadable: with all errors of the records.
        Conflict: keys or external ids exist with other content, or the contest is final.
    """
    total = _NOTHING
    lines = bytes_sent = 0
    contents, are_several = of_several(line_chunks(chunks, size=chunk))
    if are_several:
        # The first request counts equal rows for the last one, too.
        discipline_name = connection.get("contests", contest)["discipline"]
        ignore = (query.get("ignore") or "").split(",")
        named = name_rows(discipline_name, contents, table=query.get("table"), ignore=ignore)
        contents = line_chunks(named, size=chunk)
        query = {**query, "table": None}
    for content in contents:
        try:
            response = connection.send(
                "POST", "contests", contest, "records", content=content, kind=NDJSON, **query
            )
        except Unreadable as error:
            if lines:
                raise Unreadable(
                    f"the lines before {lines + 1} are stored; line numbers below are counted from "
                    f"it as line 1:\n{error}"
                ) from None
            raise
        total = _sum(total, ImportSummary.model_validate(response))
        lines += content.count(b"\n")
        bytes_sent += len(content)
        progress(bytes_sent)
    return total


def line_chunks(chunks: Iterable[bytes], *, size: int) -> Iterator[bytes]:
    r"""Split a stream into chunks of complete lines; a line longer than the size is a chunk.

    Example:
        >>> list(line_chunks([b"ab\ncd", b"\nef"], size=4))
        [b'ab\n', b'cd\n', b'ef']
    """
    buffer = bytearray()
    for chunk in chunks:
        buffer += chunk
        while len(buffer) >= size:
            end = buffer.rfind(b"\n", 0, size) + 1 or buffer.find(b"\n") + 1
            if not end:
                break
            yield bytes(buffer[:end])
            del buffer[:end]
    if buffer.strip():
        yield bytes(buffer)


def _sum(before: ImportSummary, after: ImportSummary) -> ImportSummary:
    return ImportSummary(
        added=before.added + after.added,
        repeated=before.repeated + after.repeated,
        replaced=before.replaced + after.replaced,
        first_seq=after.first_seq if before.first_seq is None else before.first_seq,
        last_seq=before.last_seq if after.last_seq is None else after.last_seq,
        notes=tuple(dict.fromkeys((*before.notes, *after.notes))),
        warnings=tuple(dict.fromkeys((*before.warnings, *after.warnings))),
        changes=(*before.changes, *after.changes)[:MAX_CHANGES],
    )
