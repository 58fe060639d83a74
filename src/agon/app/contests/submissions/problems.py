"""Publish and reveal the dojo's problems, and find the answer a submission is compared with.

A problem's answer (the setter's source and its terms) is in its ledger entry only; it is not
public before the problem is revealed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import orjson

from agon.app.contests.ledgers import slugs
from agon.app.contests.ledgers.append import append, table_of
from agon.app.contests.ledgers.slugs import require_free_slug
from agon.app.dojo.lifecycle import (
    PUBLISHED,
    REVEALED,
    PublishedProblem,
    disclosure,
    freeze_in,
    require_revealable,
    revelation,
)
from agon.app.dojo.problems import Problem, problem_of
from agon.app.files import FileIssue, InvalidPackage
from agon.app.queue.jobs import gate_job
from agon.app.service import Service
from agon.disciplines import discipline
from agon.disciplines.dojo.canonical import canonicalize
from agon.entities.access import Caller
from agon.entities.contests import Contest
from agon.entities.jobs import Job
from agon.errors import Conflict, NotFound, Unreadable
from agon.ledger.entry import EntryLine, read_line
from agon.ledger.keys import record_key
from agon.ledger.transitions import require_not_over
from agon.records import Table
from agon.store.session import Session

_HIDDEN: Final = ("source", "terms")
_PORTION: Final = 1000


def publish_problem(
    service: Service, contest_id: str, package: Mapping[str, Any], *, by: Caller
) -> tuple[str, Job]:
    """Queue the validation of a setter; its problem is published when a worker has run it.

    Args:
        service: the service.
        contest_id: a dojo contest.
        package: the fields of ``problem.json`` (``title``, ``interface``, ``N_check``,
            ``first_index``, ``setter_user_id``, ``freeze_started_at``), and ``source``, the
            setter's program.
        by: the caller.

    Returns:
        The problem's id (``P_hash``) and the job.

    Raises:
        NotFound: there is no such contest.
        InvalidPackage: with everything that is wrong with the package.
        Conflict: the contest is over, or of another discipline, or the slug is taken.
    """
    problem = _problem(package)
    with service.store.write() as session:
        contest = session.contests.lock(contest_id)
        problem, _ = _publishable(session, contest, problem)
        stored_package = {
            **problem.declaration(),
            "first_index": problem.first_index,
            "source": problem.source.decode(),
        }
        job = gate_job(
            contest, id=service.new_id(), problem=problem.id, package=stored_package, by=by.name
        )
        return problem.id, session.queue.add(job, now=service.clock())


@dataclass(frozen=True, kw_only=True)
class ProblemPublication:
    """What publishing a package would do.

    Attributes:
        problem: the problem that would be published.
        again: whether it is published already; then its declaration is replaced.
        validating: number of other problems of the contest whose validation is not done.
    """

    problem: Problem
    again: bool
    validating: int


def planned_publication(
    service: Service, contest_id: str, package: Mapping[str, Any]
) -> ProblemPublication:
    """Return what :func:`publish_problem` would publish, without a run of the setter.

    Raises:
        NotFound, InvalidPackage, Conflict: as publishing.
    """
    problem = _problem(package)
    with service.store.read() as session:
        contest = session.contests.get(contest_id)
        problem, again = _publishable(session, contest, problem)
        gates = session.queue.page(
            contest_no=contest.no, states=("queued", "leased"), kinds=("gate",), limit=_PORTION
        )
    return ProblemPublication(problem=problem, again=again, validating=len(gates))


def _publishable(session: Session, contest: Contest, problem: Problem) -> tuple[Problem, bool]:
    """Return a problem as it would be published, and whether it was published before.

    Raises:
        Conflict: the contest is over, or of another discipline, or the slug is taken.
    """
    _table(contest)
    earlier = _last(session, contest, PUBLISHED, problem.id, until=None)
    problem = problem.as_published(None if earlier is None else earlier.body["package"])
    require_free_slug(session, contest, problem.slug, problem_id=problem.id)
    require_not_over(contest, remedy="publish the problem in another contest")
    return problem, earlier is not None


def reveal_problem(service: Service, contest_id: str, problem_id: str, *, by: Caller) -> Contest:
    """Reveal a problem: its source and its terms are public from now on.

    Raises:
        NotFound: there is no such contest or problem.
        Conflict: it is revealed already, or still takes submissions.
    """
    with service.store.write() as session:
        contest = session.contests.lock(contest_id)
        _table(contest)
        problem_id = slugs.problem_id(session, contest, problem_id)
        problem = published_problem(session, contest, problem_id)
        now = service.clock()
        extra = session.members.latest_problem_ends(contest.no).get(problem_id)
        require_revealable(
            problem.freeze_started_at, now=now, over=contest.is_over, extended_until=extra
        )
        if revealed_at(session, contest, problem_id) is not None:
            raise Conflict(f"problem {problem_id} is revealed already; there is nothing to do")
        return append(service, session, contest, [revelation(problem_id, at=now, by=by.name)])


def published_problem(
    session: Session, contest: Contest, problem_id: str, *, until: int | None = None
) -> PublishedProblem:
    """Return a published problem with its answer as of a position; never for a client.

    Raises:
        NotFound: there is none of that id, or none whose answer the ledger holds.
    """
    table = _table(contest)
    key = record_key(table, {"id": problem_id}) if problem_id.isprintable() else None
    existing = session.entries.existing(contest.no, records=[key] if key else [], until=until).get(
        key or ""
    )
    if existing is None:
        raise NotFound(f"{contest.id} has no problem {problem_id[:80]!r}; list its problems")
    row = _at(session, contest, existing.seq).body["row"]
    before = _at(session, contest, existing.seq - 1)
    entry: EntryLine | None = before if _publishes(before, problem_id) else None
    if entry is None:
        # The row was replaced since, so the entry is not the one before it.
        entry = _last(session, contest, PUBLISHED, problem_id, until=until)
    if entry is None:
        raise NotFound(f"the ledger of {contest.id} has no answer to problem {problem_id}; "
                       "publish it through its validation")  # fmt: skip
    return PublishedProblem.of(entry, freeze=freeze_in(row))


def revealed_at(
    session: Session, contest: Contest, problem_id: str, *, until: int | None = None
) -> int | None:
    """Return the position at which a problem was revealed, None before."""
    entry = _last(session, contest, REVEALED, problem_id, until=until)
    return None if entry is None else entry.seq


def freezes_at(
    session: Session, contest: Contest, *, until: int | None = None
) -> dict[str, datetime | None]:
    """Return when each of a contest's problems is frozen, by its newest row at a position."""
    rows = problem_rows(session, contest, until=until)
    return {name: freeze_in(row) for name, row in rows.items()}


