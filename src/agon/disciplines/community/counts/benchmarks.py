"""Read the benchmarks (prompt sets): what is in them, who owns, administers and fills them."""

from dataclasses import dataclass

import numpy as np

from agon.disciplines.community.formulas import distinct_items, distinct_pairs
from agon.disciplines.community.id_index import IdIndex, as_int64, expand, group_rows
from agon.disciplines.community.rules import CommunityRules
from agon.kernel.arrays import BoolArray, IntArray
from agon.kernel.marks import AnyInts, Lists
from agon.records import Records

Pairs = tuple[IntArray, IntArray]

RULES = ("excluded_memberships", "deleted_sets")
"""The rules that decide which benchmarks and which prompts in them count."""


@dataclass(frozen=True)
class Benchmarks:
    """The benchmarks that count, as distinct pairs of codes.

    Attributes:
        sets: codes of the benchmarks.
        category: code of the category of each one that was read, −1 without.
        categories: how many categories there are.
        holds: (set, prompt).
        written_by: (set, creator) for the creators of its prompts.
        writers: how many those are, by set.
        owned_by: (set, user), by owner_id or role.
        run_by: (set, user) for owners and administrators.
        helped_by: (set, user) for creators and those whose role makes them collaborators.
    """

    sets: IdIndex
    category: IntArray
    categories: int
    holds: Pairs
    written_by: Pairs
    writers: IntArray
    owned_by: Pairs
    run_by: Pairs
    helped_by: Pairs


def read_benchmarks(
    records: Records,
    rules: CommunityRules,
    *,
    people: IdIndex,
    prompts: IdIndex,
    creator: AnyInts,
) -> Benchmarks:
    """Read the benchmarks that count under the rules.

    Args:
        records: the community's tables.
        rules: what counts as membership, as a benchmark, as a collaborator.
        people: indices of the users.
        prompts: codes of the prompts.
        creator: index of each prompt's creator, −1 where unknown.
    """
    alive = "" if rules.deleted_sets == "count" else "WHERE deleted_at IS NULL"
    table = records.sql(f"SELECT id, owner_id, category FROM prompt_sets {alive}")
    sets = IdIndex(table["id"])
    encoded = table["category"].combine_chunks().dictionary_encode()
    included = "" if rules.excluded_memberships == "count" else "WHERE status <> 'excluded'"
    if included:
        included += " OR status IS NULL"
    rows = records.sql(f"SELECT prompt_set_id, prompt_id FROM prompt_set_prompts {included}")
    holds = _pairs(sets.of(rows["prompt_set_id"]), prompts.of(rows["prompt_id"]), len(prompts))
    roles = records.sql(
        "SELECT prompt_set_id, user_id, role FROM user_role_on_prompt_set WHERE role IS NOT NULL"
    )
    position, who = sets.of(roles["prompt_set_id"]), people.of(roles["user_id"])
    role = np.array(roles["role"].to_pylist(), dtype=object)
    size = len(people)

    def with_role(*names: str) -> Pairs:
        chosen = np.isin(role, names) if len(role) else np.zeros(0, dtype=bool)
        return position[chosen], who[chosen]

    named = (sets.of(table["id"]), people.of(table["owner_id"]))
    owned_by = _pairs(*_concatenate(named, with_role("owner")), size)
    written_by = _pairs(holds[0], creator[holds[1]], size)
    helpers = [written_by, with_role(*(name for name in rules.collaborator_roles))]
    if "owner" in rules.collaborator_roles:
        helpers.append(named)
    return Benchmarks(
        sets=sets,
        category=as_int64(encoded.indices),
        categories=len(encoded.dictionary),
        holds=holds,
        written_by=written_by,
        writers=np.bincount(written_by[0], minlength=len(sets)),
        owned_by=owned_by,
        run_by=_pairs(*_concatenate(owned_by, with_role("admin")), size),
        helped_by=_pairs(*_concatenate(*helpers), size),
    )


def contributors(benchmarks: Benchmarks, rules: CommunityRules, *, size: int) -> IntArray:
    """Count the creators each owner's benchmark has, for every pair of ``owned_by``.

    The rule ``owner_contribution`` decides whether the owner is one of them.
    """
    owned, owner = benchmarks.owned_by
    count = benchmarks.writers[owned]
    if rules.owner_contribution == "as_creator":
        return count
    sets, creators = benchmarks.written_by
    wrote = np.isin(owned * size + owner, sets * size + creators)
    return count + ~wrote if rules.owner_contribution == "always" else count - wrote


def collaborators(benchmarks: Benchmarks, *, counted: BoolArray, size: int) -> IntArray:
    """Return each user's number of distinct collaborators on benchmarks they own or administer.

    Args:
        benchmarks: the benchmarks that count.
        counted: which users may be counted as collaborators of others.
        size: number of users.
    """
    index, helper = benchmarks.helped_by
    index, helper = index[counted[helper]], helper[counted[helper]]
    sets, runner = benchmarks.run_by
    helpers = Lists.of(
        np.searchsorted(index, np.arange(len(benchmarks.sets) + 1)), helper, size=size
    )
    # A user is no collaborator of themselves.
    pairs, own = index * np.int64(size) + helper, sets * np.int64(size) + runner
    helps = np.searchsorted(pairs, own, side="right") > np.searchsorted(pairs, own)
    is_own = np.bincount(runner[helps], minlength=size) > 0
    return distinct_items(runner, sets, helpers, size=size) - is_own


def by_prompt(benchmarks: Benchmarks, *, prompts: int) -> Lists:
    """Return the benchmarks that hold each prompt.

    Args:
        benchmarks: the benchmarks with their prompts.
        prompts: number of prompts.
    """
    sets, held = benchmarks.holds
    order, starts, _ = group_rows(held, size=prompts)
    return Lists.of(np.append(starts, len(sets)), sets[order], size=len(benchmarks.sets))


def sets_of(benchmarks: Benchmarks, key: AnyInts, prompt: AnyInts) -> tuple[AnyInts, IntArray]:
    """Expand (key, prompt) to (key, set) for every benchmark that contains the prompt."""
    sets, prompts = benchmarks.holds
    most = int(max(prompts.max(initial=-1), prompt.max(initial=-1))) + 1
    order, starts, counts = group_rows(prompts, size=most)
    run, place = expand(starts[prompt], counts[prompt])
    return key[run], sets[order][place]


def _concatenate(*parts: Pairs) -> Pairs:
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


def _pairs(left: AnyInts, right: AnyInts, size: int) -> Pairs:
    """Return the distinct pairs in which both are known."""
    known = (left >= 0) & (right >= 0)
    return distinct_pairs(left[known], right[known], size=size)
