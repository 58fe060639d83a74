"""For each integrity check of the dojo, the simulated attack that measures its power."""

from agon.attacks.detectors.simulated import Case, Contests

CONTESTS = Contests(
    discipline="dojo",
    size=600,
    attacks={
        "literal-payload": Case("literal-payload"),
        "huge-literal": Case("huge-literal"),
        "copied-source": Case("same-source"),
        "renamed-copy": Case("same-structure"),
        "tag-farming": Case("tag-farming", ("submissions", "user_id")),
        "false-tag": Case("false-tag"),
    },
    notes=frozenset({"false-tag", "tag-distribution"}),
)
