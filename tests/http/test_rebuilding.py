"""Past boards rebuilt on public request must not reveal the queue or overload the instance."""

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
    """Open an instance that stores only the newest snapshot of a contest published many times."""
    instance = instance_at(tmp_path)
    object.__setattr__(instance.service, "snapshots_kept", 1)
    instance.contest("spring", people=0)
    for n in range(OLD + 1):
        instance.people("spring", 1, begin=n)
    yield instance
    instance.close()


def get_board(instance: Instance, index: int, role: str | None = None) -> Any:
    """Request the board at one of its deleted snapshots; index 0 is the oldest."""
    with instance.service.store.read() as session:
        rows = session.snapshots.page(1, board="user-score", limit=100)
    seqs = sorted(item.seq for item in rows if not item.stored)
    return instance.get(f"{BOARD}?as_of={seqs[index]}", role)


def test_a_rebuild_response_reveals_nothing_about_the_queue(
    forgetful: Instance,
) -> None:
    """The queue length would reveal the activity of other callers, also after a freeze."""
    body = get_board(forgetful, 0, "organiser").json()
    assert (body["by"], body["position"]) == ("user:olga", 0)
    before = get_board(forgetful, 1).json()
    with forgetful.service.store.write() as session:
        contest = session.contests.get("spring")
        for n in range(5):
            job = service_job("dry-run", contest, id=f"other{n}")
            session.queue.add(job, now=forgetful.service.clock())
    after = get_board(forgetful, 2).json()
    for response in (before, after, get_board(forgetful, 0, "viewer").json()):
        assert response["state"] == "queued"
        assert response["position"] is response["eta_seconds"] is response["worker"] is None
        assert (response["by"], response["causes"]) == ("anonymous", [])


@pytest.mark.exhaustive
def test_anonymous_rebuilds_are_limited(forgetful: Instance) -> None:
    """Otherwise one client could queue the entire history before the next program is judged."""
    responses = [get_board(forgetful, n) for n in range(OLD)]
    assert [item.status_code for item in responses] == [202] * MAX_REBUILDS + [503] * (
        OLD - MAX_REBUILDS
    )
    assert responses[-1].headers["retry-after"] == "2"
    assert responses[-1].json()["code"] == "busy"
    assert get_board(forgetful, 0).status_code == 202  # it waits already
    assert get_board(forgetful, OLD - 1, "organiser").status_code == 202
