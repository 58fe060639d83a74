"""``agon challenge weights``: the miners' weights in an epoch or in all of them."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agon.cli.challenge import epochs
from agon.cli.shared import parameters, sources
from agon.cli.shared.commands import Command, option
from agon.cli.shared.output import TABLE, board_chunks, deliver, deliver_json

if TYPE_CHECKING:
    from agon.app.analysis.options import RuleOptions, SourceOptions
    from agon.app.challenge.epochs import EpochWeights
    from agon.kernel.boards import Board

_ROWS = {"csv", "ndjson", "parquet"}
_MAX_EPOCHS_DRAWN = 100
_MAX_MINERS_DRAWN = 3


@click.command("weights", cls=Command)
@parameters.source
@sources.reading
@epochs.epoch
@option("--all", "every", is_flag=True, help="Every epoch from the first to that one.")
@option(
    "--bittensor", is_flag=True, help="Print uids and weights as JSON, as set_weights expects them."
)
@parameters.rules
@parameters.printing
def weights(
    source: str,
    *,
    reads: "SourceOptions",
    epoch: int | None,
    every: bool,
    bittensor: bool,
    rule_options: "RuleOptions",
    printing: parameters.OutputOptions,
) -> None:
    """Compute the weights of all miners of SOURCE.

    The board of agon score challenge, as of an epoch; the weight of uid 0 is the burn. With --all a
    row for each epoch and uid: epoch, uid, weight, u16, and the burn of the epoch.

      agon challenge weights data/
      agon challenge weights data/ --epoch 12 --bittensor
      agon challenge weights data/ --all --output weights.parquet
    """
    if bittensor and (every or printing.form not in {TABLE, "json"} or printing.top is not None):
        raise click.UsageError(
            "--bittensor prints JSON of one epoch's miners; leave --all, --format and --top"
        )
    if every and printing.top is not None:
        raise click.UsageError("--all prints every weight; leave --top")
    from agon.app.analysis.score import score
    from agon.cli.score import show
    from agon.cli.shared.output import working

    with working("weighing"):
        result = score("challenge", source, **reads, **epochs.at_epoch(rule_options, epoch))
        if every:
            from agon.app.challenge.epochs import weigh_epochs

            weighed = weigh_epochs(result)
        else:
            board = result.board("weights")
    from agon.app.challenge.epochs import cautions, outcome_of, payload_cautions, payload_of

    sources.echo_reading(result)
    epochs.warn(cautions(result))
    if every:
        _show_all(weighed, printing)
    elif not bittensor:
        show(result, _with_epoch(board) if printing.form in _ROWS else board, printing)
    else:
        from agon.cli.shared.formats import json_text

        epochs.warn(payload_cautions(result))
        value = {"epoch": outcome_of(result).epoch, **payload_of(result).to_dict()}
        deliver([json_text(value).encode(), b"\n"], printing.output)


def _with_epoch(board: "Board") -> "Board":
    """Return the board with its epoch in every row, for formats without a heading."""
    import pyarrow as pa

    epoch = pa.array([board.context["epoch"]] * len(board), pa.int64())
    return replace(board, table=board.table.append_column("epoch", epoch))


def _show_all(weighed: "EpochWeights", printing: parameters.OutputOptions) -> None:
    if printing.form == TABLE:
        _draw_all(weighed, printing.output)
    elif printing.form == "json":
        deliver_json(weighed.to_dict(), printing.output)
    else:
        deliver(board_chunks(weighed.table, printing.form), printing.output)


def _draw_all(weighed: "EpochWeights", output: Path | None) -> None:
    """Draw a line for each of the last epochs: the burn and the largest weights."""
    from agon.app.challenge.epochs import outcome_of
    from agon.cli.shared.tables import Output, TableColumn, numbers

    epochs = weighed.epochs[-_MAX_EPOCHS_DRAWN:]
    burn_uid = outcome_of(weighed.result).network.rules.burn_uid
    paid: dict[int, list[tuple[float, int]]] = {epoch: [] for epoch in epochs}
    burn: dict[int, float] = {}
    for row in weighed.rows(since=epochs[0]):
        burn[row["epoch"]] = row["burn"]
        if row["uid"] != burn_uid:
            paid[row["epoch"]].append((-row["weight"], row["uid"]))
    largest = [
        ", ".join(
            f"{uid} ({-weight:.4f})" for weight, uid in sorted(paid[epoch])[:_MAX_MINERS_DRAWN]
        )
        for epoch in epochs
    ]
    out = Output(output)
    edition = weighed.result.rules_title
    out.line(
        f"weights of epochs {weighed.epochs[0]} to {weighed.epochs[-1]} · {edition}", style="bold"
    )
    out.table(
        [
            TableColumn("epoch", [str(epoch) for epoch in epochs], right=True),
            TableColumn("burn", numbers([burn[epoch] for epoch in epochs]), right=True),
            TableColumn("paid", [str(len(paid[epoch])) for epoch in epochs], right=True),
            TableColumn("largest: uid (weight)", largest, folds=True),
        ],
        needed=4,
    )
    if earlier := len(weighed.epochs) - len(epochs):
        out.line(f"{earlier:,} earlier epochs; --format csv shows all")
    out.deliver()
