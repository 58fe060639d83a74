"""Judge every submission of a season under the rules: gates, brevity, diversity, one pass.

Nothing is run: verdicts and matched terms are records, and the payload policy is computed from the
recorded source, so that changed rules rescore a season without running a program again.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from agon.disciplines.dojo import formulas
from agon.disciplines.dojo.facts import (
    NEVER,
    PROGRAMS_KEPT,
    Facts,
    Ints,
    Objects,
    payload_of,
    read_source,
)
from agon.disciplines.dojo.pairs import first_of_each, number_pairs
from agon.disciplines.dojo.payload import PayloadLimits, check
from agon.disciplines.dojo.program import Violation
from agon.disciplines.dojo.records import VERDICTS
from agon.disciplines.dojo.rules import DojoRules
from agon.disciplines.dojo.submission_cache import SOURCES_KEPT
from agon.kernel.times import from_micros

if TYPE_CHECKING:
    from agon.disciplines.dojo.classifier import Classification

Bools = npt.NDArray[np.bool_]

JUDGED = ("ok", "wrong_answer")
"""Verdicts of programs that gave a valid list of terms."""

_REFUSED, _WRONG, _FAILED = (
    VERDICTS.index(name) for name in ("rejected_policy", "wrong_answer", "sandbox_error")
)
_IS_JUDGED = np.array([name in JUDGED for name in VERDICTS])
_NAMES = np.array(VERDICTS, dtype=object)


@dataclass(frozen=True)
class Judgement:
    """The judgement of every submission under the rules, in the facts' order of arrival.

    Attributes:
        verdict: as recorded, or what the payload policy makes of the source, numbered.
        violations: why the policy rejects a source, by its number.
        unscored: why a submission has no score, None where it has one.
        scored: whether it has one.
        n_check: terms to give, per problem.
        stage, reward: gates passed.
        tag: index of the method tag in force in ``tag_names``.
        in_window: counts for diversity: reward correct, not after the freeze, scored.
        families: which are the first of their tag, and how many tags each problem has.
        base, brevity, diversity, scores: points.
        withheld: problems of which explanations do not name the matched terms (rule
            ``feedback``).
    """

    facts: Facts
    rules: DojoRules
    verdict: Ints
    violations: dict[int, tuple[Violation, ...]]
    unscored: Objects
    scored: Bools
    n_check: Ints
    stage: Bools
    reward: Bools
    tag: Ints
    tag_names: list[str]
    in_window: Bools
    families: formulas.Families
    base: Ints
    brevity: Ints
    diversity: Ints
    withheld: frozenset[int]

    @cached_property
    def scores(self) -> Ints:
        """Return the score of every submission (0 where it has none)."""
        return self.base + self.brevity + self.diversity

    @cached_property
    def verdicts(self) -> Objects:
        """Return the verdict of every submission by name."""
        names: Objects = _NAMES[self.verdict]
        return names

    @cached_property
    def tags(self) -> Objects:
        """Return the method tag in force of every submission."""
        names: Objects = np.array([*self.tag_names, None], dtype=object)[self.tag]
        return names

    @cached_property
    def of_pairs(self) -> Ints:
        """Return the best scored submission of each user on each problem, in order of arrival.

        Best is: score descending, bytes ascending, created_at, source hash, id (document 002, 5.3);
        the facts are in the order of the last three already.
        """
        s = self.facts.submissions
        rows = np.flatnonzero(self.scored)
        pairs, bound = number_pairs(s.problem[rows], s.user[rows], rights=len(s.users))
        several = np.bincount(pairs, minlength=bound)[pairs] > 1
        only, rows, pairs = rows[~several], rows[several], pairs[several]
        least = np.empty(bound, dtype=np.int64)
        for worse in (-self.scores, s.l_chars):
            values = worse[rows]
            least[pairs] = np.iinfo(np.int64).max
            np.minimum.at(least, pairs, values)
            smallest = values == least[pairs]
            rows, pairs = rows[smallest], pairs[smallest]
        return np.sort(np.concatenate([only, rows[first_of_each(pairs, bound=bound)]]))

    @cached_property
    def best(self) -> Ints:
        """Return the best scored submission of each user per problem, by problem, best first."""
        s, rows = self.facts.submissions, self.of_pairs
        return rows[np.lexsort([s.l_chars[rows], -self.scores[rows], s.problem[rows]])]


def judge(facts: Facts, rules: DojoRules) -> Judgement:
    """Judge a season; a pure function, independent of the records' order."""
    s = facts.submissions
    n_check = np.where(facts.problems.n_check < 0, rules.n_check, facts.problems.n_check)
    verdict, violations = _verdicts(facts, rules)
    unscored, scored = _unscored_reasons(facts, rules, verdict)
    stage, reward = _gates(facts, n_check, verdict)
    stage, reward = stage & scored, reward & scored
    tag, names = _tags(facts, rules)
    in_window = reward & (s.created <= s.freeze)
    families = _families(facts, rules, tag, names, in_window)
    base = formulas.base_score(
        formulas.Gates(stage, reward), stage_base=rules.stage_base, reward_base=rules.reward_base
    )
    brevity = np.zeros(len(s), dtype=np.int64)
    brevity[reward] = formulas.brevity(
        s.l_chars[reward], b_max=rules.brevity_max, beta=rules.brevity_beta
    )
    return Judgement(
        facts, rules, verdict, violations, unscored, scored, n_check, stage, reward, tag, names,
        in_window, families, base, brevity, _diversity(facts, rules, in_window, families),
        frozenset(range(len(facts.problems.ids)) if rules.feedback == "gate" else ()),
    )  # fmt: skip


