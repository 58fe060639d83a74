"""Convert the tables of a community to arrays by participant and prompt, each on first use.

Ids become codes (:mod:`id_index`), so that counting is sorting and adding small integers.
"""

from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from agon.disciplines.community.counts import benchmarks as sets
from agon.disciplines.community.counts.difficulty import (
    AllResponses,
    Difficulty,
    count_wrong,
    read_responses,
    sota_of,
)
from agon.disciplines.community.counts.feedback import (
    NO_TIME,
    Feedback,
    count_first,
    on_others,
    on_prompts,
    read_feedback,
)
from agon.disciplines.community.counts.reviews import Correlations
from agon.disciplines.community.counts.reviews import correlations as correlate
from agon.disciplines.community.formulas import SCORE_GRID, decay, sum_by_group
from agon.disciplines.community.id_index import IdIndex, as_int64
from agon.disciplines.community.rules import CommunityRules
from agon.kernel.arrays import BoolArray, FloatArray, IntArray
from agon.kernel.compiling import COMPILED_FROM
from agon.kernel.marks import AnyInts, count_rows
from agon.records import Records

_DAY = 86_400_000_000  # microseconds


def read_creators(records: Records) -> pa.Table:
    """Return id and creator of every prompt, in the order of the source.

    The creator is empty where unknown. Explanations list equal prompts in this order.
    """
    table = records.sql(
        "SELECT p.id, coalesce(p.uploader_id, h.uploader_id) AS creator, p._row FROM prompts p "
        "LEFT JOIN hash_registrations h ON h.cid = p.hash_cid_registration "
        "AND h.sha256 = p.hash_sha256_registration"
    )
    row = as_int64(table["_row"])
    # The engine's join returns rows in the order in which its threads complete.
    return table if (row[1:] > row[:-1]).all() else table.take(pa.array(np.argsort(row)))


def read_affiliated(records: Records, people: IdIndex) -> IntArray:
    """Return 1 for users with an affiliation in records, 0 for the others."""
    users = people.of(records.sql("SELECT DISTINCT user_id FROM org_to_people")["user_id"])
    return (np.bincount(users[users >= 0], minlength=len(people)) > 0).astype(np.int64)


