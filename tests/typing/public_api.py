"""Calls of the library, for type checkers: right ones have the stated type, wrong ones are errors.

Nothing here is run. ``make types`` checks this file with the package's sources, and
``tests/repository/test_distribution.py`` as a user's program that imports the installed wheel. In
both, an ignored error that does not occur is an error.
"""

from collections.abc import Mapping
from typing import Any, Unpack, assert_type

import pandas as pd
import polars as pl

import agon

BATTLES = [{"model_a": "ann", "model_b": "bob", "winner": "model_a"}]


def results_have_types() -> None:
    """An editor completes what a call returns."""
    result = agon.score("community", "data/", edition="scores0002-1", as_of="2026-11-21")
    assert_type(result, agon.Result)
    assert_type(result.boards, tuple[str, ...])
    assert_type(result.board("user-score"), agon.Board)
    assert_type(result.board().rows(top=3), list[dict[str, Any]])
    assert_type([row["score"] for row in result.board()], list[Any])
    assert_type(result.explain("ada"), agon.ScoreExplanation)
    assert_type(result.explain("ada").parts, tuple[agon.Part, ...])
    assert_type(result.explain("ada").score, float | None)
    assert_type(result.explain("ada").plot(), agon.Chart)
    assert_type(result.plot(), agon.Chart)
    assert_type(result.findings, list[agon.Finding])
    assert_type(result.findings[0].severity, agon.Severity)
    assert_type(result.fingerprint, str)
    assert_type(agon.explain("community", "data/", "ada"), agon.ScoreExplanation)


def other_calls_have_types() -> None:
    """The values of each function are exported under a name."""
    comparison = agon.compare("dojo", "data/", "0.1", {"brevity_max": 0})
    assert_type(comparison, agon.Comparison)
    assert_type(comparison.moves, tuple[agon.Move, ...])
    assert_type(comparison.entered, tuple[agon.UnmatchedParticipant, ...])
    assert_type(agon.check("dojo", "data/").findings, tuple[agon.Finding, ...])
    assert_type(agon.check("dojo", records="data/").problems, tuple[agon.RowIssue, ...])
    assert_type(agon.rate(BATTLES, method="bradley-terry"), agon.RatingTable)
    assert_type(agon.read_records("dojo", "data/"), agon.Records)
    assert_type(agon.simulate("dojo", size=20), agon.Simulation)
    assert_type(agon.import_records("arena-battles", BATTLES), agon.ImportedRecords)
    assert_type(agon.edition("dojo", "0.1"), agon.Edition)
    assert_type(agon.edition("dojo/0.1").full_name, str)
    assert_type(agon.verify_webhook("whsec_", headers={}, body=b""), str)
    assert_type(agon.agreement.cohen_kappa("ab", "ab").value, float)
    estimate = agon.agreement.dawid_skene(["t"], ["w"], ["yes"])
    assert_type(estimate.workers, Mapping[Any, agon.agreement.WorkerEstimate])


def sources_of_all_kinds_are_accepted(battles: pd.DataFrame, users: pl.DataFrame) -> None:
    """Data frames are recognized by what they can do; agon imports none of their libraries."""
    agon.rate(battles)
    agon.rate(users.lazy())
    agon.score("community", {"users": users, "prompts": [{"id": 1}]})
    agon.score("arena", agon.simulate("arena"))
    agon.write_records(agon.simulate("arena"), "out", form="csv")


def handed_on(**options: Unpack[agon.ScoringOptions]) -> agon.ScoreExplanation:
    """A function that hands options on states them once."""
    return agon.explain("community", "data/", "ada", **options)


def options_are_handed_on() -> None:
    """The names and types of the options are known to callers of such a function."""
    handed_on(where={"language": "en"}, edition="scores0002-1")
    handed_on(wher={"language": "en"})  # type: ignore[call-arg]
    handed_on(engine=1)  # type: ignore[arg-type]


def mistakes_are_errors() -> None:
    """A typing error is seen before the program runs."""
    agon.rate(BATTLES, method="bradley-tery")  # type: ignore[arg-type]
    agon.rate(BATTLES).plot("winrates")  # type: ignore[arg-type]
    agon.rate(BATTLES, interval="yes")  # type: ignore[arg-type]
    agon.rate(BATTLES, anchor={"ann": "1000"})  # type: ignore[dict-item]
    agon.score("community", 5)  # type: ignore[arg-type]
    agon.score("community", {"users": ["ada"]})  # type: ignore[list-item]
    agon.score("community", "data/", overides={})  # type: ignore[call-arg]
    agon.score("community", "data/", overrides="self_feedback=ignore")  # type: ignore[arg-type]
    agon.compare("community", "data/", right=5)  # type: ignore[arg-type]
    agon.write_records(agon.simulate("arena"), "out", form="xlsx")  # type: ignore[arg-type]
    agon.import_records("comparisons", "votes.csv", unit="battles")  # type: ignore[arg-type]
    agon.edition("dojo", "0.1", of="dojo")  # type: ignore[call-overload]
    agon.score("community", "data/").borads  # type: ignore[attr-defined]  # noqa: B018
    agon.agreement.krippendorff_alpha([1], [1], [1], metric="ordinal")  # type: ignore[arg-type]
    agon.scoer  # type: ignore[attr-defined]  # noqa: B018
