"""Judge every submission of a season under the rules: gates, brevity, diversity, one pass.

Nothing is run: verdicts and matched terms are records, and the payload policy is computed from the
recorded source, so that changed rules score a season anew without running a program again.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

from agon.disciplines.dojo import formulas
from agon.disciplines.dojo.facts import SOURCES_KEPT, Facts, Ints, Objects, payload_of, read_source
from agon.disciplines.dojo.payload import check
from agon.disciplines.dojo.program import Violation
from agon.disciplines.dojo.rules import DojoRules

Bools = npt.NDArray[np.bool_]

JUDGED = ("ok", "wrong_answer")
"""Verdicts of programs that gave a valid list of terms."""


@dataclass(frozen=True)
class Judgement:
    """Hold what the rules make of every submission, in the facts' order of arrival.

    Attributes:
        verdicts: as recorded, or what the payload policy makes of the source.
        violations: why the policy refuses a source, by its place among the sources.
        unscored: why a submission has no score at all, None where it has one.
        n_check: terms to give, per problem.
        stage, reward: gates passed.
        tags: method tags in force.
        in_window: counts for diversity: reward correct, not after the freeze, scored.
        first_of_tag: the first of its tag on its problem.
        distinct_tags: tags on the problem, per problem.
        base, brevity, diversity, scores: points.
    """

    facts: Facts
    rules: DojoRules
    verdicts: Objects
    violations: dict[int, tuple[Violation, ...]]
    unscored: Objects
    n_check: Ints
    stage: Bools
    reward: Bools
    tags: list[str]
    in_window: Bools
    first_of_tag: Bools
    distinct_tags: Ints
    base: Ints
    brevity: Ints
    diversity: Ints

    @cached_property
    def scores(self) -> Ints:
        """Return the score of every submission (0 where it has none)."""
        return self.base + self.brevity + self.diversity

    @cached_property
    def order(self) -> Ints:
        """Order all submissions by problem, then best first.

        Score descending, bytes ascending, created_at, source hash, id (seed 002, 5.3); the facts
        stand in the order of the last three already, and a stable sort keeps it.
        """
        s = self.facts.submissions
        return np.lexsort([s.l_chars, -self.scores, s.problem])

    @cached_property
    def best(self) -> Ints:
        """Keep the best scored submission of each user on each problem, in :attr:`order`."""
        s = self.facts.submissions
        scored = self.order[self.unscored[self.order] == None]  # noqa: E711 - elementwise
        pairs = s.problem[scored] * max(len(s.users), 1) + s.user[scored]
        _, first = np.unique(pairs, return_index=True)
        return scored[np.sort(first)]


def judge(facts: Facts, rules: DojoRules) -> Judgement:
    """Judge a season; pure, and the same whatever order the records came in."""
    s = facts.submissions
    n_check = np.where(facts.problems.n_check < 0, rules.n_check, facts.problems.n_check)
    verdicts, violations = _verdicts(facts, rules)
    unscored = _unscored(facts, rules, verdicts)
    stage, reward = _gates(facts, n_check, verdicts)
    scored = unscored == None  # noqa: E711 - elementwise
    stage, reward = stage & scored, reward & scored
    tags = _tags(facts, rules)
    in_window = reward & (s.created <= facts.problems.freeze[s.problem])
    first, distinct = _families(facts, rules, tags, in_window)
    base = formulas.base_score(
        formulas.Gates(stage, reward), stage_base=rules.stage_base, reward_base=rules.reward_base
    )
    brevity = np.zeros(len(s), dtype=np.int64)
    brevity[reward] = formulas.brevity(
        s.l_chars[reward], b_max=rules.brevity_max, beta=rules.brevity_beta
    )
    return Judgement(
        facts, rules, verdicts, violations, unscored, n_check, stage, reward, tags, in_window,
        first, distinct, base, brevity, _diversity(facts, rules, in_window, first, distinct),
    )  # fmt: skip


def moment(microseconds: int) -> str:
    """Write a time as people read it."""
    time = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=int(microseconds))
    return time.isoformat().replace("+00:00", "Z")


def _verdicts(facts: Facts, rules: DojoRules) -> tuple[Objects, dict[int, tuple[Violation, ...]]]:
    """Let the payload policy in force refuse and admit sources that were judged under another one.

    A program that was refused but run all the same, so that its matched terms are recorded, is
    judged by them once no limit refuses it any more.
    """
    s = facts.submissions
    verdicts = s.verdicts.copy()
    violations: dict[int, tuple[Violation, ...]] = {}
    for at, source in enumerate(s.sources):
        found = _violations(
            source,
            max_bytes=rules.max_source_bytes,
            max_depth=rules.max_syntax_depth,
            max_numeric_literals=rules.max_numeric_literals,
            max_string_chars=rules.max_string_literal_chars,
            max_elements=rules.max_list_tuple_elements,
            max_literal_digits=rules.max_literal_digits,
        )
        if found:
            violations[at] = found
    refused = np.isin(s.source_of, np.array(list(violations), dtype=np.int64))
    for at in np.flatnonzero(refused | (verdicts == "rejected_policy")).tolist():
        place = int(s.source_of[at])
        if place in violations and verdicts[at] in JUDGED:
            verdicts[at] = violations[place][0].verdict
        elif place >= 0 and place not in violations and verdicts[at] == "rejected_policy":
            verdicts[at] = "wrong_answer" if s.matched[at] >= 0 else verdicts[at]
    return verdicts, violations


@lru_cache(maxsize=SOURCES_KEPT)
def _violations(
    source: str,
    *,
    max_bytes: int,
    max_depth: int,
    max_numeric_literals: int,
    max_string_chars: int,
    max_elements: int,
    max_literal_digits: int | None,
) -> tuple[Violation, ...]:
    """Say why the payload policy refuses a source; one is read once for all later scorings."""
    payload = payload_of(source, max_bytes=max_bytes, max_depth=max_depth)
    if isinstance(payload, Violation):
        return (payload,)
    found = check(
        payload,
        max_numeric_literals=max_numeric_literals,
        max_string_chars=max_string_chars,
        max_elements=max_elements,
        max_literal_digits=max_literal_digits,
    )
    return tuple(found)


def _unscored(facts: Facts, rules: DojoRules, verdicts: Objects) -> Objects:
    s, problems = facts.submissions, facts.problems
    reasons = np.full(len(s), None, dtype=object)
    if rules.after_freeze == "unscored":
        for at in np.flatnonzero(s.created > problems.freeze[s.problem]):
            froze = moment(problems.freeze[s.problem[at]])
            reasons[at] = f"submitted after the problem froze at {froze}"
    reasons[verdicts == "sandbox_error"] = (
        "the sandbox failed, which is our fault; it has to be judged again"
    )
    if rules.setter_on_own_problem == "unscored":
        place = {user: at for at, user in enumerate(s.users)}
        setters = np.array([place.get(name or "", -1) for name in problems.setters], np.int64)
        if len(setters):
            own = s.user == setters[s.problem]
            reasons[own] = "the setter cannot score on the own problem"
    return reasons


def _gates(facts: Facts, n_check: Ints, verdicts: Objects) -> tuple[Bools, Bools]:
    s = facts.submissions
    matched = np.where(np.isin(verdicts, JUDGED), s.matched, -1)
    stage, reward = np.zeros(len(s), bool), np.zeros(len(s), bool)
    needed = n_check[s.problem]
    for terms in np.unique(needed):
        rows = needed == terms
        passed = formulas.gates(matched[rows], n_check=int(terms))
        stage[rows], reward[rows] = passed.stage_pass, passed.reward_correct
    return stage, reward


def _tags(facts: Facts, rules: DojoRules) -> list[str]:
    s = facts.submissions
    # Few different tags are declared, often without notes: each pair is looked at once.
    notes = s.notes if rules.require_notes else [None] * len(s)
    declared = list(zip(s.tags, notes, strict=True))
    normal = {
        (tag, note): formulas.normal_tag(
            tag, note, require_notes=rules.require_notes, max_length=rules.max_method_tag_chars
        )
        for tag, note in set(declared)
    }
    tags = [normal[one] for one in declared]
    if rules.tag_conflict == "ignore":
        for at, place in enumerate(s.source_of):
            if place >= 0 and contradicted(s.sources[place], tags[at], rules):
                tags[at] = formulas.UNSPECIFIED
    return tags


def contradicted(source: str, tag: str, rules: DojoRules) -> bool:
    """Say whether the static classifier strongly contradicts a declared tag."""
    from agon.disciplines.dojo.classifier import classify, contradicts

    program = read_source(
        source, max_bytes=rules.max_source_bytes, max_depth=rules.max_syntax_depth
    )
    if isinstance(program, Violation):
        return False
    return contradicts(tag, classify(program))


def _families(
    facts: Facts, rules: DojoRules, tags: list[str], in_window: Bools
) -> tuple[Bools, Ints]:
    """Find the first submission of each (problem, tag), and count the tags of each problem.

    Per (user, tag) only the earliest submission is looked at (seed 002, 6.4); arrival is the order
    the facts stand in, so the first of a (problem, tag) is the first of its user's as well.
    """
    s = facts.submissions
    first = np.zeros(len(s), dtype=bool)
    distinct = np.zeros(len(facts.problems.ids), dtype=np.int64)
    names = {tag: at for at, tag in enumerate(sorted(set(tags)))}
    codes = np.array([names[tag] for tag in tags], dtype=np.int64)
    rows = np.flatnonzero(in_window)
    if rules.unspecified_tag == "ignored":
        rows = rows[codes[rows] != names.get(formulas.UNSPECIFIED, -1)]
    pairs = s.problem[rows] * max(len(names), 1) + codes[rows]
    _, opening = np.unique(pairs, return_index=True)
    first[rows[opening]] = True
    np.add.at(distinct, s.problem[rows[opening]], 1)
    return first, distinct


def _diversity(
    facts: Facts, rules: DojoRules, in_window: Bools, first: Bools, distinct: Ints
) -> Ints:
    s = facts.submissions
    points = np.zeros(len(s), dtype=np.int64)
    if not rules.diversity:
        return points
    tags = distinct[s.problem]
    for families in np.unique(tags[in_window]):
        for is_first in (False, True):
            rows = in_window & (tags == families) & (first == is_first)
            points[rows] = diversity_of(rules, first_of_tag=is_first, families=families).bonus
    return points


def diversity_of(rules: DojoRules, *, first_of_tag: bool, families: int) -> formulas.Diversity:
    """Give the diversity points the rules in force make of the two facts that decide them."""
    return formulas.diversity_points(
        first_of_tag=bool(first_of_tag),
        distinct_tags=int(families),
        first_tag_bonus=rules.diversity_first_tag_bonus,
        shared_bonus_each=rules.diversity_shared_bonus_each,
        shared_repeats=rules.diversity_shared_bonus_repeats,
        cap=rules.diversity_bonus_cap,
    )
