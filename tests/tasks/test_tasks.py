"""Tasks in the shape of public ones: each agent gets what the reference's rules give it.

``data`` holds the tasks, ``table.jsonl`` what was measured; a new task becomes a file and, by
``PYTHONPATH=tests python -m tasks.measuring NAME``, a line. The documentation shows the table.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from agon.app.containers import Containers
from agon.app.files import InvalidPackage
from agon.app.tasks.formats.discovery import read_task
from agon.runners.containers import open_containers
from tasks.corpus import read_corpus
from tasks.measuring import AGENTS, agrees, images, keys_of, passes, read_table, row_of_task

CORPUS, TABLE = read_corpus(), read_table()
_NAMES = {"busybox": "localhost/agon-base:1", "python": "localhost/python:1"}


@pytest.fixture(scope="module")
def engine() -> Iterator[Containers]:
    """Open the containers of the installed engine."""
    with open_containers() as opened:
        yield opened


def test_the_table_has_every_task_with_its_idea_and_keys() -> None:
    """A task that was not measured would be shown as if it had been."""
    assert len(CORPUS) >= 30
    assert list(TABLE) == list(CORPUS)
    for name, task in CORPUS.items():
        row = TABLE[name]
        assert {"origin", "idea"} <= set(task.about) <= {"origin", "idea", "refused", "differs"}
        assert {key: row[key] for key in task.about} == dict(task.about)
        assert row["keys"] == keys_of(task)


def test_none_passes_that_the_reference_fails_and_differences_have_a_reason() -> None:
    """Of all agents and tasks 95 % are as in the reference; the others are explained."""
    cases = [(row, agent) for row in TABLE.values() for agent in AGENTS]
    different = [
        (row, agent)
        for row, agent in cases
        if not agrees(row["reference"][agent], row["agon"][agent])
    ]
    assert len(different) <= 0.05 * len(cases)
    for row, agent in different:
        assert passes(row["reference"][agent]), (row["task"], agent)
        assert row["differs"]


def test_rewards_are_those_of_the_reference() -> None:
    """Not passes alone: fractions and every key are kept."""
    for row in TABLE.values():
        for agent in AGENTS:
            if rewards := row["agon"][agent].get("rewards"):
                assert rewards == row["reference"][agent], (row["task"], agent)


@pytest.mark.sample(20)
@pytest.mark.parametrize("name", CORPUS)
def test_a_task_is_read_or_refused_as_the_table_says(name: str, tmp_path: Path) -> None:
    """Refusals are cheap to see: no container runs."""
    folder = CORPUS[name].write(tmp_path, _NAMES)
    expected = TABLE[name]["agon"]["oracle"]
    if expected["result"] != "refused":
        assert read_task(folder).name == name
        return
    with pytest.raises(InvalidPackage) as refused:
        read_task(folder)
    issue = refused.value.issues[0]
    assert f"{issue.where} {issue.what}" == expected["reason"]


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", CORPUS)
def test_a_task_is_measured_as_the_table_says(
    name: str, tmp_path: Path, engine: Containers
) -> None:
    """By the reference's rules and by agon, in containers."""
    assert row_of_task(CORPUS[name], tmp_path, engine, images()) == TABLE[name]
