"""``agon config``: the service's settings, and where each comes from."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agon.cli.shared import parameters
from agon.cli.shared.commands import Group, option
from agon.cli.shared.output import TABLE, deliver

if TYPE_CHECKING:
    from agon.settings import Origin


@click.group("config", cls=Group)
def command() -> None:
    """Show and check the settings of the service.

    They come from options, else the environment (AGON_PORT), else agon.toml, else defaults.

      agon config show --origin
      agon config check
    """


@command.command("show")
@option("--origin", is_flag=True, help="Show where each setting comes from.")
@parameters.form(TABLE, "json", "toml")
@parameters.output
def show(*, origin: bool, form: str, output: Path | None) -> None:
    """Show every setting as the service would have it here.

    Passwords are shown as ***. TOML can be written to agon.toml and changed.

      agon config show --origin
      agon config show --format toml --output agon.toml
    """
    origins = _origins()
    if form == "json":
        from agon.cli.shared.formats import json_chunks

        rows: list[dict[str, Any]] = [
            {"name": setting.name, "value": setting.value}
            | ({"origin": setting.source} if origin else {})
            for setting in origins
        ]
        deliver(json_chunks({"settings": rows}), output)
    elif form == "toml":
        from agon.settings import to_toml

        deliver([to_toml(origins, origin=origin).encode()], output)
    else:
        _draw(origins, output, origin=origin)


@command.command("check")
def check() -> None:
    """Check that the service could start with these settings.

    Unknown names, values out of bounds and contradictory settings are reported together, each
    with its source. Nothing is started, no file is written.

      agon config check
      AGON_CONFIG=/etc/agon/agon.toml agon config check
    """
    from agon.settings import SETTINGS, load, require_auth_if_public

    settings = load()
    require_auth_if_public(settings)
    set_here = sum(origin.source != "default" for origin in _origins())
    click.echo(f"OK: {len(SETTINGS)} settings, {set_here} of them set; serves {settings.url}")


def _origins() -> "list[Origin]":
    from agon.settings import origins

    return origins()


def _draw(origins: "list[Origin]", output: Path | None, *, origin: bool) -> None:
    from agon.cli.shared.tables import Output, TableColumn
    from agon.settings import SETTINGS

    out = Output(output)
    columns = [
        TableColumn("setting", [setting.name for setting in origins]),
        TableColumn("value", [_text(setting.value) for setting in origins]),
    ]
    if origin:
        columns.append(TableColumn("comes from", [setting.source for setting in origins]))
    else:
        columns.append(
            TableColumn(
                "meaning", [SETTINGS[setting.name].meaning for setting in origins], folds=True
            )
        )
    out.table(columns)
    out.deliver()


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value)) or "none"
    return str(value) or "none"
