"""Records as Ibis expressions: the pinned set of engines works together and gives equal counts."""

import sys
from collections import Counter
from typing import Any

import pytest

from agon.disciplines import discipline
from agon.errors import Unavailable
from agon.records import Records, read_rows

pytestmark = [
    # ibis 12 calls names that DuckDB 2 and pandas 3 deprecate; both are pinned and measured.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]


@pytest.fixture(scope="module")
def community() -> Records:
    """Simulate a small community."""
    community = discipline("community")
    return read_rows(community.schema, community.simulate(size=60, seed=3, attacks=[]).tables)


def rows(records: Records, table: str) -> list[dict[str, Any]]:
    """Return a table's rows."""
    return list(records.arrow(table).to_pylist())


@pytest.mark.exhaustive
def test_an_expression_counts_what_a_loop_counts(community: Records) -> None:
    """Filter, group, join and aggregate go through ibis, sqlglot and DuckDB as one set."""
    feedback, prompts = community.table("quick_feedbacks"), community.table("prompts")
    positive = feedback.filter(feedback.opinion == "positive")
    positives = positive.group_by("prompt_id").agg(n=lambda t: t.count())
    quality = positives.filter(positives.n >= 3)
    joined = quality.join(prompts, quality.prompt_id == prompts.id)
    table = joined.group_by("uploader_id").agg(prompts=lambda t: t.count()).to_pyarrow()
    counted = {row["uploader_id"]: row["prompts"] for row in table.to_pylist()}

    creators = {row["id"]: row["uploader_id"] for row in rows(community, "prompts")}
    seen = Counter(
        row["prompt_id"]
        for row in rows(community, "quick_feedbacks")
        if row["opinion"] == "positive" and row["prompt_id"] is not None
    )
    expected = Counter(creators[prompt] for prompt, n in seen.items() if n >= 3)
    assert counted
    assert counted == dict(expected)


def test_expressions_see_the_records_as_of_a_time(community: Records) -> None:
    """The view of an earlier time is the same for every way to ask."""
    times = sorted(row["created_at"] for row in rows(community, "prompts"))
    middle = times[len(times) // 2]
    earlier = community.as_of(middle)
    assert earlier.table("prompts").count().to_pyarrow().as_py() == earlier.count("prompts")
    assert 0 < earlier.count("prompts") < community.count("prompts")


def test_without_ibis_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ibis is an extra, since no board needs it."""
    monkeypatch.setitem(sys.modules, "ibis", None)
    community = discipline("community")
    with read_rows(community.schema, {"users": [{"id": 1}]}) as records:
        with pytest.raises(Unavailable, match=r"pip install 'agon-engine\[ibis\]'"):
            records.table("users")
        assert records.count("users") == 1
