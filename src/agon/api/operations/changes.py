"""Change sets: propose, try, apply, cancel, roll back."""

from agon.api.command import Command, Option
from agon.api.models.base import Page, ReasonRequest
from agon.api.models.changes import ApplyRequest, ChangeSet, ChangeSetCreate
from agon.api.operation import ContestContext, operation
from agon.api.pages import PageRequest
from agon.api.parameters import Id
from agon.api.transport import Noun
from agon.app.contests.changes import change_sets

_CHANGES = "/contests/{contest}/change-sets"


@operation("GET", _CHANGES, id="listChangeSets", permission="change.read", cost="quick",
           summary="List change sets",
           command=Command(
               "contest changes", rows="changes",
               columns=("id", "kind", "state", "reason", "proposed_by", "proposed_at", "applied_at",
                        "rolled_back_at"),
               one={"getChangeSet": Option("change", metavar="[CHANGE]",
                                           argument=True)}))  # fmt: skip
def list_changes(ctx: ContestContext, page: PageRequest) -> Page[ChangeSet]:
    """Return change sets, oldest first.

    $ agon contest changes
        List the change sets of ID, or show one with its moves.

        Those that were cancelled or rolled back are listed as well.

          agon contest changes spring
          agon contest changes spring 0193… --format json
    """
    stored = change_sets.changes(ctx.service, ctx.view, after=page.after(str), limit=page.sought)
    return page.page(stored, key=lambda change: change.id, item=ChangeSet.model_validate)


@operation("POST", _CHANGES, id="proposeChangeSet", permission="change.manage",
           cost="quick", records="none", summary="Propose a change set", status=202,
           location="/contests/{contest}/change-sets/{result.id}")  # fmt: skip
def propose_change(ctx: ContestContext, request: ChangeSetCreate) -> ChangeSet:
    """Propose a change; a dry run then reports who moves, how far, and which weights change."""
    proposed = change_sets.propose(
        ctx.service,
        ctx.contest.id,
        kind=request.kind,
        params=request.params,
        reason=request.reason,
        by=ctx.caller,
    )
    return ChangeSet.model_validate(proposed)


@operation("GET", _CHANGES + "/{id}", id="getChangeSet", permission="change.read", cost="quick",
           summary="Get a change set")  # fmt: skip
def get_change(ctx: ContestContext, change: Id) -> ChangeSet:
    """Return a change set, with the report of its dry run once there is one."""
    stored = change_sets.change(ctx.service, ctx.view, change)
    failed = change_sets.dry_run_error(ctx.service, stored)
    return ChangeSet.model_validate(stored).model_copy(update={"failed": failed})


@operation("POST", _CHANGES + "/{id}/dry-run", id="queueDryRun", permission="change.manage",
           cost="quick", records="none", summary="Run a change set dry again", status=202,
           location="/contests/{contest}/change-sets/{result.id}")  # fmt: skip
def queue_dry_run(ctx: ContestContext, change: Id) -> ChangeSet:
    """Queue another dry run, at the newest position: the ledger has grown, or the last one failed.

    Until it is done the change set cannot be applied.
    """
    waiting = change_sets.queue_dry_run(ctx.service, ctx.contest.id, change, by=ctx.caller)
    return ChangeSet.model_validate(waiting)


@operation("POST", _CHANGES + "/{id}/apply", id="applyChangeSet", permission="change.manage",
           cost="quick", records="change-set", summary="Apply a change set")  # fmt: skip
def apply_change(ctx: ContestContext, change: Id, request: ApplyRequest | None = None) -> ChangeSet:
    """Apply a change set as its dry run showed it; participants that move are notified."""
    options = request or ApplyRequest()
    applied = change_sets.apply(
        ctx.service,
        ctx.contest.id,
        change,
        by=ctx.caller,
        reason=options.reason,
        even_if_moved=options.even_if_moved,
    )
    return ChangeSet.model_validate(applied)


@operation("POST", _CHANGES + "/{id}/cancel", id="cancelChangeSet", permission="change.manage",
           cost="quick", records="none", summary="Cancel a change set")  # fmt: skip
def cancel_change(ctx: ContestContext, change: Id) -> ChangeSet:
    """Cancel a change set that was not applied."""
    cancelled = change_sets.cancel(ctx.service, ctx.contest.id, change, by=ctx.caller)
    return ChangeSet.model_validate(cancelled)


@operation("POST", _CHANGES + "/{id}/rollback", id="rollBackChangeSet",
           permission="change.manage",
           cost="quick", records="change-set", summary="Roll a change set back",
           command=Command(
               "contest rollback",
               note="rolled back at entry {result.rolled_back_at:,}: the moves shown are undone")
)  # fmt: skip
def roll_back_change(ctx: ContestContext, change: Id, request: ReasonRequest) -> ChangeSet:
    """Undo the effect of a change set; its entries stay in the ledger.

    $ agon contest rollback
        Roll back the change set CHANGE of ID; its entries stay in the ledger without effect.

        The boards are then as without it.

          agon contest changes spring
          agon contest rollback spring 0193… --reason 'the wrong person'
    """
    rolled_back = change_sets.roll_back(
        ctx.service, ctx.contest.id, change, reason=request.reason, by=ctx.caller
    )
    return ChangeSet.model_validate(rolled_back)


class Changes(Noun):
    """Change sets: changes of a contest, seen before they count."""

    list = list_changes
    propose = propose_change
    get = get_change
    queue_dry_run = queue_dry_run
    apply = apply_change
    cancel = cancel_change
    roll_back = roll_back_change

    def dry_run(self, contest: str, change: str) -> ChangeSet:
        """Return a change set after its dry run; over HTTP a worker does it.

        Raises:
            Conflict: the dry run failed, with the cause (with direct access the error itself).
            Unavailable: it takes too long; try again.
        """
        return self.transport.dry_run(contest, change)
