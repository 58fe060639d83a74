"""Change sets: propose by form or by a file of ids, see who moves, apply, undo."""

from typing import Any, Final

from agon.api.models.base import ReasonRequest
from agon.api.models.changes import ApplyRequest, ChangeSet, ChangeSetCreate
from agon.api.models.contests import Contest
from agon.disciplines import discipline
from agon.errors import AgonError, NotFound, Unavailable, Unreadable
from agon.web import addresses
from agon.web.desk.change_files import correction_rows, file_ids
from agon.web.desk.layout import act, contest_page, listing
from agon.web.desk.uploads import ACCEPTED
from agon.web.page import Redirect, SitePage, Visit

AT_ONCE: Final = 50_000
"""Maximum length of a ledger whose dry runs are done while the page is loaded."""

_FIELDS: Final = frozenset({"records", "people", "board", "id", "points", "problem", "reason"})


def changes(visit: Visit, *, error: Exception | None = None) -> SitePage:
    """Return all change sets, and the forms that propose one."""
    contest = visit.contest()
    kind = discipline(contest.discipline).submissions
    values = {
        "changes": listing(visit, visit.api.changes.list(contest.id), oldest_first=True),
        "given": {**visit.query, **visit.form},
        "tables": [table.name for table in discipline(contest.discipline).schema if table.key],
        "accept": ACCEPTED,
        "judges_programs": kind is not None and kind.judging == "program",
    }
    return contest_page(
        visit, contest, "changes", values, error=error, names=_FIELDS,
        data=addresses.api("contests", contest.id, "change-sets"),
    )  # fmt: skip


def propose(visit: Visit) -> SitePage | Redirect:
    """Propose a change set; its page shows the effect."""
    contest = visit.contest()
    return act(
        lambda: propose_and_try(visit, contest, _request(visit, contest)),
        following=lambda change: addresses.desk(contest.id, "changes", change.id),
        otherwise=lambda error: changes(visit, error=error),
    )


def propose_and_try(visit: Visit, contest: Contest, request: ChangeSetCreate) -> ChangeSet:
    """Propose a change set, and compute its effect now unless that takes long."""
    proposed: ChangeSet = visit.api.changes.propose(contest.id, request)
    _try(visit, contest, proposed.id)
    return proposed


def change(visit: Visit, *, error: Exception | None = None) -> SitePage:
    """Return a change set: what it changes, who moves, and what can be done with it."""
    contest = visit.contest()
    shown = visit.api.changes.get(contest.id, visit.path["id"])
    boards: dict[str, Any] = (shown.report or {}).get("boards", {})
    values = {
        "change": shown,
        "boards": boards,
        "moves": sum(board.get("summary", {}).get("moved", 0) for board in boards.values()),
        "grown": contest.seq - (shown.dry_run_at or contest.seq),
    }
    return contest_page(
        visit, contest, "change", values, tab="Changes", error=error, names=frozenset({"reason"}),
        data=addresses.api("contests", contest.id, "change-sets", shown.id),
    )  # fmt: skip


def act_on(visit: Visit) -> SitePage | Redirect:
    """Apply, cancel, roll back or try a change set again."""
    contest, form = visit.contest(), visit.form
    name, action = visit.path["id"], visit.path["action"]
    api = visit.api.changes

    def do() -> None:
        if action == "apply":
            even = form.get("even_if_moved") == "yes"
            api.apply(contest.id, name, ApplyRequest(even_if_moved=even))
        elif action == "cancel":
            api.cancel(contest.id, name)
        elif action == "rollback":
            reason = ReasonRequest.model_validate({"reason": form.get("reason", "")})
            api.roll_back(contest.id, name, reason)
        elif action == "preview":
            api.queue_dry_run(contest.id, name)
            _try(visit, contest, name)
        else:
            raise NotFound(f"a change set has no action {action!r}; see its page")

    return act(
        do,
        following=addresses.desk(contest.id, "changes", name),
        otherwise=lambda error: change(visit, error=error),
    )


def _try(visit: Visit, contest: Contest, name: str) -> None:
    """Run a change set dry now; if that takes long, or programs must run first, a worker does.

    One without an effect that could be shown is cancelled, so that the form can be corrected.

    Raises:
        Conflict, NotFound, NotScorable: as the dry run.
    """
    if contest.seq > AT_ONCE:
        return
    try:
        visit.api.changes.dry_run(contest.id, name)
    except Unavailable:
        return  # it waits for the runs of programs
    except AgonError:
        visit.api.changes.cancel(contest.id, name)
        raise


def _request(visit: Visit, contest: Contest) -> ChangeSetCreate:
    """Return the change set that a form describes.

    Raises:
        Unreadable: the form has no such kind, a number is none, or the file cannot be read.
    """
    form, kind = visit.form, visit.form.get("kind", "")
    params: dict[str, Any]
    if kind in {"records", "people"}:
        kind, params = "void", {kind: [*_lines(form.get(kind, "")), *file_ids(visit, kind)]}
    elif kind == "adjustment":
        params = {"board": form.get("board", ""), "id": form.get("id", "").strip(),
                  "points": _number(form.get("points", ""))}  # fmt: skip
    elif kind == "merge":
        params = {name: form.get(name, "").strip() for name in ("duplicate", "into")}
    elif kind == "correction":
        table = form.get("table", "")
        params = {"table": table, "rows": correction_rows(visit, contest)}
    elif kind == "rejudge":
        params = {"problem": form["problem"].strip()} if form.get("problem", "").strip() else {}
    else:
        raise Unreadable(f"there is no form for a change of {kind[:80]!r}; use those of this page")
    return ChangeSetCreate.model_validate(
        {"kind": kind, "params": params, "reason": form.get("reason", "")}
    )


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _number(text: str) -> float:
    try:
        return float(text.replace("−", "-"))
    except ValueError:
        raise Unreadable(
            f"points: expected a number such as -12.5, got {text[:80]!r}; correct it"
        ) from None
