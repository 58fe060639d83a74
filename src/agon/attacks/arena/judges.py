"""Measure checks on judges with a known behavior, vote by vote."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from agon.attacks.detectors.measurement import PowerMeasurement, PowerTrial, share
from agon.disciplines.arena.checks.detectors import favorite_bot, literal_power, low_agreement
from agon.disciplines.arena.checks.voting import audit_disagreement
from agon.disciplines.arena.facts import Facts
from agon.disciplines.arena.rules import ArenaRules
from agon.disciplines.arena.simulation.behaviors import SUBJECT, Behavior, draw_votes
from agon.kernel.findings import Finding, Severity
from agon.kernel.rounding import publish

Find = Callable[[Facts, ArenaRules], Iterator[Finding]]

THRESHOLDS = (0.001, 0.01, 0.05)
"""Shares of honest judges that the checks may name: the points of a curve."""

FINDS: dict[str, Find] = {"low-agreement": low_agreement, "favorite-bot": favorite_bot}


@dataclass(frozen=True)
class JudgeCase:
    """A judge whom a check should name, or one whom it should not.

    Attributes:
        finding: code of the check.
        behavior: of the judge; honest ones are measured for false alarms alone.
        votes: of the judge.
        bots: how many there are.
        ring: number of judges that behave so.
    """

    finding: str
    behavior: Behavior
    votes: int
    bots: int = 20
    ring: int = 1

    @property
    def is_honest(self) -> bool:
        """Whether to name the judge is a false alarm."""
        return self.behavior in {"honest", "specialist"}

    @property
    def attack(self) -> str:
        """The behavior, with the number of bots and whether it is honest."""
        label = f"{self.behavior} (honest)" if self.behavior == "specialist" else self.behavior
        ring = f"ring of {self.ring}, " if self.ring > 1 else ""
        return f"{ring}{label}, {self.bots} bots"

    @property
    def exposures(self) -> int | None:
        """Votes on the bot that the judge promotes, or sees only."""
        return self.votes if self.behavior in {"always for one bot", "specialist"} else None


CASES = (
    *(JudgeCase("low-agreement", "coin flip", votes) for votes in (50, 100, 200)),
    *(JudgeCase("low-agreement", "always wrong", votes) for votes in (12, 25, 50)),
    *(JudgeCase("favorite-bot", "always for one bot", 20, bots) for bots in (5, 10, 20, 50)),
    *(JudgeCase("favorite-bot", "always for one bot", votes) for votes in (5, 10)),
    *(JudgeCase("favorite-bot", "always for one bot", votes, ring=5) for votes in (5, 10, 20)),
    *(JudgeCase(code, "specialist", votes) for code in FINDS for votes in (50, 200)),
    *(JudgeCase(code, "honest", 200) for code in FINDS),
)
"""The judges of the table."""


def measure(
    case: JudgeCase, seed: int, worlds: int, advance: Callable[[], None]
) -> Iterator[PowerMeasurement]:
    """Yield a judge's measurement for each threshold, on the same votes.

    Next to ``favorite-bot`` stands the power of ``collusion_votes`` in ``recent_votes``, next to
    ``low-agreement`` that of the check of audits on the same votes.
    """
    rules = ArenaRules()
    trials: dict[float, list[PowerTrial]] = {threshold: [] for threshold in THRESHOLDS}
    audited = 0
    for world_seed in range(seed, seed + worlds):
        facts = _facts(case, world_seed, rules)
        for threshold in THRESHOLDS:
            stated = rules.override({"detector_false_alarms": threshold})
            named = _judges_of(FINDS[case.finding](facts, stated))
            trials[threshold].append(_trial(case, facts, named))
        audited += len(_subjects(case, facts) & _judges_of(audit_disagreement(facts, rules)))
        advance()
    literal = None
    if case.behavior == "always for one bot":
        literal = publish(
            literal_power(case.bots, votes=rules.recent_votes, above=rules.collusion_votes)
        )
    elif not case.is_honest:
        literal = share(audited, worlds * case.ring)
    for threshold in THRESHOLDS:
        yield PowerMeasurement.of(
            trials[threshold],
            finding=case.finding,
            attack=case.attack,
            threshold=threshold,
            literal_power=literal,
        )


def judge_power(
    case: JudgeCase, *, worlds: int, threshold: float = 0.01, seed: int = 0
) -> tuple[float, float]:
    """Return the share of judges that a check names, and the share of other judges that it names.

    Args:
        case: the judges, the check and the number of votes.
        worlds: number of contests, each with 30 judges.
        threshold: share of honest judges that the check may name.
        seed: of the first contest.
    """
    rules = ArenaRules(detector_false_alarms=threshold)
    hits = alarms = judges = 0
    for world_seed in range(seed, seed + worlds):
        facts = _facts(case, world_seed, rules)
        subjects, names = _subjects(case, facts), _judges_of(FINDS[case.finding](facts, rules))
        hits += len(subjects & names)
        alarms += len(names - subjects)
        judges += len(facts.judges)
    subjects_of_all = worlds * case.ring
    return hits / subjects_of_all, alarms / (judges - subjects_of_all)


def _facts(case: JudgeCase, seed: int, rules: ArenaRules) -> Facts:
    return draw_votes(
        case.behavior,
        votes=case.votes,
        ring=case.ring,
        bots=case.bots,
        audits=rules.audit_probability,
        seed=seed,
    )


def _trial(case: JudgeCase, facts: Facts, names: set[str]) -> PowerTrial:
    subjects = _subjects(case, facts)
    others = {str(name) for name in facts.judges.ids.to_pylist()} - subjects
    if case.behavior == "specialist":  # the other judges are none
        subjects, others = set(), subjects
    elif case.is_honest:
        subjects, others = set(), subjects | others
    return PowerTrial(
        attackers=len(subjects),
        named=len(names & subjects),
        honest=len(others),
        accused=len(names & others),
        actions=case.votes,
        exposures=case.exposures,
    )


def _subjects(case: JudgeCase, facts: Facts) -> set[str]:
    """Return the ids of the judges with the behavior."""
    return {str(facts.judges.ids[SUBJECT + index]) for index in range(case.ring)}


def _judges_of(findings: Iterator[Finding]) -> set[str]:
    """Return the judges that warnings name."""
    return {f.subjects[0] for f in findings if f.severity is not Severity.INFO}