def utc_text(microseconds: int) -> str:
    """Return a time as ISO 8601 text in UTC."""
    return from_micros(int(microseconds)).isoformat().replace("+00:00", "Z")


def _verdicts(facts: Facts, rules: DojoRules) -> tuple[Ints, dict[int, tuple[Violation, ...]]]:
    """Apply the payload policy in force to sources that were judged under another one.

    A program that was rejected but run, so that its matched terms are recorded, is judged by
    them once no limit rejects it any more.
    """
    s = facts.submissions
    key = (rules.max_source_bytes, rules.max_syntax_depth, PayloadLimits.of(rules))
    violations = s.cache.check_sources(key, lambda source: _violations(source, *key))
    # The policy's result for each source; the last entry is for a missing source.
    becomes = np.full(len(s.cache.sources) + 1, -1, dtype=np.int64)
    for number, reasons in violations.items():
        becomes[number] = VERDICTS.index(reasons[0].verdict)
    of_source = becomes[s.source]
    judged = _IS_JUDGED[s.verdict]
    verdict = np.where((of_source >= 0) & judged, of_source, s.verdict)
    admitted = (s.source >= 0) & (of_source < 0) & (s.verdict == _REFUSED) & (s.matched >= 0)
    verdict[admitted] = _WRONG
    return verdict, violations


@lru_cache(maxsize=SOURCES_KEPT)
def _violations(
    source: str, max_bytes: int, max_depth: int, limits: PayloadLimits
) -> tuple[Violation, ...]:
    """Return why the payload policy rejects a source; each is parsed once for later scorings."""
    payload = payload_of(source, max_bytes=max_bytes, max_depth=max_depth)
    if isinstance(payload, Violation):
        return (payload,)
    return tuple(check(payload, limits))


def _unscored_reasons(facts: Facts, rules: DojoRules, verdict: Ints) -> tuple[Objects, Bools]:
    """Return why a submission has no score, None where it has one, and whether it has one."""
    s, problems = facts.submissions, facts.problems
    reasons = np.full(len(s), None, dtype=object)
    scored = verdict != _FAILED
    if rules.after_freeze == "unscored":
        texts = np.full(len(problems.ids), None, dtype=object)
        for index in np.flatnonzero(problems.freeze != NEVER):
            texts[index] = (
                f"submitted after the problem froze at {utc_text(problems.freeze[index])}"
            )
        late = s.created > s.freeze
        reasons[late] = texts[s.problem[late]]
        for index in np.flatnonzero(late & (s.freeze > problems.freeze[s.problem])):
            reasons[index] = (
                f"submitted after the user's extra time ended at {utc_text(s.freeze[index])}"
            )
        scored &= ~late
    reasons[verdict == _FAILED] = (
        "the sandbox failed, which is our fault; it has to be judged again"
    )
    if rules.setter_on_own_problem == "unscored":
        place = {user: index for index, user in enumerate(s.users)}
        setters = np.array([place.get(name or "", -1) for name in problems.setters], np.int64)
        if len(setters):
            own = s.user == setters[s.problem]
            reasons[own] = "the setter cannot score on the own problem"
            scored &= ~own
    return reasons, scored


