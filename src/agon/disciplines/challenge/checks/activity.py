"""Check who evaluates: validators that stopped, validators that leave miners out."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from agon.disciplines.challenge.consensus import Reports
from agon.disciplines.challenge.facts import Facts
from agon.disciplines.challenge.outcome import Outcome
from agon.kernel.arrays import BoolArray, IntArray
from agon.kernel.findings import Finding, RecordRefs, Severity
from agon.kernel.text.captions import count_text

STOPPED_EPOCHS = 10
"""Epochs in which others evaluate and a validator does not, until it counts as stopped; as many as
the source document's grace: by then a stale report begins to cost the miners."""

LEAST_OTHERS = 2
"""Minimum number of others who all evaluate a miner that a validator leaves out."""


@dataclass(frozen=True)
class Activity:
    """Who evaluated when, up to an epoch.

    Attributes:
        last: the epoch of each validator's last evaluation.
        idle: epochs after it in which somebody else evaluated.
        stopped: who has not evaluated for :data:`STOPPED_EPOCHS` of these.
        active: who has a stake, evaluated, and goes on.
    """

    last: IntArray
    idle: IntArray
    stopped: BoolArray
    active: BoolArray

    @classmethod
    def of(cls, facts: Facts, reports: Reports) -> "Activity":
        """Read the evaluations up to the epoch of the reports."""
        until = int(np.searchsorted(facts.evaluations.epochs, reports.epoch, side="right"))
        validators = facts.evaluations.validators[:until].astype(np.int64)
        epochs = facts.evaluations.epochs[:until]
        people = len(facts.validators)
        last = np.full(people, -(2**62), dtype=np.int64)
        np.maximum.at(last, validators, epochs)
        evaluated = np.bincount(validators, minlength=people) > 0
        backed = evaluated & reports.registered & (reports.stakes > 0)
        known = np.unique(epochs)
        idle = len(known) - np.searchsorted(known, last, side="right")
        stopped = backed & (idle >= STOPPED_EPOCHS)
        return cls(last, idle, stopped, backed & ~stopped)

    @property
    def only_active(self) -> int | None:
        """Return the validator that alone goes on while others stopped; None otherwise."""
        active = np.flatnonzero(self.active)
        return int(active[0]) if len(active) == 1 and self.stopped.any() else None


def stopped_validators(facts: Facts, reports: Reports) -> Iterator[Finding]:
    """Report validators that have not evaluated for some epochs while others went on."""
    activity = Activity.of(facts, reports)
    for index in np.flatnonzero(activity.stopped).tolist():
        name, idle, last = (
            facts.validators[index],
            int(activity.idle[index]),
            int(activity.last[index]),
        )
        counting = "count on" if reports.counted[:, index].any() else "count no more"
        yield Finding(
            "stopped-validator",
            Severity.WARNING,
            (name,),
            "epochs without an evaluation",
            float(idle),
            0.0,
            None,
            f"{name} has not evaluated since epoch {last}, for {count_text(idle, 'epoch')} in "
            f"which others did; its old reports {counting} (evaluation_window)",
            (RecordRefs.of("validators", [name]),),
        )


def partial_validators(outcome: Outcome | None) -> Iterator[Finding]:
    """Report validators that leave out miners whom all others who are active evaluate.

    Who came after a miner left the network could not evaluate it: only miners with a uid count.
    """
    if outcome is None:
        return
    facts, reports = outcome.network.facts, outcome.consensus.reports
    activity = Activity.of(facts, reports)
    active = np.flatnonzero(activity.active)
    if len(active) < LEAST_OTHERS + 1:
        return
    owners, owner_index = np.unique(facts.submissions.owners, return_inverse=True)
    until = int(np.searchsorted(facts.evaluations.epochs, reports.epoch, side="right"))
    seen = np.zeros((len(facts.validators), len(owners)), dtype=bool)
    # What was first evaluated in the last epoch may be waiting for the validators that remain.
    consensus, evaluated = outcome.consensus, facts.evaluations.submissions[:until]
    early = consensus.first_evaluated[evaluated] < reports.epoch
    early &= consensus.uids[evaluated] >= 0
    seen[
        facts.evaluations.validators[:until][early],
        owner_index[evaluated[early]],
    ] = True
    seen = seen[active]
    by_others = seen.sum(axis=0)[None, :] - seen == len(active) - 1
    left_out = by_others & ~seen
    for index in np.flatnonzero(left_out.any(axis=1)).tolist():
        name = facts.validators[int(active[index])]
        miners = [
            facts.submissions.owner_name(int(owners[one]))
            for one in np.flatnonzero(left_out[index]).tolist()
        ]
        yield Finding(
            "partial-validator",
            Severity.WARNING,
            (name,),
            "miners it left out",
            float(len(miners)),
            0.0,
            None,
            f"{name} has never evaluated {count_text(len(miners), 'miner')} whom all "
            f"{len(active) - 1} other active validators evaluate: {', '.join(miners[:5])}",
            (RecordRefs.of("validators", [name]),),
        )
