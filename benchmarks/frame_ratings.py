"""From a data frame of battles to Bradley–Terry ratings with bootstrap intervals, in three ways.

agon, evalica, and a notebook's own code: a logistic regression of the outcomes of every pair with
scikit-learn, refitted on resampled rows. Each way begins with the same pandas data frame and ends
with a table of ratings and 95 % intervals on the Elo scale with mean 1000. Its lines are those of
its function without the definition, blank lines and comments, in the same format. Times are of the
processor, which other work on the machine changes least.
"""

import argparse
import inspect
import time
from collections.abc import Callable

import evalica
import numpy as np
import pandas as pd
import report  # type: ignore[import-not-found]  # of this folder
from drawn_battles import battles  # type: ignore[import-not-found]  # of this folder
from sklearn.linear_model import LogisticRegression

import agon

RATING_TOLERANCE = 0.001  # Elo; the peers stop earlier than agon
WIDTHS = (0.84, 0.94)
"""Mean width of a peer's intervals as a part of agon's, which are never below the model's own.

Of battles with a tenth of ties, resamples vary as the sandwich does, which is 0.93 as wide as the
model; the middle 95 % of 100 resamples are 0.96 as wide as that of many, together 0.89; and 0.05
is left to the draws of either side (see docs/methods/ratings.md).
"""


def with_agon(df: pd.DataFrame, rounds: int) -> pd.DataFrame:
    """Return ratings by agon."""
    rules = {"interval": "bootstrap", "bootstrap_rounds": rounds, "center": "mean"}
    ratings = agon.rate(df, method="bradley-terry", interval=True, overrides=rules)
    return ratings.to_pandas()[["id", "score", "low", "high"]]


def with_evalica(df: pd.DataFrame, rounds: int) -> pd.DataFrame:
    """Return ratings by evalica."""
    outcomes = {
        "model_a": evalica.Winner.X,
        "model_b": evalica.Winner.Y,
        "tie": evalica.Winner.Draw,
    }
    result = evalica.bootstrap(
        evalica.bradley_terry,
        df["model_a"],
        df["model_b"],
        df["winner"].map(outcomes),
        n_resamples=rounds,
        bootstrap_method="percentile",
        random_state=1,
    )
    point = np.log(result.result.scores)
    drawn = np.log(result.distribution)
    drawn = drawn.sub(drawn.mean(axis=1), axis=0)
    low, high = drawn.quantile(0.025), drawn.quantile(0.975)
    scale = 400 / np.log(10)
    table = pd.DataFrame({"score": point - point.mean(), "low": low, "high": high})
    table = (table * scale + 1000).sort_values("score", ascending=False)
    return table.rename_axis("id").reset_index()


def with_regression(df: pd.DataFrame, rounds: int) -> pd.DataFrame:
    """Return ratings by scikit-learn, as notebooks do."""
    names = sorted(set(df["model_a"]) | set(df["model_b"]))
    number = {name: position for position, name in enumerate(names)}

    def fit(sample: pd.DataFrame) -> np.ndarray:
        tied = sample["winner"].eq("tie")
        swapped = sample["winner"].eq("model_b")
        first = sample["model_a"].where(~swapped, sample["model_b"])
        second = sample["model_b"].where(~swapped, sample["model_a"])
        wins = pd.DataFrame({"won": first, "lost": second, "weight": np.where(tied, 1, 2)})
        ties = pd.DataFrame({"won": second[tied], "lost": first[tied], "weight": 1})
        counts = pd.concat([wins, ties]).groupby(["won", "lost"])["weight"].sum().reset_index()
        rows = np.arange(len(counts))
        x = np.zeros((len(counts), len(names)))
        x[rows, counts["won"].map(number)] = 1
        x[rows, counts["lost"].map(number)] = -1
        weights = counts["weight"].to_numpy(float)
        model = LogisticRegression(fit_intercept=False, C=np.inf, tol=1e-8, max_iter=1000)
        model.fit(
            np.concatenate([x, -x]),
            np.repeat([1, 0], len(x)),
            sample_weight=np.concatenate([weights, weights]),
        )
        strength = model.coef_[0] - model.coef_[0].mean()
        return strength * 400 / np.log(10) + 1000

    point = fit(df)
    drawn = [fit(df.sample(frac=1, replace=True, random_state=seed)) for seed in range(rounds)]
    low, high = np.percentile(drawn, [2.5, 97.5], axis=0)
    table = pd.DataFrame({"id": names, "score": point, "low": low, "high": high})
    return table.sort_values("score", ascending=False, ignore_index=True)


WAYS = {"agon": with_agon, "evalica": with_evalica, "logistic regression": with_regression}


def lines_of(function: Callable[..., pd.DataFrame]) -> int:
    """Count the lines of a function's body."""
    lines = [line.strip() for line in inspect.getsource(function).splitlines()]
    return sum(bool(line) and not line.startswith(("#", '"""', f"def {function.__name__}("))
               for line in lines)  # fmt: skip


def main() -> None:
    """Time each way, check that they agree, and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=50_000, help="battles")
    parser.add_argument("--models", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=100, help="resamples of the intervals")
    options = parser.parse_args()
    report.header("pandas", "pyarrow", "evalica", "scikit-learn")
    print(f"agon {agon.__version__}")
    df = battles(options.size, options.models)
    tables, seconds = {}, {}
    with_agon(df.head(20_000), 20)  # loads compiled code; the peers' is compiled already
    for name, way in WAYS.items():
        begin = time.process_time()
        tables[name] = way(df, options.rounds).set_index("id").sort_index()
        seconds[name] = time.process_time() - begin
    ours = tables["agon"]
    for name, table in tables.items():
        apart = float((table["score"] - ours["score"]).abs().max())
        widths = (table["high"] - table["low"]).mean() / (ours["high"] - ours["low"]).mean()
        print(
            f"{name}: {lines_of(WAYS[name])} lines, {seconds[name]:.2f} s, at most {apart:.1e} Elo "
            f"from agon, widths {widths:.3f} of agon's"
        )
        assert apart <= RATING_TOLERANCE
        assert name == "agon" or WIDTHS[0] <= widths <= WIDTHS[1]
    for name in ("evalica", "logistic regression"):
        report.compare(
            f"frame to ratings and intervals, {options.size:,} battles, {options.models} models, "
            f"{options.rounds} resamples",
            seconds["agon"], name, seconds[name], floor=2, aim=10,
        )  # fmt: skip


if __name__ == "__main__":
    main()