def _gates(facts: Facts, n_check: Ints, verdict: Ints) -> tuple[Bools, Bools]:
    s = facts.submissions
    matched = np.where(_IS_JUDGED[verdict], s.matched, -1)
    stage, reward = np.zeros(len(s), bool), np.zeros(len(s), bool)
    needed = n_check[s.problem]
    for terms in np.unique(n_check):
        rows = needed == terms
        passed = formulas.gates(matched[rows], n_check=int(terms))
        stage[rows], reward[rows] = passed.stage_pass, passed.reward_correct
    return stage, reward


def _tags(facts: Facts, rules: DojoRules) -> tuple[Ints, list[str]]:
    """Return the index of each submission's tag in force, and the sorted names of such tags."""
    s = facts.submissions
    # Few different tags are declared: each is checked once, with a note and without one.
    longest = rules.max_method_tag_chars
    normal = [
        formulas.normal_tag(tag, None, require_notes=False, max_length=longest)
        for tag in (*s.tag_names, None)
    ]
    if rules.tag_spelling == "folded":
        normal = [formulas.folded_tag(tag) for tag in normal]
    names = sorted({*normal, formulas.UNSPECIFIED})
    unspecified = names.index(formulas.UNSPECIFIED)
    tag = np.array([names.index(name) for name in normal], dtype=np.int64)[s.tag]
    if rules.require_notes:
        noted = [bool(note and note.strip()) for note in s.notes]
        tag[~np.array(noted, dtype=bool)] = unspecified
    if rules.tag_conflict == "ignore":
        rows = np.flatnonzero(s.source >= 0)
        pairs = np.unique(np.stack([s.source[rows], tag[rows]]), axis=1).T.tolist()
        for number, name in pairs:
            if is_contradicted(s.cache.sources[number], names[name], rules):
                tag[(s.source == number) & (tag == name)] = unspecified
    return tag, names


def is_contradicted(source: str, tag: str, rules: DojoRules) -> bool:
    """Return whether the static classifier strongly contradicts a declared tag."""
    from agon.disciplines.dojo.classifier import contradicts

    classification = _classification(
        source, max_bytes=rules.max_source_bytes, max_depth=rules.max_syntax_depth
    )
    return classification is not None and contradicts(tag, classification)


@lru_cache(maxsize=PROGRAMS_KEPT)
def _classification(source: str, *, max_bytes: int, max_depth: int) -> "Classification | None":
    """Return what the classifier makes of a source, None for a source that cannot be read."""
    from agon.disciplines.dojo.classifier import classify

    program = read_source(source, max_bytes=max_bytes, max_depth=max_depth)
    return None if isinstance(program, Violation) else classify(program)


def _families(
    facts: Facts, rules: DojoRules, tag: Ints, names: list[str], in_window: Bools
) -> formulas.Families:
    """Return the families among the entries; other submissions are the first of no tag."""
    problem = facts.submissions.problem
    is_entry = in_window
    if rules.unspecified_tag == "ignored":
        is_entry = in_window & (tag != names.index(formulas.UNSPECIFIED))
    rows = np.flatnonzero(is_entry)
    if rules.tags_per_user == "first":
        s = facts.submissions
        pairs, bound = number_pairs(s.problem[rows], s.user[rows], rights=len(s.users))
        rows = rows[first_of_each(pairs, bound=bound)]
    families = formulas.families(
        problem[rows], tag[rows], problems=len(facts.problems.ids), tags=len(names)
    )
    first = np.zeros(len(problem), dtype=bool)
    first[rows[families.first_of_tag]] = True
    return formulas.Families(first, families.distinct_tags)


def _diversity(
    facts: Facts, rules: DojoRules, in_window: Bools, families: formulas.Families
) -> Ints:
    problem = facts.submissions.problem
    if not rules.diversity:
        return np.zeros(len(problem), dtype=np.int64)
    counts, of_problem = np.unique(families.distinct_tags, return_inverse=True)
    others, firsts = (
        np.array(
            [diversity_of(rules, first_of_tag=first, families=tags).bonus for tags in counts],
            dtype=np.int64,
        )[of_problem]
        for first in (False, True)
    )
    points = np.where(families.first_of_tag, firsts[problem], others[problem])
    return np.where(in_window, points, 0)


def diversity_of(rules: DojoRules, *, first_of_tag: bool, families: int) -> formulas.Diversity:
    """Return the diversity points the rules in force make of the two facts that decide them."""
    return formulas.diversity_points(
        first_of_tag=bool(first_of_tag),
        distinct_tags=int(families),
        first_tag_bonus=rules.diversity_first_tag_bonus,
        shared_bonus_each=rules.diversity_shared_bonus_each,
        shared_repeats=rules.diversity_shared_bonus_repeats,
        cap=rules.diversity_bonus_cap,
    )
