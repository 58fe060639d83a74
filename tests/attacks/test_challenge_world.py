"""An attacker of a network knows only what is public."""

import numpy as np
import pyarrow as pa
import pytest

from agon.attacks.challenge import LAB
from agon.attacks.challenge.season import Season
from agon.attacks.challenge.world import World, observed_world
from agon.disciplines.challenge.records import SCHEMA
from agon.disciplines.challenge.rules import ChallengeRules
from agon.disciplines.challenge.simulate import SimulatedNetwork, simulate_network
from agon.records import read_rows

TABLES = simulate_network(SimulatedNetwork(miners=10, validators=4, submissions=40), seed=1).tables


def world(sources: str) -> World:
    """Return a real network: all sources are public, half of them, or the column is missing."""
    submissions = TABLES["submissions"]
    column = submissions.column_names.index("source")
    texts = submissions["source"].to_pylist()
    if sources == "missing":
        submissions = submissions.remove_column(column)
    else:
        kept = texts[: len(texts) // 2] if sources == "half" else texts
        kept = pa.array([*kept, *[None] * (len(texts) - len(kept))], pa.string())
        submissions = submissions.set_column(column, "source", kept)
    with read_rows(SCHEMA, {**TABLES, "submissions": submissions}) as records:
        return observed_world(records, 1)


@pytest.mark.sample(2)
@pytest.mark.parametrize(("sources", "known"), [("all", 40), ("half", 20), ("missing", 40)])
@pytest.mark.parametrize("name", ["duplicate-agents", "last-minute"])
def test_agents_are_copied_only_if_their_source_is_public(
    sources: str, known: int, name: str
) -> None:
    """Records without any source do not say what is public: all are taken to be."""
    network = world(sources)
    season = Season(network, ChallengeRules())
    public = set(TABLES["submissions"]["id"].to_pylist()[:known])
    ids = [network.facts.submissions.ids[at] for at in season.rivals.tolist()]
    disclosed = [network.facts.submissions.ids[at] for at in season.disclosed.tolist()]
    assert disclosed == [name for name in ids if name in public] != []
    strategy = next(one for one in LAB.strategies if one.name == name)
    season.now = network.begin if name == "duplicate-agents" else network.end
    strategy.act(season, {**strategy.plans[0], "renamed": 0})
    own, copy = season.submissions
    assert copy["skill"] == np.nanmedian(season.reports[:, season.disclosed[0]]) != own["skill"]
