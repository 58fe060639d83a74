"""Scoring, checking and comparing state their steps to an observer."""

from contextlib import AbstractContextManager
from typing import Any

import pytest

import agon
from agon.app.analysis.compare import RuleSet
from agon.kernel import progress
from agon.kernel.progress import observe

BATTLES = [
    {"model_a": "ann", "model_b": "bob", "winner": "a"},
    {"model_a": "bob", "model_b": "ann", "winner": "tie"},
]


@pytest.fixture
def labels(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the labels of all steps that begin, in order."""
    begun: list[str] = []
    original = progress.step

    def step(label: str, share: Any) -> AbstractContextManager[None]:
        begun.append(label)
        return original(label, share)

    monkeypatch.setattr(progress, "step", step)
    monkeypatch.setattr("agon.records.tables.step", step)
    return begun


@pytest.mark.exhaustive
def test_scoring_states_the_share_of_each_query(labels: list[str]) -> None:
    """Facts are queries of the engine, which knows its share; the result is the same."""
    records = agon.read_records("arena", BATTLES)
    alone = agon.score("arena", records).board().sha256
    assert labels == []
    with observe() as steps:
        assert agon.score("arena", records).board().sha256 == alone
        assert steps == []
    assert set(labels) == {"reading"}


def test_checks_and_sides_are_counted(labels: list[str]) -> None:
    """A check of many rows and a comparison of two sides take longer than reading."""
    with observe():
        agon.check("arena", BATTLES)
        assert "checks" in labels
        agon.compare("arena", BATTLES, right=RuleSet(overrides={"k_new": 8}))
        assert labels.count("rules") == 1
