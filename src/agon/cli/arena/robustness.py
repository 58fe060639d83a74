"""``agon arena robustness``: how few matches change the ranks of bots."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from agon.cli.shared import lists, parameters, sources
from agon.cli.shared.commands import Command, option

if TYPE_CHECKING:
    from agon.app.analysis.options import RuleOptions, SourceOptions

_COLUMNS: Final = ("rank", "bot", "next", "margin", "matches", "share")
_BANDS: Final = ("rank", "bot", "rating", "matches", "low", "high", "rank_low", "rank_high")


@click.command("robustness", cls=Command)
@parameters.source
@sources.reading
@option("--ranks", type=click.IntRange(1, 1000), default=10, show_default=True,
        help="How many ranks to examine.")  # fmt: skip
@option("--elo", is_flag=True, help="Print Elo's noise band of the first ratings instead.")
@parameters.rules
@lists.form
@parameters.output
def robustness(
    source: str,
    *,
    reads: "SourceOptions",
    ranks: int,
    elo: bool,
    rule_options: "RuleOptions",
    form: str,
    output: Path | None,
) -> None:
    """Print how many matches of SOURCE decide each of the first Bradley–Terry ranks.

    Without so many matches, the most influential ones, a refit puts the next bot before. The
    number is proved, but a smaller set may exist. With --elo: ratings with the band within which
    they wander by chance alone. SOURCE may be the folder of an exported ledger.

      agon arena robustness data/
      agon arena robustness battles.csv --columns model_a=left,model_b=right --ranks 5
      agon arena robustness data/ --elo --format csv
    """
    from agon.app.arena.robustness import robustness as measure
    from agon.cli.shared.output import working
    from agon.errors import NotScorable

    with working("refitting"):
        result = measure(source, ranks=ranks, **reads, **rule_options)
    sources.echo_notes(result.notes)
    if elo:
        rows = [vars(band) for band in result.bands]
    elif result.reason is not None:
        raise NotScorable(result.reason)
    else:
        rows = [vars(rank) for rank in result.ranks]
    lists.print_rows(
        rows, form=form, name="bands" if elo else "ranks", columns=_BANDS if elo else _COLUMNS,
        output=output, empty="fewer than two bots have rated matches",
    )  # fmt: skip
