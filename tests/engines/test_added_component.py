"""A component that is added counts on every engine, or engines reject it by its name."""

from pathlib import Path

import numpy as np
import pytest

import agon
from agon.disciplines.community import components
from agon.disciplines.community.components.component import (
    NEEDS_ROWS,
    Component,
    Count,
    CountInEngine,
    NeedsRows,
)
from agon.disciplines.community.components.curves import Linear
from agon.disciplines.community.components.prompts import QUALITY_PROMPTS
from agon.disciplines.community.facts import Facts
from agon.disciplines.community.records import SCHEMA
from agon.disciplines.community.relational import Relations, Table
from agon.disciplines.community.relational_facts import per_user
from agon.disciplines.community.rules import CommunityRules
from agon.disciplines.community.scoring import score
from agon.errors import Conflict
from agon.kernel.arrays import IntArray
from agon.records import read
from agon.records.relational import TableEngine, inspect_in


def popular(facts: Facts) -> IntArray:
    """Count the prompts with any positive feedback, from arrays."""
    counted = (facts.creator >= 0) & (facts.likes > 0)
    return np.bincount(facts.creator[counted], minlength=len(facts.people))


def popular_in_engine(at: Relations) -> Table:
    """Count them in an engine."""
    rows = at.rated_prompts
    rows = rows.filter(rows.creator.notnull() & (rows.positives > 0))
    return per_user(rows.select(user="creator"))


def add(monkeypatch: pytest.MonkeyPatch, in_engine: CountInEngine | NeedsRows) -> None:
    """Add the component ``popular_prompts``."""
    added = Component(
        "popular_prompts",
        Count(
            "popular_prompts",
            popular,
            in_engine,
            QUALITY_PROMPTS.count.records,
            one_per_record=False,
        ),
        Linear(),
        "quality_prompts_coefficient",
        noun="prompts with positive feedback",
        unit="prompt with positive feedback",
    )
    monkeypatch.setattr(components, "COMPONENTS", (*components.COMPONENTS, added))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder of a simulated community."""
    agon.write_records(agon.simulate("community", size=20, seed=5), tmp_path)
    return tmp_path


def test_a_component_with_an_expression_has_equal_counts_on_an_engine(
    monkeypatch: pytest.MonkeyPatch, sail: TableEngine, folder: Path
) -> None:
    """Both forms stand in its row."""
    add(monkeypatch, lambda facts: facts.by_query(popular_in_engine))
    expected = score(read(SCHEMA, folder), CommunityRules()).board("user-score")
    records, issues = inspect_in(sail, SCHEMA, folder)
    assert issues == []
    counted = score(records, CommunityRules()).board("user-score")
    assert counted.rows() == expected.rows()
    assert any(row["counts"]["popular_prompts"] for row in expected.rows())


@pytest.mark.exhaustive
def test_a_component_that_needs_rows_is_refused_by_its_name(
    monkeypatch: pytest.MonkeyPatch, sail: TableEngine, folder: Path
) -> None:
    """It is no internal error, and the embedded engine counts it."""
    add(monkeypatch, NEEDS_ROWS)
    assert score(read(SCHEMA, folder), CommunityRules()).board("user-score").rows()
    records, _ = inspect_in(sail, SCHEMA, folder)
    with pytest.raises(Conflict, match=r"popular_prompts cannot be computed on .*embedded"):
        score(records, CommunityRules()).board("user-score")


def test_a_count_without_a_form_for_engines_cannot_be_made() -> None:
    """The type checker says so, and Python does."""
    with pytest.raises(TypeError, match="in_engine"):
        Count(  # type: ignore[call-arg]  # what is tested
            "popular_prompts", popular, records=QUALITY_PROMPTS.count.records, one_per_record=False
        )


@pytest.mark.exhaustive
def test_a_rule_that_is_off_counts_on_an_engine_or_is_refused_by_its_name(
    sail: TableEngine, folder: Path
) -> None:
    """Badges were refused as *what names single prompts*, without such a request."""
    local = read(SCHEMA, folder)
    records, _ = inspect_in(sail, SCHEMA, folder)
    reasons: dict[str, str] = {}
    for name, field in CommunityRules.model_fields.items():
        if field.default not in (False, None):
            continue
        rules = CommunityRules().override({name: True if field.default is False else 1})
        expected = score(local, rules).board("user-score").rows()
        try:
            assert score(records, rules).board("user-score").rows() == expected, name
        except Conflict as error:
            reasons[name] = str(error)
    assert "achievements" in reasons
    assert [
        reason
        for name, reason in reasons.items()
        if not reason.startswith(f"community: {name} cannot be computed on")
    ] == []
