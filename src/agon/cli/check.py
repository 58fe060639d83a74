"""``agon check``: every invalid row, then the integrity findings."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agon.cli.shared import parameters, sources
from agon.cli.shared.commands import Command, option
from agon.cli.shared.output import TABLE, deliver_json
from agon.errors import Conflict

if TYPE_CHECKING:
    from agon.app.analysis.check import CheckReport
    from agon.app.analysis.options import ReadingOptions, RuleOptions
    from agon.cli.shared.tables import Output
    from agon.kernel.findings import Finding

_FINDINGS_OF_A_KIND = 20
_STYLES = {"error": "bold red", "warning": "yellow", "info": "cyan"}


@click.command("check", cls=Command)
@parameters.discipline
@parameters.source
@sources.scoring
@parameters.rules
@option(
    "--suggest-mapping",
    "suggestion",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write a first mapping of names and values into the new FILE (TOML).",
)
@parameters.form(TABLE, "json")
@parameters.output
@click.pass_context
def command(
    ctx: click.Context,
    discipline: str,
    source: str,
    *,
    reads: "ReadingOptions",
    rule_options: "RuleOptions",
    suggestion: Path | None,
    form: str,
    output: Path | None,
) -> None:
    """Validate every row of SOURCE, then run the integrity checks.

    Lists all invalid rows at once. A finding never changes a score. Exit code 2: rows are invalid;
    1: there is a finding of severity error; 0: neither.

      agon check community data/
      agon check arena data/ --format json --output report.json
      agon check arena battles.csv --columns model_a=left,model_b=right
      agon check arena battles.csv --suggest-mapping names.toml
    """
    from agon.app.analysis.check import check
    from agon.app.analysis.mapping_suggestion import suggest_mapping
    from agon.cli.shared.output import working
    from agon.records.writing import write_atomically

    if suggestion is not None and suggestion.exists():
        raise Conflict(f"{suggestion} exists; name a new file for the mapping")
    with working("checking"):
        report = check(discipline, source, **reads, **rule_options)
    if suggestion is not None:
        write_atomically(suggestion, suggest_mapping(report).encode())
        click.echo(f"wrote {suggestion}; complete it, then give it as --mapping", err=True)
    sources.echo_notes(report.notes)
    if form == "json":
        deliver_json(report.to_dict(), output)
    else:
        from agon.cli.shared.tables import Output

        out = Output(output)
        draw(out, report)
        out.deliver()
    ctx.exit(report.exit_code)


def draw(out: "Output", report: "CheckReport") -> None:
    """Draw a report: problems by kind, or findings, most severe first."""
    from agon.records import InvalidRecords

    rows = ", ".join(f"{count:,} {table}" for table, count in report.rows.items())
    out.line(f"{report.rules_title} · {report.source} · {rows or 'no rows'}", style="bold")
    if report.problems:
        hints = sources.hints_of(report.problems)
        out.line(str(InvalidRecords(report.problems, hints=hints)), style="red")
        out.line("integrity checks run once all rows are valid")
        return
    out.line("all rows are valid")
    draw_counts(out, report)
    drawn: Counter[str] = Counter()
    for finding in report.findings:
        drawn[finding.code] += 1
        if drawn[finding.code] <= _FINDINGS_OF_A_KIND:
            draw_finding(out, finding)
    for code, count in drawn.items():
        if count > _FINDINGS_OF_A_KIND:
            out.line(f"… and {count - _FINDINGS_OF_A_KIND:,} more {code} (--format json has all)")


def draw_counts(out: "Output", report: "CheckReport") -> None:
    """Draw the number of findings of each severity."""
    counted = ", ".join(f"{count:,} {severity}" for severity, count in report.by_severity.items())
    out.line(f"findings: {counted}" if report.findings else "no findings")


def draw_finding(out: "Output", finding: "Finding") -> None:
    """Draw one finding: subjects, observed and expected value, records."""
    from agon.cli.shared.tables import names_text, refs_text

    severity = str(finding.severity)
    out.line()
    heading = [
        str(severity),
        finding.code,
        *([names_text(finding.subjects)] if finding.subjects else []),
    ]
    out.line(" · ".join(heading), style=_STYLES[severity])
    out.line(f"  {finding.message}")
    chance = "" if finding.probability is None else f", chance {finding.probability:.2g}"
    out.line(f"  {finding.statistic}: {finding.value:.6g}, expected {finding.expected:.6g}{chance}")
    for refs in finding.records:
        out.line(f"  {refs_text(refs)}")
