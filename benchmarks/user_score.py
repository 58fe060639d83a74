"""User score from Parquet: agon against hand-written SQL, Polars, plain Python, and merely reading.

DuckDB's query and Polars' expressions (``user_score_peers.py``) score the whole community from its
files, by turns with agon, which also checks every value; all have to agree on every score.

The plain scorer is the tests' oracle; it runs on a part of the community and its time is scaled up,
which favours it (its dictionaries fit the cache better than those of the whole would). "Merely
reading" is the engine's sum of a hash of each column the score needs.
"""

import argparse
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import report  # type: ignore[import-not-found]  # of this folder
import user_score_peers  # type: ignore[import-not-found]  # of this folder

from agon.disciplines.community import DISCIPLINE
from agon.disciplines.community.facts import Facts
from agon.disciplines.community.rules import CommunityRules
from agon.disciplines.community.scoring import Community
from agon.records import read
from agon.records.writing import write_tables

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from disciplines.community import oracle

NEEDED = {
    "users": ("id",),
    "org_to_people": ("user_id",),
    "prompt_sets": ("id", "owner_id", "deleted_at"),
    "prompts": ("id", "uploader_id"),
    "prompt_set_prompts": ("prompt_set_id", "prompt_id", "status"),
    "quick_feedbacks": (
        "user_id",
        "prompt_id",
        "response_id",
        "score_id",
        "opinion",
        "created_at",
    ),
    "responses": ("id", "prompt_id", "model"),
    "scores": ("response_id", "score"),
    "user_role_on_prompt_set": ("user_id", "prompt_set_id", "role"),
}


def main() -> None:
    """Make the community, time every stage, then compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=100_000, help="people; feedbacks are 100x")
    parser.add_argument("--part", type=int, default=20, help="the plain scorer gets 1/PART")
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    report.header("duckdb", "pyarrow", "polars")
    with tempfile.TemporaryDirectory() as folder:
        whole, part = Path(folder) / "whole", Path(folder) / "part"
        for path, size in ((whole, options.size), (part, options.size // options.part)):
            begin = time.perf_counter()
            made = DISCIPLINE.simulate(size=size, seed=1, attacks=[])
            print(f"simulated {size:,} people in {time.perf_counter() - begin:.1f} s", flush=True)
            write_tables(made.tables, path)
        plain = _plain_seconds(part) * options.part
        scanned, validated, scored = _in_turn(whole, options.repeat)
        both = validated + scored
        peers = _peers_in_turn(whole, options.repeat)
    size = f"{options.size:,} people, {options.size * 100:,} feedbacks and scores"
    report.compare(f"user score, {size}: score", scored, "plain Python (scaled)", plain, 12, 20)
    report.compare(f"user score, {size}: score", scored, "merely reading", scanned, 1 / 8, 1 / 4)
    own = peers.pop("agon")
    for name, seconds in peers.items():
        report.compare(f"user score, {size}: files to scores", own, name, seconds, 1, 2)
    print(f"with reading and checking every value: {plain / both:.3g}x plain Python (which checks "
          f"nothing), {both / scanned:.3g} times merely reading")  # fmt: skip


def _in_turn(folder: Path, repeat: int) -> tuple[float, float, float]:
    """Time scanning, checking and scoring in turn; a slow moment of the machine hits all three."""
    rows = []
    for _ in range(repeat):
        scan = _seconds(_scan, folder)
        begin = time.perf_counter()
        records = read(DISCIPLINE.schema, folder)
        check = time.perf_counter() - begin
        stages = _stages(records)
        records.close()
        rows.append((scan, check, sum(stages.values()), stages))
    rows.sort(key=lambda row: row[2] / row[0])
    scan, check, scored, stages = rows[len(rows) // 2]
    print(
        f"merely reading {scan:.2f} s; read and check {check:.2f} s; score {scored:.2f} s, of it:"
    )
    for name, seconds in stages.items():
        print(f"  {name:<24} {seconds:.2f} s", flush=True)
    return scan, check, scored


def _peers_in_turn(folder: Path, repeat: int) -> dict[str, float]:
    """Time agon and both hand-written ways from files to scores, in turn; the scores are equal."""

    def by_agon(folder: Path) -> dict[int, float]:
        with read(DISCIPLINE.schema, folder) as records:
            table = Community(Facts(records, CommunityRules())).board("user-score").table
        ids = (int(name) for name in table["id"].to_pylist())
        return dict(zip(ids, table["score"].to_pylist(), strict=True))

    ways = {
        "agon": by_agon,
        "a DuckDB query": user_score_peers.by_duckdb,
        "Polars": user_score_peers.by_polars,
    }
    expected = by_agon(folder)
    for name, way in ways.items():
        assert way(folder) == expected, name
    medians = report.medians(*(partial(way, folder) for way in ways.values()), repeat=repeat)
    times = dict(zip(ways, medians, strict=True))
    listed = ", ".join(f"{name} {seconds:.2f} s" for name, seconds in times.items())
    print(f"files to scores: {listed}", flush=True)
    return times


def _stages(records: Any) -> dict[str, float]:
    begin = time.perf_counter()
    facts = Facts(records, CommunityRules())
    community = Community(facts)
    opened = time.perf_counter() - begin
    stages = {
        "feedback": lambda: facts.feedback,
        "positives": lambda: facts.is_quality,
        "benchmarks": lambda: facts.benchmarks,
        "wrong models": lambda: facts.difficulty,
        "counts": lambda: community.tally.counts,
        "board": lambda: community.board("user-score"),
    }
    return {"people and prompts": opened} | {
        name: _seconds(stage) for name, stage in stages.items()
    }


def _scan(folder: Path) -> None:
    with duckdb.connect() as engine:
        for table, columns in NEEDED.items():
            sums = ", ".join(f"sum(hash({column})::HUGEINT)" for column in columns)
            engine.execute(f"SELECT {sums} FROM '{folder}/{table}.parquet'").fetchall()


def _plain_seconds(folder: Path) -> float:
    """Time the plain scorer from rows at hand, and hold agon to its scores."""
    records = read(DISCIPLINE.schema, folder)
    columns = NEEDED | {"scores": ("id", *NEEDED["scores"])}
    rows = {name: records.arrow(name, needed).to_pylist() for name, needed in columns.items()}
    begin = time.perf_counter()
    expected = oracle.score(rows, reviews=False)["user-score"]
    seconds = time.perf_counter() - begin
    found = Community(Facts(records, CommunityRules())).board("user-score")
    scores = dict(zip(found.table["id"].to_pylist(), found.table["score"].to_pylist(), strict=True))
    assert scores == {str(user): row["score"] for user, row in expected.items()}
    print(f"plain Python: {seconds:.1f} s for {len(expected):,} people, equal scores", flush=True)
    return seconds


def _seconds(function: Any, *arguments: Any) -> float:
    begin = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - begin


if __name__ == "__main__":
    main()
