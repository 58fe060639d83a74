"""``agon challenge``: run agents on tasks in containers; turn evaluations into weights."""

import click

from agon.cli.challenge.agents import list_agents
from agon.cli.challenge.check import check_tasks
from agon.cli.challenge.clean import clean_containers
from agon.cli.challenge.forecast import forecast_burn
from agon.cli.challenge.plot import plot_epochs
from agon.cli.challenge.run import run_agent
from agon.cli.challenge.submit import submit_weights
from agon.cli.challenge.view import view_run
from agon.cli.challenge.weights import weights
from agon.cli.generated.commands import add_generated
from agon.cli.shared.commands import Group


@click.group("challenge", cls=Group)
def command() -> None:
    """Run agents on tasks; turn evaluations into weights.

    Tasks are folders in the layout of Harbor or Terminal-Bench and run in containers (podman or
    docker). agon explain shows how a weight was computed.

      agon challenge check tasks/
      agon challenge run tasks/ --agent 'my-agent --prompt {instruction}' --out run1/
      agon challenge view run1/
      agon challenge weights data/ --epoch 12 --bittensor
      agon challenge forecast data/
    """


for each in (
    check_tasks,
    run_agent,
    view_run,
    list_agents,
    clean_containers,
    weights,
    forecast_burn,
    plot_epochs,
    submit_weights,
):
    command.add_command(each)
add_generated(command)
