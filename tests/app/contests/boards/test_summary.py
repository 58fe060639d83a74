"""What is counted of a board when it is published, against its rows."""

from itertools import pairwise
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pytest

from agon.app.access.permissions import LOCAL
from agon.app.contests.boards.distribution import bins, distribution
from agon.app.contests.boards.pages import page
from agon.app.contests.boards.publish import publish, rebuild
from agon.app.contests.boards.summary import summarize
from agon.app.service import Service
from agon.store.snapshots import Snapshots
from fakes.spring import play, spring, view


@pytest.mark.exhaustive
def test_no_row_is_read_for_a_distribution(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first view of a board of a million rows took seconds."""
    spring(service)
    publish(service, "spring")
    rows = [orjson.loads(line) for line in page(service, view(service, LOCAL)).lines]
    with monkeypatch.context() as patch:
        patch.setattr(Snapshots, "lines", None)
        published, counted = distribution(service, view(service, LOCAL), None)
    assert [part.name for part in counted] == ["score"]
    assert counted[0].bins == tuple(bins(np.array([row["score"] for row in rows])))
    play(service, 50, 60)
    newest = publish(service, "spring").snapshots[0]
    past = str(published.snapshot.seq)
    with service.store.write() as session:
        session.snapshots.prune(newest.contest_no, "bots", keep=[newest.no])
        assert session.snapshots.summary(published.rows_snapshot.no) == {}
        assert session.snapshots.order(published.rows_snapshot.no, "score", start=0, count=9) == []
    rebuild(service, "spring", seq=published.snapshot.seq, board="bots")
    assert distribution(service, view(service, LOCAL), None, as_of=past)[1] == counted


def test_a_summary_is_that_of_the_rows() -> None:
    """Ranges and orders are compared with plain loops, ties and missing values included."""
    dice = np.random.default_rng(7)
    count = 700
    rows: list[dict[str, Any]] = [
        {
            "rank": rank,
            "id": f"bot-{dice.integers(10**6)}-{rank}",
            "score": float(count - rank // 3),
            "matches": int(dice.integers(9)),
            "qualified": bool(dice.integers(2)),
            "error": None if rank % 5 == 0 else float(dice.integers(40)),
            "components": {"prompts": float(dice.integers(6)), "votes": None},
            "band": ("high", "low", "medium")[rank % 3],
            "ranks": [1, 2],
        }
        for rank in range(1, count + 1)
    ]
    summary = summarize(pa.Table.from_pylist(rows))
    columns = summary.values["columns"]
    assert list(columns) == ["rank", "id", "score", "matches", "qualified", "error",
                             "components.prompts", "band"]  # fmt: skip
    first = next(row["id"] for row in rows if row["error"] == 39.0)
    assert columns["error"] == {"n": 560, "low": 0.0, "high": 39.0, "top": first}
    assert columns["qualified"]["yes"] == sum(row["qualified"] for row in rows)
    assert columns["id"] == {"n": count}
    assert columns["band"] == {"n": count, "distinct": 3, "values": ["high", "low", "medium"]}
    assert columns["matches"]["values"] == [str(value) for value in range(9)]
    assert all("values" not in columns[name] for name in ("rank", "id", "score", "qualified"))
    for name, stored in summary.orders.items():
        order = np.frombuffer(stored, dtype="<u4").tolist()
        values = [
            row["components"]["prompts"] if name == "components.prompts" else row[name]
            for row in rows
        ]
        assert sorted(order) == [at for at, value in enumerate(values) if value is not None]
        assert all((values[a], -a) > (values[b], -b) for a, b in pairwise(order)), name
    assert set(columns) - set(summary.orders) == {"rank"}
    parts = summary.values["parts"]
    assert [(part["name"], part["n"]) for part in parts] == [("score", count), ("prompts", count)]


def test_a_board_without_rows_has_a_summary() -> None:
    """Contests begin empty."""
    empty = pa.table({"rank": pa.array([], pa.int64()), "id": pa.array([], pa.string()),
                      "score": pa.array([], pa.float64())})  # fmt: skip
    summary = summarize(empty)
    assert summary.values["columns"]["score"] == {"n": 0}
    assert summary.values["parts"] == [{"name": "score", "n": 0, "bins": ()}]
    assert set(summary.orders.values()) == {b""}
