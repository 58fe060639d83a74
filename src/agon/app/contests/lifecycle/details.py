"""Edit a contest's details: title, description, visibility, start and end, and names."""

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, Final, get_args

from agon.app.access.audit import add_audit_entry
from agon.app.contests.ledgers.append import append
from agon.app.queue.jobs import publish_job
from agon.app.service import Service
from agon.disciplines import discipline
from agon.entities.access import Caller
from agon.entities.contests import Contest
from agon.errors import Changed, Unreadable
from agon.kernel.text.names import unfit_line
from agon.kernel.text.plain_json import unstorable
from agon.kernel.times import written_time
from agon.ledger.contest_state import NameDisplay, Visibility
from agon.ledger.entry import Draft, EntryLine, read_line
from agon.ledger.transitions import require_not_over
from agon.store.session import Session

DETAILS: Final = ("title", "description", "visibility", "starts_at", "ends_at", "names")

_TIMES: Final = ("starts_at", "ends_at")
_DIGITS: Final = 16
_MAX_TITLE_LENGTH: Final = 200
_MAX_DESCRIPTION_LENGTH: Final = 20_000


def edit(
    service: Service,
    contest_id: str,
    changes: Mapping[str, Any],
    *,
    by: Caller,
    expected: Collection[str] | None = None,
    dry_run: bool = False,
) -> Contest:
    """Change details of a contest with one entry that states all of them; equal ones add none.

    Names that are hidden are on no page from then on. Names that are shown follow with the next
    publication, which is queued.

    Args:
        service: the service.
        contest_id: the contest.
        changes: new values of some of :data:`DETAILS`; a time that is None is removed.
        by: the caller.
        expected: versions (:func:`version_of`) one of which the contest must have; None: any.
        dry_run: return the contest as it would be, and change nothing.

    Raises:
        NotFound: there is no such contest.
        Changed: it has another version than those expected.
        Conflict: the start or the end of a contest that is over would change.
        Unreadable: a value is invalid, or the end is not after the start.
    """
    with service.store.write() as session:
        contest = session.contests.lock(contest_id)
        if expected is not None:
            _require_version(session, contest, expected)
        edited = _with_changes(contest, changes)
        changed = [name for name in DETAILS if getattr(edited, name) != getattr(contest, name)]
        if not changed:
            return contest
        if not set(changed).isdisjoint(_TIMES):
            require_not_over(contest, remedy="leave start and end out, which stay")
        require_valid_details(
            title=edited.title,
            description=edited.description,
            visibility=edited.visibility,
            starts_at=edited.starts_at,
            ends_at=edited.ends_at,
        )
        if dry_run:
            return edited
        body = _details_body(edited)
        draft = Draft(kind="contest-edited", body=body, at=service.clock(), by=by.name)
        contest = append(service, session, contest, [draft])
        if "names" in changed:
            session.queue.add(publish_job(contest, id=service.new_id()), now=service.clock())
        add_audit_entry(
            service, session, by=by, action="contest.edit", target=contest.id,
            detail={"seq": contest.seq, "changed": changed},
        )  # fmt: skip
        return contest


def _with_changes(contest: Contest, changes: Mapping[str, Any]) -> Contest:
    """Return a contest with changed details; names that are shown as before stay as stated."""
    if "names" in changes:
        require_names(contest.discipline, changes["names"])
    edited = replace(contest, **changes)
    return (
        replace(edited, names=contest.names)
        if edited.shows_names == contest.shows_names
        else edited
    )


def _require_version(session: Session, contest: Contest, expected: Collection[str]) -> None:
    """Raise unless a contest has one of the expected versions; name who edited it last."""
    if version_of(contest) in expected:
        return
    newest = last_edit(session, contest)
    who = "" if newest is None else f" by {newest.by}, {written_time(newest.at)}"
    raise Changed(
        f"{contest.id} was edited meanwhile{who}; read it again, and send your change with its "
        "new version"
    )


def _details_body(contest: Contest) -> dict[str, Any]:
    """Return the body of an entry that states all details."""
    body = {name: getattr(contest, name) for name in DETAILS[:3]} | {
        name: None if getattr(contest, name) is None else written_time(getattr(contest, name))
        for name in _TIMES
    }
    return body if contest.names is None else body | {"names": contest.names}


def version_of(contest: Contest) -> str:
    """Return the version of a contest's details: equal for equal ones, and for no others."""
    stated = [str(getattr(contest, name)) for name in DETAILS]
    return hashlib.sha256(repr(stated).encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]


def last_edit(session: Session, contest: Contest) -> EntryLine | None:
    """Return the newest entry that edited the details; None: there is none."""
    newest = next(session.entries.newest_of_kind(contest.no, ["contest-edited"]), None)
    return None if newest is None else read_line(newest.line)


def require_names(discipline_name: str, names: NameDisplay) -> None:
    """Raise unless contests of a discipline can show names, or hide them.

    Raises:
        Unreadable: they cannot.
    """
    if names not in get_args(NameDisplay):
        raise Unreadable(f"names is {names!r}; give shown or hidden")
    if names == "shown" and discipline(discipline_name).names is None:
        raise Unreadable(
            f"participants of {discipline_name} have no names but their ids; give hidden"
        )


def require_valid_details(
    *,
    title: str,
    description: str,
    visibility: Visibility,
    starts_at: datetime | None,
    ends_at: datetime | None,
) -> None:
    """Raise unless a contest can have these details.

    Raises:
        Unreadable: it cannot.
    """
    if (wrong := unfit_line(title, longest=_MAX_TITLE_LENGTH)) is not None:
        raise Unreadable(f"the title {wrong}")
    if (fault := unstorable(description)) is not None:
        raise Unreadable(f"the description {'; '.join(fault)}")
    if len(description) > _MAX_DESCRIPTION_LENGTH:
        raise Unreadable(
            f"a description has at most {_MAX_DESCRIPTION_LENGTH:,} characters; shorten it"
        )
    if visibility not in get_args(Visibility):
        raise Unreadable(f"visibility is {visibility!r}; give public or private")
    if starts_at is not None and ends_at is not None and starts_at >= ends_at:
        raise Unreadable(
            f"the end {written_time(ends_at)} is not after the start {written_time(starts_at)}; "
            "give a later end or an earlier start"
        )
