"""Contests: create them, and change their state."""

from dataclasses import asdict
from itertools import islice
from typing import Annotated

from pydantic import Field

from agon.api.command import Command, Option
from agon.api.models.base import ContestId, Page, ReasonRequest
from agon.api.models.contests import (
    Contest,
    ContestCreate,
    ContestUpdate,
    Finalization,
    FinalizeRequest,
    SeasonCreate,
)
from agon.api.operation import ContestContext, Context, operation
from agon.api.operations import contest_resources as resources
from agon.api.pages import PageRequest
from agon.api.parameters import AsOf, DisciplineName, IfMatch, Split, stated_versions
from agon.api.transport import Noun
from agon.app.access.permissions import allow_new
from agon.app.contests.ledgers.past import contest_as_of
from agon.app.contests.lifecycle import creation, transitions
from agon.entities.contests import Phase

_NAMES = "Whether boards show names of participants next to their ids"
_BATCH = 501
"""Number of contests that are read at once at any limit: the caller may see few of them."""


@operation("GET", "/contests", id="listContests", permission="contest.read", cost="quick",
           summary="List contests",
           command=Command(
               "contest list",
               columns=("id", "discipline", "state", "edition", "seq", "title", "series", "season",
                        "starts_at", "ends_at"),
               options={"discipline": Option(type="discipline",
                                             help="Only contests of this discipline; may repeat."),
                        "state": Option(help="Only contests in this state; may repeat."),
                        "series": Option(help="Only of this series.")}))  # fmt: skip
def list_contests(
    ctx: Context,
    page: PageRequest,
    *,
    discipline: Annotated[
        tuple[DisciplineName, ...],
        Split,
        Field(max_length=20, description="Only contests of these disciplines; none: of all."),
    ] = (),
    state: Annotated[
        tuple[Phase, ...],
        Split,
        Field(max_length=7, description="Only contests whose clock.phase is one of these."),
    ] = (),
    series: ContestId | None = None,
) -> Page[Contest]:
    """Return the contests the caller may see, in the order of their ids.

    $ agon contest list
        List contests.

        Private contests are listed for callers that may see them.

          agon contest list
          agon contest list --state open --state frozen
          agon contest list --series spring --format ndjson
    """
    visible: list[Contest] = []
    now = ctx.service.clock()
    after = page.after(str)
    with ctx.service.store.read() as session:
        while len(visible) < page.sought:
            batch = session.contests.page(
                after=after, limit=_BATCH, disciplines=discipline, series=series
            )
            listed = resources.visible_in(session, batch, ctx.caller, phases=state, now=now)
            visible += islice(listed, page.sought - len(visible))
            if len(batch) < _BATCH:
                break
            after = batch[-1].id
    return page.page(visible, key=lambda contest: contest.id, item=lambda contest: contest)


@operation("POST", "/contests", id="createContest", permission="contest.create",
           cost="quick", records="none",
           summary="Create a contest", status=201, location="/contests/{result.id}",
           command=Command(
               "contest create", creates=True,
               flags={"draft": "Keep it a draft; agon contest open opens it."},
               options={
                   "id": Option(argument=True, metavar="ID"),
                   "discipline": Option(type="discipline", help="The discipline: community, "
                                        "challenge, dojo, arena, or one of a plugin."),
                   "title": Option(help="Display name (default: the id).", required=False),
                   "description": Option(help="Free text.", metavar="T"),
                   "edition": Option(type="edition"),
                   "overrides": Option(type="settings"),
                   "visibility": Option("--private", help="Visible only with a token for it.",
                                        switch=("public", "private")),
                   "series": Option(help="The series it is the next season of."),
                   "boards": Option("--board", help="A board to publish, the default one first "
                                    "(default: all)."),
                   "starts_at": Option("--starts", metavar="T", help="Participants can add to it "
                                       "from this ISO 8601 time (UTC) on."),
                   "ends_at": Option("--ends", metavar="T",
                                     help="Participants can add to it before this time."),
                   "preset": Option(help="friendly: an arena with prompts that plays with two bots "
                                    "and one judge, without qualification."),
                   "names": Option(help=f"{_NAMES} (default: names of bots are shown, those of "
                                   "people hidden).")}))  # fmt: skip
