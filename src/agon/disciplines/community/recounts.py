"""Compute a user score again with other counts, by the components' own curves."""

import math
from collections.abc import Mapping
from dataclasses import replace

from agon.disciplines.community.components import COMPONENTS, Component
from agon.disciplines.community.components.curves import Doubling, ReviewCorrelation
from agon.disciplines.community.rules import CommunityRules
from agon.disciplines.community.texts import PLACES, number, points_text
from agon.errors import Unreadable, did_you_mean
from agon.kernel.explanations import Explanation, Part

MAX_COUNT = 1_000_000_000

_COMPONENTS = {component.name: component for component in COMPONENTS}


def recount(
    explanation: Explanation, rules: CommunityRules, counts: Mapping[str, float]
) -> Explanation:
    """Return a user score with other counts of some components; the other parts stay.

    Where points decay with age, further ones count as new, and of fewer ones each is worth as much
    as before on average. The rank is that of the explanation.

    Args:
        explanation: of a user score.
        rules: the rules it was computed under.
        counts: name of a part → its count.

    Raises:
        Unreadable: a part is unknown, or a count is out of range.
    """
    names = [part.name for part in explanation.parts if part.name in _COMPONENTS]
    for name, count in counts.items():
        if name not in names:
            raise Unreadable(
                f"counts: the score has no part {name[:80]!r}; {did_you_mean(name[:80], names)}"
            )
        _require_valid(_COMPONENTS[name], count)
    parts = tuple(
        _part(part, _COMPONENTS[part.name], rules, counts[part.name])
        if part.name in counts
        else part
        for part in explanation.parts
    )
    score = round(math.fsum(part.points for part in parts), PLACES)
    return replace(explanation, parts=parts, score=score)


def _part(part: Part, component: Component, rules: CommunityRules, count: float) -> Part:
    before = float(part.inputs["count"])
    weight = float(part.inputs.get("weight", before))
    amount = weight + count - before if count >= before else weight * count / before
    points = round(float(component.points([amount], rules)[0]), PLACES)
    inputs = {"count": count} | ({"weight": amount} if amount != count else {})
    text = f"{number(count)} {component.count_text(count, rules)}: {points_text(points)}"
    return replace(part, points=points, inputs=inputs, text=text, missing=None, step={}, records=())


def _require_valid(component: Component, count: float) -> None:
    """Raise unless a component can have a count.

    Raises:
        Unreadable: it cannot.
    """
    name = component.name
    if isinstance(component.curve, ReviewCorrelation):
        if not -1 <= count <= 1:
            raise Unreadable(f"counts: expected {name} from -1 to 1, got {count:g}")
    elif isinstance(component.curve, Doubling):
        if not 0 <= count <= MAX_COUNT:
            raise Unreadable(f"counts: expected {name} from 0 to {MAX_COUNT:,}, got {count:g}")
    elif not (0 <= count <= MAX_COUNT and float(count).is_integer()):
        raise Unreadable(
            f"counts: expected a whole number of {name} from 0 to {MAX_COUNT:,}, got {count:g}"
        )
