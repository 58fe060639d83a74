"""Facts of a community that grew: stored counts of earlier partitions, and the added rows.

Feedback is only ever added or replaced by a later one of the same user on the same prompt, so the
pairs of user and creator, and of user and benchmark, only grow. What the user score counts of
them is therefore the stored count plus the pairs that are new. All else is computed as in
:class:`Facts`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from agon.disciplines.community.benchmarks import (
    PAIRS,
    Benchmarks,
    Pairs,
    by_prompt,
    read_benchmarks,
    sets_of,
)
from agon.disciplines.community.difficulty import Responses, read_responses, sum_scores
from agon.disciplines.community.facts import Facts, read_creators
from agon.disciplines.community.feedback import Feedback, read_feedback
from agon.disciplines.community.id_index import IdIndex, expand
from agon.disciplines.community.rules import CommunityRules
from agon.kernel.marks import AnyInts, count_rows
from agon.records.added import AddedRecords

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
Arrays = Mapping[str, Any]

_PART: Final = 1 << 22
"""Number of feedbacks whose benchmarks are listed at a time."""

_SHIFT: Final = 32
"""Bits of a pair's second code: ``first << 32 | second``, so that keys are in order of pairs."""


def can_add(rules: CommunityRules) -> bool:
    """Return whether feedback counts under the rules whatever other feedback there is."""
    return rules.daily_feedbacks is None


def stored_arrays(facts: Facts) -> Iterator[tuple[str, Any]]:
    """Yield what :class:`AddedFacts` continues from: codes, counts, and sorted keys of pairs.

    One array after another, because all of a large community do not fit into memory.
    """
    feedback, size = facts.feedback, len(facts.people)
    yield "users", facts.people.ids
    yield "prompts", facts.prompts.ids
    yield "creator", facts.creator
    yield "registrations", np.array([facts.records.count("hash_registrations")])
    yield from _opinions(feedback)
    yield "positives", facts.positives
    yield "reviews", facts.reviews
    yield "activity", count_rows(feedback.user, size=size)
    yield from _with_counts("others", _rated_others(facts), size)
    yield "other_activity", count_rows(feedback.other_user, size=size)
    yield from _with_counts("creators", _rated_creators(facts), size)
    yield from _with_counts("sets_reviewed", _rated_sets(facts), size)
    yield "sets", facts.benchmarks.sets.ids
    for name in PAIRS:
        yield name, _distinct(_keys(*getattr(facts.benchmarks, name)))
    responses = facts.responses
    yield "responses", responses.ids.ids
    yield "response_prompt", responses.prompt
    yield "response_name", responses.name
    yield "response_total", responses.total
    yield "response_count", responses.count
    yield "names", pa.array(responses.names, pa.string())


def _opinions(feedback: Feedback) -> Iterator[tuple[str, Any]]:
    """Yield the last opinion by (prompt, user) and its time."""
    keys = _keys(feedback.prompt, feedback.user)
    order = np.argsort(keys)
    yield "opinions", keys[order]
    del keys
    yield "opinion_positive", feedback.positive[order]
    yield "opinion_time", feedback.time[order]


def _with_counts(
    name: str, arrays: Iterator[tuple[str, Any]], size: int
) -> Iterator[tuple[str, Any]]:
    """Yield arrays, of which one has keys of distinct pairs, and their number by user."""
    for array, values in arrays:
        yield array, values
        if array == name:
            ends = np.searchsorted(values, np.arange(size + 1, dtype=np.int64) << _SHIFT)
            yield f"{name}_by_user", np.diff(ends)


def _rated_others(facts: Facts) -> Iterator[tuple[str, Any]]:
    """Yield the pairs of user and response or score, and the codes of those."""
    others = facts.records.sql(_OTHERS)
    targets = {name: IdIndex(others[name].unique().drop_null()) for name in _TARGETS}
    for name, index in targets.items():
        yield name, index.ids
    yield "others", _distinct(_keys(facts.people.of(others["user_id"]), _target(others, targets)))


def _rated_creators(facts: Facts) -> Iterator[tuple[str, Any]]:
    """Yield the pairs of user and creator of a prompt with their feedback."""
    author = facts.creator[facts.feedback.prompt]
    known = author >= 0
    user, author = facts.feedback.user[known], author[known]
    yield "creators", _distinct(_keys(user, author))


def _rated_sets(facts: Facts) -> Iterator[tuple[str, Any]]:
    """Yield the pairs of user and benchmark with feedback of theirs on its prompts."""
    lists = by_prompt(facts.benchmarks, prompts=len(facts.prompts))
    counts, parts = np.diff(lists.starts), []
    for at in range(0, len(facts.feedback.user), _PART):
        user, prompt = (column[at : at + _PART]
                        for column in (facts.feedback.user, facts.feedback.prompt))  # fmt: skip
        run, place = expand(lists.starts[prompt], counts[prompt])
        parts.append(_distinct(_keys(user[run], lists.items[place])))
    yield "sets_reviewed", _distinct(np.concatenate([np.zeros(0, np.int64), *parts]))