def create_contest(ctx: Context, request: ContestCreate) -> Contest:
    """Create a contest; its state is draft until it is opened.

    $ agon contest create
        Create the contest ID and open it.

        With --draft it stays a draft, to which only organizers can add records. Organizers can also
        add before the start and after the end.

          agon contest create spring --discipline arena --title 'Spring 2026'
          agon contest create cup --discipline dojo --starts 2026-12-01 --ends 2026-12-24T18:00Z
          agon contest create spring --discipline community --set self_feedback=ignore --private
    """
    from agon.app.arena.live import presets  # what it imports takes most of a short command

    allow_new(ctx.caller, "contest.create", request.id)
    new = creation.NewContest(**request.model_dump(exclude={"preset"}))
    new = presets.with_preset(new, request.preset)
    created = creation.create(ctx.service, new, by=ctx.caller)
    if request.preset is not None:
        presets.add_prompts(ctx.service, created.id)
    return resources.visible_to_creator(ctx, created)


@operation("GET", "/contests/{contest}", id="getContest", permission="contest.read", cost="quick",
           summary="Get a contest", versioned=True)  # fmt: skip
def get_contest(ctx: ContestContext, *, as_of: AsOf = None) -> Contest:
    """Return a contest, as far as the caller may see it: now, or as of a position or time."""
    with ctx.service.store.read() as session:
        if as_of is None:
            return resources.resource(session, ctx.view, now=ctx.service.clock())
        return resources.resource_of(contest_as_of(session, ctx.view, as_of), clock=None)


@operation("PATCH", "/contests/{contest}", id="editContest", permission="contest.manage",
           cost="quick", records="none", summary="Edit a contest", versioned=True, errors=(412,),
           command=Command(
               "contest edit",
               any_of=("nothing to change", "title", "description", "visibility", "starts_at",
                       "ends_at", "names"),
               options={
                   "title": Option(help="Display name."),
                   "description": Option(help="Free text.", metavar="T"),
                   "visibility": Option(help="Who can see it."),
                   "starts_at": Option("--starts", metavar="T", help="Participants can add to it "
                                       "from this ISO 8601 time (UTC) on; none: no start."),
                   "ends_at": Option("--ends", metavar="T", help="Participants can add to it "
                                     "before this time; none: no end."),
                   "names": Option(help=f"{_NAMES}."),
                   "dry_run": Option(help="Print what would be written, and write nothing.")})
)  # fmt: skip
def edit_contest(
    ctx: ContestContext,
    request: ContestUpdate,
    *,
    if_match: IfMatch = None,
    dry_run: Annotated[bool, Field(description="Validate only; change nothing.")] = False,
) -> Contest:
    """Change title, description, visibility, start, end or names; leave the fields not given.

    Outside start and end participants and judges add nothing; organizers still can. If anything
    changes, an entry of the ledger states all details; the start and the end of a final contest
    cannot be changed. Names that are hidden are gone at once; shown ones follow with the next
    publication.

    With ``If-Match`` the contest is edited only while its version is one of those: two organizers
    who edit at the same time do not undo each other's changes.

    $ agon contest edit
        Change title, description, visibility, start, end or names of ID.

        The change is an entry of the ledger. A final contest keeps its start and its end. Names
        that are hidden are gone at once; shown ones follow with the next publication.

          agon contest edit spring --title 'Spring Cup' --ends 2026-12-24T18:00Z
          agon contest edit spring --visibility private --starts none --dry-run
          agon contest edit spring --names hidden
    """
    from agon.app.contests.lifecycle import details

    expected = None if if_match is None else stated_versions(if_match)
    changes = {name: getattr(request, name) for name in request.model_fields_set}
    edited = details.edit(
        ctx.service, ctx.contest.id, changes, by=ctx.caller, expected=expected, dry_run=dry_run
    )
    return resources.visible_to_staff(ctx.service, edited)


