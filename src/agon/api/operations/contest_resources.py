"""Return contests as resources of the API, as far as their callers may see them."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from datetime import datetime

from agon.api.models.contests import Contest
from agon.api.operation import ContestContext, Context
from agon.app.access.permissions import View, before_start, view_of
from agon.app.contests.clock import current_clock, read_clock
from agon.app.contests.ledgers.append import edition_at
from agon.app.contests.lifecycle.details import version_of
from agon.app.service import Service
from agon.entities import contests as entities
from agon.entities.access import Caller
from agon.entities.contests import ContestClock
from agon.errors import NotFound
from agon.store.session import Session


def resource(session: Session, view: View, *, now: datetime) -> Contest:
    """Return a contest as far as a view reaches: without an edition that was adopted later."""
    contest, until = view.contest, view.until
    clock = read_clock(session, contest, now=now)
    if until is None or contest.seq <= until:
        return resource_of(contest, clock=clock)
    edition, overrides = edition_at(session, contest, until)
    voided_at = None if contest.voided_at is None else min(contest.voided_at, until)
    seen = replace(contest, edition=edition, overrides=overrides, seq=until, voided_at=voided_at)
    return resource_of(seen, clock=clock)


def visible_to_staff(service: Service, contest: entities.Contest) -> Contest:
    """Return a contest after a change by its staff, who see all of it."""
    return resource_of(contest, clock=current_clock(service, contest))


def visible_to_creator(ctx: Context | ContestContext, contest: entities.Contest) -> Contest:
    """Return a contest that is new here, as far as the caller may see it."""
    caller = ctx.caller
    if contest.created_by is not None and contest.created_by == caller.user:
        caller = replace(caller, created=caller.created | {contest.id})
    with ctx.service.store.read() as session:
        now = ctx.service.clock()
        view = before_start(session, view_of(contest, caller), now=now)
        return resource(session, view, now=now)


def resource_of(contest: entities.Contest, *, clock: ContestClock | None) -> Contest:
    """Return a contest as callers see it who see all of it."""
    return Contest.model_validate({**vars(contest), "clock": clock, "version": version_of(contest)})


def visible_in(
    session: Session,
    contests: Iterable[entities.Contest],
    caller: Caller,
    *,
    phases: Collection[entities.Phase],
    now: datetime,
) -> Iterator[Contest]:
    """Yield those of some contests that a caller may see, in some phases; empty: in any."""
    for stored in contests:
        try:
            view = before_start(session, view_of(stored, caller), now=now)
        except NotFound:
            continue
        contest = resource(session, view, now=now)
        if not phases or (contest.clock is not None and contest.clock.phase in phases):
            yield contest
