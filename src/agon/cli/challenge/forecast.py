"""``agon challenge forecast``: the epoch at which the burn reaches its maximum."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from agon.cli.challenge import epochs
from agon.cli.shared import parameters, sources
from agon.cli.shared.commands import Command, option
from agon.cli.shared.output import TABLE, board_chunks, deliver, deliver_json

if TYPE_CHECKING:
    from agon.app.analysis.options import RuleOptions, SourceOptions
    from agon.app.challenge.epochs import Decay, Forecast
    from agon.cli.shared.tables import Output


@click.command("forecast", cls=Command)
@parameters.source
@sources.reading
@epochs.epoch
@option(
    "--epochs",
    "ahead",
    type=click.IntRange(1, 10_000),
    metavar="N",
    help="Number of epochs (default: some beyond the last maximum, 10 to 100).",
)
@option("--competition", metavar="C", help="One competition (default: all).")
@parameters.rules
@parameters.board_form
@parameters.output
def forecast_burn(
    source: str,
    *,
    reads: "SourceOptions",
    epoch: int | None,
    ahead: int | None,
    competition: str | None,
    rule_options: "RuleOptions",
    form: str,
    output: Path | None,
) -> None:
    """Show how the burn of SOURCE grows without improvements.

    For each competition: its burn now, the epoch in which decay begins, the epoch in which the burn
    reaches its maximum, and the burn of every epoch until then under both curves. All scores are
    those of the scored epoch.

      agon challenge forecast data/
      agon challenge forecast data/ --epochs 40 --competition main
      agon challenge forecast data/ --set decay_curve=exponential --format json
    """
    from agon.app.analysis.score import score
    from agon.app.challenge.epochs import cautions, forecast
    from agon.cli.shared.output import working

    with working("forecasting"):
        result = score("challenge", source, **reads, **epochs.at_epoch(rule_options, epoch))
        outlook = forecast(result, ahead=ahead, competition=competition)
    sources.echo_reading(result)
    epochs.warn(cautions(result))
    if form == "json":
        deliver_json(outlook.to_dict(), output)
    elif form == TABLE:
        from agon.cli.shared.tables import Output

        out = Output(output)
        _draw(out, outlook)
        out.deliver()
    else:
        deliver(board_chunks(outlook.table(), form), output)


def _draw(out: "Output", result: "Forecast") -> None:
    from agon.cli.shared.tables import TableColumn, number

    edition = result.result.rules_title
    out.line(f"without improvements · {edition} · as of epoch {result.epochs[0]}", style="bold")
    decays = result.decays
    out.table(
        [
            TableColumn("competition", [decay.competition for decay in decays]),
            TableColumn("burn %", _percents([decay.burning[0] for decay in decays]), right=True),
            TableColumn("decay begins", [_epoch(decay.begins_in) for decay in decays], right=True),
            TableColumn("most %", [number(decay.rules.max_burn) for decay in decays], right=True),
            TableColumn("reached in", [_epoch(decay.full_in) for decay in decays], right=True),
            TableColumn("stopped by", [_decay_text(decay) for decay in decays], right=True),
            TableColumn("curve", [decay.rules.decay_curve for decay in decays]),
        ],
        needed=6,
    )
    out.line()
    out.line("burn in percent, epoch by epoch", style="bold")
    lines = [
        TableColumn(
            decay.competition if len(decays) > 1 else f"{decay.rules.decay_curve} (in force)",
            _percents(decay.burning),
            right=True,
        )
        for decay in decays
    ]
    if len(decays) == 1:
        lines += [
            TableColumn(curve, _percents(percents), right=True)
            for curve, percents in decays[0].curves.items()
            if curve != decays[0].rules.decay_curve
        ]
    out.table(
        [
            TableColumn("epoch", [str(epoch) for epoch in result.epochs], right=True),
            *lines,
            TableColumn(
                "whole network", _percents([100 * burn for burn in result.burn]), right=True
            ),
        ],
        needed=2,
    )
    for decay in decays:
        if decay.note:
            out.line(f"{decay.competition}: {decay.note}")


def _epoch(epoch: int | None) -> str:
    return "never" if epoch is None else str(epoch)


def _decay_text(decay: "Decay") -> str:
    if decay.improves_at is None:
        return "no score"
    return f"≥ {decay.improves_at:.6f}" if decay.state.top else "> 0"


def _percents(values: list[float]) -> list[str]:
    return [f"{value:.2f}" for value in values]
