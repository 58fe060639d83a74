"""Decide what is disclosed of a verdict to participants, and how often they may submit.

Rule ``feedback``: with ``gate``, nothing beyond the gates is disclosed of a verdict while its
problem takes submissions. Staff sees verdicts as they are recorded.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

import orjson

from agon.app.access.permissions import View
from agon.app.analysis.score import rules_of
from agon.app.contests.ledgers.positions import last_readable_seq
from agon.app.contests.submissions.problems import problem_rows, revealed_ids
from agon.app.dojo.lifecycle import SANDBOX_ERROR, freeze_in
from agon.app.service import Service
from agon.disciplines.dojo.formulas import gate_text, gates
from agon.disciplines.dojo.records import SUBMISSIONS
from agon.disciplines.dojo.rules import DojoRules
from agon.entities.contests import Contest
from agon.errors import Conflict
from agon.store.session import Session

_REFUSED: Final = frozenset({"rejected_import", "syntax_error"})


def dojo_rules(contest: Contest) -> DojoRules | None:
    """Return the rules in force in a contest of the dojo, None in any other."""
    rules: Any = rules_of(contest.discipline, contest.edition, contest.overrides)[1]
    return rules.in_contest() if isinstance(rules, DojoRules) else None


class VerdictFeedback:
    """The part of the verdicts of a contest that the caller may see.

    Args:
        session: the database.
        view: what the caller may see of the contest.
        now: the time.
    """

    def __init__(self, session: Session, view: View, *, now: datetime) -> None:
        contest, until = view.contest, last_readable_seq(view)
        rules = dojo_rules(contest)
        self._all = (
            view.staff or rules is None or rules.feedback == "terms" or contest.was_finalized
        )
        if rules is None or self._all:
            return
        rows = problem_rows(session, contest, until=until)
        extra = session.members.latest_problem_ends(contest.no)
        frozen = {
            name
            for name, row in rows.items()
            if (freeze := freeze_in(row)) is not None
            and max(freeze, extra.get(name, freeze)) <= now
        }
        self._disclosed = frozen | revealed_ids(session, contest, until=until)
        self._n_check = {name: row.get("n_check") or rules.n_check for name, row in rows.items()}
        self._default_n_check = rules.n_check

    def discloses(self, problem: str) -> bool:
        """Return whether the caller may see how many terms of submissions to a problem are right.

        Its freeze has begun and no person has extra time any more, it is revealed, its contest was
        finalized, or its terms are disclosed.
        """
        return self._all or problem in self._disclosed

    def visible(self, row: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a row of the table ``submissions`` as far as the caller may see it.

        Where terms are not disclosed, ``terms_matched`` is null and the reason of a wrong answer
        names the gates alone.
        """
        if self._all or self.discloses(str(row["problem_id"])) or row["verdict"] == "ok":
            return row
        shown = {**row, "terms_matched": None}
        if row["verdict"] == "wrong_answer":
            terms = self._n_check.get(str(row["problem_id"]), self._default_n_check)
            shown["reason"] = gate_text(gates(row["terms_matched"], n_check=terms), n_check=terms)
        return shown


def count_submissions(
    service: Service, session: Session, contest: Contest, *, user: str, problem: str
) -> int:
    """Return how many submissions of a user to a problem count towards ``max_submissions``.

    A submission that ended in ``sandbox_error`` does not count, nor one that was refused without a
    run, for its imports or its syntax: neither says anything about the hidden terms.
    """
    ids = service.submission_index.of(session, contest.no, contest.id, user=user, problem=problem)
    keys = [f"{SUBMISSIONS.name}/{name}" for name in ids]
    recorded = session.entries.existing(contest.no, records=keys)
    free = sum(_is_free(orjson.loads(entry.line)["body"]["row"]) for entry in recorded.values())
    return len(ids) - free


def max_submissions(session: Session, contest: Contest, *, user: str | None) -> int | None:
    """Return how many submissions to each problem count of a user; None: any number does.

    The rule ``max_submissions``, and what organizers allowed this person beyond it.
    """
    rules = dojo_rules(contest)
    if rules is None or rules.max_submissions is None:
        return None
    terms = None if user is None else session.members.terms(contest.no, user)
    return rules.max_submissions + (0 if terms is None else terms.attempts)


def _is_free(row: Mapping[str, Any]) -> bool:
    """Return whether a verdict costs no attempt; a program itself can only claim one of a run."""
    refused = row["verdict"] in _REFUSED and row.get("mode") is None
    return refused or row["verdict"] == SANDBOX_ERROR


def require_submissions_left(
    service: Service, session: Session, contest: Contest, *, user: str, problem: str
) -> None:
    """Reject a submission beyond the rule ``max_submissions``.

    Raises:
        Conflict: the user has sent as many as the rule allows.
    """
    most = max_submissions(session, contest, user=user)
    if most is None:
        return
    made = count_submissions(service, session, contest, user=user, problem=problem)
    if made >= most:
        raise Conflict(
            f"{user} has made {made:,} submissions to problem {problem}, the most is {most:,} "
            "(rule max_submissions: every verdict reveals something of the hidden terms); "
            "choose another problem"
        )
