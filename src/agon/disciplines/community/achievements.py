"""Return the badges of one-time bonuses, each with the time it was earned where records have one.

A badge is earned when its condition first held. Affiliations and model scores carry no time: an
affiliation has no time, and a difficult prompt counts from its last needed positive feedback.
"""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from agon.disciplines.community.components import COMPONENTS, Bonus
from agon.disciplines.community.counts.feedback import NO_TIME
from agon.disciplines.community.relational_facts import RelationalFacts
from agon.disciplines.community.tally import Tally
from agon.kernel.arrays import IntArray

BADGES = tuple(
    (component, component.curve) for component in COMPONENTS if isinstance(component.curve, Bonus)
)
"""The components that are earned once."""


def column(tally: Tally) -> pa.Array:
    """Return all badges as (name, earned); earned is empty where no record has a time.

    Raises:
        Conflict: facts are counted in an engine, and times are those of single rows.
    """
    facts = tally.facts
    if isinstance(facts, RelationalFacts):
        raise facts.records.needs_rows("achievements")
    who: list[IntArray] = []
    for index, (badge, _) in enumerate(BADGES):
        held = np.flatnonzero(tally.counts[badge.count] >= badge.threshold(facts.rules))
        who.append(np.stack([held, np.full(len(held), index)], axis=1))
    rows = np.concatenate(who)
    rows = rows[np.lexsort((rows[:, 1], rows[:, 0]))]
    never = np.full(len(facts.people), NO_TIME)
    times = np.stack([bonus.earned(facts) if bonus.earned else never for _, bonus in BADGES])
    badges = pa.StructArray.from_arrays(
        [
            pa.array([badge.name for badge, _ in BADGES]).take(pa.array(rows[:, 1])),
            _iso(times[rows[:, 1], rows[:, 0]]),
        ],
        names=["name", "earned"],
    )
    ends = np.searchsorted(rows[:, 0], np.arange(len(facts.people) + 1))
    return pa.ListArray.from_arrays(pa.array(ends.astype(np.int32)), badges)


def _iso(times: IntArray) -> pa.Array:
    """Return times as ISO 8601 text to the second, empty where there is none."""
    seconds = pa.array(times // 1_000_000, mask=times == NO_TIME).cast(pa.timestamp("s"))
    return pc.strftime(seconds, format="%Y-%m-%dT%H:%M:%SZ")
