"""The life of a problem and its submissions, as ledger entries and records.

A contest of the service and a season in a folder both use these functions: a problem is published,
submissions are received, judged and judged again, the problem is revealed. They differ only in
where the ledger is stored (``agon.store``, ``agon.app.dojo.season``) and in when programs run (jobs
of a queue, or immediately).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from agon.app.dojo.grading import UNJUDGED, Row
from agon.app.dojo.hidden_answer import HiddenAnswer
from agon.app.dojo.problems import (
    PUBLISHED_FIRST_INDEX,
    Problem,
    first_index_of,
    packaged_problem,
)
from agon.errors import Conflict
from agon.kernel.times import parse_time, written_time
from agon.ledger.drafts import record_draft
from agon.ledger.entry import Draft, EntryLine

PUBLISHED: Final = "problem-published"
"""The kind of entry that holds a problem with its hidden answer."""
REVEALED: Final = "problem-revealed"
RECEIVED: Final = "submission-received"
SANDBOX_ERROR: Final = "sandbox_error"
"""The verdict of a run in which the sandbox failed; the program is judged again."""

DISCLOSED: Final = 50
"""Number of terms that are disclosed: a_1, a_3, …, a_99 (``dojo.md``)."""


@dataclass(frozen=True, kw_only=True)
class PublishedProblem:
    """A published problem with its hidden answer; not to be shown as it is.

    Attributes:
        id: its ``P_hash``.
        seq: position of its ``problem-published`` entry.
        package: its declaration, its setter's source and its terms.
        freeze_started_at: from when on submissions are rejected, as its newest record says.
    """

    id: str
    seq: int
    package: Mapping[str, Any] = field(repr=False)
    freeze_started_at: datetime | None

    @classmethod
    def of(cls, entry: EntryLine, *, freeze: datetime | None) -> "PublishedProblem":
        """Read a ``problem-published`` entry; its freeze is that of the problem's newest record."""
        return cls(
            id=entry.body["problem"],
            seq=entry.seq,
            package=entry.body["package"],
            freeze_started_at=freeze,
        )

    @property
    def n_check(self) -> int:
        """Return how many terms a solver has to give."""
        return len(self.package["terms"])

    @property
    def first_index(self) -> int:
        """Return the index of the first term."""
        return first_index_of(self.package)

    @property
    def answer(self) -> HiddenAnswer:
        """Return the hidden answer with the problem as its package declares it."""
        return HiddenAnswer(packaged_problem(self.package), tuple(self.package["terms"]))


def freeze_in(row: Row) -> datetime | None:
    """Return the freeze that a row of the table ``problems`` names."""
    return parse_time(row.get("freeze_started_at"))


def problem_row(problem: Problem) -> dict[str, Any]:
    """Return a problem's row of the table ``problems``: nothing of its answer but the hash.

    A row without ``first_index`` means 1, as the rows that were recorded before it existed.
    """
    first_index = problem.first_index
    stated = {} if first_index == PUBLISHED_FIRST_INDEX else {"first_index": first_index}
    return {
        "id": problem.id,
        "setter_user_id": problem.setter_user_id,
        "title": problem.title,
        "n_check": problem.n_check,
        **stated,
        "freeze_started_at": problem.declaration()["freeze_started_at"],
        "p_hash": problem.id,
    }


def publication(
    answer: HiddenAnswer, *, replaces: int | None, at: datetime, by: str
) -> tuple[Draft, Draft]:
    """Return the entries that publish a problem: one with its answer, one record without.

    Args:
        answer: the problem with the terms its setter gave.
        replaces: position of the problem's record when it was published before, else None.
        at: when.
        by: who publishes it.
    """
    problem = answer.problem
    body = {"problem": problem.id, "package": answer.package}
    row = problem_row(problem)
    return (
        Draft(kind=PUBLISHED, body=body, at=at, by=by),
        record_draft("problems", row, at=at, by=by, replaces=replaces),
    )


def disclosure(package: Mapping[str, Any], *, freeze: datetime | None) -> dict[str, Any]:
    r"""Return what solvers see of a problem: its declaration and the disclosed terms.

    Neither the setter's source nor any other term is in it.

    Example:
        >>> package = {"interface": "seq", "source": "…", "terms": ["1", "4", "9", "16", "25"]}
        >>> disclosure(package, freeze=None)["disclosed"]
        [{'n': 1, 'a': '1'}, {'n': 3, 'a': '9'}, {'n': 5, 'a': '25'}]
        >>> disclosure({**package, "first_index": 0}, freeze=None)["disclosed"]
        [{'n': 1, 'a': '4'}, {'n': 3, 'a': '16'}]
    """
    slug = package.get("slug")
    return {
        **({} if slug is None else {"slug": slug}),
        "title": package.get("title") or "",
        "interface": package.get("interface"),
        "N_check": len(package["terms"]),
        "first_index": first_index_of(package),
        "setter_user_id": package.get("setter_user_id"),
        "freeze_started_at": None if freeze is None else written_time(freeze),
        "disclosed": disclosed_terms(package["terms"], first_index=first_index_of(package)),
    }


