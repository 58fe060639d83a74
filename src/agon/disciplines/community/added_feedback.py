"""Count the feedback of a community that grew: opinions, activity, creators of rated prompts.

Feedback is only ever added or replaced by a later one of the same user on the same prompt, so the
distinct pairs of user and creator only grow.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from agon.disciplines.community.facts import Facts
from agon.disciplines.community.feedback import count_on_prompts, read_feedback_rows
from agon.disciplines.community.grown import Grown, grown_ids, with_zeros
from agon.disciplines.community.id_index import IdIndex, as_int64
from agon.disciplines.community.rules import CommunityRules
from agon.disciplines.community.stored_ids import id_arrays
from agon.disciplines.community.stored_pairs import (
    GrownPairs,
    StoredPairs,
    ordered_pairs,
    pair_arrays,
    pair_keys,
)
from agon.kernel.marks import count_rows

IntArray = npt.NDArray[np.int64]
ShortArray = npt.NDArray[np.int32]
BoolArray = npt.NDArray[np.bool_]

_TARGETS: Final = ("response_id", "score_id")


def feedback_arrays(facts: Facts) -> Iterator[tuple[str, Any]]:
    """Yield what :class:`AddedFeedback` continues from."""
    feedback, size = facts.feedback, len(facts.people)
    keys = pair_keys(feedback.prompt, feedback.user)
    order = np.argsort(keys)
    del keys
    yield from pair_arrays(
        "opinions", feedback.prompt[order], feedback.user[order], size=len(facts.prompts)
    )
    yield "opinion_positive", feedback.positive[order]
    yield "opinion_time", feedback.time[order]
    del order
    yield "positives", facts.positives
    yield "reviews", facts.reviews
    yield "activity", count_rows(feedback.user, size=size)
    if _counts_each(facts.rules):
        yield "other_activity", count_rows(feedback.other_user, size=size)
    elif facts.rules.feedback_targets == "all":
        yield from _rated_others(facts)
    author = facts.creator[feedback.prompt]
    known = author >= 0
    yield from pair_arrays("creators", *ordered_pairs(feedback.user[known], author[known]),
                           size=size)  # fmt: skip


def _counts_each(rules: CommunityRules) -> bool:
    """Return whether each feedback on a response or score counts, not the last one of a user."""
    return rules.feedback_targets == "all" and rules.repeated_feedback == "all"


def _rated_others(facts: Facts) -> Iterator[tuple[str, Any]]:
    """Yield the distinct pairs of user and response, and of user and score."""
    for name in _TARGETS:
        rows = facts.records.sql(
            f"SELECT user_id, {name} AS target FROM quick_feedbacks WHERE {name} IS NOT NULL"
        )
        user, target = facts.people.of(rows["user_id"]), rows["target"]
        index = None if pa.types.is_integer(target.type) else IdIndex(target.unique())
        if index is not None:
            yield from id_arrays(name, index)
        pairs = ordered_pairs(user, _numbers(target, index))
        yield from pair_arrays(f"rated_{name}", *pairs, size=len(facts.people))


def _numbers(ids: Any, index: IdIndex | None) -> IntArray:
    """Return a number for each id: itself, or the index of a text."""
    return as_int64(ids) if index is None else index.of(ids)


@dataclass(frozen=True)
class Opinions:
    """The added feedback on prompts, next to what was stored; in the order of prompts.

    Attributes:
        user, prompt, positive: feedback on a prompt that its user had not rated, or every
            feedback where all count.
        replaced_prompt: prompts on which an earlier opinion is replaced.
        change: of each of them, what that adds to its positive feedback: −1, 0 or 1.
    """

    user: IntArray
    prompt: IntArray
    positive: BoolArray
    replaced_prompt: IntArray
    change: IntArray


class AddedFeedback:
    """Stored counts of feedback, and the added feedback.

    Attributes:
        earlier: the stored pairs of prompt and user with an opinion.
    """

    def __init__(self, grown: Grown) -> None:
        self._grown = grown
        self.earlier = StoredPairs(grown.stored, "opinions")

    def read(self) -> None:
        """Read the added rows; what is counted of them reads no others."""
        _ = self._rows

    @cached_property
    def opinions(self) -> Opinions:
        """Return the added feedback on prompts that counts."""
        grown, rows, stored = self._grown, self._rows, self._grown.stored
        counted, _ = count_on_prompts(
            rows, grown.rules, creator=grown.creator, size=len(grown.people)
        )
        at = np.flatnonzero(counted)
        at = at[np.argsort(pair_keys(rows.prompt[at], rows.user[at]))]
        prompt, user = rows.prompt[at].astype(np.int64), rows.user[at].astype(np.int64)
        positive, time = rows.positive[at], rows.time[at]
        place = np.full(len(at), -1, dtype=np.int64)
        if grown.rules.repeated_feedback == "latest":
            place = self.earlier.find(prompt, user)
        fresh, known = place < 0, np.flatnonzero(place >= 0)
        # Added rows come after stored ones, so at equal times they are the later ones.
        later = known[time[known] >= stored["opinion_time"][place[known]]]
        before = stored["opinion_positive"][place[later]]
        return Opinions(
            user[fresh],
            prompt[fresh],
            positive[fresh],
            prompt[later],
            positive[later].astype(np.int32) - before,
        )

    @cached_property
    def positives(self) -> ShortArray:
        """Count each prompt's positive feedback."""
        opinions = self.opinions
        counts = self._counts_of_prompts("positives")
        np.add.at(counts, opinions.prompt[opinions.positive], 1)
        np.add.at(counts, opinions.replaced_prompt, opinions.change)
        return counts

    @cached_property
    def reviews(self) -> ShortArray:
        """Count each prompt's feedback of both opinions."""
        counts = self._counts_of_prompts("reviews")
        np.add.at(counts, self.opinions.prompt, 1)
        return counts

    def activity(self) -> IntArray:
        """Count each user's feedback."""
        grown, size = self._grown, len(self._grown.people)
        counts = grown.by_user("activity") + np.bincount(self.opinions.user, minlength=size)
        if grown.rules.feedback_targets != "all":
            return counts
        others = self._rows.others
        user = others["user"].to_numpy()
        if _counts_each(grown.rules):
            user = user[user >= 0]
            return counts + grown.by_user("other_activity") + np.bincount(user, minlength=size)
        for name in _TARGETS:
            is_one = others[name].is_valid().to_numpy()
            target, pairs = others[name].drop_null(), StoredPairs(grown.stored, f"rated_{name}")
            index = None
            if not pa.types.is_integer(target.type):
                index = grown_ids(grown.stored, name, target)
            rated = GrownPairs(pairs, user[is_one], _numbers(target, index))
            counts += rated.counts(size=size)
        return counts

    def creators(self) -> IntArray:
        """Count the distinct creators of the prompts with each user's feedback."""
        author = self._grown.creator[self.opinions.prompt]
        known = author >= 0
        pairs = StoredPairs(self._grown.stored, "creators")
        grown = GrownPairs(pairs, self.opinions.user[known], author[known])
        return grown.counts(size=len(self._grown.people))

    def _counts_of_prompts(self, name: str) -> ShortArray:
        """Return a stored count of each prompt, 0 of added ones."""
        return with_zeros(self._grown.stored[name], len(self._grown.prompts), np.int32)

    @cached_property
    def _rows(self) -> Any:
        grown = self._grown
        return read_feedback_rows(grown.rows, people=grown.people, prompts=grown.prompts)
