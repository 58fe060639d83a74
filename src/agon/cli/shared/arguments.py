"""Options that the commands about contests share."""

from pathlib import Path

import click

from agon.cli.shared import completion
from agon.cli.shared.commands import option

contest = click.argument("contest", metavar="ID", shell_complete=completion.contests)
reason_required = option(
    "--reason",
    required=True,
    metavar="R",
    help="Why; it is stored in the ledger, where everyone can read it.",
)
as_of = option(
    "--as-of",
    metavar="T",
    help="The board as it was at this position of the ledger, or at this ISO 8601 time.",
)
yes = option("--yes", is_flag=True, help="Apply without confirmation.")
secret_file = option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write it to a new file that only you can read, instead of stdout.",
)
