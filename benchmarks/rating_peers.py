"""Ratings, audit and style control of a million battles: agon against arena-rank and arenakit.

arena-rank pins its own numpy and jax, so peers run in an environment of their own (`make bench`
makes `.venv-peers` from `requirements/peers.lock`). Both sides begin with the same pandas frame,
drawn from the same seed, and take turns. What is compared is the processor time of the process:
what each pays on a machine with other work, too; run it on one core (`taskset -c 0`), so that none
pays for threads that wait for one another.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from drawn_battles import battles  # type: ignore[import-not-found]  # of this folder

PEERS = Path(__file__).parent.parent / ".venv-peers" / "bin" / "python"
STYLES = ("length", "headers", "lists")
BATTLES, MODELS = 1_000_000, 200


def with_styles(size: int, models: int) -> pd.DataFrame:
    """Draw battles with the difference of three styles of both answers."""
    dice = np.random.default_rng(2)
    return battles(size, models).assign(**{name: dice.normal(0, 1, size) for name in STYLES})


def agon_ratings(df: pd.DataFrame) -> list[float]:
    """Return ratings with sandwich intervals."""
    import agon

    made = agon.rate(df, method="bradley-terry", interval=True, overrides={"center": "mean"})
    ratings = {row["id"]: row["score"] for row in made.rows()}
    return [ratings[name] for name in sorted(ratings)]


def agon_styles(df: pd.DataFrame) -> list[float]:
    """Return ratings as if styles were equal."""
    import agon

    rules = {"center": "mean", "control_form": "difference"}
    made = agon.rate(
        df, method="bradley-terry", interval=True, control=STYLES, overrides=rules
    )  # fmt: skip
    ratings = {row["id"]: row["score"] for row in made.rows()}
    return [ratings[name] for name in sorted(ratings)]


def agon_audit(df: pd.DataFrame) -> list[float]:
    """Audit a board."""
    import agon

    return [float(len(agon.audit(df).probes))]


def arena_rank_ratings(df: pd.DataFrame) -> list[float]:
    """Return ratings with sandwich intervals."""
    from arena_rank.models.bradley_terry import BradleyTerry
    from arena_rank.utils.data_utils import PairDataset

    data = PairDataset.from_pandas(df)
    made = BradleyTerry(n_competitors=len(data.competitors)).compute_ratings_and_cis(data)
    ratings = dict(zip(data.competitors, np.asarray(made["ratings"]).tolist(), strict=True))
    return [ratings[name] for name in sorted(ratings)]


def arena_rank_styles(df: pd.DataFrame) -> list[float]:
    """Return ratings as if styles were equal; without the penalty, which agon has not."""
    from arena_rank.models.contextual_bradley_terry import ContextualBradleyTerry
    from arena_rank.utils.data_utils import ContextualPairDataset

    data = ContextualPairDataset.from_pandas(df, feature_cols=list(STYLES), reweighted=False)
    model = ContextualBradleyTerry(len(data.competitors), n_features=len(STYLES), reg=0.0)
    made = model.compute_ratings_and_cis(data)
    ratings = dict(zip(data.competitors, np.asarray(made["ratings"]).tolist(), strict=True))
    return [ratings[name] for name in sorted(ratings)]


def arenakit_audit(df: pd.DataFrame) -> list[float]:
    """Audit a board."""
    from arenakit import Arena, Battle, run_audit

    rows = zip(df["model_a"], df["model_b"], df["winner"], strict=True)
    arena = Arena([Battle(model_a=a, model_b=b, winner=winner) for a, b, winner in rows])
    return [float(len(run_audit(arena).probes))]


Frame = Callable[[int, int], pd.DataFrame]
WORK: dict[str, tuple[Frame, int, Callable[..., list[float]], Callable[..., list[float]], str]] = {
    "ratings": (battles, MODELS, agon_ratings, arena_rank_ratings, "arena-rank"),
    "styles": (with_styles, MODELS, agon_styles, arena_rank_styles, "arena-rank"),
    "audit": (battles, MODELS, agon_audit, arenakit_audit, "arenakit"),
}
"""Work → frame, models, ours, the peer's, the peer; the goals are those of the specification."""
GOALS = {"ratings": 20, "styles": 10, "audit": 20}
TOLERANCE = 0.5  # Elo; the peers stop earlier than agon


def run(work: str, size: int, *, peer: bool, calls: int) -> dict[str, Any]:
    """Time the first call of this process, imports included, and further ones."""
    frame, models, ours, theirs, _ = WORK[work]
    df = frame(size, models)
    seconds, made = [], [0.0]
    for _ in range(calls):
        begin = time.process_time()
        made = (theirs if peer else ours)(df)
        seconds.append(time.process_time() - begin)
    return {"seconds": seconds, "made": made}


def main() -> None:
    """Compare each work by turns in fresh processes, or run one side of one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", nargs="*", default=list(WORK), choices=WORK)
    parser.add_argument("--size", type=int, default=BATTLES)
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--calls", type=int, default=3, help="in a process, the first apart")
    parser.add_argument("--side", choices=("ours", "theirs"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.side:
        peer = options.side == "theirs"
        print(json.dumps(run(options.work[0], options.size, peer=peer, calls=options.calls)))
        return
    import report  # type: ignore[import-not-found]  # of this folder

    report.header("pandas", "pyarrow")
    for work in options.work:
        compare(work, options, report)


def compare(work: str, options: argparse.Namespace, report: Any) -> None:
    """Print the ratios of the first call and of the median of the others."""
    sides: dict[str, list[dict[str, Any]]] = {"ours": [], "theirs": []}
    for _ in range(options.turns):
        for side, python in (("ours", sys.executable), ("theirs", str(PEERS))):
            calls = 1 if (work, side) == ("audit", "theirs") else options.calls  # it takes minutes
            printed = subprocess.run(
                [python, __file__, "--side", side, "--work", work, "--size", str(options.size),
                 "--calls", str(calls)],
                capture_output=True, text=True, check=True,
            ).stdout  # fmt: skip
            sides[side].append(json.loads(printed.splitlines()[-1]))
    made = [np.array(sides[side][0]["made"]) for side in ("ours", "theirs")]
    if work != "audit":
        off = [each - each.mean() for each in made]
        apart = float(np.abs(off[0] - off[1]).max())
        print(f"{work}: at most {apart:.1e} Elo apart")
        assert apart <= TOLERANCE
    first, warm = (
        [
            statistics.median(second for one in sides[side] for second in one["seconds"][which])
            for side in ("ours", "theirs")
        ]
        for which in (slice(0, 1), slice(-1, None) if work == "audit" else slice(1, None))
    )
    _, models, _, _, peer = WORK[work]
    described = f"{work}, {options.size:,} battles, {models:,} models, processor time"
    goal = GOALS[work]
    for name, (ours, theirs) in (("first call", first), ("warm", warm)):
        report.compare(f"{described}, {name}", ours, peer, theirs, floor=goal / 4, aim=goal)


if __name__ == "__main__":
    main()
