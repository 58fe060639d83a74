"""Small contests of all four disciplines with simulated records, for the pages of the site."""

from datetime import datetime
from typing import TYPE_CHECKING, Any

from agon.app.analysis.simulate import simulate
from agon.app.arena.live.entrants.bots import register
from agon.app.contests.boards.publish import publish
from agon.app.contests.cases.cases import decide, open_case
from agon.app.contests.cases.findings import scan
from agon.app.contests.changes.change_sets import dry_run, propose
from agon.app.contests.ingest.records import record
from agon.app.contests.lifecycle import creation, transitions
from agon.app.service import Service
from fakes.autumn import autumn, judged
from fakes.autumn import publish as publish_problem
from fakes.service import ORGANISER

if TYPE_CHECKING:
    from agon.ledger.contest_state import NameDisplay

SIZES = {"arena": 12, "challenge": 40, "community": 12}
"""Number of records of the main kind of each simulated contest."""

HOSTILE = "<b onmouseover=alert(1)>\"'&/%2F?#\u202e.."
"""An id with everything that could end an attribute, a path or a query."""


def all_disciplines(service: Service) -> None:
    """Create a contest of every discipline and publish its boards; the dojo's is ``autumn``.

    ``season`` is a dojo contest whose problems came as records.

    The arena's has a bot with a hostile id. A further contest, ``secret``, is private.
    """
    for name, size in SIZES.items():
        rows = simulated_rows(name, size)
        if name == "arena":
            rows += _hostile(rows)
        names: NameDisplay | None = "shown" if name == "community" else None
        contest_of(service, name, title=f"The {name} <i>", rows=rows, names=names)
    owner = {"id": "ada", "handle": "ada", "account_created_at": "2026-01-01T00:00:00Z"}
    record(service, "arena", [("owners", owner, None)], by=ORGANISER)
    register(service, "arena", name=HOSTILE, owner="ada", endpoint=None, judges=True, by=ORGANISER)
    contest_of(service, "secret", discipline="arena", title="The secret <i>", visibility="private",
             rows=[("bots", {"id": "ada", "name": "ada"}, None)])  # fmt: skip
    problem = autumn(service)
    publish_problem(service, "def seq(n):\n    return n + 1\n", title="Another sequence")
    judged(service, "s1", problem)
    publish(service, "autumn")
    contest_of(
        service, "season", discipline="dojo", title="The season", rows=simulated_rows("dojo", 2)
    )
    _desk(service)


def _desk(service: Service) -> None:
    """Give the arena's desk a finding, a case about it and a change set."""
    scan(service, "arena")
    opened = open_case(service, "arena", finding=0, text="look <i>", by=ORGANISER)
    params = {"people": [HOSTILE]}
    change = propose(service, "arena", kind="void", params=params, reason="r <i>", by=ORGANISER)
    dry_run(service, "arena", change.id)
    decide(service, "arena", opened.id, decision="<i>", reason="r", change=change.id, by=ORGANISER)


def contest_of(
    service: Service, name: str, *, rows: Any, discipline: str = "", **options: Any
) -> None:
    """Create and open a contest, add records and publish its boards."""
    new = creation.NewContest(id=name, discipline=discipline or name, **options)
    creation.create(service, new, by=ORGANISER)
    transitions.open_contest(service, name, by=ORGANISER)
    record(service, name, rows, by=ORGANISER)
    publish(service, name)


def simulated_rows(discipline: str, size: int) -> list[Any]:
    """Return simulated records of a discipline."""
    tables = simulate(discipline, size=size, seed=1).tables
    return [(table, _row(row), None) for table in tables for row in tables[table].to_pylist()]


def _row(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row of a table as it is written in JSON."""
    return {
        name: f"{value:%Y-%m-%dT%H:%M:%S.%fZ}" if isinstance(value, datetime) else value
        for name, value in row.items()
        if value is not None
    }


def _hostile(rows: list[Any]) -> list[Any]:
    """Return a bot with a hostile id and a match it wins."""
    other = next(row["id"] for table, row, _ in rows if table == "bots")
    match = {"id": HOSTILE, "played_at": "2026-11-01T00:00:00Z", "kind": "rated",
             "bot_a": HOSTILE, "bot_b": other, "winner": "a"}  # fmt: skip
    return [("bots", {"id": HOSTILE, "name": HOSTILE}, None), ("matches", match, None)]
