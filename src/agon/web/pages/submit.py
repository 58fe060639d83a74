"""The page on which participants submit: programs to a dojo, agents to a challenge."""

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from pydantic import ValidationError

from agon.api.models.contests import Contest
from agon.api.models.submissions import SubmissionCreate
from agon.app.access.permissions import permits
from agon.app.contests.ingest.openness import require_open
from agon.app.contests.submissions.miners import missing_for_trials, no_miner_text, own_uids
from agon.app.dojo.conditions import contest_sentences
from agon.app.dojo.problems import N_CHECK
from agon.disciplines import discipline
from agon.entities.members import MemberTerms
from agon.errors import AgonError, Conflict, NotFound, Unreadable
from agon.web import addresses
from agon.web.page import Redirect, SitePage, Visit, error_texts

_EXAMPLE: Final = """\
def solver():
    terms, a, b = [], 0, 1
    for _ in range({terms}):
        terms.append(a)
        a, b = b, a + b
    return terms
"""


@dataclass(frozen=True)
class Miners:
    """Whom a visitor submits agents for.

    Attributes:
        uids: of the visitor.
        missing: what is missing before agents are tried, with the remedies.
        obstacle: why the visitor has no uid; empty: there is one, or the visitor needs none.
    """

    uids: Sequence[int]
    missing: Sequence[str]
    obstacle: str


_SHOWN: Final = 20
_PROBLEMS: Final = 500
_MAX_FILE: Final = 1 << 20


def example(terms: int) -> str:
    """Return the program that a form shows at first, which gives so many terms."""
    return _EXAMPLE.format(terms=terms)


def form(visit: Visit, *, error: Exception | None = None) -> SitePage:
    """Return the form, and the visitor's own submissions."""
    contest = visit.contest()
    judging = _judging(contest)
    listed = visit.api.problems.list(contest.id) if judging == "program" else ()
    problems = [problem for problem in islice(listed, _PROBLEMS) if problem.takes_submissions]
    terms = max((problem.N_check for problem in problems), default=N_CHECK)
    values = {
        "contest": contest,
        "judging": judging,
        "problems": problems,
        "conditions": contest_sentences(contest),
        "chosen": visit.form.get("problem") or visit.query.get("problem", ""),
        "may_submit": visit.caller.user is not None
        and permits(visit.caller, "submission.add", contest=contest),
        "signed_in": visit.caller.user is not None,
        "obstacle": obstacle(visit, contest),
        "miners": _miners(visit, contest) if judging == "trials" else None,
        "own_terms": own_terms(visit, contest),
        "errors": error_texts(error),
        "form": {"source": example(terms), **visit.form},
        "submissions": own_submissions(visit, contest),
    }
    return SitePage(
        template="submit.html",
        title=f"Submit · {contest.title}",
        values=values,
        data=addresses.api("contests", contest.id, "submissions") if values["signed_in"] else None,
        status=422 if error else 200,
    )


def submit(visit: Visit) -> SitePage | Redirect:
    """Submit what the form has."""
    contest = visit.contest()
    try:
        return _SUBMIT[_judging(contest)](visit, contest)
    except (AgonError, ValidationError) as error:
        return form(visit, error=error)


def submit_program(visit: Visit, contest: Contest, problem: str) -> Redirect:
    """Submit the program of a form for a problem; return where its verdict will be.

    Raises:
        AgonError, ValidationError: it was not accepted.
    """
    source = visit.form.get("source", "").replace("\r\n", "\n")
    content = {"source": source} | _filled_fields(visit.form, "method_tag", "notes")
    request = SubmissionCreate(problem=problem, content=content)
    visit.api.submissions.create(contest.id, request)
    return Redirect(address=f"{addresses.problem(contest.id, problem)}#submissions")


def own_submissions(visit: Visit, contest: Contest, *, problem: str | None = None) -> list[Any]:
    """Return the visitor's newest submissions, the newest first."""
    if visit.caller.user is None or not permits(
        visit.caller, "submission.read-own", contest=contest
    ):
        return []
    own = list(visit.api.submissions.list(contest.id, user=visit.caller.user, problem=problem))
    return own[::-1][:_SHOWN]


def own_terms(visit: Visit, contest: Contest) -> MemberTerms | None:
    """Return what differs in a contest for the visitor; None: nothing does."""
    if visit.caller.user is None:
        return None
    with visit.service.store.read() as session:
        return session.members.terms(session.contests.get(contest.id).no, visit.caller.user)


def obstacle(visit: Visit, contest: Contest) -> str | None:
    """Return why a contest takes nothing from the visitor now; None: nothing prevents it."""
    with visit.service.store.read() as session:
        stored = session.contests.get(contest.id)
        try:
            require_open(visit.service, session, stored, visit.caller)
        except Conflict as closed:
            return str(closed)
    return None


def _miners(visit: Visit, contest: Contest) -> Miners:
    """Return whom the visitor submits agents for, and what is missing before they are tried."""
    user = visit.caller.user or ""
    with visit.service.store.read() as session:
        stored = session.contests.get(contest.id)
        uids = sorted(own_uids(session, stored, user))
        missing = list(missing_for_trials(visit.service, session, stored))
    return Miners(uids, missing, "" if uids or visit.caller.role != "participant" else
                  f"No uid is yours; {no_miner_text(user)}.")  # fmt: skip


def _program(visit: Visit, contest: Contest) -> Redirect:
    problem = visit.form.get("problem", "")
    if not problem:
        raise Unreadable("problem: expected one of the open problems, got nothing; choose one")
    return submit_program(visit, contest, problem)


def _agent(visit: Visit, contest: Contest) -> Redirect:
    agent = {"command": visit.form.get("command", ""), "files": _files(visit)}
    content = {"miner_uid": _uid(visit), "agent": agent} | _filled_fields(visit.form, "competition")
    visit.api.submissions.create(contest.id, SubmissionCreate(content=content))
    return Redirect(address=f"{addresses.submit(contest.id)}#submissions")


_SUBMIT: Final[Mapping[str, Callable[[Visit, Contest], Redirect]]] = {
    "program": _program,
    "trials": _agent,
}


def _uid(visit: Visit) -> int:
    text = visit.form.get("miner_uid", "").strip()
    if not (text.isascii() and text.isdigit()):
        raise Unreadable(f"miner_uid: expected a whole number, got {text[:80]!r}; give the miner's")
    return int(text[:10])


def _files(visit: Visit) -> dict[str, str]:
    """Return the uploaded file as text by its name, none if there is none.

    Raises:
        Unreadable: it is too large or not UTF-8.
    """
    name, file = visit.files.get("file", ("", io.BytesIO()))
    if not name:
        return {}
    content = file.read(_MAX_FILE + 1)
    if len(content) > _MAX_FILE:
        raise Unreadable(f"file: {name[:80]} has more than {_MAX_FILE:,} bytes; shorten it")
    try:
        return {name: content.decode("utf-8")}
    except UnicodeDecodeError:
        raise Unreadable(f"file: {name[:80]} is not UTF-8; save it as UTF-8") from None


def _filled_fields(fields: Mapping[str, str], *names: str) -> dict[str, str]:
    """Return those fields that are filled in."""
    return {name: text for name in names if (text := fields.get(name, "").strip())}


def _judging(contest: Contest) -> str:
    """Return how a contest's submissions are judged.

    Raises:
        NotFound: it takes none.
    """
    kind = discipline(contest.discipline).submissions
    if kind is None:
        raise NotFound(
            f"{contest.id} is a {contest.discipline} contest, which takes no submissions"
        )
    return kind.judging