class Facts:
    """The arrays of a community under its rules, each computed when first used.

    Arrays by user are in the order of ``people``, arrays by prompt in that of ``prompts``.
    """

    def __init__(self, records: Records, rules: CommunityRules) -> None:
        self.records = records
        self.rules = rules
        self.people = IdIndex(records.sql("SELECT id FROM users")["id"])
        table = read_creators(records)
        self.prompts = IdIndex(table["id"])
        self.creator = self.people.of(table["creator"])

    def prepare(self) -> None:
        """Read feedback in parallel with benchmarks and responses, where records are many."""
        records = self.records.reconnect()
        if records is None:
            return
        with records, ThreadPoolExecutor(1) as thread:
            if records.count("quick_feedbacks") < COMPILED_FROM:
                return
            benchmarks = thread.submit(self._read_benchmarks, records)
            responses = thread.submit(read_responses, records, self.prompts)
            _ = self.feedback
            self.benchmarks, self.responses = benchmarks.result(), responses.result()

    @cached_property
    def feedback(self) -> Feedback:
        """Return the feedback that counts."""
        return read_feedback(
            self.records,
            self.rules,
            people=self.people,
            prompts=self.prompts,
            creator=self.creator,
        )

    @cached_property
    def feedback_ids(self) -> pa.Table:
        """Return id and row of all feedback on prompts, in the order of the source."""
        return self.records.sql(f"SELECT id, _row FROM quick_feedbacks WHERE {on_prompts()}")

    @cached_property
    def other_feedback_ids(self) -> pa.Table:
        """Return id and row of all feedback on responses and scores, in that order."""
        return self.records.sql(
            f"SELECT id, _row FROM quick_feedbacks WHERE {on_others(self.records)}"
        )

    @cached_property
    def created(self) -> IntArray:
        """Return when each prompt was created: microseconds since 1970, or ``NO_TIME``."""
        table = self.records.sql("SELECT id, epoch_us(created_at) AS at FROM prompts")
        times = np.full(len(self.prompts), NO_TIME)
        times[self.prompts.of(table["id"])] = as_int64(table["at"], empty=int(NO_TIME))
        return times

    @cached_property
    def benchmarks(self) -> sets.Benchmarks:
        """Return the benchmarks that count."""
        return self._read_benchmarks(self.records)

    @cached_property
    def responses(self) -> AllResponses:
        """Return the responses of models, with what their scores add up to."""
        return read_responses(self.records, self.prompts)

    @cached_property
    def positives(self) -> IntArray:
        """Count each prompt's positive feedback."""
        feedback = self.feedback
        return count_rows(feedback.prompt, size=len(self.prompts), chosen=feedback.positive)

    @cached_property
    def is_like(self) -> BoolArray:
        """Return which feedback makes quality prompts and the h-index: positive, within limits."""
        liked = self.feedback.positive
        if self.rules.likes_per_creator is not None:
            liked, feedback = liked.copy(), self.feedback
            author = self.creator[feedback.prompt]
            most = self.rules.likes_per_creator
            count_first(liked, feedback.user, author, feedback.time, most=most)
        return liked

    @cached_property
    def likes(self) -> IntArray:
        """Count each prompt's positive feedback that makes quality prompts and the h-index."""
        if self.rules.likes_per_creator is None:
            return self.positives
        return count_rows(self.feedback.prompt, size=len(self.prompts), chosen=self.is_like)

    @cached_property
    def reviews(self) -> IntArray:
        """Count each prompt's feedback of both opinions."""
        return count_rows(self.feedback.prompt, size=len(self.prompts))

    @cached_property
    def is_quality(self) -> BoolArray:
        """Return which prompts have a known creator and enough positive feedback."""
        return (self.likes >= self.rules.min_positive_feedbacks) & (self.creator >= 0)

    @cached_property
    def difficulty(self) -> Difficulty:
        """Count each quality prompt's wrong models."""
        sota = sota_of(self.responses, self.rules)
        return count_wrong(self.responses, self.rules, looked_at=self.is_quality, sota=sota)

    @cached_property
    def correlations(self) -> Correlations:
        """Return each reviewer's agreement with the others."""
        return correlate(self.feedback, self.rules, size=len(self.people))

    @cached_property
    def affiliated(self) -> IntArray:
        """Return 1 for users with an affiliation, 0 for the others; several count once."""
        return read_affiliated(self.records, self.people)

    @cached_property
    def now(self) -> int:
        """Return the time ages are taken at: the as_of, else the latest time in the records."""
        cutoff = self.records.cutoff
        if cutoff is not None:
            return int(np.datetime64(cutoff, "us").astype(np.int64))
        latest = [self.created, self.feedback.time, self.feedback.other_time]
        return max(int(times.max(initial=NO_TIME)) for times in latest)

    def weights(self, times: IntArray, half_life_days: float) -> FloatArray:
        """Return the weights of some times by their age; no time weighs 1."""
        age = np.where(times == NO_TIME, 0, self.now - times) / _DAY
        return decay(np.maximum(age, 0), half_life_days=half_life_days)

    def people_at(self, ids: Any) -> IntArray:
        """Return the indices of users by their ids as text."""
        return IdIndex(self.people.text).of(ids if hasattr(ids, "type") else pa.array(ids))

    def names(self, people: npt.ArrayLike) -> list[str]:
        """Return the ids of users by their indices."""
        return list(self.people.text.take(pa.array(np.asarray(people))).to_pylist())

    def prompts_by(self, person: int) -> IntArray:
        """Return the indices of one user's prompts."""
        return np.flatnonzero(self.creator == person)

    def _read_benchmarks(self, records: Records) -> sets.Benchmarks:
        return sets.read_benchmarks(
            records, self.rules, people=self.people, prompts=self.prompts, creator=self.creator
        )

    def sum_by_user(self, users: AnyInts, weights: FloatArray) -> FloatArray:
        """Return the exact sum of each user's weights, which does not depend on their order.

        Args:
            users: codes, one per weight.
            weights: multiples of 1 / ``SCORE_GRID``.
        """
        steps = np.rint(weights * SCORE_GRID)
        return sum_by_group(users, steps, size=len(self.people)) / SCORE_GRID
