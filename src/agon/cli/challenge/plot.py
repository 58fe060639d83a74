"""``agon challenge plot``: figures of weights, burn and forecast."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agon.cli.challenge import epochs
from agon.cli.shared import parameters, sources
from agon.cli.shared.commands import Command, option

if TYPE_CHECKING:
    from agon.app.analysis.options import RuleOptions, SourceOptions

_KINDS = ("weights", "burn", "forecast")
_FORMS = ("svg", "png")


@click.command("plot", cls=Command)
@parameters.source
@sources.reading
@option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    metavar="DIR|FILE",
    help="A file that ends in .svg or .png, or a folder for one file of each kind.",
)
@option(
    "--kind",
    "kinds",
    type=click.Choice(_KINDS),
    multiple=True,
    help="The figure; may be repeated (default: all; for a file: weights).",
)
@option(
    "--format",
    "form",
    type=click.Choice(_FORMS),
    help="Kind of the files in a folder (default: svg).",
)
@epochs.epoch
@parameters.rules
def plot_epochs(
    source: str,
    *,
    reads: "SourceOptions",
    out: Path,
    kinds: tuple[str, ...],
    form: str | None,
    epoch: int | None,
    rule_options: "RuleOptions",
) -> None:
    """Draw the epochs of SOURCE.

    weights: the shares of the emission by epoch. burn: each competition's burn by decay, and
    the network in total. forecast: how the burn grows without improvements. SVG follows the light
    or dark preference of its reader, PNG is light.

      agon challenge plot data/ --out pictures/
      agon challenge plot data/ --out burn.svg --kind burn
      agon challenge plot data/ --out pictures/ --format png

    PNG needs pip install 'agon-engine[plots]'.
    """
    targets = dict(_files(out, kinds, form))
    from agon.cli.shared.output import require_writable

    for file in targets.values():
        require_writable(file if len(targets) == 1 and file == out else out)
    from agon.app.analysis.score import score
    from agon.app.challenge.figures import picture
    from agon.app.charts import svg
    from agon.cli.shared.output import working
    from agon.errors import NotScorable
    from agon.records.writing import write_atomically
    from agon.wiring import png

    with working("drawing"):
        result = score("challenge", source, **reads, **epochs.at_epoch(rule_options, epoch))
        drawn = {}
        for kind, file in targets.items():
            try:
                drawn[file] = svg(picture(result, kind))
            except NotScorable as error:
                if kinds:
                    raise
                click.echo(f"no {kind}: {error}", err=True)
        contents = {
            file: png(text) if file.suffix.lower() == ".png" else text.encode()
            for file, text in drawn.items()
        }
    sources.echo_reading(result)
    for file, content in contents.items():
        file.parent.mkdir(exist_ok=True)
        write_atomically(file, [content])
        click.echo(f"wrote {file}", err=True)


def _files(out: Path, kinds: tuple[str, ...], form: str | None) -> Iterator[tuple[str, Path]]:
    """Yield each chart's kind and file."""
    ending = out.suffix.lower().lstrip(".")
    if ending and ending not in _FORMS and not out.is_dir():
        raise click.UsageError(
            f"expected a file that ends in .svg or .png, or a folder, got {out}; "
            "change the ending, or create the folder first"
        )
    if ending not in _FORMS or out.is_dir():
        for kind in kinds or _KINDS:
            yield kind, out / f"{kind}.{form or _FORMS[0]}"
        return
    if len(set(kinds)) > 1:
        raise click.UsageError(f"{out} is one file; name a folder for several figures")
    if form not in {None, ending}:
        raise click.UsageError(f"{out} ends in .{ending}; leave --format {form}")
    yield (kinds or _KINDS)[0], out
