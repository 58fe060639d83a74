"""``agon attack reproduce``: rows, JSON and exit code."""

import json
from collections.abc import Iterator

import pytest

from agon.attacks.published.figures import Experiment, Figure, Sources
from cli.command import Cli


def figures(_: Sources) -> Iterator[Figure]:
    """Yield a figure that holds, and one that does not."""
    yield Figure(name="first", theirs=1, ours=1, comparison="within", tolerance=2, unit="%")
    yield Figure(name="second", theirs=1, ours=2, comparison="at most")


def test_the_command_prints_both_figures_and_fails_if_one_does_not_hold(
    agon: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A script that compares versions reads the exit code."""
    monkeypatch.setattr(
        "agon.attacks.published.EXPERIMENTS", (Experiment("a", "A (2020)", figures),)
    )
    table, data = agon("attack", "reproduce"), agon("attack", "reproduce", "--format", "json")
    assert (table.code, data.code) == (1, 1)
    assert table.out.splitlines()[0].startswith("A (2020), 0.0 s")
    assert [line.split() for line in table.out.splitlines()[3:]] == [
        ["first", "1", "%", "1", "%", "±", "2", "yes"],
        ["second", "1", "2", "at", "most", "no"],
    ]
    result = json.loads(data.out)
    assert result["holds"] is False
    assert {key: result["rows"][0][key] for key in ("source", "name", "theirs", "ours")} == {
        "source": "A (2020)", "name": "first", "theirs": 1, "ours": 1,
    }  # fmt: skip
    assert [row["holds"] for row in result["rows"]] == [True, False]
