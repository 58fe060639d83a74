"""``agon rules``: list, show, compare and check the released editions."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agon.cli.shared import completion, parameters
from agon.cli.shared.commands import Group
from agon.cli.shared.output import TABLE, deliver_json

if TYPE_CHECKING:
    from agon.editions import Edition


@click.group("rules", cls=Group)
def command() -> None:
    """Show and check the released rules.

    An edition is a released set of rules; its values never change, and its rules_sha256 is their
    fingerprint.

      agon rules list
      agon rules show community/scores0002-1
    """


@command.command("list")
@click.argument(
    "discipline", type=parameters.DisciplineName(), required=False, metavar="[DISCIPLINE]"
)
@parameters.form(TABLE, "json")
@parameters.output
def list_editions(discipline: str | None, *, form: str, output: Path | None) -> None:
    """List all editions, or those of one discipline.

    The first edition of a discipline is its default.

      agon rules list dojo
    """
    from agon.editions import edition, editions

    rows: list[dict[str, Any]] = [
        {
            "edition": released.full_name,
            "title": released.title,
            "released": released.released,
            "rules_sha256": released.rules_sha256,
            "versions": dict(released.versions),
        }
        for released in map(edition, editions(discipline))
    ]
    if form == "json":
        _json({"editions": rows}, output)
        return
    from agon.cli.shared.tables import Output, TableColumn

    out = Output(output)
    out.table(
        [
            TableColumn("edition", [row["edition"] for row in rows]),
            TableColumn("released", [row["released"] for row in rows]),
            TableColumn("rules_sha256", [f"{row['rules_sha256'][:12]}…" for row in rows]),
            TableColumn("what it is", [row["title"] for row in rows], folds=True),
        ],
        needed=4,
    )
    out.deliver()


@command.command("show")
@click.argument("edition", metavar="EDITION", shell_complete=completion.editions)
@parameters.form(TABLE, "json")
@parameters.output
def show(edition: str, *, form: str, output: Path | None) -> None:
    """Show every rule of EDITION.

    Each with its value, bounds, meaning and reason. JSON also has the source clause, the version
    of agon since which the rule exists, and whether the edition states it or has its default.

      agon rules show dojo/0.2
    """
    from agon.cli.shared.tables import Output, TableColumn, cell

    released = _edition(edition)
    rows = list(_rows(released))
    if form == "json":
        _json({**_head(released), "rules": rows}, output)
        return
    out = Output(output)
    out.line(f"{released.full_name} · {released.title} · {released.released}", style="bold")
    for name, version in released.versions.items():
        out.line(f"{name.replace('_', ' ')}: {version}")
    for change in released.changelog:
        out.line(f"• {change}")
    out.table(
        [
            TableColumn("rule", [row["name"] for row in rows]),
            TableColumn("value", [_brief(cell(row["value"])) for row in rows]),
            TableColumn("bounds, meaning and reason",
                   ["\n".join(filter(None, (row["meaning"], row["reason"], row["bounds"])))
                    for row in rows], folds=True),
        ]
    )  # fmt: skip
    out.deliver()


@command.command("diff")
@click.argument("left", metavar="EDITION", shell_complete=completion.editions)
@click.argument("right", metavar="EDITION", shell_complete=completion.editions)
@parameters.form(TABLE, "json")
@parameters.output
def diff(left: str, right: str, *, form: str, output: Path | None) -> None:
    """Show the rules in which two editions differ.

    For the effect on ranks and scores of real records use agon compare.

      agon rules diff dojo/0.1 dojo/0.2
    """
    from agon.cli.shared.tables import Output, TableColumn, cell
    from agon.errors import Conflict

    old, new = _edition(left), _edition(right)
    if old.discipline != new.discipline:
        raise Conflict(
            f"{old.full_name} and {new.full_name} are of different disciplines; give two of one"
        )
    before = {row["name"]: row for row in _rows(old)}
    rows = [
        {"name": row["name"], "left": before[row["name"]]["value"], "right": row["value"],
         "reason": row["reason"]}
        for row in _rows(new)
        if row["value"] != before[row["name"]]["value"]
    ]  # fmt: skip
    if form == "json":
        _json({"left": old.full_name, "right": new.full_name, "rules": rows}, output)
        return
    out = Output(output)
    if not rows:
        out.line(f"{old.full_name} and {new.full_name} have the same rules")
    else:
        out.table(
            [
                TableColumn("rule", [row["name"] for row in rows]),
                TableColumn(old.name, [cell(row["left"]) or "none" for row in rows]),
                TableColumn(new.name, [cell(row["right"]) or "none" for row in rows]),
                TableColumn("reason", [row["reason"] for row in rows], folds=True),
            ],
            needed=4,
        )
    out.deliver()


@command.command("lint")
@click.argument("editions", nargs=-1, metavar="[EDITION]...")
@parameters.form(TABLE, "json")
@click.pass_context
def lint_editions(ctx: click.Context, editions: tuple[str, ...], *, form: str) -> None:
    """Check editions and run their worked examples (default: all editions).

    An edition states every rule that existed when it was released. Every example must give the
    rows it expects, and every explanation the score of its board. Exit code 1 on any issue.

      agon rules lint
      agon rules lint arena/sentience-1
    """
    from agon.editions import editions as all_editions
    from agon.editions.lint import lint

    chosen = [_edition(name) for name in editions or all_editions()]
    issues = {released.full_name: lint(released.full_name) for released in chosen}
    if form == "json":
        every = [
            {
                "edition": released.full_name,
                "examples": len(released.examples),
                "issues": [issue.to_dict() for issue in issues[released.full_name]],
            }
            for released in chosen
        ]
        _json({"editions": every}, None)
    else:
        from agon.cli.shared.tables import Output

        out = Output()
        for released in chosen:
            edition_issues = issues[released.full_name]
            verdict = f"{len(edition_issues)} issues" if edition_issues else "OK"
            examples = f"{len(released.examples)} worked examples"
            out.line(f"{released.full_name}: {examples}, {len(released.stated)} rules: {verdict}")
            for issue in edition_issues:
                out.line(f"  {issue}", style="red")
        out.deliver()
    ctx.exit(int(any(issues.values())))


def _edition(name: str) -> "Edition":
    """Return an edition by its full name, or by a short one that only one discipline has."""
    from agon.editions import edition, editions

    same = [full for full in editions() if full.partition("/")[2] == name]
    return edition(same[0] if len(same) == 1 else name)


def _head(released: "Edition") -> dict[str, Any]:
    return {
        "edition": released.full_name,
        "title": released.title,
        "released": released.released,
        "agon": released.agon,
        "base": released.base,
        "versions": dict(released.versions),
        "changelog": list(released.changelog),
        "rules_sha256": released.rules_sha256,
    }


def _rows(released: "Edition") -> Iterator[dict[str, Any]]:
    """Yield every rule with its value in an edition and the edition's reason for it."""
    values = released.rules.model_dump(mode="json")
    for text in released.rules.texts():
        yield {
            "name": text.name,
            "value": values[text.name],
            "bounds": text.bounds,
            "meaning": text.meaning,
            "reason": released.reasons.get(text.name, text.reason),
            "source": text.source,
            "since": text.since,
            "stated": text.name in released.stated,
        }


def _brief(text: str, *, length: int = 24) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"


def _json(value: dict[str, Any], output: Path | None) -> None:
    deliver_json(value, output)
