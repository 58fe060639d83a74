"""For each integrity check of the dojo, the simulated attack that measures its power."""

from agon.attacks.detectors.simulated import FindingCase, SimulatedContests

CONTESTS = SimulatedContests(
    discipline="dojo",
    size=600,
    attacks={
        "literal-payload": FindingCase("literal-payload"),
        "huge-literal": FindingCase("huge-literal"),
        "copied-source": FindingCase("same-source"),
        "renamed-copy": FindingCase("same-structure"),
        "tag-farming": FindingCase("tag-farming", ("submissions", "user_id")),
        "false-tag": FindingCase("false-tag"),
    },
    notes=frozenset({"false-tag", "tag-distribution"}),
)
