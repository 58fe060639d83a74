"""For each integrity check of the challenge, the simulated attack that measures its power."""

from collections import Counter
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from agon.attacks.detectors.simulated import FindingCase, SimulatedContests, Tables


def _on_busiest_miner(tables: Tables, actions: pa.Table, _: set[Any]) -> int:
    """Count evaluations of the miner with the most submissions, whom the simulation promotes."""
    submissions = tables["submissions"]
    miners = submissions["miner_uid"].to_pylist()
    busiest = min(Counter(miners).items(), key=lambda item: (-item[1], item[0]))[0]
    chosen = submissions.filter(pc.equal(submissions["miner_uid"], busiest))["id"].combine_chunks()
    return int(pc.sum(pc.is_in(actions["submission_id"], value_set=chosen)).as_py() or 0)


_REPORTS = ("evaluations", "validator_id")

CONTESTS = SimulatedContests(
    discipline="challenge",
    size=5_000,
    attacks={
        "erratic-validator": FindingCase("outlier-record", _REPORTS),
        "copying-validator": FindingCase("copying-validators", _REPORTS),
        "lagging-validator": FindingCase("lagging-validators", _REPORTS),
        "stake-whale": FindingCase("stake-concentration"),
        "self-serving-validator": FindingCase("self-serving-votes", _REPORTS, _on_busiest_miner),
        "copied-agent": FindingCase("duplicate-agents"),
        "rewritten-agent": FindingCase("near-duplicate-agents"),
    },
)
