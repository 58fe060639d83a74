"""Components that count a participant's benchmarks (prompt sets) and collaborators."""

from collections.abc import Iterable

import numpy as np

from agon.disciplines.community.components.component import Component, Count
from agon.disciplines.community.components.curves import Bonus, Linear
from agon.disciplines.community.counts import benchmarks as sets
from agon.disciplines.community.counts.feedback import NO_TIME
from agon.disciplines.community.evidence import Evidence, set_refs, user_refs
from agon.disciplines.community.facts import Facts
from agon.disciplines.community.first_times import nth_distinct
from agon.disciplines.community.formulas import distinct_per_group
from agon.disciplines.community.relational import Relations, Table
from agon.disciplines.community.relational_facts import per_user
from agon.disciplines.community.rules import CommunityRules
from agon.disciplines.community.texts import many
from agon.kernel.arrays import BoolArray, IntArray
from agon.kernel.findings import RecordRefs


def _has_contributors(facts: Facts) -> BoolArray:
    """Return which pairs of ``owned_by`` have a benchmark with enough contributors."""
    counts = sets.contributors(facts.benchmarks, facts.rules, size=len(facts.people))
    return counts >= facts.rules.min_benchmark_contributors


def _count_created(facts: Facts) -> IntArray:
    owners = facts.benchmarks.owned_by[1]
    return np.bincount(owners[_has_contributors(facts)], minlength=len(facts.people))


def _count_created_in_engine(relations: Relations) -> Table:
    """Count the benchmarks with enough creators of each owner."""
    written = relations.written_by.group_by(of="set").aggregate(
        creators=relations.written_by.count()
    )
    owned = relations.owned_by.left_join(written, relations.owned_by.set == written.of)
    owned = owned.select("set", "user", "creators")
    owned = owned.mutate(creators=owned.creators.fill_null(0).cast("int64"))
    if relations.rules.owner_contribution != "as_creator":
        wrote = relations.written_by.select(of="set", by="user", own=1)
        owned = owned.left_join(wrote, (owned.set == wrote.of) & (owned.user == wrote.by))
        owned = owned.select("user", "creators", "own")
        own = owned.own.fill_null(0).cast("int64")
        always = relations.rules.owner_contribution == "always"
        count = owned.creators + 1 - own if always else owned.creators - own
        owned = owned.select("user", creators=count)
    return per_user(owned.filter(owned.creators >= relations.rules.min_benchmark_contributors))


def _created_records(evidence: Evidence) -> Iterable[RecordRefs]:
    index, owner = evidence.facts.benchmarks.owned_by
    counted = _has_contributors(evidence.facts) & (owner == evidence.person)
    yield set_refs(evidence.facts, index[counted])


def _created_earned(facts: Facts) -> IntArray:
    index, prompt = facts.benchmarks.holds
    creator = facts.creator[prompt]
    known = creator >= 0
    full = nth_distinct(
        index[known],
        creator[known],
        facts.created[prompt[known]],
        facts.rules.min_benchmark_contributors,
        size=len(facts.benchmarks.sets),
    )
    owned, owner = facts.benchmarks.owned_by
    timed = full[owned] != NO_TIME
    never = np.iinfo(np.int64).max
    earliest = np.full(len(facts.people), never)
    np.minimum.at(earliest, owner[timed], full[owned[timed]])
    return np.where(earliest == never, NO_TIME, earliest)


def _collaborators(facts: Facts) -> IntArray:
    return sets.collaborators(
        facts.benchmarks, counted=_may_collaborate(facts), size=len(facts.people)
    )


def _collaborators_in_engine(relations: Relations) -> Table:
    helped = relations.helped_by.select(of="set", helper="user")
    pairs = relations.run_by.join(helped, relations.run_by.set == helped.of)
    return per_user(pairs.filter(pairs.user != pairs.helper).select("user", "helper").distinct())


def _may_collaborate(facts: Facts) -> BoolArray:
    """Return who has enough quality prompts to be counted as a collaborator of others."""
    least = facts.rules.min_collaborator_prompts
    if not least:
        return np.ones(len(facts.people), dtype=bool)
    return np.bincount(facts.creator[facts.is_quality], minlength=len(facts.people)) >= least


def _collaborator_records(evidence: Evidence) -> Iterable[RecordRefs]:
    benchmarks = evidence.facts.benchmarks
    index, runner = benchmarks.run_by
    own = np.isin(benchmarks.helped_by[0], index[runner == evidence.person])
    helpers = np.unique(benchmarks.helped_by[1][own])
    helpers = helpers[_may_collaborate(evidence.facts)[helpers]]
    yield user_refs(evidence.facts, helpers[helpers != evidence.person])


def _categories(facts: Facts) -> IntArray:
    """Count the distinct categories of the benchmarks that hold each participant's prompts."""
    benchmarks = facts.benchmarks
    index, prompt = benchmarks.holds
    who, category = facts.creator[prompt], benchmarks.category[index]
    known = (who >= 0) & (category >= 0)
    sizes = (len(facts.people), max(benchmarks.categories, 1))
    return distinct_per_group(who[known], category[known], sizes=sizes)


def _categories_in_engine(relations: Relations) -> Table:
    sets = relations.sets.filter(relations.sets.category.notnull())
    written = relations.written_by.join(sets, relations.written_by.set == sets.set)
    return per_user(written.select("user", "category").distinct())


def _category_records(evidence: Evidence) -> Iterable[RecordRefs]:
    index, prompt = evidence.facts.benchmarks.holds
    own = evidence.facts.creator[prompt] == evidence.person
    own &= evidence.facts.benchmarks.category[index] >= 0
    yield set_refs(evidence.facts, np.unique(index[own]))


def _with_quality_prompts(rules: CommunityRules) -> str:
    least = rules.min_collaborator_prompts
    return f" with at least {many(least, 'quality prompt')}" if least else ""


def _not_the_owner(rules: CommunityRules) -> str:
    return " other than the owner" if rules.owner_contribution == "never" else ""


BENCHMARK_CREATOR = Component(
    "benchmark_creator",
    Count(
        "benchmark_creator",
        _count_created,
        lambda facts: facts.by_query(_count_created_in_engine),
        _created_records,
        one_per_record=True,
    ),
    Bonus(earned=_created_earned),
    "benchmark_creator_bonus",
    noun="owned benchmarks with prompts of at least {min_benchmark_contributors} creators",
    unit="owned benchmark with prompts of at least {min_benchmark_contributors} creators",
    also=("min_benchmark_contributors", "owner_contribution", *sets.RULES),
    condition=_not_the_owner,
)

COLLABORATION = Component(
    "collaboration",
    Count(
        "collaboration",
        _collaborators,
        lambda facts: facts.by_query(_collaborators_in_engine),
        _collaborator_records,
        one_per_record=True,
    ),
    Linear(),
    "collaboration_coefficient",
    noun="collaborators on benchmarks this user owns or administers",
    unit="collaborator on a benchmark this user owns or administers",
    also=("collaborator_roles", "min_collaborator_prompts", *sets.RULES),
    condition=_with_quality_prompts,
)

DIVERSITY = Component(
    "diversity",
    Count(
        "diversity",
        _categories,
        lambda facts: facts.by_query(_categories_in_engine),
        _category_records,
        one_per_record=False,
    ),
    Linear(),
    "diversity_coefficient",
    noun="categories of benchmarks that hold this user's prompts",
    unit="category of a benchmark that holds a prompt of this user",
    switch="diversity",
    also=sets.RULES,
)
