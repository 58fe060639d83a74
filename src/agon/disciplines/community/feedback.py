"""Read quick feedback: the last opinion of each user on each target."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from agon.disciplines.community.id_index import IdIndex, as_bools, as_int64
from agon.disciplines.community.rules import CommunityRules
from agon.kernel.marks import AnyInts, Groups, are_many, repeated_pairs
from agon.records import Records

IntArray = npt.NDArray[np.int64]
ShortArray = npt.NDArray[np.int32]
BoolArray = npt.NDArray[np.bool_]

NO_TIME = np.iinfo(np.int64).min
"""The value for a missing time; earlier than every time."""


_TIME = f"coalesce(epoch_us(created_at), {NO_TIME}) AS time"
_DAY = 86_400_000_000  # microseconds
_PART = 1 << 18  # rows per step, so that they fit into the processor's cache
_DENSEST = 4  # ids below this multiple of their number are used as they are
_SCATTER = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio: scatters neighbors


@dataclass(frozen=True)
class Feedback:
    """Feedback that counts, as parallel columns in the order of the source.

    Attributes:
        user, prompt, positive, time: feedback on prompts: who, on which, which opinion, when (in
            microseconds since 1970, or ``NO_TIME``).
        counted: which rows on prompts of the source these are.
        other_user, other_time: feedback on responses and scores: who and when.
        other_counted: which such rows of the source these are.
    """

    user: ShortArray
    prompt: ShortArray
    positive: BoolArray
    time: IntArray
    counted: BoolArray
    other_user: IntArray
    other_time: IntArray
    other_counted: BoolArray

    @property
    def row(self) -> IntArray:
        """Return the index of each feedback among all on prompts."""
        return np.flatnonzero(self.counted)

    @property
    def other_row(self) -> IntArray:
        """Return the index of each other feedback among all such."""
        return np.flatnonzero(self.other_counted)


def read_feedback(
    records: Records, rules: CommunityRules, *, people: IdIndex, prompts: IdIndex, creator: IntArray
) -> Feedback:
    """Read the feedback that counts under the rules.

    Args:
        records: the community's tables.
        rules: ``repeated_feedback``, ``self_feedback`` and ``daily_feedbacks`` decide what counts.
        people: indices of the users.
        prompts: codes of the prompts.
        creator: index of each prompt's creator, −1 where unknown.
    """
    user, prompt, positive, time = _read_on_prompts(records, people=people, prompts=prompts)
    others = records.sql(
        f"SELECT user_id, response_id, score_id, {_TIME} "
        f"FROM quick_feedbacks WHERE {on_others(records)}"
    )
    response, score = _places(others["response_id"]), _places(others["score_id"])
    target = np.where(response >= 0, response * 2, score * 2 + 1)
    other_user, other_time = people.of(others["user_id"]), as_int64(others["time"])
    del others, response, score
    # What refers to something that is not there (yet, at an as_of) is not there either.
    counted, other_counted = (user >= 0) & (prompt >= 0), other_user >= 0
    if rules.repeated_feedback == "latest":
        counted[_replaced_rows(user, prompt, time)] = False
        other_counted[_replaced_rows(other_user, target, other_time)] = False
    if rules.self_feedback == "ignore" and len(creator):
        counted &= creator[prompt] != user
    if rules.daily_feedbacks is not None:
        count_first(counted, user, _day(time), time, most=rules.daily_feedbacks)
        count_first(
            other_counted, other_user, _day(other_time), other_time, most=rules.daily_feedbacks
        )
    if not counted.all():
        user, prompt, positive, time = (
            user[counted],
            prompt[counted],
            positive[counted],
            time[counted],
        )
    return Feedback(
        user,
        prompt,
        positive,
        time,
        counted,
        other_user[other_counted],
        other_time[other_counted],
        other_counted,
    )


def _read_on_prompts(
    records: Records, *, people: IdIndex, prompts: IdIndex
) -> tuple[ShortArray, ShortArray, BoolArray, IntArray]:
    """Return user, prompt, opinion and time of all feedback on prompts.

    Batches become short codes at once: 40 million rows as they are read take a gigabyte.
    """
    size, done = records.count("quick_feedbacks"), 0
    user, prompt = np.empty(size, dtype=np.int32), np.empty(size, dtype=np.int32)
    positive, time = np.empty(size, dtype=bool), np.empty(size, dtype=np.int64)
    for batch in records.batches(
        f"SELECT user_id, prompt_id, opinion = 'positive' AS positive, {_TIME} "
        f"FROM quick_feedbacks WHERE {on_prompts()}"
    ):
        rows = slice(done, done + len(batch))
        user[rows] = people.short_of(batch["user_id"])
        prompt[rows] = prompts.short_of(batch["prompt_id"])
        positive[rows] = as_bools(batch["positive"])
        time[rows] = as_int64(batch["time"])
        done += len(batch)
    return user[:done], prompt[:done], positive[:done], time[:done]


def on_prompts() -> str:
    """Choose feedback on prompts."""
    return "prompt_id IS NOT NULL"


def on_others(records: Records) -> str:
    """Choose feedback on responses and scores, at an as_of only of prompts that exist by then."""
    if records.cutoff is None:
        return "prompt_id IS NULL"
    there = "FROM responses r JOIN prompts p ON p.id = r.prompt_id"
    return (
        f"response_id IN (SELECT r.id {there}) "
        f"OR score_id IN (SELECT s.id {there} JOIN scores s ON s.response_id = r.id)"
    )


def _replaced_rows(user: AnyInts, target: AnyInts, time: IntArray) -> IntArray:
    """Return the rows that a later one of the same user on the same target replaces.

    Later means by time, then by row in the source. Few rows are repeated, so the repeated pairs
    of user and target are sought first, and only their rows are ordered.
    """
    width = np.int64(target.max(initial=0)) + 2
    if are_many(user, values=int(width)):
        by_user = Groups.of(user, target, size=int(user.max()) + 1)
        repeated = repeated_pairs(by_user, values=int(width))
    else:
        ordered = np.sort(user * width + target)
        repeated = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
    rows, keys = _rows_with(user, target, width, repeated)
    order = np.lexsort((rows, time[rows], keys))
    rows, keys = rows[order], keys[order]
    return rows[:-1][keys[:-1] == keys[1:]]


def _day(time: IntArray) -> IntArray:
    """Return the UTC day of each time from 0, −1 without a time."""
    first = int(time[time != NO_TIME].min(initial=0)) // _DAY
    return np.where(time == NO_TIME, -1, time // _DAY - first)


def count_first(
    counted: BoolArray, user: AnyInts, group: IntArray, time: IntArray, *, most: int
) -> None:
    """Count of a user's rows in a group only the first ones, by time, then by row in the source.

    Args:
        counted: which rows count; changed in place.
        user: of each row.
        group: of each row; rows in a negative one all count.
        time: of each row.
        most: how many rows of a user in a group count.

    Example:
        >>> counted, user = np.ones(4, dtype=bool), np.array([7, 7, 7, 8])
        >>> count_first(counted, user, np.zeros(4, np.int64), np.array([3, 1, 2, 9]), most=2)
        >>> counted.tolist()
        [False, True, True, True]
    """
    rows = np.flatnonzero(counted & (group >= 0))
    rows = rows[np.lexsort((time[rows], group[rows], user[rows]))]
    new = np.ones(len(rows), dtype=bool)
    new[1:] = (np.diff(user[rows]) != 0) | (np.diff(group[rows]) != 0)
    opens = np.flatnonzero(new)
    place = np.arange(len(rows)) - np.repeat(opens, np.diff(np.append(opens, len(rows))))
    counted[rows[place >= most]] = False


def _rows_with(
    user: AnyInts, target: AnyInts, width: np.int64, keep: IntArray
) -> tuple[IntArray, IntArray]:
    """Return the rows whose key ``user × width + target`` is in ``keep`` (sorted), and their keys.

    A bit filter excludes nearly all other rows without a search.
    """
    if not len(keep):
        return keep, keep
    shift = np.uint64(64 - max(20, len(keep).bit_length() + 5))

    def slot(numbers: IntArray) -> npt.NDArray[np.uint64]:
        return (numbers.view(np.uint64) * _SCATTER) >> shift

    bits = np.zeros(1 << (64 - int(shift)), dtype=bool)
    bits[slot(keep)] = True
    matches = []
    for at in range(0, len(user), _PART):
        keys = user[at : at + _PART] * width + target[at : at + _PART]
        rows = np.flatnonzero(bits[slot(keys)])
        keys = keys[rows]
        nearest = np.minimum(np.searchsorted(keep, keys), len(keep) - 1)
        equal = keep[nearest] == keys
        matches.append((rows[equal] + at, keys[equal]))
    rows, keys = map(np.concatenate, zip(*matches, strict=True))
    return rows, keys


def _places(ids: pa.ChunkedArray) -> IntArray:
    """Return a number for each id of a column, equal for equal ids; −1 for empty ones."""
    if pa.types.is_integer(ids.type):
        ends = pc.min_max(ids).as_py()
        if ends["min"] is not None and ends["min"] >= 0 and ends["max"] < _DENSEST * len(ids):
            return as_int64(ids)
    return as_int64(ids.combine_chunks().dictionary_encode().indices)
