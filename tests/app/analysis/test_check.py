"""Test checks: invalid rows first, then findings; the exit code distinguishes them."""

from pathlib import Path

import pytest

import agon
from agon.app.analysis.check import CheckReport
from agon.app.analysis.simulate import write_simulation
from agon.kernel.findings import Finding, Severity
from cli.command import MATCHES, arena_folder


@pytest.fixture
def arena(tmp_path: Path) -> Path:
    """Return the folder of a small arena."""
    return arena_folder(tmp_path / "arena")


def report_of(*findings: Finding) -> CheckReport:
    """Return a report of valid records."""
    return CheckReport("arena", "data", "arena/sentience-1", {}, {}, (), 0, findings)


def finding(severity: Severity) -> Finding:
    """Return a finding."""
    return Finding("code", severity, ("ann",), "share", 0.9, 0.1, None, "Ann did.")


@pytest.mark.exhaustive
def test_valid_records_give_exit_code_zero(arena: Path) -> None:
    """There is nothing to report."""
    report = agon.check("arena", arena)
    assert (report.exit_code, report.problems) == (0, ())
    assert report.rows == {"owners": 3, "bots": 3, "matches": 4}


def test_invalid_rows_give_exit_code_two_and_no_findings(arena: Path) -> None:
    """A finding needs all records."""
    (arena / "matches.csv").write_text(MATCHES.replace("rated", "friendly", 2))
    report = agon.check("arena", arena)
    assert report.exit_code == 2
    assert (report.total, report.findings) == (2, ())
    assert [problem.value for problem in report.problems] == ["friendly", "friendly"]


@pytest.mark.parametrize(
    ("severity", "code"), [(Severity.ERROR, 1), (Severity.WARNING, 0), (Severity.INFO, 0)]
)
def test_only_findings_of_severity_error_fail_a_check(severity: Severity, code: int) -> None:
    """A warning is for readers; a pipeline stops at errors."""
    assert report_of(finding(Severity.INFO), finding(severity)).exit_code == code


def test_a_report_counts_by_severity() -> None:
    """The most severe is first."""
    report = report_of(finding(Severity.ERROR), finding(Severity.INFO), finding(Severity.INFO))
    assert list(report.by_severity.items()) == [("error", 1), ("warning", 0), ("info", 2)]


@pytest.mark.exhaustive
def test_a_simulated_attack_is_found(tmp_path: Path) -> None:
    """From simulation to finding by files, like an organizer."""
    made = agon.simulate("dojo", size=300, seed=5, attacks=["copied-source"])
    write_simulation(made, tmp_path / "dojo")
    report = agon.check("dojo", tmp_path / "dojo")
    assert "same-source" in {one.code for one in report.findings}
    assert report.exit_code == int(report.by_severity["error"] > 0)
    assert not any("truth" in name for name in report.rows)


def test_many_invalid_rows_give_a_summary(arena: Path) -> None:
    """Twenty of each kind are shown, all are counted."""
    lines = "".join(f"{at},2026-01-01,ann,bob,rated,x\n" for at in range(5, 5_005))
    (arena / "matches.csv").write_text(MATCHES + lines)
    report = agon.check("arena", arena)
    assert (len(report.problems), report.total) == (20, 5_000)


@pytest.mark.exhaustive
def test_a_data_frame_is_checked_like_a_folder() -> None:
    """Under its own names of columns; records that are read already stay open."""
    battles = [
        {"left": "ann", "right": "bob", "winner": "a", "language": "en"},
        {"left": "bob", "right": "ann", "winner": "tie", "language": "de"},
    ]
    names = {"model_a": "left", "model_b": "right"}
    report = agon.check("arena", battles, columns=names, where={"language": "de"})
    assert (report.exit_code, report.rows["matches"], report.source) == (0, 1, "memory")
    assert "kept as categories of the matches: language" in report.notes
    records = agon.read_records("arena", battles, columns=names)
    assert agon.check("arena", records).rows["matches"] == records.count("matches") == 2
    invalid = agon.check("arena", [{**battles[0], "winner": "both"}], columns=names)
    assert [problem.value for problem in invalid.problems] == ["both"]
