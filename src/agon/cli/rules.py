"""``agon rules``: the released editions, their rules, differences and worked examples."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agon.cli import parameters
from agon.cli.helping import Group
from agon.cli.output import TABLE, deliver

if TYPE_CHECKING:
    from agon.editions import Edition


@click.group("rules", cls=Group)
def command() -> None:
    """Look at the released rules.

    An edition is a released, immutable set of rules with a SHA-256 fingerprint.

      agon rules list
      agon rules show community/scores0002-1
    """


@command.command("list")
@click.argument("discipline", type=parameters.Discipline(), required=False, metavar="[DISCIPLINE]")
@parameters.form(TABLE, "json")
@parameters.output
def list_editions(discipline: str | None, *, form: str, output: Path | None) -> None:
    """List all editions, or those of one discipline.

    The first edition of a discipline is its default.

      agon rules list dojo
    """
    from agon.editions import edition, editions, lock

    rows: list[dict[str, Any]] = [
        {
            "edition": one.full_name,
            "title": one.title,
            "released": one.released,
            "file_sha256": lock()[one.full_name],
            "versions": dict(one.versions),
        }
        for one in map(edition, editions(discipline))
    ]
    if form == "json":
        _json({"editions": rows}, output)
        return
    from agon.cli.drawing import Column, Paper

    paper = Paper(output)
    paper.table(
        [
            Column("edition", [row["edition"] for row in rows]),
            Column("released", [row["released"] for row in rows]),
            Column("SHA-256", [f"{row['file_sha256'][:12]}…" for row in rows]),
            Column("what it is", [row["title"] for row in rows], folds=True),
        ],
        needed=4,
    )
    paper.deliver()


@command.command("show")
@click.argument("edition", metavar="EDITION")
@parameters.form(TABLE, "json")
@parameters.output
def show(edition: str, *, form: str, output: Path | None) -> None:
    """Show every rule of EDITION.

    Each with its value, bounds, meaning and reason; JSON has the source clause, too.

      agon rules show dojo/0.2
    """
    from agon.cli.drawing import Column, Paper, cell

    released = _edition(edition)
    rows = list(_rows(released))
    if form == "json":
        _json({**_head(released), "rules": rows}, output)
        return
    paper = Paper(output)
    paper.line(f"{released.full_name} · {released.title} · {released.released}", style="bold")
    for name, version in released.versions.items():
        paper.line(f"{name.replace('_', ' ')}: {version}")
    for change in released.changelog:
        paper.line(f"• {change}")
    paper.table(
        [
            Column("rule", [row["name"] for row in rows]),
            Column("value", [_brief(cell(row["value"])) for row in rows]),
            Column("bounds, meaning and reason",
                   ["\n".join(filter(None, (row["meaning"], row["reason"], row["bounds"])))
                    for row in rows], folds=True),
        ]
    )  # fmt: skip
    paper.deliver()


@command.command("diff")
@click.argument("left", metavar="EDITION")
@click.argument("right", metavar="EDITION")
@parameters.form(TABLE, "json")
@parameters.output
def diff(left: str, right: str, *, form: str, output: Path | None) -> None:
    """Show the rules in which two editions differ.

    Who moves on real records is told by agon compare.

      agon rules diff dojo/0.1 dojo/0.2
    """
    from agon.cli.drawing import Column, Paper, cell
    from agon.errors import Conflict

    old, new = _edition(left), _edition(right)
    if old.discipline != new.discipline:
        raise Conflict(f"{old.full_name} and {new.full_name} are of different disciplines")
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
    paper = Paper(output)
    if not rows:
        paper.line(f"{old.full_name} and {new.full_name} set every rule alike")
    else:
        paper.table(
            [
                Column("rule", [row["name"] for row in rows]),
                Column(old.name, [cell(row["left"]) or "none" for row in rows]),
                Column(new.name, [cell(row["right"]) or "none" for row in rows]),
                Column("reason", [row["reason"] for row in rows], folds=True),
            ],
            needed=4,
        )
    paper.deliver()


@command.command("lint")
@click.argument("editions", nargs=-1, metavar="[EDITION]...")
@parameters.form(TABLE, "json")
@click.pass_context
def lint_editions(ctx: click.Context, editions: tuple[str, ...], *, form: str) -> None:
    """Run the worked examples of editions (default: all).

    Every rule must have a value, every example come out, every explanation agree with its board.
    Exit code 1 when anything comes out otherwise than an edition says.

      agon rules lint
      agon rules lint arena/sentience-1
    """
    from agon.editions import editions as all_editions
    from agon.editions.lint import lint

    chosen = [_edition(name) for name in editions or all_editions()]
    issues = {one.full_name: lint(one.full_name) for one in chosen}
    if form == "json":
        every = [
            {
                "edition": one.full_name,
                "examples": len(one.examples),
                "issues": [issue.to_dict() for issue in issues[one.full_name]],
            }
            for one in chosen
        ]
        _json({"editions": every}, None)
    else:
        from agon.cli.drawing import Paper

        paper = Paper()
        for one in chosen:
            found = issues[one.full_name]
            verdict = f"{len(found)} issues" if found else "good"
            examples = f"{len(one.examples)} worked examples"
            paper.line(f"{one.full_name}: {examples}, {len(_values(one))} rules: {verdict}")
            for issue in found:
                paper.line(f"  {issue}", style="red")
        paper.deliver()
    ctx.exit(int(any(issues.values())))


def _edition(name: str) -> "Edition":
    """Find an edition by its full name, or by a short one that only one discipline has."""
    from agon.editions import edition, editions

    same = [full for full in editions() if full.partition("/")[2] == name]
    return edition(same[0] if len(same) == 1 else name)


def _values(released: "Edition") -> dict[str, Any]:
    return released.rules.model_dump(mode="json")


def _head(released: "Edition") -> dict[str, Any]:
    from agon.editions import lock, rules_sha256

    return {
        "edition": released.full_name,
        "title": released.title,
        "released": released.released,
        "versions": dict(released.versions),
        "changelog": list(released.changelog),
        "file_sha256": lock()[released.full_name],
        "rules_sha256": rules_sha256(released.rules),
    }


def _rows(released: "Edition") -> Iterator[dict[str, Any]]:
    """Give every rule with its value in this edition and this edition's reason for it."""
    values = _values(released)
    for text in released.rules.texts():
        yield {
            "name": text.name,
            "value": values[text.name],
            "bounds": text.bounds,
            "meaning": text.meaning,
            "reason": released.reasons.get(text.name, text.reason),
            "source": text.source,
        }


def _brief(text: str, *, most: int = 24) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _json(value: dict[str, Any], output: Path | None) -> None:
    from agon.cli.formats import json_chunks

    deliver(json_chunks(value), output)
