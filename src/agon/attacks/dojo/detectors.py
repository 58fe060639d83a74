"""Name the attacks that measure the checks of the dojo."""

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
"""The attacks."""
