"""Verify and replay an exported ledger of a million entries, next to reading and parsing its lines.

Verifying checks the chain, every entry's form and the signed head; replaying folds the entries,
grows the columns, scores the default board and hashes it. Nothing is cached in between.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import orjson
import report  # type: ignore[import-not-found]  # of this folder
from service_ingest import arena, community  # type: ignore[import-not-found]  # of this folder

from agon.app.replay.replay import replay
from agon.disciplines import discipline
from agon.editions import default_edition
from agon.ledger.directory import export_directory
from agon.ledger.entry import Draft, encode_entry, encode_records, genesis, timestamp, write_row
from agon.ledger.heads import sign_head
from agon.ledger.signatures import public_key, sign
from agon.ledger.verification import verify_directory

AT = datetime(2026, 1, 1, tzinfo=UTC)
T = TypeVar("T")
KEY = bytes(32)
BATCH = 10_000


def main() -> None:
    """Write a ledger of each discipline, then time reading, verifying and replaying it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=1_000_000, help="records")
    options = parser.parse_args()
    report.header("orjson", "duckdb", "pyarrow", "cryptography")
    makers: dict[str, Callable[[int], Iterator[bytes]]] = {"arena": arena, "community": community}
    with TemporaryDirectory() as folder:
        for name, made in makers.items():
            measure(name, exported(name, made(options.size), Path(folder)))


def measure(of: str, folder: Path) -> None:
    """Time each step once; twice would find the files in memory all the same."""
    path = folder / "ledger.ndjson"

    def plain() -> int:
        with path.open("rb") as lines:
            return sum(1 for line in lines if orjson.loads(line))

    plain()
    read, count = timed(plain)
    verified_in, verified = timed(lambda: verify_directory(folder, public=public_key(KEY)))
    assert not verified.issues
    assert verified.seq == verified.signed_seq == count
    with path.open("rb") as lines:
        replayed_in, replayed = timed(
            lambda: replay((line[:-1] for line in lines), contest="million")
        )
        hashed_in, board = timed(lambda: replayed.board_sha256)
    with closing(replayed.live):
        assert (replayed.seq, replayed.head) == (count, verified.head)
    print(f"{of}, {count:,} entries: verify {verified_in:.1f} s, replay {replayed_in:.1f} s, "
          f"hash {hashed_in:.2f} s ({board[:12]})", flush=True)  # fmt: skip
    whole = verified_in + replayed_in + hashed_in
    print(f"{report.MARK} verify and replay {count:,} entries of {of}: agon {whole:.2f} s, reading "
          f"and parsing the same lines {read:.2f} s, ratio {read / whole:.3g}x (no aim is set)",
          flush=True)  # fmt: skip


def timed(work: Callable[[], T]) -> tuple[float, T]:
    """Return the seconds some work takes, and what it gives."""
    begin = time.perf_counter()
    result = work()
    return time.perf_counter() - begin, result


def exported(of: str, records: Iterator[bytes], folder: Path) -> Path:
    """Seal records into a ledger and write it as a directory with a signed head."""
    lines, head = sealed(of, records)
    signed = sign_head(
        partial(sign, KEY), contest="million", seq=len(lines), head=head, at=timestamp(AT)
    )
    export_directory(folder / of, contest="million", lines=lines, heads=[signed],
                     public_key=public_key(KEY))  # fmt: skip
    return folder / of


def sealed(of: str, records: Iterator[bytes]) -> tuple[list[bytes], bytes]:
    """Return a ledger's lines and its head."""
    body: dict[str, Any] = {
        "contest": "million", "discipline": of, "title": "A million", "overrides": {},
        "edition": default_edition(of), "series": None, "season": None, "visibility": "public",
        "description": "", "boards": list(discipline(of).boards),
    }  # fmt: skip
    first = encode_entry(Draft(kind="contest-created", body=body, at=AT, by="system"), seq=1,
                 previous=genesis("million"))  # fmt: skip
    opened = encode_entry(Draft(kind="contest-opened", body={}, at=AT, by="system"), seq=2,
                  previous=first.sha256)  # fmt: skip
    lines, head = [first.line, opened.line], opened.sha256
    rows: dict[str, list[dict[str, Any]]] = {}
    for line in records:
        given = orjson.loads(line)
        rows.setdefault(given["table"], []).append(given["row"])
    for table, given in rows.items():
        for start in range(0, len(given), BATCH):
            batch = [write_row(row) for row in given[start : start + BATCH]]
            sealed, heads = encode_records(
                batch, tables=[table] * len(batch), start_seq=len(lines) + 1,
                previous_head=head, at=AT, by="system",
            )  # fmt: skip
            lines += sealed
            head = heads[-1]
    return lines, head


if __name__ == "__main__":
    main()
