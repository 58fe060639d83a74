"""From an appended record to the new default board, at a million records of each discipline.

The board's hash is included. Beside it stands the full replay of the same ledger from its first
line to the same board. The service's own promise is a second from record to board. Seconds are
CPU time, because wall time contains the work of other processes; wall time is printed, too.
"""

import argparse
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import report  # type: ignore[import-not-found]  # of this folder

from agon.app.replay.replica import ContestReplica
from agon.disciplines import BUILT_IN, discipline
from agon.editions import default_edition
from agon.ledger.entry import Draft, encode_entry, encode_records, genesis, write_row

AT = datetime(2026, 1, 1, tzinfo=UTC)
PER_MILLION = {"community": 3_620, "challenge": 999_000, "dojo": 999_000, "arena": 249_000}
APPENDED = {"community": "quick_feedbacks", "challenge": "evaluations", "dojo": "submissions",
            "arena": "votes"}  # fmt: skip
NEW = {"community": "id", "dojo": "id", "arena": "judge_id"}
PROMISE = 1.0
Seconds: TypeAlias = npt.NDArray[np.float64]
"""Those of the processor, those by clock."""


class Ledger:
    """Write a contest of simulated records, and further records to it."""

    def __init__(self, of: str, records: int) -> None:
        self.of = of
        self.lines: list[tuple[int, bytes]] = []
        self.head = genesis("c")
        body: dict[str, Any] = {
            "contest": "c",
            "discipline": of,
            "title": "C",
            "edition": default_edition(of),
            "overrides": {},
            "series": None,
            "season": None,
            "visibility": "public",
            "description": "",
            "boards": list(discipline(of).boards),
        }
        draft = Draft(kind="contest-created", body=body, at=AT, by="system")
        created = encode_entry(draft, seq=1, previous=self.head)
        self.lines.append((1, created.line))
        self.head = created.sha256
        size = PER_MILLION[of] * records // 1_000_000
        tables = discipline(of).simulate(size=size, seed=1, attacks=[]).tables
        for name, table in tables.items():
            self._seal(name, _rows(table))
        self.last = next(_rows(tables[APPENDED[of]].slice(tables[APPENDED[of]].num_rows - 1)))

    def append(self, number: int) -> list[tuple[int, bytes]]:
        """Add one record like the last one, and return its line."""
        new = {NEW[self.of]: f"new-{number}"} if self.of in NEW else {}
        before = len(self.lines)
        self._seal(APPENDED[self.of], iter([{**self.last, **new}]))
        return self.lines[before:]

    def _seal(self, table: str, rows: Iterator[dict[str, Any]]) -> None:
        written = list(map(write_row, rows))
        start = len(self.lines) + 1
        lines, heads = encode_records(
            written, tables=[table] * len(written), start_seq=start, previous_head=self.head,
            at=AT, by="system",
        )  # fmt: skip
        self.lines += enumerate(lines, start)
        self.head = heads[-1] if heads else self.head


def main() -> None:
    """Make every contest, replay it, then append to it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("disciplines", nargs="*", default=BUILT_IN)
    options = parser.parse_args()
    report.header("duckdb", "pyarrow", "orjson")
    for of in options.disciplines:
        _measure(of, options.records, options.repeat)


def _measure(of: str, records: int, repeat: int) -> None:
    made = Ledger(of, records)
    live = ContestReplica("c")
    begin = _now()
    live.catch_up(made.lines)
    read = _now() - begin
    live.result().board().sha256  # noqa: B018 - computing it is what is timed
    replay = _now() - begin
    times = [_appended(live, made.append(number)) for number in range(repeat)]
    used, waited = np.median(times[1:], axis=0)
    replayed = ContestReplica("c")
    replayed.catch_up(made.lines)
    assert replayed.result().board().sha256 == live.result().board().sha256
    for one in (live, replayed):
        one.close()
    count = f"{of}, {len(made.lines):,} entries"
    rate = len(made.lines) / read[0]
    print(f"{count}: catching up {read[0]:.1f} s ({rate:,.0f} entries/s), {read[1]:.1f} s by clock")
    print(f"{count}: record to board {used:.2f} s, {waited:.2f} s by clock")
    report.compare(f"{count}: record to board", used, "full replay", replay[0], 5, 20)
    report.compare(f"{count}: record to board", used, "promised", PROMISE, 1, 2)


def _now() -> Seconds:
    return np.array([time.process_time(), time.perf_counter()])


def _appended(live: ContestReplica, lines: list[tuple[int, bytes]]) -> Seconds:
    begin = _now()
    live.catch_up(lines)
    live.result().board().sha256  # noqa: B018 - computing it is what is timed
    return _now() - begin


def _rows(table: Any) -> Iterator[dict[str, Any]]:
    for batch in table.to_batches(10_000):
        for row in batch.to_pylist():
            yield {
                name: value.isoformat() if isinstance(value, datetime) else value
                for name, value in row.items()
            }


if __name__ == "__main__":
    main()