@operation("POST", "/contests/{contest}/next-season", id="createNextSeason",
           permission="contest.manage",
           cost="quick", records="none", summary="Create the next season", status=201,
           location="/contests/{result.id}",
           command=Command("contest season", options={
               "id": Option("--as", help="The new contest's id.", metavar="ID")}))  # fmt: skip
def create_season(ctx: ContestContext, request: SeasonCreate) -> Contest:
    """Create a contest of the same discipline, rules and boards, without records.

    $ agon contest season
        Create the next season of ID: the same rules and boards, no records, a draft.

        The seasons of a series are numbered; the first gives the series its id.

          agon contest season spring --as autumn
    """
    allow_new(ctx.caller, "contest.create", request.id)  # that is another contest
    season = creation.next_season(ctx.service, ctx.contest, id=request.id, by=ctx.caller)
    return resources.visible_to_creator(ctx, season)


@operation("POST", "/contests/{contest}/open", id="openContest", permission="contest.manage",
           cost="quick", records="none", summary="Open a contest",
           command=Command("contest open"))  # fmt: skip
def open_contest(ctx: ContestContext) -> Contest:
    """Open a draft; from then on it takes records and submissions.

    $ agon contest open
        Open a draft: from now on judges and participants can add to it.

        agon contest create --draft and agon contest season create drafts.

          agon contest open spring
    """
    return resources.visible_to_staff(
        ctx.service, transitions.open_contest(ctx.service, ctx.contest.id, by=ctx.caller)
    )


@operation("POST", "/contests/{contest}/freeze", id="freezeContest", permission="contest.manage",
           cost="quick", records="none", summary="Freeze a contest",
           command=Command("contest freeze"))  # fmt: skip
def freeze_contest(ctx: ContestContext) -> Contest:
    """Freeze the boards that the public sees; records are still taken.

    $ agon contest freeze
        Publish the boards of ID a last time and freeze what the public sees.

        Records are still accepted; organizers see the current boards.

          agon contest freeze spring
    """
    return resources.visible_to_staff(
        ctx.service, transitions.freeze(ctx.service, ctx.contest.id, by=ctx.caller)
    )


@operation("POST", "/contests/{contest}/unfreeze", id="unfreezeContest",
           permission="contest.manage", cost="quick", records="none", summary="Unfreeze a contest",
           command=Command("contest unfreeze"))  # fmt: skip
def unfreeze_contest(ctx: ContestContext, request: ReasonRequest) -> Contest:
    """Show the public the newest boards again; the reason is stored in the ledger.

    $ agon contest unfreeze
        Unfreeze the public board of ID.

        The reason is written to the ledger, which is public.

          agon contest unfreeze spring --reason 'the last hour is played openly'
    """
    unfrozen = transitions.unfreeze(
        ctx.service, ctx.contest.id, reason=request.reason, by=ctx.caller
    )
    return resources.visible_to_staff(ctx.service, unfrozen)


@operation("POST", "/contests/{contest}/finalize", id="finalizeContest",
           permission="contest.manage", cost="quick", records="none", summary="Finalize a contest",
           command=Command("contest finalize"))  # fmt: skip
def finalize_contest(ctx: ContestContext, request: FinalizeRequest | None = None) -> Contest:
    """Publish the final boards; corrections are possible as change sets only.

    $ agon contest finalize
        Publish the final boards of ID; no more records are accepted.

        Later corrections are change sets (rescore, void), published next to the final result.

          agon contest finalize spring
    """
    force = request is not None and request.force
    finalized = transitions.finalize(ctx.service, ctx.contest.id, by=ctx.caller, force=force)
    return resources.visible_to_staff(ctx.service, finalized)


