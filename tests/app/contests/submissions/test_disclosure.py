"""Test how problems are listed: as each is told by itself, in a few questions to the database."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from agon.app.access.permissions import ANONYMOUS, View, find_view
from agon.app.contests.ingest.records import record
from agon.app.contests.submissions.disclosure import problem, problems
from agon.app.contests.submissions.problems import reveal_problem
from agon.app.service import Service
from agon.entities.access import Caller
from agon.errors import Unreadable
from agon.ledger.entry import Draft
from fakes.autumn import CUBES, SQUARES, autumn, entered, publish
from fakes.service import ORGANISER, service_at


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    """Open a service with the dojo contest ``autumn``."""
    opened = service_at(tmp_path)
    autumn(opened)
    yield opened
    opened.store.close()


def seen(service: Service, by: Caller = ANONYMOUS) -> View:
    """Return what a caller may see."""
    with service.store.read() as session:
        return find_view(session, "autumn", by)


def test_each_problem_is_listed_as_it_is_told_by_itself(service: Service) -> None:
    """One that was published anew, moved or revealed is listed as it is now, at its old place."""
    cubes = publish(service, CUBES, freeze_started_at="2026-11-22T08:00:00Z")
    squares = problems(service, seen(service))[0][1]["id"]
    package = {"title": "Squares at last", "interface": "seq", "source": SQUARES, "terms": ["1"]}
    entered(
        service,
        Draft(kind="problem-published", body={"problem": squares, "package": package},
              at=service.clock(), by="user:olga"),
    )  # fmt: skip
    for day in ("23", "24"):
        moved = {"id": squares, "n_check": 200, "setter_user_id": "gus", "p_hash": squares,
                 "freeze_started_at": f"2026-12-{day}T00:00:00Z"}  # fmt: skip
        record(service, "autumn", [("problems", moved, None)], by=ORGANISER, replace=True)
    reveal_problem(service, "autumn", cubes, by=ORGANISER)
    view = seen(service)
    listed = [told for _, told in problems(service, view)]
    assert [one["id"] for one in listed] == [squares, cubes]
    answer: Any = ("source", "terms")
    alone = [problem(service, view, one["id"]) for one in listed]
    assert listed == [{k: v for k, v in one.items() if k not in answer} for one in alone]
    assert [one["revealed"] for one in listed] == [False, True]
    assert listed[0]["title"] == "Squares at last"
    assert listed[0]["freeze_started_at"].startswith("2026-12-24")


def test_a_list_of_many_problems_asks_no_more_than_one_of_few(service: Service) -> None:
    """A season's page is opened by everybody at its beginning."""
    engine = service.store._engine
    asked: list[str] = []
    event.listen(engine, "before_cursor_execute", lambda *given: asked.append(given[2]))
    view = seen(service)

    def questions() -> int:
        asked.clear()
        problems(service, view)
        return len(asked)

    few = questions()
    for n in range(12):
        publish(service, SQUARES.replace("n * n", f"n * n + {n}"))
    view = seen(service)
    assert len(problems(service, view)) == 13
    assert 0 < questions() == few


def test_a_page_begins_behind_a_place_and_is_bounded(service: Service) -> None:
    """Cursors name positions, which stay."""
    publish(service, CUBES)
    view = seen(service)
    (place, first), (_, second) = problems(service, view)
    assert [told for _, told in problems(service, view, after=place)] == [second]
    assert [told for _, told in problems(service, view, limit=1)] == [first]
    with pytest.raises(Unreadable):
        problems(service, view, limit=0)