@dataclass(frozen=True)
class _Opinions:
    """The added feedback on prompts, next to what was stored.

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


class AddedFacts(Facts):
    """The facts of a community whose earlier partitions are counted."""

    def __init__(self, records: AddedRecords, rules: CommunityRules) -> None:
        self.records = records
        self.rules = rules
        self.stored: Arrays = records.stored.arrays
        self._new = records.added
        self.people = self._longer("users", self._new.sql("SELECT id FROM users")["id"])
        table = read_creators(self._new)
        self.prompts = self._longer("prompts", table["id"])
        self.creator = np.concatenate([self.stored["creator"], self.people.of(table["creator"])])

    @property
    def is_exact(self) -> bool:
        """Return whether no added row changes what was stored of earlier ones.

        A hash registration may be that of an earlier prompt without a known creator.
        """
        stored = self.stored["sets"]
        if not self._added_benchmarks.sets.ids[: len(stored)].equals(stored):
            return False
        registered = self.records.count("hash_registrations") > self.stored["registrations"][0]
        return not registered or bool((self.stored["creator"] >= 0).all())

    def count_of(self, name: str) -> IntArray | FloatArray | None:
        """Return a count of feedback, by its name on the board."""
        if name == "feedback_activity":
            return self._activity
        if name == "diverse_feedback_users":
            author = self.creator[self._opinions.prompt]
            known = author >= 0
            return self._grown("creators", self._opinions.user[known], author[known])
        if name == "diverse_feedback_benchmarks":
            return self._sets_reviewed
        return None

    @cached_property
    def benchmarks(self) -> Benchmarks:
        """Return the benchmarks that count: pairs are only ever added."""
        added = self._added_benchmarks
        pairs = (self._with_stored(name, getattr(added, name)) for name in PAIRS)
        return Benchmarks(added.sets, added.category, added.categories, *pairs)

    @cached_property
    def positives(self) -> IntArray:
        """Count each prompt's positive feedback."""
        added = self._opinions
        counts = self._pad("positives", len(self.prompts))
        counts += np.bincount(added.prompt[added.positive], minlength=len(counts))
        np.add.at(counts, added.replaced_prompt, added.change)
        return counts

    @cached_property
    def reviews(self) -> IntArray:
        """Count each prompt's feedback of both opinions."""
        counts = self._pad("reviews", len(self.prompts))
        return counts + np.bincount(self._opinions.prompt, minlength=len(counts))

    @cached_property
    def responses(self) -> Responses:
        """Return the responses of models, with what their scores add up to."""
        new = read_responses(self._new, self.prompts)
        ids = self._longer("responses", new.ids.ids)
        names = tuple(self.stored["names"].to_pylist())
        place = {name: at for at, name in enumerate(dict.fromkeys(names + new.names))}
        codes = np.array([place[name] for name in new.names], dtype=np.int32)
        total, count = sum_scores(self._new, ids)
        total[: len(self.stored["response_total"])] += self.stored["response_total"]
        count[: len(self.stored["response_count"])] += self.stored["response_count"]
        return Responses(
            ids,
            np.concatenate([self.stored["response_prompt"], new.prompt]),
            np.concatenate([self.stored["response_name"], codes[new.name]]),
            tuple(place),
            total,
            count,
        )

    @cached_property
    def _added(self) -> Feedback:
        return read_feedback(
            self._new,
            self.rules,
            people=self.people,
            prompts=self.prompts,
            creator=self.creator,
        )

    @cached_property
    def _added_benchmarks(self) -> Benchmarks:
        """Return all benchmarks, and the pairs of added rows."""
        return read_benchmarks(
            self._new,
            self.rules,
            people=self.people,
            prompts=self.prompts,
            creator=self.creator,
        )

    @cached_property
    def _opinions(self) -> _Opinions:
        added = self._added
        keys = _keys(added.prompt.astype(np.int64), added.user.astype(np.int64))
        order = np.argsort(keys)
        keys, positive, time = keys[order], added.positive[order], added.time[order]
        at, is_known = _find(self.stored["opinions"], keys)
        if self.rules.repeated_feedback == "all":
            is_known = np.zeros(len(keys), dtype=bool)
        fresh = ~is_known
        # Added rows come after stored ones, so at equal times they are the later ones.
        later = is_known.copy()
        later[is_known] = time[is_known] >= self.stored["opinion_time"][at[is_known]]
        before = self.stored["opinion_positive"][at[later]].astype(np.int64)
        return _Opinions(
            keys[fresh] & _SECOND,
            keys[fresh] >> _SHIFT,
            positive[fresh],
            keys[later] >> _SHIFT,
            positive[later].astype(np.int64) - before,
        )

    @property
    def _activity(self) -> IntArray:
        counts = self._pad("activity", len(self.people))
        counts += np.bincount(self._opinions.user, minlength=len(counts))
        if self.rules.feedback_targets != "all":
            return counts
        if self.rules.repeated_feedback == "all":
            others = self._pad("other_activity", len(counts))
            return counts + others + np.bincount(self._added.other_user, minlength=len(counts))
        rows = self._new.sql(_OTHERS)
        targets = {}
        for name in _TARGETS:
            new = rows[name].unique().drop_null()
            is_new = IdIndex(self.stored[name]).of(new) < 0
            targets[name] = self._longer(name, new.filter(pa.array(is_new)))
        target = _target(rows, targets)
        return counts + self._grown("others", self.people.of(rows["user_id"]), target)

    @property
    def _sets_reviewed(self) -> IntArray:
        """Count each user's benchmarks with feedback, added feedback and added prompts of them."""
        added, (late, prompt) = self._opinions, self._added_benchmarks.holds
        sets, held = self.benchmarks.holds
        touched = np.zeros(len(self.prompts), dtype=bool)
        touched[added.prompt] = True
        touched = touched[held]
        near = replace(self.benchmarks, holds=(sets[touched], held[touched]))
        users, rated = sets_of(near, added.user, added.prompt)
        opinions = self.stored["opinions"]
        first = np.searchsorted(opinions, prompt << _SHIFT)
        last = np.searchsorted(opinions, (prompt + 1) << _SHIFT)
        run, place = expand(first, last - first)
        users = np.concatenate([users, opinions[place] & _SECOND])
        return self._grown("sets_reviewed", users, np.concatenate([rated, late[run]]))

    def _with_stored(self, name: str, pairs: Pairs) -> Pairs:
        """Return stored pairs and those that are new, in order."""
        stored, keys = self.stored[name], _distinct(_keys(*pairs))
        keys = keys[~_find(stored, keys)[1]]
        keys = np.insert(stored, np.searchsorted(stored, keys), keys)
        return keys >> _SHIFT, keys & _SECOND

    def _grown(self, name: str, users: IntArray, values: IntArray) -> IntArray:
        """Return each user's number of distinct values: stored pairs, and those that are new."""
        stored, keys = self.stored[name], _distinct(_keys(users, values))
        keys = keys[~_find(stored, keys)[1]]
        counts = self._pad(f"{name}_by_user", len(self.people))
        return counts + np.bincount(keys >> _SHIFT, minlength=len(counts))

    def _longer(self, name: str, ids: Any) -> IdIndex:
        """Return the codes of stored ids, and of added ones after them."""
        stored = self.stored[name]
        parts = ids.chunks if isinstance(ids, pa.ChunkedArray) else [ids]
        return IdIndex(pa.concat_arrays([stored, *(part.cast(stored.type) for part in parts)]))

    def _pad(self, name: str, size: int) -> IntArray:
        """Return stored counts with zeros for what was added."""
        stored = self.stored[name]
        return np.concatenate([stored, np.zeros(size - len(stored), dtype=np.int64)])


