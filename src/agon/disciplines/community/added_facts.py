"""Facts of a community that grew: stored counts of earlier partitions, and the added rows.

Counts that :func:`counts_to_continue` names are the stored ones and what the added rows change of
them. All else is computed as in :class:`Facts`, from all rows.
"""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from agon.disciplines.community.added_benchmarks import AddedBenchmarks, benchmark_arrays
from agon.disciplines.community.added_feedback import AddedFeedback, feedback_arrays
from agon.disciplines.community.added_prompts import AddedPrompts, SomeFacts, prompt_arrays
from agon.disciplines.community.added_responses import AddedResponses, response_arrays
from agon.disciplines.community.facts import Facts, NumberArray, read_affiliated
from agon.disciplines.community.grown import Grown, community_arrays
from agon.disciplines.community.rules import CommunityRules
from agon.records.added import AddedRecords

IntArray = npt.NDArray[np.int64]

_OF_PROMPTS: Final = ("quality_prompts", "difficult_prompts", "sota_difficult_prompts", "h_index")


def can_add(rules: CommunityRules) -> bool:
    """Return whether feedback counts under the rules whatever other feedback there is."""
    return rules.daily_feedbacks is None


def counts_to_continue(rules: CommunityRules) -> frozenset[str]:
    """Return the names of the counts that are not counted from all rows after rows were added.

    The others are opt-in, or depend under the rules on what an added row changes in many others.
    """
    names = {
        "affiliation",
        "feedback_activity",
        "diverse_feedback_users",
        "diverse_feedback_benchmarks",
    }
    if rules.likes_per_creator is None:  # else a later like may leave out another one
        names.update(_OF_PROMPTS)
    if rules.owner_contribution == "as_creator":  # else pairs of owner and creator are compared
        names.add("benchmark_creator")
    if not rules.min_collaborator_prompts:  # else a quality prompt adds its creator to many
        names.add("collaboration")
    return frozenset(names)


def stored_arrays(facts: Facts, counts: Mapping[str, NumberArray]) -> Iterator[tuple[str, Any]]:
    """Yield what :class:`AddedFacts` continues from.

    One array after another, because all of a large community do not fit into memory.

    Args:
        facts: of all rows.
        counts: the counts of the user score.
    """
    names = counts_to_continue(facts.rules)
    yield from community_arrays(facts)
    yield "registrations", np.array([facts.records.count("hash_registrations")])
    for name in ("affiliation", "benchmark_creator", *_OF_PROMPTS):
        if name in names:
            yield name, counts[name]
    yield from feedback_arrays(facts)
    yield from benchmark_arrays(facts)
    if names.issuperset(_OF_PROMPTS):
        yield from prompt_arrays(facts)
        yield from response_arrays(facts)


class AddedFacts(Facts):
    """The facts of a community whose earlier partitions are counted."""

    def __init__(self, records: AddedRecords, rules: CommunityRules) -> None:
        self.records = records
        self.rules = rules
        self._grown = Grown(records.stored.arrays, records.added, rules)
        self._continued = counts_to_continue(rules)
        self.people, self.prompts = self._grown.people, self._grown.prompts
        self._feedback = AddedFeedback(self._grown)

    @property
    def is_exact(self) -> bool:
        """Return whether no added row changes what was stored of earlier ones.

        A hash registration may be that of an earlier prompt without a known creator.
        """
        stored = self._grown.stored
        registered = self.records.count("hash_registrations") > stored["registrations"][0]
        return not registered or bool((stored["creator"] >= 0).all())

    def counts_of(
        self, counts: Mapping[str, Callable[[Facts], NumberArray]]
    ) -> dict[str, NumberArray]:
        """Return some counts of the user score; a thread counts those of feedback and benchmarks.

        That thread reads no rows, because one thread at a time uses a connection.
        """
        threaded = self._continued.difference(_OF_PROMPTS, {"affiliation"})
        _ = self._grown.creator  # which both threads use
        self._feedback.read()
        with ThreadPoolExecutor(1) as thread:
            opinions = thread.submit(lambda: self._feedback.opinions)
            self._added_benchmarks.read()
            if self._continued.issuperset(_OF_PROMPTS):
                self._added_responses.read()
            opinions.result()
            later = {
                name: thread.submit(self.count_of, name, of)
                for name, of in counts.items()
                if name in threaded
            }
            others = {
                name: self.count_of(name, of) for name, of in counts.items() if name not in later
            }
            return others | {name: count.result() for name, count in later.items()}

    def count_of(self, name: str, of: Callable[[Facts], NumberArray]) -> NumberArray:
        """Return a count of the user score, by user."""
        if name not in self._continued:
            return of(self)
        if name in _OF_PROMPTS:
            return self._count_of_prompts(name, of)
        if name == "benchmark_creator":
            return of(SomeFacts(self._grown, benchmarks=self._added_benchmarks.ownership()))
        return {
            "affiliation": lambda: self.affiliated,
            "feedback_activity": self._feedback.activity,
            "diverse_feedback_users": self._feedback.creators,
            "diverse_feedback_benchmarks": self._added_benchmarks.review_counts,
            "collaboration": self._added_benchmarks.collaborator_counts,
        }[name]()

    def _count_of_prompts(self, name: str, of: Callable[[Facts], NumberArray]) -> NumberArray:
        prompts = self._added_prompts
        if name == "h_index":
            return prompts.h_indices(name, of)
        if name == "sota_difficult_prompts" and prompts.has_other_models:
            return of(self)
        return prompts.sum(name, of)

    @cached_property
    def creator(self) -> IntArray:  # type: ignore[override] # made on first use
        """Return the index of each prompt's creator, −1 where unknown."""
        return self._grown.creator.astype(np.int64)

    @cached_property
    def positives(self) -> IntArray:
        """Count each prompt's positive feedback."""
        return self._feedback.positives.astype(np.int64)

    @cached_property
    def reviews(self) -> IntArray:
        """Count each prompt's feedback of both opinions."""
        return self._feedback.reviews.astype(np.int64)

    @cached_property
    def affiliated(self) -> IntArray:
        """Return 1 for users with an affiliation, 0 for the others."""
        added = read_affiliated(self._grown.rows, self.people)
        return self._grown.by_user("affiliation") | added

    @cached_property
    def _added_benchmarks(self) -> AddedBenchmarks:
        return AddedBenchmarks(self._grown, self._feedback)

    @cached_property
    def _added_prompts(self) -> AddedPrompts:
        return AddedPrompts(self._grown, self._feedback, self._added_responses)

    @cached_property
    def _added_responses(self) -> AddedResponses:
        return AddedResponses(self._grown)
