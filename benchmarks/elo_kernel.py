"""Elo from player numbers: agon's compiled fold against a C loop of the same rule (gcc -O2)."""

import argparse
import ctypes
import math
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import report  # type: ignore[import-not-found]  # of this folder

from agon.kernel.compiling import compile_loop
from agon.kernel.ratings.elo import _play

SOURCE = r"""
#include <math.h>
#include <stdint.h>

static double whole(double change) {
    double size = floor(fabs(change));
    return copysign(size + (fabs(change) - size >= 0.5), change) + 0.0;
}

void play(double *ratings, int64_t *games, const int32_t *a, const int32_t *b,
          const double *score_a, double *change_a, double *change_b, int64_t matches,
          double k_new, double k_established, int64_t games_established, double step,
          int round_changes) {
    for (int64_t m = 0; m < matches; m++) {
        int32_t one = a[m], other = b[m];
        double gap = (ratings[other] - ratings[one]) * step;
        double surprise = score_a[m] - 1.0 / (1.0 + exp(gap < 700.0 ? gap : 700.0));
        double moved_a = (games[one] < games_established ? k_new : k_established) * surprise;
        double moved_b = -(games[other] < games_established ? k_new : k_established) * surprise;
        if (round_changes) { moved_a = whole(moved_a); moved_b = whole(moved_b); }
        ratings[one] += moved_a;
        ratings[other] += moved_b;
        games[one]++;
        games[other]++;
        change_a[m] = moved_a;
        change_b[m] = moved_b;
    }
}
"""


def c_loop() -> Callable[..., None]:
    """Compile the C loop and hand it out with numpy arrays as arguments."""
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder, "elo.c"), Path(folder, "elo.so")
        source.write_text(SOURCE, encoding="utf-8")
        subprocess.run(
            ["gcc", "-O2", "-shared", "-fPIC", "-o", str(library), str(source), "-lm"], check=True
        )
        loaded = ctypes.CDLL(str(library))
    arrays = [np.float64, np.int64, np.int32, np.int32, np.float64, np.float64, np.float64]
    loaded.play.argtypes = [
        *(np.ctypeslib.ndpointer(kind, flags="C_CONTIGUOUS") for kind in arrays),
        ctypes.c_int64, ctypes.c_double, ctypes.c_double, ctypes.c_int64, ctypes.c_double,
        ctypes.c_int,
    ]  # fmt: skip
    loaded.play.restype = None
    play: Callable[..., None] = loaded.play
    return play


def main() -> None:
    """Play the same matches with both, check that they agree to the last bit, then time both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=1_000_000, help="matches")
    parser.add_argument("--players", type=int, default=10_000)
    options = parser.parse_args()
    report.header()
    dice = np.random.default_rng(1)
    a = dice.integers(0, options.players, options.size, dtype=np.int32)
    gap = dice.integers(1, options.players, options.size, dtype=np.int32)
    b = ((a + gap) % options.players).astype(np.int32)
    scores = dice.integers(0, 3, options.size) / 2
    c_play, numba_play = c_loop(), compile_loop(_play)
    step = math.log(10.0) / 400.0

    for rounded in (False, True):

        def fresh() -> list[Any]:
            return [
                np.full(options.players, 1000.0), np.zeros(options.players, dtype=np.int64),
                a, b, scores, np.zeros(options.size), np.zeros(options.size),
            ]  # fmt: skip

        mine, peer = fresh(), fresh()

        def ours(columns: list[Any] = mine, rounded: bool = rounded) -> None:  # noqa: FBT001  # bound early, as loops need
            numba_play(*columns, 32.0, 16.0, 30, step, rounded)

        def theirs(columns: list[Any] = peer, rounded: bool = rounded) -> None:  # noqa: FBT001  # bound early, as loops need
            c_play(*columns, options.size, 32.0, 16.0, 30, step, int(rounded))

        ours()
        theirs()
        assert all(one.tobytes() == other.tobytes() for one, other in zip(mine, peer, strict=True))
        ours_seconds, theirs_seconds = report.medians(ours, theirs, repeat=15)
        kind = "rounded" if rounded else "unrounded"
        report.compare(
            f"Elo kernel, {kind}, {options.size:,} matches", ours_seconds,
            "C -O2", theirs_seconds, floor=1 / 2, aim=1 / 1.2,
        )  # fmt: skip


if __name__ == "__main__":
    main()