_SECOND: Final = np.int64((1 << _SHIFT) - 1)
_TARGETS: Final = ("response_id", "score_id")
_OTHERS: Final = (
    "SELECT user_id, response_id, score_id FROM quick_feedbacks WHERE prompt_id IS NULL"
)


def _target(rows: pa.Table, targets: Mapping[str, IdIndex]) -> IntArray:
    """Return a number for the response or score of each feedback."""
    response, score = (targets[name].of(rows[name]) for name in _TARGETS)
    return np.where(response >= 0, response * 2, score * 2 + 1)


def _keys(first: AnyInts, second: AnyInts) -> IntArray:
    return first.astype(np.int64) << _SHIFT | second


def _distinct(keys: IntArray) -> IntArray:
    """Return the distinct keys in order; nearly all are, so that a sort is faster than a table."""
    keys.sort()
    new = np.ones(len(keys), dtype=bool)
    np.not_equal(keys[1:], keys[:-1], out=new[1:])
    return keys[new]


def _find(ordered: IntArray, keys: IntArray) -> tuple[IntArray, BoolArray]:
    """Return where keys are in an ordered array, and which are there.

    Example:
        >>> [column.tolist() for column in _find(np.array([2, 4]), np.array([4, 3, 9]))]
        [[1, 1, 1], [True, False, False]]
    """
    if not len(ordered):
        return np.zeros(len(keys), dtype=np.int64), np.zeros(len(keys), dtype=bool)
    at = np.minimum(np.searchsorted(ordered, keys), len(ordered) - 1)
    return at, ordered[at] == keys
