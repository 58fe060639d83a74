"""Return a dojo contest's problems: the disclosed terms, and the answers once revealed."""

from typing import Any

from agon.app.access.permissions import View
from agon.app.contests.ledgers import slugs
from agon.app.contests.ledgers.positions import last_readable_seq
from agon.app.contests.submissions.extra_time import personal_problem
from agon.app.contests.submissions.feedback import (
    count_submissions,
    dojo_rules,
    max_submissions,
)
from agon.app.contests.submissions.problems import (
    freezes_at,
    published_problem,
    revealed_at,
    revealed_ids,
    visible_fields,
)
from agon.app.dojo.conditions import contest_conditions
from agon.app.dojo.lifecycle import PUBLISHED, PublishedProblem, is_frozen
from agon.app.service import Service
from agon.errors import Unreadable
from agon.ledger.entry import EntryLine, read_line
from agon.store.session import Session

MAX_PROBLEMS = 500


def problem(
    service: Service, view: View, problem_id: str, *, user: str | None = None
) -> dict[str, Any]:
    """Return a problem, as much of it as a view may see.

    Args:
        service: the service.
        view: what the caller may see.
        problem_id: its id or its slug.
        user: the participant whose submissions are counted; None: none are.

    Raises:
        NotFound: there is none of that id, or none the caller may see.
        Conflict: the contest is of another discipline.
    """
    with service.store.read() as session:
        limit = last_readable_seq(view)
        name = slugs.problem_id(session, view.contest, problem_id, until=limit)
        published = published_problem(session, view.contest, name, until=limit)
        revealed = revealed_at(session, view.contest, name, until=limit) is not None
        shown = _problem_fields(service, session, view, published, revealed=revealed, user=user)
        return shown | {"judging": contest_conditions(view.contest)}


def problems(
    service: Service, view: View, *, user: str | None = None, after: int = 0, limit: int = 50
) -> list[tuple[int, dict[str, Any]]]:
    """Return problems in the order of their publication, each with its position.

    Answers are left out, revealed ones too: :func:`problem` returns them one by one.

    Args:
        service: the service.
        view: what the caller may see.
        user: the participant whose submissions are counted; None: none are.
        after: the position to begin after.
        limit: maximum number of problems.

    Raises:
        Unreadable: the limit is out of range.
    """
    if not 1 <= limit <= MAX_PROBLEMS + 1:
        raise Unreadable(f"limit is {limit}; give 1 to {MAX_PROBLEMS}")
    first: dict[str, int] = {}
    published: dict[str, EntryLine] = {}
    contest, until = view.contest, last_readable_seq(view)
    with service.store.read() as session:
        for stored in session.entries.of_kind(contest.no, [PUBLISHED], until=until):
            entry = read_line(stored.line)
            name = entry.body["problem"]
            first.setdefault(name, stored.seq)  # published again, it keeps its position
            published[name] = entry
        page = [(seq, name) for name, seq in first.items() if seq > after][:limit]
        freezes = freezes_at(session, contest, until=until) if page else {}
        revealed = revealed_ids(session, contest, until=until) if page else frozenset()
        shown = {
            name: _problem_fields(
                service,
                session,
                view,
                PublishedProblem.of(published[name], freeze=freezes.get(name)),
                revealed=name in revealed,
                user=user,
            )
            for _, name in page
        }
    return [(seq, _without_answer(shown[name])) for seq, name in page]


def _problem_fields(
    service: Service,
    session: Session,
    view: View,
    published: PublishedProblem,
    *,
    revealed: bool,
    user: str | None,
) -> dict[str, Any]:
    """Return a problem with what is disclosed of verdicts, and what a user may still submit."""
    rules = dojo_rules(view.contest)
    made, terms = None, None
    if user is not None:
        made = count_submissions(service, session, view.contest, user=user, problem=published.id)
        terms = session.members.terms(view.contest.no, user)
    frozen = is_frozen(personal_problem(published, terms), now=service.clock())
    return visible_fields(published, revealed=revealed) | {
        "feedback": None if rules is None else rules.feedback,
        "max_submissions": max_submissions(session, view.contest, user=user),
        "submissions": made,
        "extended_until": None if terms is None else terms.problem_ends.get(published.id),
        "takes_submissions": not revealed and not frozen,
    }


def _without_answer(problem: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in problem.items() if name not in {"source", "terms"}}
