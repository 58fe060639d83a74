"""Elo from string ids in a table: agon against evalica's public call on the same matches."""

import argparse

import evalica
import numpy as np
import pyarrow as pa
import report  # type: ignore[import-not-found]  # of this folder

from agon.kernel.ratings.elo import EloState, Fold, fold
from agon.kernel.ratings.encoding import encode


def main() -> None:
    """Rate, check that both agree, then time both; evalica gets lists, its fastest input."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=1_000_000, help="matches")
    parser.add_argument("--players", type=int, default=10_000)
    options = parser.parse_args()
    report.header("pyarrow", "evalica")

    dice = np.random.default_rng(1)
    a = dice.integers(0, options.players, options.size)
    b = (a + dice.integers(1, options.players, options.size)) % options.players
    outcome = dice.integers(0, 3, options.size)
    names = np.array([f"player-{number:05d}" for number in range(options.players)])
    table = pa.table({"a": names[a], "b": names[b], "score_a": outcome / 2})
    left, right = table["a"].to_pylist(), table["b"].to_pylist()
    winners = [(evalica.Winner.Y, evalica.Winner.Draw, evalica.Winner.X)[o] for o in outcome]

    def ours() -> tuple[pa.Array, Fold]:
        players, one, other = encode(table["a"], table["b"])
        scores = table["score_a"].chunk(0).to_numpy()
        return players, fold(
            EloState.fresh(start=1000.0), one, other, scores,
            k_new=4, k_established=4, round_changes=False,
         games_established=30, scale=400.0, start=1000.0)  # fmt: skip

    def theirs() -> evalica.EloResult:
        return evalica.elo(left, right, winners, k=4.0)

    players, rated = ours()
    peer = theirs().scores.reindex(players.to_pylist()).to_numpy()
    assert np.allclose(rated.state.ratings, peer, rtol=0, atol=1e-6)
    ours_seconds, theirs_seconds = report.medians(ours, theirs, repeat=7)
    report.compare(
        f"Elo from string ids, {options.size:,} matches, {options.players:,} players",
        ours_seconds, "evalica", theirs_seconds, floor=15, aim=25,
    )  # fmt: skip


if __name__ == "__main__":
    main()
