"""Simulate a quiz: players of different skill, and some who answer a question again and again."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa

from agon.disciplines import Simulation

ATTACKS = {"repeated-answers": "answers the first question again and again, always right"}

_PLAYERS = 10
_START = datetime(2026, 1, 1, tzinfo=UTC)


def simulate(*, size: int, seed: int, attacks: Sequence[str]) -> Simulation:
    """Return a quiz of ``size`` answers by ten players; with an attack, the first one cheats."""
    if size < _PLAYERS:
        raise ValueError(f"expected a size of at least {_PLAYERS}, got {size}")
    rng = np.random.default_rng(seed)
    skills = rng.uniform(0.2, 0.9, _PLAYERS)
    names = [f"p{number}" for number in range(_PLAYERS)]
    cheats = np.array([bool(attacks) and name == "p0" for name in names])
    player = np.arange(size) % _PLAYERS
    correct = (rng.random(size) < skills[player]) | cheats[player]
    question = np.where(cheats[player], 0, np.arange(size) // _PLAYERS)
    answers = pa.table(
        {
            "id": [f"a{number}" for number in range(size)],
            "player_id": [names[at] for at in player],
            "question": [f"q{number}" for number in question],
            "correct": correct,
            "answered_at": [_START + timedelta(minutes=at) for at in range(size)],
        }
    )
    people = pa.table(
        {
            "id": names,
            "role": ["repeated-answers" if cheat else "honest" for cheat in cheats],
            "skill": skills,
        }
    )
    return Simulation({"players": people.select(["id"]), "answers": answers}, {"people": people})
