"""``agon dojo``: check and run programs, publish, judge and reveal problems."""

import click

from agon.cli.dojo.check import canonicalize_file, check_file
from agon.cli.dojo.judge import judge_submissions, rejudge_season
from agon.cli.dojo.problems import publish_problem, reveal_problem, verify_source
from agon.cli.dojo.rules import show_rules
from agon.cli.dojo.run import run_file
from agon.cli.shared.commands import Group


@click.group("dojo", cls=Group)
def command() -> None:
    """Check, run, publish, judge and reveal programs; no server needed.

    Season boards: agon score dojo DIR.

      agon dojo rules
      agon dojo check solver.py
      agon dojo run solver.py
      agon dojo publish primes/ --out published/
      agon dojo judge primes/ submissions/ --out season/
      agon dojo verify setter.py --hash P_HASH
    """


for each in (
    show_rules,
    canonicalize_file,
    check_file,
    run_file,
    publish_problem,
    judge_submissions,
    rejudge_season,
    reveal_problem,
    verify_source,
):
    command.add_command(each)
