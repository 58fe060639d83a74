"""``agon contest create|edit|season|list|show|open|freeze|unfreeze|finalize``: its state."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agon.cli.contest import arguments
from agon.cli.shared import lists, parameters
from agon.cli.shared.commands import Command, option
from agon.cli.shared.output import TABLE, deliver
from agon.cli.shared.target import Target, target

if TYPE_CHECKING:
    from datetime import datetime

    from agon.api.models.contests import Contest
    from agon.ledger.contest_state import NameDisplay

_LISTED = (
    "id", "discipline", "state", "edition", "seq", "title", "series", "season", "starts_at",
    "ends_at",
)  # fmt: skip
_NO_TIME = "none"
_NAMES = click.Choice(["shown", "hidden"])


@click.command("create", cls=Command)
@arguments.contest
@option(
    "--discipline",
    required=True,
    type=parameters.Discipline(),
    metavar="D",
    help="The discipline: community, challenge, dojo, arena, or one of a plugin.",
)
@option("--title", metavar="T", help="Display name (default: the id).")
@option("--description", metavar="T", default="", help="Free text.")
@parameters.edition_option
@parameters.overrides_option
@option("--private", is_flag=True, help="Visible only with a token for it.")
@option("--series", metavar="S", help="The series it is the next season of.")
@option(
    "--board",
    "boards",
    multiple=True,
    metavar="B",
    help="A board to publish, the default one first (default: all).",
)
@option(
    "--starts", metavar="T", help="Participants can add to it from this ISO 8601 time (UTC) on."
)
@option("--ends", metavar="T", help="Participants can add to it before this time.")
@option(
    "--names",
    type=_NAMES,
    help="Whether boards show names of participants next to their ids (default: names of bots are "
    "shown, those of people hidden).",
)
@option("--draft", is_flag=True, help="Keep it a draft; agon contest open opens it.")
@parameters.form(TABLE, "json")
@target
def create(  # noqa: PLR0913 (one parameter for each option)
    contest: str,
    *,
    discipline: str,
    title: str | None,
    description: str,
    edition: str | None,
    overrides: dict[str, str],
    private: bool,
    series: str | None,
    boards: tuple[str, ...],
    starts: str | None,
    ends: str | None,
    names: "NameDisplay | None",
    draft: bool,
    form: str,
    target: Target,
) -> None:
    """Create the contest ID and open it.

    With --draft it stays a draft, to which only organizers can add records. Organizers can also add
    before the start and after the end.

      agon contest create spring --discipline arena --title 'Spring 2026'
      agon contest create cup --discipline dojo --starts 2026-12-01 --ends 2026-12-24T18:00Z
      agon contest create spring --discipline community --set self_feedback=ignore --private
    """
    from agon.api.models.contests import ContestCreate
    from agon.kernel.times import parse_time

    with target.open() as api:
        request = ContestCreate(
            id=contest,
            discipline=discipline,
            title=title or contest,
            edition=edition,
            overrides=overrides,
            visibility="private" if private else "public",
            description=description,
            series=series,
            boards=boards or None,
            starts_at=parse_time(starts),
            ends_at=parse_time(ends),
            names=names,
        )
        created = api.contests.create(request)
        if not draft:
            created = api.contests.open(contest)
    _print(created, form)


@click.command("edit", cls=Command)
@arguments.contest
@option("--title", metavar="T", help="Display name.")
@option("--description", metavar="T", help="Free text.")
@option("--visibility", type=click.Choice(["public", "private"]), help="Who can see it.")
@option(
    "--starts",
    metavar="T",
    help="Participants can add to it from this ISO 8601 time (UTC) on; none: no start.",
)
@option("--ends", metavar="T", help="Participants can add to it before this time; none: no end.")
@option("--names", type=_NAMES, help="Whether boards show names of participants next to their ids.")
@parameters.dry_run
@parameters.form(TABLE, "json")
@target
def edit(  # noqa: PLR0913 (one parameter for each option)
    contest: str,
    *,
    title: str | None,
    description: str | None,
    visibility: str | None,
    starts: str | None,
    ends: str | None,
    names: str | None,
    dry_run: bool,
    form: str,
    target: Target,
) -> None:
    """Change title, description, visibility, start, end or names of ID.

    The change is an entry of the ledger. A final contest keeps its start and its end. Names that
    are hidden are gone at once; shown ones follow with the next publication.

      agon contest edit spring --title 'Spring Cup' --ends 2026-12-24T18:00Z
      agon contest edit spring --visibility private --starts none --dry-run
      agon contest edit spring --names hidden
    """
    from agon.api.models.contests import ContestUpdate
    from agon.kernel.times import parse_time

    texts = {
        "title": title, "description": description, "visibility": visibility, "names": names,
    }  # fmt: skip
    changes: dict[str, Any] = {name: text for name, text in texts.items() if text is not None}
    for name, time in (("starts_at", starts), ("ends_at", ends)):
        if time is not None:
            changes[name] = None if time == _NO_TIME else parse_time(time)
    if not changes:
        raise click.UsageError("nothing to change; give --title, --ends or another detail")
    with target.open(create=False) as api:
        edited = api.contests.edit(contest, ContestUpdate(**changes), dry_run=dry_run)
    _print(edited, form)
    if form == TABLE:
        for name in sorted(texts.keys() & changes):
            click.echo(f"{name}: {changes[name]}")


@click.command("season", cls=Command)
@arguments.contest
@option("--as", "name", required=True, metavar="ID", help="The new contest's id.")
@parameters.form(TABLE, "json")
@target
def season(contest: str, *, name: str, form: str, target: Target) -> None:
    """Create the next season of ID: the same rules and boards, no records, a draft.

    The seasons of a series are numbered; the first gives the series its id.

      agon contest season spring --as autumn
    """
    from agon.api.models.contests import SeasonCreate

    with target.open(create=False) as api:
        _print(api.contests.next_season(contest, SeasonCreate(id=name)), form)


@click.command("list", cls=Command)
@option(
    "--discipline",
    type=parameters.Discipline(),
    metavar="D",
    help="Only contests of this discipline.",
)
@option("--series", metavar="S", help="Only of this series.")
@lists.form
@parameters.output
@target
def list_(
    *, discipline: str | None, series: str | None, form: str, output: Path | None, target: Target
) -> None:
    """List contests.

    Private contests are listed for callers that may see them.

      agon contest list
      agon contest list --series spring --format ndjson
    """
    with target.open(create=False) as api:
        rows = [
            lists.plain_values(contest)
            for contest in api.contests.list(discipline=discipline, series=series)
        ]
    lists.print_rows(rows, form=form, name="contests", columns=_LISTED, output=output)


@click.command("show", cls=Command)
@arguments.contest
@parameters.form(TABLE, "json")
@target
def show(contest: str, *, form: str, target: Target) -> None:
    """Show a contest: its rules, its ledger and its boards.

    Each board is listed with its hash and the position it was made at.

      agon contest show spring
    """
    with target.open(create=False) as api:
        details, boards = api.contests.get(contest), api.boards.list(contest).items
        head = api.ledgers.head(contest)
    if form == "json":
        from agon.cli.shared.formats import json_chunks

        value = {
            **lists.plain_values(details),
            "head": lists.plain_values(head),
            "published": [lists.plain_values(board) for board in boards],
        }
        deliver(json_chunks(value), None)
        return
    from agon.cli.shared.tables import Column, Output, cell

    out = Output()
    out.line(
        f"{details.id} · {details.title} · {details.discipline} · {details.state}", style="bold"
    )
    if details.description:
        out.line(details.description)
    facts = {
        "edition": details.edition,
        "overrides": ", ".join(f"{key}={value}" for key, value in details.overrides.items()),
        "visibility": details.visibility,
        "names": details.names or "",
        "series": "" if details.series is None else f"{details.series}, season {details.season}",
        "created": _time(details.created_at),
        "starts": _time(details.starts_at),
        "ends": _time(details.ends_at),
        "ledger": f"{details.seq:,} entries",
        "frozen at": cell(details.frozen_at),
        "final at": cell(details.finalized_at),
        "head": f"{head.head_sha256} at entry {head.seq:,}",
        "signed by": head.public_key,
    }
    for name, fact in facts.items():
        if fact:
            out.line(f"{name}: {fact}")
    if boards:
        out.table(
            [
                Column("board", [board.board for board in boards]),
                Column("rows", [f"{board.rows_total:,}" for board in boards], right=True),
                Column("unscored", [f"{board.unscored_total:,}" for board in boards], right=True),
                Column("at", [str(board.seq) for board in boards], right=True),
                Column("sha256", [board.board_sha256 for board in boards]),
            ]
        )
    out.deliver()


@click.command("open", cls=Command)
@arguments.contest
@parameters.form(TABLE, "json")
@target
def open_(contest: str, *, form: str, target: Target) -> None:
    """Open a draft: from now on judges and participants can add to it.

    agon contest create --draft and agon contest season create drafts.

      agon contest open spring
    """
    with target.open(create=False) as api:
        _print(api.contests.open(contest), form)


@click.command("freeze", cls=Command)
@arguments.contest
@parameters.form(TABLE, "json")
@target
def freeze(contest: str, *, form: str, target: Target) -> None:
    """Publish the boards of ID a last time and freeze what the public sees.

    Records are still accepted; organizers see the current boards.

      agon contest freeze spring
    """
    with target.open(create=False) as api:
        _print(api.contests.freeze(contest), form)


@click.command("unfreeze", cls=Command)
@arguments.contest
@arguments.reason_required
@parameters.form(TABLE, "json")
@target
def unfreeze(contest: str, *, reason: str, form: str, target: Target) -> None:
    """Unfreeze the public board of ID.

    The reason is written to the ledger, which is public.

      agon contest unfreeze spring --reason 'the last hour is played openly'
    """
    from agon.api.models.base import ReasonRequest

    with target.open(create=False) as api:
        _print(api.contests.unfreeze(contest, ReasonRequest(reason=reason)), form)


@click.command("finalize", cls=Command)
@arguments.contest
@option("--force", is_flag=True, help="Even while programs wait for a verdict.")
@parameters.form(TABLE, "json")
@target
def finalize(contest: str, *, force: bool, form: str, target: Target) -> None:
    """Publish the final boards of ID; no more records are accepted.

    Later corrections are change sets (rescore, void), published next to the final result.

      agon contest finalize spring
    """
    from agon.api.models.contests import FinalizeRequest

    with target.open(create=False) as api:
        _print(api.contests.finalize(contest, FinalizeRequest(force=force)), form)


def _time(at: "datetime | None") -> str:
    return "" if at is None else f"{at:%Y-%m-%d %H:%M:%S} UTC"


def _print(details: "Contest", form: str) -> None:
    """Print a contest in a line, or as JSON."""
    if form == "json":
        from agon.cli.shared.formats import json_chunks

        deliver(json_chunks(lists.plain_values(details)), None)
        return
    parts = [details.id, details.discipline, details.state, details.edition, f"entry {details.seq}"]
    times = {"starts": details.starts_at, "ends": details.ends_at}
    parts += [f"{name} {_time(at)}" for name, at in times.items() if at is not None]
    click.echo(" · ".join(parts))
