"""``agon arena report``: how the rounds of a live arena were played."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from agon.cli.shared import lists, parameters
from agon.cli.shared.commands import Command
from agon.cli.shared.output import TABLE, deliver_json
from agon.cli.shared.tables import echo
from agon.cli.shared.target import target as target_options

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agon.app.arena.report import ArenaReport
    from agon.cli.shared.target import Target

_COLUMNS: Final = (
    "bot", "games", "waited", "forfeits", "answer_p50", "answer_p95", "answer_p99", "vote_p50",
    "vote_p95", "vote_p99", "probability", "rematches", "longest_wait", "longest_streak",
    "latest_forfeits", "faults_bot", "faults_transport", "faults_ours",
)  # fmt: skip


@click.command("report", cls=Command)
@click.argument("source", metavar="CONTEST|DIR")
@lists.form
@parameters.output
@target_options
def report_rounds(source: str, *, form: str, output: Path | None, target: "Target") -> None:
    """Report how the rounds of an arena were played: a row for every bot.

    Games, rounds without an opponent, rematches within five rounds, matches in a row on one side,
    faults by owner, forfeits; and the probability of the forfeits in its latest 20 matches under
    its own record before. The source is a contest, or an exported ledger.

    For a contest there are also the latencies of answers and votes in milliseconds (median, 95th
    and 99th percentile), in a last row those of all, the protections that are off and, for
    operators, the failed calls of model judges by reason, of all contests. Rounds in which no bot
    could be reached are named as degraded, and matches that a model did not decide are counted.

      agon arena report spring
      agon arena report spring-ledger/ --format csv
    """
    read, latencies = read_report(source, target)
    rows = read.rows
    of_folder = _is_folder(source, target)
    disabled = [] if of_folder else read_protections(source, target)
    failures = [] if of_folder else read_failures(target)
    if form == "json":
        document = {
            "bots": rows,
            "latencies": latencies,
            "protections_off": disabled,
            "degraded_rounds": read.degraded,
            "undecided_matches": read.undecided,
            "failed_calls": failures,
        }
        deliver_json(document, output)
        return
    if read.degraded:
        echo(f"degraded, no bot could be reached: {', '.join(read.degraded)}", err=True)
    if read.undecided:
        last = read.undecided[-1]
        count = len(read.undecided)
        echo(
            f"void: {count} undecided by a model; the last, {last['match']}: {last['cause']}",
            err=True,
        )
    for each in failures:
        times = "once" if each["calls"] == 1 else f"{each['calls']:,} times"
        echo(
            f"{each['judge']} failed {times} with {each['code']}, last: {each['detail']}", err=True
        )
    for each in disabled:
        echo(off_text(each), err=True)
    if form == TABLE:
        rows = [{**row, "probability": f"{row['probability']:.2g}"} for row in rows]
        rows += [{"bot": "all", **_columns(latencies, None)}] if rows and latencies else []
    lists.print_rows(
        rows, form=form, name="bots", columns=_COLUMNS, output=output, empty="no settled rounds"
    )


def read_report(source: str, target: "Target") -> "tuple[ArenaReport, list[dict[str, Any]]]":
    """Return the report, and latencies: those of all and those of each participant."""
    from agon.app.arena.report import report_of
    from agon.cli.replay import open_ledger
    from agon.ledger.entry import MAX_LINE_BYTES
    from agon.ledger.files import LEDGER, open_file, read_lines

    with (
        open_ledger(source, target, check_rules=False) as folder,
        open_file(folder, LEDGER) as stream,
    ):
        read = report_of(line for line, _ in read_lines(stream, max_bytes=MAX_LINE_BYTES))
    if _is_folder(source, target):
        return read, []
    with target.open(create=False) as api:
        latencies = [lists.plain_values(each) for each in api.rounds.latencies(source).items]
    rows = [{**row, **_columns(latencies, row["bot"])} for row in read.rows]
    return replace(read, rows=rows), latencies


def read_protections(source: str, target: "Target") -> "list[dict[str, Any]]":
    """Return the protections of a contest that are off."""
    with target.open(create=False) as api:
        return [lists.plain_values(each) for each in api.rounds.protections(source).items]


def read_failures(target: "Target") -> "list[dict[str, Any]]":
    """Return the failed calls of model judges by reason; none where the caller may not see them."""
    from agon.errors import Forbidden

    with target.open(create=False) as api:
        try:
            return [lists.plain_values(each) for each in api.judges.models().failures]
        except Forbidden:
            return []


def off_text(protection: "Mapping[str, Any]") -> str:
    """Return a protection that is off as a line: its rule, the settings it needs, and the cause.

    Example:
        >>> off_text({"name": "audits", "rule": "audit_probability", "setting": "[arena.audit]",
        ...           "cause": "no model is configured"})
        'audits off (rule audit_probability, settings [arena.audit]): no model is configured'
    """
    setting = protection["setting"]
    needed = "" if setting is None else f", settings {setting}"
    return f"{protection['name']} off (rule {protection['rule']}{needed}): {protection['cause']}"


def _is_folder(source: str, target: "Target") -> bool:
    return Path(source).is_dir() and not target.typed


def _columns(latencies: "list[dict[str, Any]]", participant: str | None) -> dict[str, float]:
    return {
        f"{each['kind']}_{name}": each[name]
        for each in latencies
        if each["participant"] == participant
        for name in ("p50", "p95", "p99")
    }