def disclosed_terms(terms: Sequence[str], *, first_index: int) -> list[dict[str, Any]]:
    """Return the first fifty terms of odd index; with a first index of 0 or 1 a_1, a_3, …, a_99.

    Args:
        terms: all terms.
        first_index: index of the first of them.

    Example:
        >>> disclosed_terms(["0", "1", "4", "9"], first_index=0)
        [{'n': 1, 'a': '1'}, {'n': 3, 'a': '9'}]
        >>> [term["n"] for term in disclosed_terms(["7"] * 5, first_index=-2)]
        [-1, 1]
    """
    first = first_index | 1
    end = min(first + 2 * DISCLOSED, first_index + len(terms))
    return [{"n": n, "a": terms[n - first_index]} for n in range(first, end, 2)]


def submission_row(
    submission: str,
    *,
    problem: str,
    user: str,
    created_at: datetime,
    content: Mapping[str, Any],
    extended_until: str | None = None,
) -> dict[str, Any]:
    """Return a submission's row of the table ``submissions``, not judged yet.

    Args:
        submission: its id.
        problem: the problem's id.
        user: whose it is.
        created_at: when it was submitted.
        content: ``source`` (None where it is recorded by hash alone), ``source_hash``,
            ``l_chars``, and if declared ``method_tag`` and ``notes``.
        extended_until: the end of the user's extra time for the problem; None: no extra time.
    """
    extended = {} if extended_until is None else {"extended_until": extended_until}
    return {
        "id": submission,
        "problem_id": problem,
        "user_id": user,
        "created_at": written_time(created_at),
        **extended,
        "source": content["source"],
        "source_hash": content["source_hash"],
        "l_chars": content["l_chars"],
        "method_tag": content.get("method_tag"),
        "notes": content.get("notes"),
        **UNJUDGED,
    }


def is_judged(row: Row | None) -> bool:
    """Return whether a submission has a verdict that stays: any but ``sandbox_error``."""
    return row is not None and row["verdict"] != SANDBOX_ERROR


@dataclass(frozen=True)
class VerdictChange:
    """A verdict that another run does not confirm: its row before and after."""

    before: Row
    after: Row

    def to_dict(self) -> dict[str, Any]:
        """Return it as a plain value."""
        return {
            "id": self.after["id"],
            "problem_id": self.after["problem_id"],
            "user_id": self.after["user_id"],
            "verdict_before": self.before["verdict"],
            "verdict_after": self.after["verdict"],
            "terms_matched_before": self.before.get("terms_matched"),
            "terms_matched_after": self.after.get("terms_matched"),
            "reason": self.after["reason"],
        }


def verdict_changes(pairs: Iterable[tuple[Row, Row]]) -> list[VerdictChange]:
    """Return the verdicts and matched terms that judging again would change.

    A new run that ended in ``sandbox_error`` changes nothing: the recorded verdict stays.

    Args:
        pairs: of every submission that was judged again its recorded row and its new row.
    """
    return [
        VerdictChange(before, after)
        for before, after in pairs
        if is_judged(after) and _verdict(before) != _verdict(after)
    ]


def _verdict(row: Row) -> tuple[str, int | None]:
    return row["verdict"], row.get("terms_matched")


def require_open(problem: PublishedProblem, *, now: datetime) -> None:
    """Reject what is submitted after a problem's freeze.

    Raises:
        Conflict: it is frozen.
    """
    freeze = problem.freeze_started_at
    if freeze is not None and is_frozen(problem, now=now):
        raise Conflict(
            f"problem {problem.id} takes no submissions since {freeze.isoformat()}; choose another"
        )


def is_frozen(problem: PublishedProblem, *, now: datetime) -> bool:
    """Return whether a problem's freeze has begun."""
    return problem.freeze_started_at is not None and now >= problem.freeze_started_at


def require_revealable(
    freeze: datetime | None,
    *,
    now: datetime,
    over: bool = False,
    extended_until: datetime | None = None,
    remedy: str = "",
) -> None:
    """Reject revealing a problem that is still open for submissions.

    A problem without a freeze is open until its contest is over.

    Args:
        freeze: from when on submissions are rejected, if ever.
        now: the time.
        extended_until: the latest end of extra time that somebody has for it, if anybody does.
        over: whether the contest is final or void, so that the freeze does not matter.
        remedy: what else can be done, for the end of the message.

    Raises:
        Conflict: submissions can still come.
    """
    ends = freeze if freeze is None or extended_until is None else max(freeze, extended_until)
    if over or (ends is not None and ends <= now):
        return
    until = "its contest is over" if ends is None else written_time(ends)
    if ends != freeze:
        until += " of somebody with extra time (see the people of the contest)"
    raise Conflict(
        f"the problem still takes submissions until {until}; reveal it after that{remedy}"
    )


def revelation(problem_id: str, *, at: datetime, by: str) -> Draft:
    """Return the entry that reveals a problem."""
    return Draft(kind=REVEALED, body={"problem": problem_id}, at=at, by=by)