@operation("POST", "/contests/{contest}/unfinalize", id="unfinalizeContest",
           permission="contest.manage",
           cost="quick", records="none", summary="Take a final result back",
           command=Command("contest unfinalize"))  # fmt: skip
def unfinalize_contest(ctx: ContestContext, request: ReasonRequest) -> Contest:
    """Take a final result back: the contest is open, or frozen, as it was before.

    It is possible for ten minutes, while no webhook was sent the final result and nothing but an
    edit of the details was recorded since. Both entries stay in the ledger.

    $ agon contest unfinalize
        Take the final result of ID back, in the ten minutes after it.

        The contest is open, or frozen, as it was before. It is refused once a webhook was sent the
        final result, or something was recorded since; then a change set corrects it.

          agon contest unfinalize spring --reason 'a round was still running'
    """
    from agon.app.contests.lifecycle import finality

    undone = finality.unfinalize(ctx.service, ctx.contest.id, reason=request.reason, by=ctx.caller)
    return resources.visible_to_staff(ctx.service, undone)


@operation("POST", "/contests/{contest}/void", id="voidContest", permission="contest.manage",
           cost="quick", records="none", summary="Declare a contest void",
           command=Command("contest annul"))  # fmt: skip
def void_contest(ctx: ContestContext, request: ReasonRequest) -> Contest:
    """Declare a whole contest void: what was published stays, marked as void, and nothing is taken.

    What was frozen stays hidden. It can be restored for ten minutes, as a final result can.

    $ agon contest annul
        Declare ID void as a whole, with a reason that is shown wherever its result is.

        Boards stay readable and no record is taken any more. agon contest void takes single records
        or people out instead.

          agon contest annul spring --reason 'the problems were public before the start'
    """
    from agon.app.contests.lifecycle import finality

    voided = finality.void(ctx.service, ctx.contest.id, reason=request.reason, by=ctx.caller)
    return resources.visible_to_staff(ctx.service, voided)


@operation("POST", "/contests/{contest}/restore", id="restoreContest",
           permission="contest.manage",
           cost="quick", records="none", summary="Restore a void contest",
           command=Command("contest restore"))  # fmt: skip
def restore_contest(ctx: ContestContext, request: ReasonRequest) -> Contest:
    """Let a void contest count again, in the state it was in: open, frozen or final.

    It is possible for ten minutes, while no webhook was sent that it is void and nothing but an
    edit of the details was recorded since. Both entries stay in the ledger.

    $ agon contest restore
        Let ID count again, in the ten minutes after it was declared void.

        It is open, frozen or final, as it was before.

          agon contest restore spring --reason 'it was another contest'
    """
    from agon.app.contests.lifecycle import finality

    restored = finality.restore(ctx.service, ctx.contest.id, reason=request.reason, by=ctx.caller)
    return resources.visible_to_staff(ctx.service, restored)


@operation("GET", "/contests/{contest}/finalization", id="getFinalization",
           permission="contest.manage",
           cost="quick", summary="Get what is open before the final result",
           command=Command("contest pending"))  # fmt: skip
def get_finalization(ctx: ContestContext) -> Finalization:
    """Count what is open before a final result, and say how long that can be undone.

    $ agon contest pending
        Print what is open in ID before it is finalized, and how long that can be undone.

        These are submissions without a verdict, rounds, cases and proposed change sets.

          agon contest pending spring
    """
    from agon.app.contests.lifecycle import finality

    return Finalization.model_validate(asdict(finality.finalization(ctx.service, ctx.contest)))


class Contests(Noun):
    """Contests."""

    list = list_contests
    create = create_contest
    get = get_contest
    edit = edit_contest
    next_season = create_season
    open = open_contest
    freeze = freeze_contest
    unfreeze = unfreeze_contest
    finalize = finalize_contest
    unfinalize = unfinalize_contest
    void = void_contest
    restore = restore_contest
    pending = get_finalization
