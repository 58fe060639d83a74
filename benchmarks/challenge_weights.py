"""Weights of every epoch of a large network: from arrays, and end to end from Parquet files.

The bound is in seconds, so the comparison is with the seconds allowed: 10 s is a ratio of 1, the
aim of 2 s a ratio of 5. With ``--subnets``, as many networks of one size are weighed one after
another in this process, each from its own Parquet files; the time without writing them is printed.
"""

import argparse
import os
import resource
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import report  # type: ignore[import-not-found]  # of this folder

from agon.disciplines.challenge.facts import Facts, read_facts
from agon.disciplines.challenge.records import SCHEMA
from agon.disciplines.challenge.rules import ChallengeRules
from agon.disciplines.challenge.weights import WeightHistory, all_weights
from agon.records import read

ALLOWED = 10.0
RULES = ChallengeRules()


def main() -> None:
    """Write a network, check some epochs against plain loops, then time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--miners", type=int, default=1_000)
    parser.add_argument("--validators", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=500)
    parser.add_argument("--subnets", type=int, default=0)
    options = parser.parse_args()
    report.header("duckdb", "pyarrow")
    sizes = options.miners, options.validators, options.epochs
    if options.subnets:
        _weigh_subnets(options.subnets, *sizes)
        return
    name = f"weights of {sizes[2]:,} epochs, {sizes[0]:,} miners, {sizes[1]:,} validators"
    with tempfile.TemporaryDirectory() as folder:
        scores = _write(Path(folder), *sizes)

        def from_parquet() -> WeightHistory:
            return _weights(folder)

        records = read(SCHEMA, folder)
        facts = read_facts(records)
        records.close()

        def from_arrays() -> WeightHistory:
            # The epochs in which something happened are determined each time.
            return all_weights(replace(facts), RULES)

        history = from_arrays()
        for epoch in range(0, sizes[2], max(1, sizes[2] // 5)):
            paid = history.weights[epoch] / history.weights[epoch].sum()
            assert np.allclose(paid, _plain(scores[epoch], facts), atol=1e-12)
        assert np.allclose(history.weights.sum(axis=1) + history.burn, 1.0, atol=1e-9)
        arrays_seconds, parquet_seconds = report.medians(from_arrays, from_parquet, repeat=3)
    allowed = f"{ALLOWED:g} s allowed"
    report.compare(f"{name}, from arrays", arrays_seconds, allowed, ALLOWED, floor=1, aim=5)
    report.compare(
        f"{name}, read from Parquet and checked", parquet_seconds, allowed, ALLOWED, floor=1, aim=5
    )


def _weigh_subnets(subnets: int, *sizes: int) -> None:
    """Print time, CPU time and peak of weighing subnets, at some of them and at the end."""
    seconds = cpu_seconds = 0.0
    for subnet in range(1, subnets + 1):
        with tempfile.TemporaryDirectory() as folder:
            _write(Path(folder), *sizes, seed=subnet)
            begin, cpu = time.perf_counter(), time.process_time()
            history = _weights(folder)
            seconds += time.perf_counter() - begin
            cpu_seconds += time.process_time() - cpu
        assert np.allclose(history.weights.sum(axis=1) + history.burn, 1.0, atol=1e-9)
        if subnet == subnets or subnet.bit_count() == 1:
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(f"{subnet} subnets: {seconds:.0f} s, {cpu_seconds:.0f} s of CPU, "
                  f"peak {peak:,.0f} MiB, load {os.getloadavg()[0]:.1f}", flush=True)  # fmt: skip


def _weights(folder: str) -> WeightHistory:
    """Read and check the tables, and return the weights of all epochs."""
    records = read(SCHEMA, folder)
    try:
        return all_weights(read_facts(records), RULES)
    finally:
        records.close()


def _write(
    folder: Path, miners: int, validators: int, epochs: int, *, seed: int = 1
) -> np.ndarray[Any, Any]:
    """Write the tables; return the scores, epochs × miners × validators."""
    dice = np.random.default_rng(seed)
    skills = dice.uniform(0.1, 0.9, miners)
    scores = skills[None, :, None] + dice.normal(0, 0.02, (epochs, miners, validators))
    scores = np.round(scores.clip(0, 1), 4)
    submissions = pa.array([f"submission-{at:05d}" for at in range(miners)])
    people = pa.array([f"validator-{at:03d}" for at in range(validators)])
    evaluations = pa.table(
        {
            "submission_id": submissions.take(
                pa.array(np.tile(np.repeat(np.arange(miners), validators), epochs))
            ),
            "validator_id": people.take(pa.array(np.tile(np.arange(validators), epochs * miners))),
            "epoch": np.repeat(np.arange(epochs), miners * validators),
            "score": scores.ravel(),
        }
    )
    pq.write_table(evaluations, folder / "evaluations.parquet")
    when = np.datetime64("2026-01-01", "us") + np.arange(miners).astype("timedelta64[us]")
    pq.write_table(
        pa.table({"id": submissions, "miner_uid": np.arange(1, miners + 1), "submitted_at": when}),
        folder / "submissions.parquet",
    )
    pq.write_table(
        pa.table({"id": people, "stake": dice.lognormal(8, 1, validators).round(2)}),
        folder / "validators.parquet",
    )
    return scores


def _plain(scores: np.ndarray[Any, Any], facts: Facts) -> np.ndarray[Any, Any]:
    """Compute one epoch's linear shares, one submission at a time."""
    stakes = facts.stakes.stakes[np.argsort(facts.stakes.validators)]
    means = []
    for given in scores:
        off = np.abs(given - np.median(given))
        kept = 0.6745 * off / np.median(off) <= RULES.outlier_threshold
        means.append((stakes * given)[kept].sum() / stakes[kept].sum())
    return np.array(means) / sum(means)


if __name__ == "__main__":
    main()
