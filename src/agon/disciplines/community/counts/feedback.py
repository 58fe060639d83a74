"""Read quick feedback: the last opinion of each user on each target."""

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from agon.disciplines.community.id_index import IdIndex, as_bools, as_int64
from agon.disciplines.community.rules import CommunityRules
from agon.kernel.arrays import BoolArray, IntArray, ShortArray
from agon.kernel.marks import AnyInts, Groups, are_many, repeated_pairs, rows_with
from agon.records import Records

NO_TIME = np.iinfo(np.int64).min
"""The value for a missing time; earlier than every time."""


_TIME = f"coalesce(epoch_us(created_at), {NO_TIME}) AS time"
_DAY = 86_400_000_000  # microseconds
_OTHER_TARGETS = ("response_id", "score_id")
_DENSEST = 4  # ids below this multiple of their number are used as they are


@dataclass(frozen=True)
class Feedback:
    """Feedback that counts, as parallel columns in the order of the source.

    Attributes:
        user, prompt, positive, time: feedback on prompts: who, on which, which opinion, when (in
            microseconds since 1970, or ``NO_TIME``).
        counted: which rows on prompts of the source these are.
        other_user, other_time: feedback on responses and scores: who and when.
        other_counted: which such rows of the source these are.
        grouped: the prompts with each user's feedback on prompts, with repetitions; None: not
            grouped, because it is little or is limited by day.
    """

    user: ShortArray
    prompt: ShortArray
    positive: BoolArray
    time: IntArray
    counted: BoolArray
    other_user: IntArray
    other_time: IntArray
    other_counted: BoolArray
    grouped: Groups | None = None

    @property
    def row(self) -> IntArray:
        """Return the index of each feedback among all on prompts."""
        return np.flatnonzero(self.counted)

    @property
    def other_row(self) -> IntArray:
        """Return the index of each other feedback among all such."""
        return np.flatnonzero(self.other_counted)


@dataclass(frozen=True)
class FeedbackRows:
    """All feedback, as parallel columns in the order of the source.

    Attributes:
        user, prompt, positive, time: feedback on prompts, as in :class:`Feedback`; −1 for what is
            not there.
        others: feedback on responses and scores: ``user``, ``response_id``, ``score_id``, ``time``.
    """

    user: ShortArray
    prompt: ShortArray
    positive: BoolArray
    time: IntArray
    others: pa.Table


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
    rows = read_feedback_rows(records, people=people, prompts=prompts)
    others, size = rows.others, len(people)
    rows = replace(rows, others=others.schema.empty_table())
    other_user, other_time = others["user"].to_numpy(), others["time"].to_numpy()
    response, score = _places(others["response_id"]), _places(others["score_id"])
    target = np.where(response >= 0, response * 2, score * 2 + 1)
    del others, response, score
    counted, grouped = count_on_prompts(rows, rules, creator=creator, size=size)
    # What refers to something that is not there (yet, at an as_of) is not there either.
    other_counted = other_user >= 0
    if rules.repeated_feedback == "latest":
        others_of = _group(other_user, target, other_counted, size=size)
        other_counted[_replaced_rows(other_user, target, other_time, others_of)] = False
    if rules.daily_feedbacks is not None:
        grouped, most = None, rules.daily_feedbacks
        count_first(counted, rows.user, _day(rows.time), rows.time, most=most)
        count_first(other_counted, other_user, _day(other_time), other_time, most=most)
    columns = rows.user, rows.prompt, rows.positive, rows.time
    del rows
    if not counted.all():
        columns = tuple(column[counted] for column in columns)  # type: ignore[assignment] # four
    return Feedback(
        *columns,
        counted,
        other_user[other_counted],
        other_time[other_counted],
        other_counted,
        grouped,
    )


def count_on_prompts(
    rows: FeedbackRows, rules: CommunityRules, *, creator: AnyInts, size: int
) -> tuple[BoolArray, Groups | None]:
    """Return which feedback on prompts counts, and the prompts of each user's, if it is grouped.

    Args:
        rows: the feedback.
        rules: ``self_feedback`` and ``repeated_feedback``.
        creator: index of each prompt's creator, −1 where unknown.
        size: number of users.
    """
    user, prompt = rows.user, rows.prompt
    counted = (user >= 0) & (prompt >= 0)
    if rules.self_feedback == "ignore" and len(creator):
        counted &= creator[prompt] != user
    grouped = _group(user, prompt, counted, size=size)
    if rules.repeated_feedback == "latest":
        counted[_replaced_rows(user, prompt, rows.time, grouped)] = False
    return counted, grouped


