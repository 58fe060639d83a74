"""``agon contest``: contests and their content, in a database or at a server."""

import click

from agon.cli.contest.boards import board, explain, findings, history, proof
from agon.cli.contest.corrections import merge, rescore, void
from agon.cli.contest.dojo import publish, submit
from agon.cli.contest.invitations import invite, invite_all, join
from agon.cli.contest.lifecycle import show
from agon.cli.contest.records import add
from agon.cli.contest.transfer import export, import_
from agon.cli.generated.commands import add_generated
from agon.cli.shared.commands import Group


@click.group("contest", cls=Group)
def command() -> None:
    """Run contests: create, fill, freeze, correct and publish them.

    Every command works with a database here (--database), or with --server URL at a server, to
    which it shows the token in --token-file or AGON_TOKEN.

      agon contest create spring --discipline community --title 'Spring 2026'
      agon contest add spring data/
      agon contest board spring --top 10
      agon contest rescore spring --set self_feedback=ignore --dry-run
    """


add_generated(command)
for each in (
    show, add, board, explain, history, proof, findings, publish, submit, rescore,
    void, merge, export, import_, invite, invite_all, join,
):  # fmt: skip
    command.add_command(each)
