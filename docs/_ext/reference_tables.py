"""Make the tables of the references from the code and the editions, as Markdown."""

import inspect
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import click

from agon.api.catalog import all_operations
from agon.api.record_ways import TIMES_SET_BY
from agon.app.access.permissions import ACTIONS
from agon.app.tasks.formats.keys import KEYS
from agon.disciplines import BUILT_IN, discipline
from agon.editions import default_edition, edition, editions

_FILES: Final = Path(__file__).parents[2] / "tests" / "files" / "table.jsonl"
_TASKS: Final = Path(__file__).parents[2] / "tests" / "tasks" / "table.jsonl"


def table(head: list[str], rows: Iterable[list[Any]]) -> str:
    """Write a Markdown table."""
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    lines += ["| " + " | ".join(_cell(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def _cell(value: Any) -> str:
    return str(value).replace("|", "\\|").replace("\n", " ")


def rules(name: str) -> str:
    """List every rule of a discipline: value in the reference edition, bounds, meaning, reason."""
    released = edition(default_edition(name))
    values = released.rules.model_dump()
    rows = []
    for text in discipline(name).rules.texts():
        reason = released.reasons.get(text.name, text.reason)
        rows.append(
            [f"`{text.name}`", f"`{_plain(values[text.name])}`", text.bounds, text.meaning,
             reason, text.source]
        )  # fmt: skip
    return table(["rule", "value", "bounds", "meaning", "reason", "source"], rows)


def _plain(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(str(part) for part in value)
    return str(value)


def tables(name: str) -> str:
    """List every table and column a discipline reads."""
    parts = []
    for schema_table in discipline(name).schema:
        need = "required" if schema_table.required else "optional, empty when missing"
        names = f"; also known as {', '.join(schema_table.aliases)}" if schema_table.aliases else ""
        rows = [
            [f"`{column.name}`" + ("" if column.required else "?"), str(column.kind),
             column.meaning, column.allowed, column.empty]
            for column in schema_table.columns
        ]  # fmt: skip
        head = ["column", "kind", "meaning", "allowed", "if empty"]
        title = f"**`{schema_table.name}`** ({need}{names}): {schema_table.meaning}"
        parts.append(f"{title}\n\n{table(head, rows)}")
    return "\n\n".join(parts)


def boards(name: str) -> str:
    """List a discipline's boards, the default first."""
    return table(["board"], [[f"`{board}`"] for board in discipline(name).boards])


def findings(name: str) -> str:
    """List a discipline's integrity checks."""
    checks = discipline(name).checks.items()
    return table(["finding", "what it reports"], [[f"`{code}`", text] for code, text in checks])


def task_keys(_: str) -> str:
    """List every key of the task format with what agon does with it."""
    rows = [[f"`{key.path}`", key.handling, key.why] for key in KEYS]
    head = ["key", "handling", "what it is read as, why it changes nothing, or the remedy"]
    return table(head, rows)


def attacks(name: str) -> str:
    """List the attacks a discipline's simulation knows."""
    known = discipline(name).attacks.items()
    return table(
        ["attack", "what the attacker does"], [[f"`{code}`", text] for code, text in known]
    )


def examples(name: str) -> str:
    """List an edition's worked examples with the rows they must give."""
    rows = []
    for example in edition(name).examples:
        records = ", ".join(f"{len(rows)} {table}" for table, rows in example.records.items())
        expected = "; ".join(
            f"`{row}`: " + ", ".join(f"{key} {_plain(value)}" for key, value in columns.items())
            for row, columns in example.expect.items()
        )
        if example.unscored:
            expected = "; ".join(filter(None, [expected, f"unscored: {_plain(example.unscored)}"]))
        setting = ", ".join(f"`{key}={_plain(value)}`" for key, value in example.overrides.items())
        rows.append([example.title, records, setting, f"`{example.board}`", expected])
    return table(["example", "records", "set", "board", "expected"], rows)


def all_editions(_: str) -> str:
    """List every released edition with its fingerprint and changelog."""
    rows = [
        [f"`{name}`", edition(name).title, edition(name).released,
         f"`{edition(name).rules_sha256[:16]}…`", " ".join(edition(name).changelog)]
        for name in editions()
    ]  # fmt: skip
    return table(["edition", "what it is", "released", "rules_sha256", "changelog"], rows)


def commands(_: str) -> str:
    """Write the reference of every command from the command line's own definitions."""
    from agon.cli import cli

    return "\n\n".join(_command(cli, "agon"))


def settings(_: str) -> str:
    """List every setting of the service."""
    from agon.settings import SETTINGS

    rows = [
        [f"`{setting.name}`", f"`{setting.variable}`", f"`{_plain(setting.default) or 'empty'}`",
         setting.bounds, setting.meaning]
        for setting in SETTINGS.values()
    ]  # fmt: skip
    return table(["setting", "variable", "default", "may be", "meaning"], rows)


def owners(_: str) -> str:
    """List every table with who writes its records in a live contest."""
    rows = []
    for name in BUILT_IN:
        for table_name, owner in discipline(name).written_by.items():
            operations = owner.also if owner.protocol is None else owner.protocol.operations
            protocol, own = owner.protocol, f" with the service's `{owner.column}`"
            rows.append([
                name,
                f"`{table_name}`",
                "organizers" if protocol is None or owner.column else "",
                "" if protocol is None else protocol.name + (own if owner.column else ""),
                ", ".join(f"`{each}`" for each in operations),
            ])  # fmt: skip
    head = ["discipline", "table", "sent by", "of the protocol alone", "operations of the service"]
    return table(head, rows)


def files(_: str) -> str:
    """List the files that are read in the tests: the idea, the door, and the outcome."""
    lines = _FILES.read_text("utf-8").splitlines()
    return table(["file", "idea", "door", "result"], map(_file, map(json.loads, lines)))


def _file(row: dict[str, Any]) -> list[Any]:
    """Return a file's row: the number of rows with notes and findings, or what refuses it."""
    first, *rest = row["outcome"]
    if first == "refused":
        said = [first, *(text.removesuffix(" column None") for text in rest)]
    else:
        stated = f", with {_names(row['options'])} stated" if row.get("options") else ""
        plural = "" if first == "read 1" else "s"
        said = [f"{first} row{plural}{stated}"]
        said += [text for text in rest if text.startswith(("note:", "finding:"))]
    return [f"`{row['file']}`", _visible(row["idea"]), row["door"], _visible("; ".join(said))]


def tried_tasks(part: str) -> str:
    """List the tasks that were tried by the reference's rules and here, or count them."""
    rows = list(map(json.loads, _TASKS.read_text("utf-8").splitlines()))
    if part == "counts":
        return _counts(rows)
    head = ["task", "shape of", "idea", "keys", "agent", "reference", "agon", "reason"]
    return table(head, (cells for row in rows for cells in _agents(row)))


def _counts(rows: list[dict[str, Any]]) -> str:
    ours = [one for row in rows for one in row["agon"].values()]
    differ = [row["task"] for row in rows if row.get("differs")]
    results = ", ".join(
        f"{sum(one['result'] == name for one in ours)} {name}"
        for name in ("passed", "failed", "unscored", "refused")
    )
    named = ", ".join(f"`{name}`" for name in differ)
    return (
        f"{len(rows)} tasks, {len(ours)} trials: {results}. Tasks that differ: {named or 'none'}."
    )


def _agents(row: dict[str, Any]) -> Iterator[list[str]]:
    """Yield a task's row for each agent; what holds for the task stands in the first."""
    about = [f"`{row['task']}`", row["origin"], _visible(row["idea"])]
    about.append(", ".join(f"`{key}`" for key in row["keys"]))
    differs = row.get("differs", "")
    for agent, ours in row["agon"].items():
        found = f"{ours['result']}: {ours['rewards']}" if "rewards" in ours else ours["result"]
        reasons = "; ".join(filter(None, (_visible(ours["reason"]), differs)))
        yield [*about, agent, row["reference"][agent], found, reasons]
        about, differs = [""] * 4, ""


def _names(options: dict[str, Any]) -> str:
    return " and ".join([*options.get("mapping", ()), *(name for name in options
                                                       if name != "mapping")])  # fmt: skip


def _visible(text: str) -> str:
    """Return text whose signs are seen, and are no Markdown."""
    seen = (sign if sign.isprintable() else repr(sign)[1:-1] for sign in text)
    return re.sub(r"([\\`*_<>\[\]#~$])", r"\\\1", "".join(seen))


def doors(_: str) -> str:
    """List every operation that can lead to records."""
    rows = [
        [f"`{each.id}`", ", ".join(sorted(ACTIONS[str(each.permission)])), way, TIMES_SET_BY[way]]
        for each in sorted(all_operations(), key=lambda each: each.id)
        if (way := each.records) is not None and way != "none"
    ]
    return table(["operation", "roles", "records", "times set by"], rows)


def _command(command: click.Command, path: str) -> Iterator[str]:
    context = click.Context(command, info_name=path)
    arguments = " ".join(
        parameter.make_metavar(context)
        for parameter in command.params
        if isinstance(parameter, click.Argument)
    )
    yield f"### `{path}`"
    yield f"```text\n{path} {arguments}\n```" if arguments else ""
    yield from map(_paragraph, inspect.cleandoc(command.help or "").split("\n\n"))
    options = [p for p in command.params if isinstance(p, click.Option) and not p.hidden]
    if options:
        rows = [[f"`{' / '.join(option.opts)}`", _help(option)] for option in options]
        yield table(["option", "meaning"], rows)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            if child is not None:
                yield from _command(child, f"{path} {name}")


def _paragraph(text: str) -> str:
    """Write a paragraph of help; an indented one is examples or a list."""
    if text.startswith("  "):
        lines = inspect.cleandoc(text)
        return f"```{'sh' if lines.startswith('agon ') else 'text'}\n{lines}\n```"
    return " ".join(text.split())


def _help(option: click.Option) -> str:
    if isinstance(option.type, click.Choice):
        return f"{option.help or ''} (one of {', '.join(map(str, option.type.choices))})"
    return option.help or ""
