"""For each integrity check of the arena, the simulated attack or judge that measures its power."""

from functools import partial

from agon.attacks.arena import judges
from agon.attacks.detectors.simulated import FindingCase, SimulatedContests

_VOTES = ("votes", "judge_id")

CONTESTS = SimulatedContests(
    discipline="arena",
    size=8_000,
    attacks={
        "agreeing-judges": FindingCase("agreeing-judges", _VOTES),
        "audit-disagreement": FindingCase("audit-disagreement", _VOTES),
        "collusion": FindingCase("collusion", _VOTES),
        "handle-similarity": FindingCase("handle-similarity"),
        "plagiarism": FindingCase("plagiarism"),
        "position-bias": FindingCase("position-bias", _VOTES),
        "shared-network": FindingCase("shared-network"),
    },
    opt_ins={"detector_false_alarms": 0.01},
    further=tuple(partial(judges.measure, case) for case in judges.CASES),
)
"""The attacks, and the judges with a known behavior."""
