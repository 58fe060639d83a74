"""The outcome of one epoch: the rules in force, the consensus, and the allocation of emission."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from agon.disciplines.challenge.consensus import Consensus, RunningConsensus, z_scores
from agon.disciplines.challenge.facts import Competition, Facts, Submissions
from agon.disciplines.challenge.rules import ChallengeRules
from agon.disciplines.challenge.weights import Allocation, NetworkFacts, allocations
from agon.errors import NotScorable
from agon.kernel.arrays import FloatArray


@dataclass(frozen=True)
class Outcome:
    """One scored epoch with everything its boards and explanations need."""

    network: NetworkFacts
    consensus: Consensus
    allocation: Allocation

    @property
    def epoch(self) -> int:
        """Return the epoch."""
        return self.allocation.epoch

    @property
    def submissions(self) -> Submissions:
        """Return the submissions."""
        return self.network.facts.submissions

    @cached_property
    def of_miner(self) -> Mapping[int, list[int]]:
        """Return the numbers of the submissions that score for each uid."""
        numbers: dict[int, list[int]] = {}
        for index, uid in enumerate(self.consensus.uids.tolist()):
            if uid >= 0:
                numbers.setdefault(uid, []).append(index)
        return numbers

    @cached_property
    def hotkeys(self) -> Mapping[int, str]:
        """Return by uid the hotkey that holds it, of those that submitted something."""
        owners = zip(self.consensus.uids.tolist(), self.submissions.owners.tolist(), strict=True)
        return {
            uid: self.submissions.owner_name(owner)
            for uid, owner in owners
            if uid >= 0 and owner < 0  # a hotkey's number is below 0
        }

    def uid_of(self, submission: int) -> int:
        """Return the uid that a submission scores for, else the one that it was made for."""
        uid = int(self.consensus.uids[submission])
        return uid if uid >= 0 else int(self.submissions.miners[submission])

    @cached_property
    def total_stake(self) -> float:
        """Return all registered stake."""
        return math.fsum(self.consensus.reports.stakes.tolist())

    @cached_property
    def z_scores(self) -> FloatArray:
        """Return the modified z-score of each evaluation: submissions × validators."""
        return z_scores(self.consensus.reports, self.network.eligibility)

    def rules_of(self, submission: int) -> ChallengeRules:
        """Return the rules of a submission's competition."""
        return self.network.of_competition[int(self.submissions.competitions[submission])]

    def competition_of(self, submission: int) -> Competition:
        """Return the competition that a submission entered."""
        return self.network.facts.competitions[int(self.submissions.competitions[submission])]


def outcome_of(facts: Facts, rules: ChallengeRules) -> Outcome:
    """Compute one epoch: rule ``epoch``, or the last in the records.

    Raises:
        NotScorable: no stake is registered at that epoch.

    Source: challenge, From evaluations to weights.
    """
    network = NetworkFacts.of(facts, rules)
    running = RunningConsensus(facts, network.eligibility)
    allocation = next(allocations(network, [network.epoch], consensus=running))
    consensus = running.snapshot()
    if not consensus.reports.stakes.any():
        raise NotScorable(
            f"the total stake at epoch {network.epoch} is 0, so no validator has a say; give a "
            "validator a stake above 0 at or before that epoch"
        )
    return Outcome(network, consensus, allocation)
