"""``agon dojo canonicalize`` and ``check``: inspect a program without running it."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from agon.cli.dojo import arguments
from agon.cli.shared import parameters
from agon.cli.shared.commands import Command, option
from agon.cli.shared.output import TABLE, deliver, deliver_json

if TYPE_CHECKING:
    from agon.disciplines.dojo.program import Violation


@click.command("canonicalize", cls=Command)
@arguments.file
@option("--hash", "only_hash", is_flag=True, help="Print source_hash and L_chars instead.")
def canonicalize_file(file: str, *, only_hash: bool) -> None:
    """Write the canonical bytes of FILE to stdout.

    Nothing else is written there, so that sha256sum gives the source hash. FILE - is stdin.

      agon dojo canonicalize solver.py | sha256sum
      agon dojo canonicalize solver.py --hash
    """
    from agon.disciplines.dojo.canonical import canonicalize, length, source_hash

    canonical = canonicalize(arguments.read_program(file))
    if only_hash:
        click.echo(f"source_hash {source_hash(canonical)}\nL_chars {length(canonical)}")
    else:
        deliver([canonical], None)


@click.command("check", cls=Command)
@arguments.file
@arguments.kind
@parameters.edition_option
@parameters.overrides_option
@parameters.form(TABLE, "json")
@click.pass_context
def check_file(
    ctx: click.Context,
    file: str,
    *,
    kind: str,
    edition: str | None,
    overrides: dict[str, str],
    form: str,
) -> None:
    """Report what would be rejected in FILE, and where.

    Checks syntax, imports, entry point and the edition's payload policy; nothing is run. FILE -
    is stdin. Exit code 1 when something would be rejected.

      agon dojo check solver.py --edition 0.2
    """
    report = _report(arguments.read_program(file), file, kind, edition, overrides)
    if form == "json":
        deliver_json(report)
    else:
        _draw(report)
    ctx.exit(int(not report["accepted"]))


def _report(
    raw: bytes, name: str, kind: str, edition: str | None, overrides: dict[str, str]
) -> dict[str, Any]:
    from agon.app.analysis.score import rules_of
    from agon.app.dojo.inspection import inspect
    from agon.disciplines.dojo.canonical import canonicalize, length, source_hash
    from agon.disciplines.dojo.payload import PayloadLimits

    released, rules = rules_of("dojo", edition, overrides)
    checked_rules: Any = rules
    canonical = canonicalize(raw)
    inspection = inspect(
        canonical, kind="solver" if kind == "solver" else "setter", rules=checked_rules
    )
    payload = inspection.payload
    return {
        "file": name,
        "kind": kind,
        "edition": released.name,
        "source_hash": source_hash(canonical),
        "L_chars": length(canonical),
        "accepted": not inspection.violations,
        "payload": payload
        and {
            name: [getattr(payload, name), limit]
            for name, limit in asdict(PayloadLimits.of(checked_rules)).items()
        },
        "violations": [_plain(violation) for violation in inspection.violations],
    }


def _plain(violation: "Violation") -> dict[str, Any]:
    return {
        "line": violation.line,
        "column": violation.column,
        "what": violation.what,
        "remedy": violation.remedy,
        "verdict": violation.verdict,
    }


def _draw(report: dict[str, Any]) -> None:
    from agon.cli.shared.tables import Output

    out = Output()
    verdict = "nothing to reject" if report["accepted"] else "would be rejected"
    out.line(f"{report['file']} · {report['kind']} · edition {report['edition']} · {verdict}")
    out.line(f"source_hash {report['source_hash']}")
    out.line(f"L_chars {report['L_chars']}")
    for name, (measured, limit) in (report["payload"] or {}).items():
        out.line(f"{name} {measured}" + ("" if limit is None else f" of {limit}"))
    for violation in report["violations"]:
        out.line(
            f"{report['file']}:{violation['line']}:{violation['column']}: "
            f"{violation['what']}; {violation['remedy']} ({violation['verdict']})",
            style="red",
        )
    out.deliver()