def problem_rows(
    session: Session, contest: Contest, *, until: int | None = None
) -> dict[str, Mapping[str, Any]]:
    """Return the newest row of each of a contest's problems at a position, by id."""
    table, rows_by_id, after = _table(contest).name, dict[str, Mapping[str, Any]](), 0
    while True:
        rows = session.entries.rows(contest.no, table, after=after, until=until, limit=_PORTION)
        for stored in rows:
            row = orjson.loads(stored.line)["body"]["row"]
            rows_by_id[row["id"]] = row
        if len(rows) < _PORTION:
            return rows_by_id
        after = rows[-1].seq


def revealed_ids(session: Session, contest: Contest, *, until: int | None = None) -> frozenset[str]:
    """Return the ids of the problems that were revealed up to a position."""
    entries = session.entries.of_kind(contest.no, [REVEALED], until=until)
    return frozenset(orjson.loads(entry.line)["body"]["problem"] for entry in entries)


def visible_fields(problem: PublishedProblem, *, revealed: bool) -> dict[str, Any]:
    """Return the visible fields of a problem: its source and all terms only once it is revealed.

    Returns:
        ``id``, ``title``, ``interface``, ``N_check``, ``first_index``, ``setter_user_id``,
        ``freeze_started_at``, ``disclosed`` (a_1, a_3, …, a_99, each as ``{"n", "a"}``) and
        ``revealed``; of a revealed one ``source`` and ``terms`` as well.
    """
    package = problem.package
    fields = {
        "id": problem.id,
        **disclosure(package, freeze=problem.freeze_started_at),
        "revealed": revealed,
    }
    return fields | ({name: package[name] for name in _HIDDEN} if revealed else {})


def _problem(package: Mapping[str, Any]) -> Problem:
    source = package.get("source")
    if not isinstance(source, str) or not source.strip():
        raise InvalidPackage(
            FileIssue("source", "is not a program", "give the setter's source as text")
        )
    try:
        canonical = canonicalize(source.encode())
    except UnicodeEncodeError:
        raise InvalidPackage(
            FileIssue("source", "is not a UTF-8 text", "save it as UTF-8")
        ) from None
    issues: list[FileIssue] = []
    declared = {name: value for name, value in package.items() if name != "source"}
    problem = problem_of(declared, canonical, issues=issues, declaration="package", setter="source")
    if problem is None:
        raise InvalidPackage(*issues)
    return problem


def _table(contest: Contest) -> Table:
    """Return the table of a contest's problems.

    Raises:
        Conflict: its discipline has no problems.
    """
    problems = discipline(contest.discipline).problems
    if problems is None:
        raise Conflict(
            f"{contest.id} is a contest of the {contest.discipline}, which has no problems; name "
            "a dojo contest"
        )
    return table_of(contest.discipline, problems.table)


def _at(session: Session, contest: Contest, seq: int) -> EntryLine:
    return next(
        read_line(entry.line) for entry in session.entries.after(contest.no, seq - 1, until=seq)
    )


def _publishes(entry: EntryLine, problem_id: str) -> bool:
    return entry.kind == PUBLISHED and entry.body["problem"] == problem_id


def _last(
    session: Session, contest: Contest, kind: str, problem_id: str, *, until: int | None
) -> EntryLine | None:
    """Return the last entry of a kind that is about a problem."""
    last = None
    for stored in session.entries.of_kind(contest.no, [kind], until=until):
        entry = read_line(stored.line)
        if entry.body["problem"] == problem_id:
            last = entry
    return last


def optional_text(name: str, value: Any, most: int) -> str | None:
    """Return a text of a submission, None when it is missing.

    Raises:
        Unreadable: it is not a text, or too long.
    """
    if value is None:
        return None
    if not isinstance(value, str) or len(value) > most:
        raise Unreadable(f"{name} is not a text of at most {most:,} characters; shorten it")
    return value
