"""Battles between models of known strength, for benchmarks that run in different environments."""

import numpy as np
import pandas as pd


def battles(size: int, models: int) -> pd.DataFrame:
    """Draw battles between models of known strength, a tenth of them ties."""
    dice = np.random.default_rng(1)
    strength = dice.normal(0, 1, models)
    a = dice.integers(0, models, size)
    b = (a + dice.integers(1, models, size)) % models
    won = dice.random(size) < 1 / (1 + np.exp(strength[b] - strength[a]))
    winner = np.where(dice.random(size) < 0.1, "tie", np.where(won, "model_a", "model_b"))
    names = np.array([f"model-{number:04d}" for number in range(models)])
    return pd.DataFrame({"model_a": names[a], "model_b": names[b], "winner": winner})
