"""``agon arena judges``: what the model judges of a service have used, and how they judge."""

from pathlib import Path
from typing import Any, Final

import click

from agon.cli.shared import lists, parameters
from agon.cli.shared.commands import Command, option
from agon.cli.shared.output import TABLE, deliver_json
from agon.cli.shared.target import require_database

_USED: Final = ("judge", "day", "calls", "tokens", "failures", "resumes_at", "cause")
_MEASURED: Final = ("judge", "measure", "share", "low", "high", "trials", "meaning")
_FAILED: Final = ("judge", "code", "calls", "last_at", "detail")
_CONFIDENCE: Final = 0.95


@click.command("judges", cls=Command)
@option("--database", metavar="URL", help="The database (default: setting database).")
@parameters.form(TABLE, "json")
@parameters.output
def judges(*, database: str | None, form: str, output: Path | None) -> None:
    """Print what model judges have used, and their measurements with 95 % intervals.

    Measurements: flip (votes in which the order decided), first-shown (calls that chose the answer
    shown first), audit (agreement with audits), null (wins of a constant text). Failed calls are
    counted by reason, with how the last response began.

      agon arena judges
      agon arena judges --format json --database postgresql://agon@db/agon
    """
    from agon import wiring
    from agon.app.arena.judging.measurements import MEASURES, measure
    from agon.settings import load

    settings = load({"database": database})
    require_database(settings, "name one with --database")
    store = wiring.open_store(settings, create=False)
    try:
        with store.read() as session:
            usages, counts = session.judging.usages(), session.judging.counts()
            failures = session.judging.failures()
    finally:
        store.close()
    used = [
        {**vars(usage), "resumes_at": usage.resumes_at and usage.resumes_at.isoformat()}
        for usage in usages
    ]
    failed = [{**vars(failure), "last_at": failure.last_at.isoformat()} for failure in failures]
    measured = [
        {
            "judge": item.judge,
            "measure": item.measure,
            "share": item.share,
            "low": item.interval.low,
            "high": item.interval.high,
            "trials": item.trials,
            "meaning": MEASURES[item.measure],
        }
        for item in measure(counts, confidence=_CONFIDENCE)
    ]
    if form == TABLE:
        _draw(used, measured, failed, output)
        return
    deliver_json({"usage": used, "measurements": measured, "failures": failed}, output)


def _draw(
    used: list[dict[str, Any]],
    measured: list[dict[str, Any]],
    failed: list[dict[str, Any]],
    output: Path | None,
) -> None:
    from agon.cli.shared.tables import Output

    out = Output(output)
    lists.add_rows(out, used, columns=_USED, empty="no model judge was used")
    out.line("")
    rows = [
        {name: round(value, 3) if isinstance(value, float) else value
         for name, value in row.items()}
        for row in measured
    ]  # fmt: skip
    lists.add_rows(out, rows, columns=_MEASURED, empty="no measurements")
    out.line("")
    lists.add_rows(out, failed, columns=_FAILED, empty="no call failed")
    out.deliver()