def read_feedback_rows(records: Records, *, people: IdIndex, prompts: IdIndex) -> FeedbackRows:
    """Read all feedback.

    Batches become short codes at once: 40 million rows as they are read take a gigabyte.
    """
    size, done = records.count("quick_feedbacks"), 0
    user, prompt = np.empty(size, dtype=np.int32), np.empty(size, dtype=np.int32)
    positive, time = np.empty(size, dtype=bool), np.empty(size, dtype=np.int64)
    kinds = [(name, records.sql(f"SELECT {name} FROM quick_feedbacks LIMIT 0").schema[0].type)
             for name in _OTHER_TARGETS]  # fmt: skip
    schema = pa.schema([("user", pa.int32()), *kinds, ("time", pa.int64())])
    others = []
    everything = f"({on_prompts()}) OR ({on_others(records)})"
    for batch in records.batches(
        f"SELECT user_id, prompt_id, {', '.join(_OTHER_TARGETS)}, "
        f"opinion = 'positive' AS positive, {_TIME} FROM quick_feedbacks"
        # Without a cutoff every row counts, and a filter would cost a pass over all of them.
        + ("" if records.cutoff is None else f" WHERE {everything}")
    ):
        users, times = people.short_of(batch["user_id"]), as_int64(batch["time"])
        is_valid = batch["prompt_id"].is_valid()
        on_prompt = is_valid.to_numpy(zero_copy_only=False)
        # Feedback on prompts is written at once into arrays sized for all rows; the rest is rare.
        rows = slice(done, done + int(on_prompt.sum()))
        user[rows], time[rows] = users[on_prompt], times[on_prompt]
        prompt[rows] = prompts.short_of(batch["prompt_id"])[on_prompt]
        positive[rows] = as_bools(batch["positive"])[on_prompt]
        done = rows.stop
        on_other, left = ~on_prompt, pc.invert(is_valid)
        targets = (batch[name].filter(left) for name in _OTHER_TARGETS)
        columns = [pa.array(users[on_other]), *targets, pa.array(times[on_other])]
        others.append(pa.RecordBatch.from_arrays(columns, schema=schema))
    rows = slice(done)
    return FeedbackRows(
        user[rows],
        prompt[rows],
        positive[rows],
        time[rows],
        pa.Table.from_batches(others, schema=schema),
    )


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


def _replaced_rows(
    user: AnyInts, target: AnyInts, time: IntArray, grouped: Groups | None
) -> IntArray:
    """Return the rows that a later one of the same user on the same target replaces.

    Later means by time, then by row in the source. Few rows are repeated, so the repeated pairs
    of user and target are sought first, and only their rows are ordered.

    Args:
        user: of each row.
        target: of each row.
        time: of each row.
        grouped: the targets of each user's rows; None: the rows are few.
    """
    width = int(target.max(initial=0)) + 2
    if grouped is None:
        keys = user * np.int64(width) + target
        ordered = np.sort(keys)
        rows = np.flatnonzero(np.isin(keys, ordered[1:][ordered[1:] == ordered[:-1]]))
    else:
        repeated = repeated_pairs(grouped, values=width)
        rows = rows_with(user, target, repeated, width=width)
    keys = user[rows] * np.int64(width) + target[rows]
    order = np.lexsort((rows, time[rows], keys))
    rows, keys = rows[order], keys[order]
    return rows[:-1][keys[:-1] == keys[1:]]


def _group(user: AnyInts, target: AnyInts, counted: BoolArray, *, size: int) -> Groups | None:
    """Return the targets of each user's rows that count; None: the rows are few."""
    if not are_many(user, values=int(target.max(initial=0)) + 2):
        return None
    return Groups.of(user if counted.all() else np.where(counted, user, -1), target, size=size)


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


def _places(ids: pa.ChunkedArray) -> IntArray:
    """Return a number for each id of a column, equal for equal ids; −1 for empty ones."""
    if pa.types.is_integer(ids.type):
        ends = pc.min_max(ids).as_py()
        if ends["min"] is not None and ends["min"] >= 0 and ends["max"] < _DENSEST * len(ids):
            return as_int64(ids)
    return as_int64(ids.combine_chunks().dictionary_encode().indices)
