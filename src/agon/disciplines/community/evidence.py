"""Return the records that one participant's counts include."""

import numpy as np
import pyarrow as pa

from agon.disciplines.community.facts import Facts
from agon.disciplines.community.formulas import h_index
from agon.kernel.arrays import IntArray
from agon.kernel.boards import id_order
from agon.kernel.findings import RecordRefs
from agon.kernel.marks import AnyInts
from agon.records.raw import literal


class Evidence:
    """One participant's feedback and prompts, and references to their records.

    A row of a table without ids is named ``row 17``, by its position in the source.
    """

    def __init__(self, facts: Facts, person: int) -> None:
        self.facts = facts
        self.person = person
        feedback = facts.feedback
        self.feedback_rows = np.flatnonzero(feedback.user == person)
        self.prompts = facts.prompts_by(person)

    @property
    def h_index(self) -> int:
        """Return the participant's h-index."""
        return h_index(self.facts.likes[self.prompts])

    def best(self, h: int) -> IntArray:
        """Return the codes of the h prompts with the most positive feedback, best first."""
        order = np.lexsort((self.prompts, -self.facts.likes[self.prompts]))
        return self.prompts[order[:h]]

    def rows(self, table: str, *, has_id: bool, where: str = "true") -> RecordRefs:
        """Return the participant's rows of a table that fulfill an SQL condition."""
        name = "coalesce(id::VARCHAR, 'row ' || _row)" if has_id else "'row ' || _row"
        rows = self.facts.records.sql(
            f"SELECT {name} AS name FROM {table} WHERE user_id = {self.literal} AND ({where}) "
            "ORDER BY _row"
        )
        return RecordRefs.of(table, rows["name"].to_pylist())

    @property
    def literal(self) -> str:
        """Return the participant's id as SQL."""
        person = self.facts.people.ids[self.person].as_py()
        return str(person) if isinstance(person, int) else literal(person)


def refs(table: str, ids: pa.Array | pa.ChunkedArray) -> RecordRefs:
    """Return references to records of a table, in id order."""
    if isinstance(ids, pa.ChunkedArray):
        ids = ids.combine_chunks()
    return RecordRefs.of(table, ids.take(pa.array(np.argsort(id_order(ids)))).to_pylist())


def user_refs(facts: Facts, users: IntArray) -> RecordRefs:
    """Return references to users by their codes."""
    return refs("users", facts.people.text.take(pa.array(users)))


def set_refs(facts: Facts, benchmarks: IntArray) -> RecordRefs:
    """Return references to benchmarks by their codes."""
    return refs("prompt_sets", facts.benchmarks.sets.text.take(pa.array(benchmarks)))


def prompt_refs(facts: Facts, prompts: AnyInts) -> RecordRefs:
    """Return references to prompts by their codes."""
    return refs("prompts", facts.prompts.text.take(pa.array(prompts)))


def feedback_refs(facts: Facts, rows: IntArray) -> RecordRefs:
    """Return references to rows of ``facts.feedback``; those on responses and scores come last."""
    feedback = facts.feedback
    on_prompt = rows[rows < len(feedback.row)]
    other = rows[rows >= len(feedback.row)] - len(feedback.row)
    names = [
        *_names(facts.feedback_ids, feedback.row[on_prompt]),
        *_names(facts.other_feedback_ids, feedback.other_row[other]),
    ]
    return RecordRefs.of("quick_feedbacks", names)


def _names(ids: pa.Table, rows: IntArray) -> list[str]:
    table = ids.take(pa.array(rows))
    return [
        f"row {row}" if name is None else str(name)
        for name, row in zip(table["id"].to_pylist(), table["_row"].to_pylist(), strict=True)
    ]
