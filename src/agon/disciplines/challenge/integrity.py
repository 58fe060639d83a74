"""Detect possible gaming by validators and miners; a finding never changes a score."""

from dataclasses import dataclass
from functools import cached_property

from agon.disciplines.challenge.checks.activity import (
    Activity,
    partial_validators,
    stopped_validators,
)
from agon.disciplines.challenge.checks.competitions import paid_without_score, unimprovable_tops
from agon.disciplines.challenge.checks.seats import (
    burn_to_miner,
    carried_tops,
    changed_seats,
    dust,
    shared_uids,
    votes_without_stake,
)
from agon.disciplines.challenge.checks.submissions import (
    duplicate_agents,
    missing_task_results,
    near_duplicate_agents,
    other_reward_sources,
)
from agon.disciplines.challenge.checks.validators import (
    copied_reports,
    lagging_reports,
    outlier_record,
    self_serving_votes,
    stake_concentration,
)
from agon.disciplines.challenge.evidence import Evidence, gather
from agon.disciplines.challenge.facts import Facts, read_facts
from agon.disciplines.challenge.outcome import Outcome, outcome_of
from agon.disciplines.challenge.rules import ChallengeRules
from agon.disciplines.challenge.weights import NetworkFacts
from agon.kernel.findings import Check, Finding, meanings, run_checks
from agon.records import Records


@dataclass(frozen=True)
class Inspection:
    """The records of a challenge under examination, up to the scored epoch."""

    records: Records
    network: NetworkFacts
    evidence: Evidence

    @property
    def facts(self) -> Facts:
        """Return the facts."""
        return self.network.facts

    @cached_property
    def alone(self) -> int | None:
        """Return the validator that alone goes on evaluating; None where several do."""
        return Activity.of(self.facts, self.evidence.reports).only_active

    @cached_property
    def outcome(self) -> Outcome | None:
        """Return the scored epoch; None where no stake is registered."""
        if not self.evidence.reports.stakes.any():
            return None
        return outcome_of(self.facts, self.network.rules)


def find(records: Records, rules: ChallengeRules) -> list[Finding]:
    """Return the findings of the challenge page up to the scored epoch.

    Source: challenge, Integrity findings.
    """
    network = NetworkFacts.of(read_facts(records), rules)
    return run_checks(TABLE, Inspection(records, network, gather(network)))


TABLE: tuple[Check[Inspection], ...] = (
    Check(
        "stopped-validator",
        "A validator has not evaluated for ten epochs in which others did.",
        lambda inspection: stopped_validators(inspection.facts, inspection.evidence.reports),
    ),
    Check(
        "outlier-record",
        "A validator's evaluations are outliers more often than those of the others.",
        lambda inspection: outlier_record(
            inspection.facts,
            inspection.evidence,
            alone=inspection.alone,
        ),
    ),
    Check(
        "copying-validators",
        "Two validators report the same numbers more often than either does with all others.",
        lambda inspection: copied_reports(inspection.facts, inspection.evidence),
    ),
    Check(
        "lagging-validators",
        "A validator reports what another one reported an epoch before.",
        lambda inspection: lagging_reports(inspection.facts, inspection.evidence),
    ),
    Check(
        "stake-concentration",
        "One validator has more than half of the stake and decides alone.",
        lambda inspection: stake_concentration(inspection.facts, inspection.evidence.reports),
    ),
    Check(
        "self-serving-votes",
        "A validator is far above the others for one miner, again and again.",
        lambda inspection: self_serving_votes(
            inspection.facts, inspection.evidence, alone=inspection.alone
        ),
    ),
    Check(
        "duplicate-agents",
        "Submissions have the same content.",
        lambda inspection: duplicate_agents(inspection.facts),
    ),
    Check(
        "near-duplicate-agents",
        "Submissions of two miners are the same program under other names.",
        lambda inspection: near_duplicate_agents(inspection.records, inspection.facts),
    ),
    Check(
        "unimprovable-top",
        "No score can improve on a competition's top score, so its burn grows to the maximum.",
        lambda inspection: unimprovable_tops(inspection.outcome),
    ),
    Check(
        "paid-without-score",
        "The strategy ranked pays miners whose score is 0 (rule ranked_zero).",
        lambda inspection: paid_without_score(inspection.outcome),
    ),
    Check(
        "missing-task-results",
        "A submission has no result for tasks on which a validator ran others.",
        lambda inspection: missing_task_results(inspection.records),
    ),
    Check(
        "other-reward-source",
        "Tasks were run under another reward source than the rules name.",
        lambda inspection: other_reward_sources(
            inspection.records, inspection.network.rules.reward_source
        ),
    ),
    Check(
        "partial-validator",
        "A validator leaves out a miner whom all other active validators evaluate.",
        lambda inspection: partial_validators(inspection.outcome),
    ),
    Check(
        "seat-changed-hands",
        "A uid is another hotkey's now; what it would get for what the former one submitted.",
        lambda inspection: changed_seats(inspection.outcome),
    ),
    Check(
        "zero-stake",
        "Validators without stake reported, and to count them changes a score; or none has stake.",
        lambda inspection: votes_without_stake(
            inspection.facts, inspection.evidence.reports, inspection.outcome
        ),
    ),
    Check(
        "dust",
        "A weight above 0 is too small for the payload and is left out of it.",
        lambda inspection: dust(inspection.outcome),
    ),
    Check(
        "carried-top",
        "The top score is that of an agent that has no score any more.",
        lambda inspection: carried_tops(inspection.outcome),
    ),
    Check(
        "shared-uid",
        "Several hotkeys submitted for one uid, and no registrations say whose it is.",
        lambda inspection: shared_uids(inspection.records),
    ),
    Check(
        "burn-to-miner",
        "The uid that gets what burns is a miner's, who earned something itself.",
        lambda inspection: burn_to_miner(inspection.outcome),
    ),
)
"""The checks, in the order in which they run."""

CHECKS = meanings(TABLE)
"""The meaning of each check by the code of its findings."""
