"""``agon challenge submit``: an epoch's weights to a Bittensor chain."""

from typing import TYPE_CHECKING, Any

import click

from agon.cli.challenge import epochs
from agon.cli.shared import parameters, sources
from agon.cli.shared.commands import Command, option
from agon.cli.shared.output import TABLE, deliver

if TYPE_CHECKING:
    from agon.app.analysis.options import RuleOptions, SourceOptions
    from agon.app.challenge.weight_setting import Order


@click.command("submit", cls=Command)
@parameters.source
@sources.reading
@option(
    "--netuid",
    type=click.IntRange(0, 65_535),
    required=True,
    metavar="N",
    help="The subnet whose weights are set.",
)
@epochs.epoch
@option(
    "--network",
    default="finney",
    show_default=True,
    metavar="NAME",
    help="The chain: finney, test, local, or a ws:// or wss:// address.",
)
@option("--wallet", default="default", show_default=True, metavar="NAME", help="The wallet's name.")
@option(
    "--hotkey",
    default="default",
    show_default=True,
    metavar="NAME",
    help="The wallet's hotkey that signs; it must be registered on the subnet.",
)
@option(
    "--dry-run/--no-dry-run",
    default=True,
    show_default=True,
    help="Show what would be sent; --no-dry-run sends it.",
)
@option(
    "--burn-uid-anyway",
    is_flag=True,
    help="Send the burn to burn_uid even if the chain does not say that it is the owner's.",
)
@parameters.rules
@parameters.form(TABLE, "json")
def submit_weights(
    source: str,
    *,
    reads: "SourceOptions",
    epoch: int | None,
    dry_run: bool,
    burn_uid_anyway: bool,
    rule_options: "RuleOptions",
    form: str,
    **where: Any,
) -> None:
    """Set the weights of an epoch of SOURCE on a Bittensor chain.

    Nothing is sent without --no-dry-run. The weight of burn_uid (0 unless --set says otherwise) is
    the burn: the chain is asked whether that uid is the subnet owner's, whose incentive it burns.
    The chain scales weights itself, so that only their proportions count; a subnet may clip the
    largest.

      agon challenge submit data/ --netuid 5
      agon challenge submit data/ --netuid 5 --network test --wallet validator --no-dry-run

    Sending needs pip install 'agon-engine[bittensor]'. Exit code 4: the chain rejected the weights.
    """
    from agon.app.analysis.score import score
    from agon.app.challenge.epochs import cautions, payload_cautions
    from agon.app.challenge.weight_setting import order_of, require_burn_uid
    from agon.cli.shared.output import working

    with working("weighing"):
        result = score("challenge", source, **reads, **epochs.at_epoch(rule_options, epoch))
        order = order_of(result, **where)
    sources.echo_reading(result)
    warnings = [*cautions(result), *payload_cautions(result)]
    epochs.warn(warnings)
    answer = None
    if not dry_run:
        from agon.wiring import weight_setter

        setter = weight_setter()
        with working("sending"):
            if not burn_uid_anyway:
                require_burn_uid(setter, order)
            answer = setter.set_weights(order)
    if form == "json":
        from agon.cli.shared.formats import json_chunks

        report = {"warnings": warnings, "sent": answer is not None, "answer": answer}
        deliver(json_chunks({**result.provenance(), **order.to_dict(), **report}), None)
    else:
        _draw(order, answer)


def _draw(order: "Order", answer: str | None) -> None:
    from agon.cli.shared.tables import Output, TableColumn

    out = Output()
    would = "would set" if answer is None else "set"
    out.line(
        f"{would} weights of epoch {order.epoch} on subnet {order.netuid} of {order.network}, "
        f"signed by {order.wallet}/{order.hotkey}",
        style="bold",
    )
    weights = order.payload.weights
    total = sum(weights)
    out.table(
        [
            TableColumn("uid", [str(uid) for uid in order.payload.uids], right=True),
            TableColumn("weight", [f"{weight:,}" for weight in weights], right=True),
            TableColumn(
                "percent", [f"{100 * weight / total:.3f}" for weight in weights], right=True
            ),
        ]
    )
    out.line("nothing was sent; --no-dry-run sends it" if answer is None else f"answer: {answer}")
    out.deliver()
