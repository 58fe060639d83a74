"""Boards of the past rebuilt for anybody: without telling of the instance, or keeping it busy."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agon.app.queue.jobs import service_job
from agon.http.rebuilding import MAX_REBUILDS
from fakes.instance import Instance, instance_at

BOARD = "/contests/spring/boards/user-score"
OLD = MAX_REBUILDS + 3


@pytest.fixture
def forgetful(tmp_path: Path) -> Iterator[Instance]:
    """Open an instance that stores only the newest rows of a contest published many times."""
    instance = instance_at(tmp_path)
    object.__setattr__(instance.service, "snapshots_kept", 1)
    instance.contest("spring", people=0)
    for n in range(OLD + 1):
        instance.people("spring", 1, begin=n)
    yield instance
    instance.service.store.close()


def ask(instance: Instance, place: int, role: str | None = None) -> Any:
    """Ask for the board at one of its forgotten positions, the oldest being 0."""
    with instance.service.store.read() as session:
        found = session.snapshots.page(1, board="user-score", limit=100)
    seqs = sorted(one.seq for one in found if not one.stored)
    return instance.get(f"{BOARD}?as_of={seqs[place]}", role)


def test_a_stranger_learns_nothing_of_the_instance_by_asking_for_the_past(
    forgetful: Instance,
) -> None:
    """How many jobs wait counts what others send, also behind a freeze; who asked is theirs."""
    seen = ask(forgetful, 0, "organiser").json()
    assert (seen["by"], seen["position"]) == ("user:olga", 0)
    before = ask(forgetful, 1).json()
    with forgetful.service.store.write() as session:
        contest = session.contests.get("spring")
        for n in range(5):
            job = service_job("dry-run", contest, id=f"other{n}")
            session.queue.add(job, now=forgetful.service.clock())
    after = ask(forgetful, 2).json()
    for told in (before, after, ask(forgetful, 0, "viewer").json()):
        assert told["state"] == "queued"
        assert told["position"] is told["eta_seconds"] is told["worker"] is None
        assert (told["by"], told["causes"]) == ("anonymous", [])


def test_strangers_have_few_boards_rebuilt_at_a_time(forgetful: Instance) -> None:
    """Else one of them queues the whole past before the next program is judged."""
    answers = [ask(forgetful, n) for n in range(OLD)]
    assert [one.status_code for one in answers] == [202] * MAX_REBUILDS + [503] * (
        OLD - MAX_REBUILDS
    )
    assert answers[-1].headers["retry-after"] == "2"
    assert answers[-1].json()["code"] == "busy"
    assert ask(forgetful, 0).status_code == 202  # it waits already
    assert ask(forgetful, OLD - 1, "organiser").status_code == 202
