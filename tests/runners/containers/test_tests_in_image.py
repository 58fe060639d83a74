"""Tests that an image brings are judged there, with what it built of them."""

from dataclasses import replace
from pathlib import Path

import pytest

from agon.app.containers import ImageSpec, TaskTests
from runners.containers.course import QUICK, Course


@pytest.mark.exhaustive
def test_what_an_image_built_of_its_tests_is_there(course: Course, tmp_path: Path) -> None:
    """A mount of the folder would hide it; the agent's outputs do not reach it either way."""
    tests = tmp_path / "tests"
    tests.mkdir()
    (tests / "Dockerfile").write_text(
        f"FROM {course.image.reference}\nCOPY . /tests\nRUN echo 42 > /tests/built\n"
    )
    (tests / "test.sh").write_text("#!/bin/sh\ncmp /tests/built /app/answer\n")
    image = course.containers.build(ImageSpec(context=tests))
    run = course.agent("echo 42 > answer; mkdir tests; echo 0 > tests/built")
    assert run.outputs is not None
    outcomes = {}
    for has_tests in (True, False):
        verification = course.containers.verify(
            replace(image, has_tests=has_tests), run.outputs, TaskTests(folder=tests),
            trial=course.trial(), limits=QUICK,
        )  # fmt: skip
        outcomes[has_tests] = verification.outcome
    assert outcomes == {True: "passed", False: "failed"}
