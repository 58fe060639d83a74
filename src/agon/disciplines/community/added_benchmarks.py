"""Count the benchmarks of a community that grew: pairs of benchmarks are only ever added."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from agon.disciplines.community.added_feedback import AddedFeedback
from agon.disciplines.community.benchmarks import Benchmarks, by_prompt, read_benchmarks
from agon.disciplines.community.facts import Facts
from agon.disciplines.community.grown import Grown
from agon.disciplines.community.id_index import expand
from agon.disciplines.community.stored_ids import GrownIds, id_arrays
from agon.disciplines.community.stored_pairs import (
    GrownPairs,
    StoredPairs,
    ordered_pairs,
    pair_arrays,
)
from agon.kernel.marks import AnyInts

IntArray = npt.NDArray[np.int64]

_PART: Final = 1 << 22
"""Number of feedbacks whose benchmarks are listed at a time."""

_OF_SETS: Final = ("written_by", "owned_by", "run_by", "helped_by")


def benchmark_arrays(facts: Facts) -> Iterator[tuple[str, Any]]:
    """Yield what :class:`AddedBenchmarks` continues from."""
    benchmarks = facts.benchmarks
    yield from id_arrays("sets", benchmarks.sets)
    sets, held = benchmarks.holds
    yield from pair_arrays("holders", *ordered_pairs(held, sets), size=len(facts.prompts))
    for name in _OF_SETS:
        yield from pair_arrays(name, *getattr(benchmarks, name), size=len(benchmarks.sets))
    yield from pair_arrays("collaborators", *_collaborators(benchmarks), size=len(facts.people))
    yield from pair_arrays("sets_reviewed", *_rated_sets(facts), size=len(facts.people))


def _collaborators(benchmarks: Benchmarks) -> tuple[AnyInts, AnyInts]:
    """Return the pairs of a user and another one who helps with a benchmark that they run."""
    (at, helper), (sets, runner) = benchmarks.helped_by, benchmarks.run_by
    first = np.searchsorted(at, sets)
    run, place = expand(first, np.searchsorted(at, sets, side="right") - first)
    return ordered_pairs(*_of_others(runner[run], helper[place]))


def _of_others(users: IntArray, others: IntArray) -> tuple[IntArray, IntArray]:
    """Return the pairs of different users."""
    differ = users != others
    return users[differ], others[differ]


def _rated_sets(facts: Facts) -> tuple[AnyInts, AnyInts]:
    """Return the pairs of user and benchmark with feedback of theirs on its prompts."""
    lists = by_prompt(facts.benchmarks, prompts=len(facts.prompts))
    counts, parts = np.diff(lists.starts), []
    for at in range(0, len(facts.feedback.user), _PART):
        user, prompt = (column[at : at + _PART]
                        for column in (facts.feedback.user, facts.feedback.prompt))  # fmt: skip
        run, place = expand(lists.starts[prompt], counts[prompt])
        parts.append(np.stack(ordered_pairs(user[run], lists.items[place])))
    users, sets = np.concatenate([np.zeros((2, 0), np.int32), *parts], axis=1)
    parts.clear()
    return ordered_pairs(users, sets)


class AddedBenchmarks:
    """Stored pairs of benchmarks, and the pairs of the added rows."""

    def __init__(self, grown: Grown, feedback: AddedFeedback) -> None:
        self._grown, self._feedback = grown, feedback

    def read(self) -> None:
        """Read the added rows; what is counted of them reads no others."""
        _ = self._added

    def review_counts(self) -> IntArray:
        """Count each user's benchmarks with feedback on their prompts.

        A prompt that is added to a benchmark adds the benchmark to each user who rated it.
        """
        opinions, size = self._feedback.opinions, len(self._grown.people)
        sets, held = self._added.holds
        holders = GrownPairs(StoredPairs(self._grown.stored, "holders"), held, sets)
        run, rated = holders.of(opinions.prompt)
        held, late = holders.new
        at, rater = self._feedback.earlier.of(held)
        users, benchmarks = np.append(opinions.user[run], rater), np.append(rated, late[at])
        return self._count("sets_reviewed", users, benchmarks, size)

    def ownership(self) -> Benchmarks:
        """Return all benchmarks with their owners and the number of their creators.

        Their other pairs are those of added rows.
        """
        size = len(self._added.sets)
        writers = self._pairs("written_by").counts(size=size)
        owned_by = self._pairs("owned_by").of(np.arange(size))
        return replace(self._added, writers=writers, owned_by=owned_by)

    def collaborator_counts(self) -> IntArray:
        """Count each user's distinct collaborators on benchmarks that they run.

        An added helper is one of everyone who runs the benchmark, and all helpers are those of one
        who runs it now.
        """
        helped, run = self._pairs("helped_by"), self._pairs("run_by")
        sets, helper = helped.new
        at, runner = run.of(sets)
        sets, late_runner = run.new
        late, earlier = helped.of(sets)
        users = np.append(runner, late_runner[late])
        others = np.append(helper[at], earlier)
        return self._count("collaborators", *_of_others(users, others), len(self._grown.people))

    @cached_property
    def _added(self) -> Benchmarks:
        """Return the pairs of the added rows, by the codes of all benchmarks."""
        grown = self._grown
        return read_benchmarks(
            grown.rows,
            grown.rules,
            people=grown.people,
            prompts=grown.prompts,
            creator=grown.creator,
            index=partial(GrownIds, grown.stored, "sets"),
        )

    def _pairs(self, name: str) -> GrownPairs:
        return GrownPairs(StoredPairs(self._grown.stored, name), *getattr(self._added, name))

    def _count(self, name: str, users: IntArray, values: IntArray, size: int) -> IntArray:
        """Count each user's stored pairs, and the added ones that are new."""
        return GrownPairs(StoredPairs(self._grown.stored, name), users, values).counts(size=size)
