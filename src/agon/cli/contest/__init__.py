"""``agon contest``: contests and their content, in a database or at a server."""

import click

from agon.cli.contest.boards import board, explain, findings, history, proof
from agon.cli.contest.corrections import changes, rescore, rollback, void
from agon.cli.contest.dojo import problems, publish, reveal, submissions, submit
from agon.cli.contest.invitations import invitations, invite, join, join_requests
from agon.cli.contest.lifecycle import (
    create,
    edit,
    finalize,
    freeze,
    list_,
    open_,
    season,
    show,
    unfreeze,
)
from agon.cli.contest.records import add
from agon.cli.contest.transfer import export, import_
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


for each in (
    create, edit, season, list_, show, open_, freeze, unfreeze, finalize, add, board, explain,
    history, proof, findings, problems, publish, reveal, submit, submissions, rescore, void,
    changes, rollback, export, import_, invite, invitations,
    join_requests, join,
):  # fmt: skip
    command.add_command(each)
