"""Test lists of problems: each as it is returned alone, with a few database statements."""

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


def view_of(service: Service, by: Caller = ANONYMOUS) -> View:
    """Return a caller's view of the contest."""
    with service.store.read() as session:
        return find_view(session, "autumn", by, now=service.clock())


def test_each_problem_is_listed_as_it_is_returned_alone(service: Service) -> None:
    """A problem that was published again, moved or revealed keeps its position in the list."""
    cubes = publish(service, CUBES, freeze_started_at="2026-11-22T08:00:00Z")
    squares = problems(service, view_of(service))[0][1]["id"]
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
    view = view_of(service)
    listed = [item for _, item in problems(service, view)]
    assert [item["id"] for item in listed] == [squares, cubes]
    hidden: Any = ("judging", "source", "terms")
    alone = [problem(service, view, item["id"]) for item in listed]
    assert listed == [{k: v for k, v in item.items() if k not in hidden} for item in alone]
    assert [item["revealed"] for item in listed] == [False, True]
    assert listed[0]["title"] == "Squares at last"
    assert listed[0]["freeze_started_at"].startswith("2026-12-24")


@pytest.mark.exhaustive
def test_a_list_of_many_problems_needs_no_more_statements_than_one_of_few(service: Service) -> None:
    """Many users open a season's page at its beginning."""
    engine = service.store._engine
    statements: list[str] = []
    event.listen(
        engine, "before_cursor_execute", lambda *arguments: statements.append(arguments[2])
    )
    view = view_of(service)

    def count() -> int:
        statements.clear()
        problems(service, view)
        return len(statements)

    few = count()
    for n in range(12):
        publish(service, SQUARES.replace("n * n", f"n * n + {n}"))
    view = view_of(service)
    assert len(problems(service, view)) == 13
    assert 0 < count() == few


def test_a_page_begins_after_a_cursor_and_is_limited(service: Service) -> None:
    """Cursors name positions, which do not change."""
    publish(service, CUBES)
    view = view_of(service)
    (place, first), (_, second) = problems(service, view)
    assert [item for _, item in problems(service, view, after=place)] == [second]
    assert [item for _, item in problems(service, view, limit=1)] == [first]
    with pytest.raises(Unreadable):
        problems(service, view, limit=0)
