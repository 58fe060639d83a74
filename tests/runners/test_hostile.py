"""The wall holds, in every mode, whoever starts it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from runners.hostile_programs import hostile_programs
from runners.identities import command_as, identities
from sizes import ALL

DRIVER = Path(__file__).parent / "drive_hostile.py"


CASES = [
    (identity, mode)
    for identity in identities()
    for mode in ("bwrap", "degraded", "cold")
    # A cold start takes a minute; as root it differs in nothing from the warm one but the start.
    if ALL or mode != "cold" or identity != "root"
]


@pytest.mark.parametrize(("identity", "mode"), CASES)
def test_every_hostile_program_is_held_and_leaves_nothing(identity: str, mode: str) -> None:
    """Fail shows each program that was not held; the courtesy scan plays no part here."""
    command = command_as(identity, [sys.executable, str(DRIVER), mode])
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["user"] == 0) == (identity == "root")
    assert ("namespaces" in report["layers"][0]) == (mode != "degraded")
    problems = {
        what: report[what]
        for what in (
            "escaped", "worker broken after", "secret told by", "descriptors", "processes", "files",
            "sockets",
        )
        if report[what]
    }  # fmt: skip
    assert problems == {}


def test_the_suite_is_as_large_as_promised() -> None:
    """At least thirty families and sixty programs, each with a reason."""
    programs = hostile_programs()
    assert len({one.name.split("/")[0] for one in programs}) >= 30
    assert len(programs) >= 60
    assert all(len(one.why) > 5 for one in programs)


def test_every_program_has_an_expectation_and_every_expectation_a_program() -> None:
    """A text nobody reads would look like a test."""
    texts = {
        f"{path.parent.name}/{path.name.removesuffix('.py.txt')}"
        for path in (DRIVER.parent / "hostile").glob("*/*.py.txt")
    }
    assert texts == {one.name for one in hostile_programs()}
