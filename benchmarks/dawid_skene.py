"""Dawid–Skene on labels from a crowd: agon against crowd-kit, as many iterations each."""

import argparse

import numpy as np
import pandas as pd
import report  # type: ignore[import-not-found]  # of this folder
from crowdkit.aggregation import DawidSkene as CrowdKit

from agon.kernel.agreement.dawid_skene import DawidSkene, dawid_skene


def main() -> None:
    """Fit, check that both give the same posteriors, then time both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=500_000, help="labels")
    parser.add_argument("--workers", type=int, default=5_000)
    parser.add_argument("--per-task", type=int, default=5, help="labels per task")
    parser.add_argument("--classes", type=int, default=4)
    options = parser.parse_args()
    report.header("crowd-kit", "pandas")

    dice = np.random.default_rng(1)
    tasks = options.size // options.per_task
    task = np.arange(options.size) % tasks
    worker = dice.integers(0, options.workers, options.size)
    worker[: options.workers] = np.arange(options.workers)  # nobody without a label
    truth = dice.integers(0, options.classes, tasks)
    skill = dice.uniform(0.4, 0.95, options.workers)
    guess = dice.integers(0, options.classes, options.size)
    label = np.where(dice.random(options.size) < skill[worker], truth[task], guess)
    shuffled = dice.permutation(options.size)
    task, worker, label = task[shuffled], worker[shuffled], label[shuffled]
    frame = pd.DataFrame({"task": task, "worker": worker, "label": label})

    # crowd-kit decides when to stop; agon makes as many iterations (its own rule differs a little).
    peer = CrowdKit().fit(frame)
    iterations = len(peer.loss_history_)

    def ours() -> DawidSkene:
        return dawid_skene(
            task, worker, label,
            classes=options.classes, iterations=iterations, tolerance=-np.inf,
        )  # fmt: skip

    def theirs() -> CrowdKit:
        return CrowdKit().fit(frame)

    expected = peer.probas_.sort_index().sort_index(axis="columns").to_numpy()
    assert np.allclose(ours().posteriors, expected, rtol=0, atol=1e-8)
    ours_seconds, theirs_seconds = report.medians(ours, theirs)
    report.compare(
        f"Dawid–Skene, {options.size:,} labels, {options.workers:,} workers, {tasks:,} tasks, "
        f"{options.classes} classes, {iterations} iterations",
        ours_seconds, "crowd-kit", theirs_seconds, floor=20, aim=40,
    )  # fmt: skip


if __name__ == "__main__":
    main()
