"""``agon attack detectors``: table, JSON, and wrong arguments."""

import json

import pytest

from cli.command import Cli

SMALL = ("attack", "detectors", "dojo", "--size", "20", "--worlds", "1")


@pytest.mark.exhaustive
def test_the_command_prints_power_and_false_alarms(agon: Cli) -> None:
    """The table and the JSON have the same rows; equal options give equal figures."""
    table, data = agon(*SMALL), agon(*SMALL, "--format", "json")
    assert (table.code, data.code) == (0, 0)
    report = json.loads(data.out)
    assert {key: report[key] for key in ("discipline", "size", "seed", "worlds")} == {
        "discipline": "dojo", "size": 20, "seed": 1, "worlds": 1,
    }  # fmt: skip
    rows = [line.split()[:2] for line in table.out.splitlines()[2:]]
    named = [[row["finding"], row["attack"]] for row in report["detectors"]]
    assert [row for row in named if row in rows] == named
    assert report["detectors"][0] == {
        "finding": "literal-payload", "attack": "literal-payload", "actions": None,
        "exposures": None, "threshold": None, "power": 1.0, "false_alarms": 0.0,
        "literal_power": None, "worlds": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("comunity",), 2, "'comunity' is not one of"),
        (("community", "--size", "3"), 2, "at least 10 users, got 3"),
        (("dojo", "--worlds", "0"), 2, "0 is not in the range"),
    ],
)
def test_wrong_arguments_are_named(
    agon: Cli, arguments: tuple[str, ...], code: int, message: str
) -> None:
    """With what would be right."""
    shown = agon("attack", "detectors", *arguments)
    assert shown.code == code
    assert message in shown.err
    assert "Traceback" not in shown.err
