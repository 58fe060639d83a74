"""Every mode of the sandbox contains every hostile program, for root and for ordinary users."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from runners.hostile_programs import HostileProgram, hostile_programs, stratified
from runners.identities import command_as, identities
from sizes import ALL

DRIVER = Path(__file__).parent / "drive_hostile.py"
CASES = [
    (identity, mode)
    for identity in identities()
    for mode in ("bwrap", "degraded", "cold")
    # A cold start takes ten times as long; the contract of sandboxes covers it in `make test`.
    if ALL or mode != "cold"
]
PARTS = 1 if ALL else len(CASES)
"""In `make test` each case runs one part of the programs; together the cases run all of them."""


@pytest.mark.sample(1)
@pytest.mark.parametrize(("identity", "mode"), CASES)
def test_every_hostile_program_is_contained_and_leaves_nothing(identity: str, mode: str) -> None:
    """Without the courtesy scan; the report lists each program that was not contained.

    `make test` runs a part of the programs, at least one of each family, and prints their names;
    `make test-all` runs all of them in each case.
    """
    part = CASES.index((identity, mode)) % PARTS
    programs = stratified(hostile_programs(), part=part, parts=PARTS)
    names = ", ".join(program.name for program in programs)
    print(f"{mode} as {identity} runs {names}")  # noqa: T201  # which part ran
    command = command_as(identity, [sys.executable, str(DRIVER), mode, str(part), str(PARTS)])
    process = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    assert process.returncode == 0, process.stderr
    report = json.loads(process.stdout)
    assert (report["user"] == 0) == (identity == "root")
    assert ("namespaces" in report["layers"][0]) == (mode != "degraded")
    assert report["programs"] == [program.name for program in programs]
    problems = {
        name: report[name]
        for name in (
            "escaped", "worker broken after", "secret in", "descriptors", "processes", "files",
            "sockets",
        )
        if report[name]
    }  # fmt: skip
    assert problems == {}


def families(programs: list[HostileProgram]) -> set[str]:
    """Return the families of some programs."""
    return {program.name.partition("/")[0] for program in programs}


def test_the_cases_of_a_run_cover_every_program_and_each_case_every_family() -> None:
    """A program in no case would look tested."""
    programs = hostile_programs()
    parts = [stratified(programs, part=part, parts=PARTS) for part in range(PARTS)]
    assert {program.name for part in parts for program in part} == {
        program.name for program in programs
    }
    assert all(families(part) == families(programs) for part in parts)
    assert stratified(programs, part=0, parts=1) == programs


def test_the_suite_is_as_large_as_promised() -> None:
    """At least thirty families and sixty programs, each with a reason."""
    programs = hostile_programs()
    assert len(families(programs)) >= 30
    assert len(programs) >= 60
    assert all(len(program.why) > 5 for program in programs)


def test_every_program_has_an_expectation_and_every_expectation_a_program() -> None:
    """A file that no expectation names would look like a test."""
    files = {
        f"{path.parent.name}/{path.name.removesuffix('.py.txt')}"
        for path in (DRIVER.parent / "hostile").glob("*/*.py.txt")
    }
    assert files == {program.name for program in hostile_programs()}
