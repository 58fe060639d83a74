"""Published results: what this repository computes next to the publications' figures."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from benchmarks.published import EXPERIMENTS, __main__, reproduce
from benchmarks.published.__main__ import SOURCES
from benchmarks.published.figures import Experiment, Figure, Sources

from agon.kernel.progress import observe
from sizes import ALL

PAGE = Path(__file__).parents[2] / "docs" / "methods" / "published-results.md"
QUICK = ("few votes", "ladder")
"""The experiments that take a second together; all of them take fifteen."""


def cells(source: str, figure: Figure) -> str:
    """Write a figure as a row of the page's table."""
    numbers = [figure.with_unit(figure.theirs), figure.with_unit(figure.ours)]
    return f"| {' | '.join([source, figure.name, *numbers, figure.limit])} |"


@pytest.mark.sample(3)
@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda each: each.name)
def test_published_figures_are_reproduced_and_the_page_states_them(experiment: Experiment) -> None:
    """An organizer who reads the page gets the same numbers from the command."""
    figures = list(experiment.figures(SOURCES)) if ALL or experiment.name in QUICK else []
    assert [figure.name for figure in figures if not figure.holds] == []
    page = PAGE.read_text(encoding="utf-8").splitlines()
    rows = [cells(experiment.source, figure) for figure in figures]
    assert [row for row in rows if row not in page] == []
    stated = [line for line in page if line.startswith(f"| {experiment.source} |")]
    assert stated
    assert stated == rows or not figures


def figures(_: Sources) -> Iterator[Figure]:
    """Yield a figure that holds, and one that does not."""
    yield Figure(name="first", theirs=1, ours=1, comparison="within", tolerance=2, unit="%")
    yield Figure(name="second", theirs=1, ours=2, comparison="at most")


EXAMPLES = (Experiment("a", "A (2020)", figures), Experiment("b", "B (2021)", figures))


def test_rows_are_yielded_as_they_are_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A row is there before the next experiment begins, and says how long its own took."""
    monkeypatch.setattr("benchmarks.published.EXPERIMENTS", EXAMPLES)
    ticks = count()
    with observe() as steps:
        rows = reproduce({}, clock=lambda: float(next(ticks)))
        first = next(rows)
        assert (first.source, first.figure.name, first.seconds) == ("A (2020)", "first", 1.0)
        assert [step.share() for step in steps] == [0.0]
        rest = list(rows)
    assert [(row.source, row.seconds) for row in rest] == [
        ("A (2020)", 2.0), ("B (2021)", 1.0), ("B (2021)", 2.0),
    ]  # fmt: skip
    assert [row.figure.holds for row in rest] == [False, True, False]


def test_a_figure_compares_as_its_comparison_says() -> None:
    """A tolerance counts on the side that is worse."""

    def holds(ours: float, comparison: str, tolerance: float = 0) -> bool:
        return Figure(
            name="", theirs=10, ours=ours, comparison=comparison, tolerance=tolerance  # type: ignore[arg-type]  # each of the three in turn
        ).holds  # fmt: skip

    assert [holds(ours, "within", 2) for ours in (7.9, 8, 12, 12.1)] == [False, True, True, False]
    assert [holds(ours, "at most") for ours in (9, 10, 10.1)] == [True, True, False]
    assert [holds(ours, "at least", 1) for ours in (8.9, 9, 20)] == [False, True, True]


def test_the_benchmark_prints_both_figures_and_fails_if_one_does_not_hold(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A script that compares versions reads the exit code."""
    monkeypatch.setattr("benchmarks.published.EXPERIMENTS", EXAMPLES[:1])
    assert __main__.main() == 1
    assert capsys.readouterr().out.splitlines() == [
        "A (2020) | first | 1 % | 1 % | ± 2 | holds",
        "A (2020) | second | 1 | 2 | at most | DIFFERS",
    ]
