"""Send records over HTTP: a stream of any length, in chunks of complete lines."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from agon.api.models.records import ImportSummary
from agon.client.connection import Connection
from agon.errors import Unreadable

NDJSON: Final = "application/x-ndjson"

MAX_CHUNK: Final = 16 << 20
"""Maximum number of bytes of a request; a longer stream is sent in several."""


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
        chunks: the NDJSON, cut anywhere.
        query: the query parameters of each request.
        chunk: maximum number of bytes of a request.
        progress: called with the number of bytes sent so far.

    Raises:
        Unreadable: with all errors of the records.
        Conflict: keys or external ids are there with other content, or the contest is final.
    """
    done = ImportSummary(added=0, repeated=0, replaced=0)
    lines = sent = 0
    for content in line_chunks(chunks, size=chunk):
        try:
            answer = connection.send(
                "POST", "contests", contest, "records", content=content, kind=NDJSON, **query
            )
        except Unreadable as error:
            if lines:
                raise Unreadable(
                    f"the lines before {lines + 1} are entered; counted from it as line 1:\n{error}"
                ) from None
            raise
        done = _sum(done, ImportSummary.model_validate(answer))
        lines += content.count(b"\n")
        sent += len(content)
        progress(sent)
    return done


def line_chunks(chunks: Iterable[bytes], *, size: int) -> Iterator[bytes]:
    r"""Cut a stream into chunks of complete lines; a line longer than the size is a chunk.

    Example:
        >>> list(line_chunks([b"ab\ncd", b"\nef"], size=4))
        [b'ab\n', b'cd\n', b'ef']
    """
    kept = bytearray()
    for chunk in chunks:
        kept += chunk
        while len(kept) >= size:
            end = kept.rfind(b"\n", 0, size) + 1 or kept.find(b"\n") + 1
            if not end:
                break
            yield bytes(kept[:end])
            del kept[:end]
    if kept.strip():
        yield bytes(kept)


def _sum(one: ImportSummary, other: ImportSummary) -> ImportSummary:
    return ImportSummary(
        added=one.added + other.added,
        repeated=one.repeated + other.repeated,
        replaced=one.replaced + other.replaced,
        first_seq=other.first_seq if one.first_seq is None else one.first_seq,
        last_seq=one.last_seq if other.last_seq is None else other.last_seq,
    )
