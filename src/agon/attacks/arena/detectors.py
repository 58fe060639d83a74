"""For each integrity check of the arena, the simulated attack or judge that measures its power."""

from functools import partial

from agon.attacks.arena import judges
from agon.attacks.detectors.simulated import Case, Contests

_VOTES = ("votes", "judge_id")

CONTESTS = Contests(
    discipline="arena",
    size=8_000,
    attacks={
        "agreeing-judges": Case("agreeing-judges", _VOTES),
        "audit-disagreement": Case("audit-disagreement", _VOTES),
        "collusion": Case("collusion", _VOTES),
        "handle-similarity": Case("handle-similarity"),
        "plagiarism": Case("plagiarism"),
        "position-bias": Case("position-bias", _VOTES),
        "shared-network": Case("shared-network"),
    },
    opt_ins={"detector_false_alarms": 0.01},
    further=tuple(partial(judges.measure, case) for case in judges.CASES),
)
"""The attacks, and the judges with a known behavior."""
