"""Components that count a participant's rows of one table: affiliations, comments, flags."""

from collections.abc import Iterable

import numpy as np

from agon.disciplines.community.components.component import Component, Count
from agon.disciplines.community.components.curves import Bonus, Linear
from agon.disciplines.community.evidence import Evidence
from agon.disciplines.community.facts import Facts
from agon.disciplines.community.id_index import as_int64
from agon.disciplines.community.relational import Relations, Table
from agon.disciplines.community.relational_facts import per_user
from agon.disciplines.community.rules import CommunityRules
from agon.kernel.arrays import IntArray
from agon.kernel.findings import RecordRefs

COMMENT_TABLES = ("comments", "prompt_comments", "response_comments", "score_comments")

_BY_ANOTHER = "by_user_id <> user_id AND by_user_id IN (SELECT id FROM users)"
_UPHELD = "coalesce(upheld, true)"


def _affiliations(facts: Facts) -> IntArray:
    return facts.affiliated


def _affiliation_records(evidence: Evidence) -> Iterable[RecordRefs]:
    yield evidence.rows("org_to_people", has_id=False)


def _comments(facts: Facts) -> IntArray:
    union = " UNION ALL ".join(f"SELECT user_id FROM {table}" for table in COMMENT_TABLES)
    return _per_user(facts, f"SELECT user_id, count(*) AS n FROM ({union}) GROUP BY 1")


def _comments_in_engine(relations: Relations) -> Table:
    import ibis

    tables = (relations.records.table(name).select(user="user_id") for name in COMMENT_TABLES)
    return per_user(ibis.union(*tables))


def _comment_records(evidence: Evidence) -> Iterable[RecordRefs]:
    for table in COMMENT_TABLES:
        yield evidence.rows(table, has_id=True)


def _nominations(facts: Facts) -> IntArray:
    return _per_user(
        facts,
        "SELECT user_id, count(DISTINCT by_user_id) AS n FROM nominations "
        f"WHERE {_BY_ANOTHER} GROUP BY 1",
    )


def _nominations_in_engine(relations: Relations) -> Table:
    rows = relations.existing(relations.records.table("nominations"), by_user_id="users")
    rows = rows.filter(rows.by_user_id != rows.user_id)
    return per_user(rows.select("by_user_id", user="user_id").distinct())


def _nomination_records(evidence: Evidence) -> Iterable[RecordRefs]:
    yield evidence.rows("nominations", has_id=False, where=_BY_ANOTHER)


def _flags(facts: Facts) -> IntArray:
    return _per_user(facts, f"SELECT user_id, count(*) AS n FROM flags WHERE {_UPHELD} GROUP BY 1")


def _flags_in_engine(relations: Relations) -> Table:
    rows = relations.records.table("flags")
    return per_user(rows.filter(rows.upheld.fill_null(True)).select(user="user_id"))


def _flag_records(evidence: Evidence) -> Iterable[RecordRefs]:
    yield evidence.rows("flags", has_id=False, where=_UPHELD)


def _per_user(facts: Facts, query: str) -> IntArray:
    """Return the column ``n`` of a query by the user of each row, 0 for the others."""
    rows = facts.records.sql(query)
    who, count = facts.people.of(rows["user_id"]), as_int64(rows["n"])
    counts = np.zeros(len(facts.people), dtype=np.int64)
    counts[who[who >= 0]] = count[who >= 0]
    return counts


def _each_once(rules: CommunityRules) -> str:  # noqa: ARG001 - the signature of a condition
    return " who has not nominated this one"


AFFILIATION = Component(
    "affiliation",
    # Several affiliations count once.
    Count(
        "affiliation",
        _affiliations,
        lambda facts: facts.affiliated,
        _affiliation_records,
        one_per_record=False,
    ),
    Bonus(earned=None),
    "affiliation_bonus",
    noun="affiliations",
    unit="confirmed affiliation",
)

COMMENTS = Component(
    "comments",
    Count(
        "comments",
        _comments,
        lambda facts: facts.by_query(_comments_in_engine),
        _comment_records,
        one_per_record=True,
    ),
    Linear(),
    "comment_coefficient",
    noun="comments",
    unit="comment",
    switch="comments",
)

NOMINATIONS = Component(
    "nominations",
    # Several nominations by one user count once.
    Count(
        "nominations",
        _nominations,
        lambda facts: facts.by_query(_nominations_in_engine),
        _nomination_records,
        one_per_record=False,
    ),
    Linear(),
    "nomination_coefficient",
    noun="other users who nominated this one",
    unit="nomination by another user",
    switch="nominations",
    condition=_each_once,
)

FLAGS = Component(
    "flags",
    Count(
        "flags",
        _flags,
        lambda facts: facts.by_query(_flags_in_engine),
        _flag_records,
        one_per_record=True,
    ),
    Linear(sign=-1),
    "flag_penalty",
    noun="upheld flags",
    unit="upheld flag",
    switch="flags",
)
