"""Options that the commands about contests share."""

import click

from agon.cli.shared import completion
from agon.cli.shared.commands import option

contest = click.argument("contest", metavar="ID", shell_complete=completion.contests)
reason_required = option(
    "--reason", required=True, metavar="R", help="The reason; stored in the ledger permanently."
)
as_of = option(
    "--as-of",
    metavar="T",
    help="The board as it was at this position of the ledger, or at this ISO 8601 time.",
)
yes = option("--yes", is_flag=True, help="Apply without confirmation.")
