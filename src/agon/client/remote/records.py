"""Records over HTTP: a stream of any length goes in portions of whole lines."""

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from agon.client.values import RecordedTold
from agon.client.wire import Wire
from agon.errors import Unreadable

NDJSON: Final = "application/x-ndjson"

PORTION: Final = 16 << 20
"""Bytes of one request; a longer stream is sent in several, each entered wholly or not at all."""


class RemoteRecords:
    """Enter records; see :class:`agon.client.ports.Records`.

    A stream longer than a portion is entered portion by portion: when one is refused, those before
    it stay, and sending the whole stream again adds only what is missing.

    Args:
        wire: the connection.
        portion: bytes of one request.
        told: called with the bytes sent so far, for progress.
    """

    def __init__(
        self,
        wire: Wire,
        *,
        portion: int = PORTION,
        told: Callable[[int], object] = lambda _: None,
    ) -> None:
        self._wire = wire
        self._portion = portion
        self._told = told

    def add(
        self,
        contest: str,
        chunks: Iterable[bytes],
        *,
        table: str | None = None,
        replace: bool = False,
        dry_run: bool = False,
    ) -> RecordedTold:
        """Enter records given as NDJSON.

        Raises:
            Unreadable: with everything that is wrong with them.
            Conflict: keys or external ids are there with other content; or the contest is final.
        """
        done = RecordedTold(added=0, repeated=0, replaced=0)
        lines = sent = 0
        for content in portions(chunks, size=self._portion):
            try:
                answer = self._wire.send(
                    "POST", "contests", contest, "records",
                    content=content, kind=NDJSON, table=table, replace=replace, dry_run=dry_run,
                )  # fmt: skip
            except Unreadable as refused:
                if lines:
                    raise Unreadable(
                        f"the lines before {lines + 1} are entered; counted from it as line 1:\n"
                        f"{refused}"
                    ) from None
                raise
            done = _sum(done, RecordedTold.model_validate(answer))
            lines += content.count(b"\n")
            sent += len(content)
            self._told(sent)
        return done


def portions(chunks: Iterable[bytes], *, size: int) -> Iterator[bytes]:
    r"""Cut a stream into portions of whole lines of about a size; a longer line stands alone.

    Example:
        >>> list(portions([b"ab\ncd", b"\nef"], size=4))
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


def _sum(one: RecordedTold, other: RecordedTold) -> RecordedTold:
    return RecordedTold(
        added=one.added + other.added,
        repeated=one.repeated + other.repeated,
        replaced=one.replaced + other.replaced,
        first_seq=other.first_seq if one.first_seq is None else one.first_seq,
        last_seq=one.last_seq if other.last_seq is None else other.last_seq,
    )
