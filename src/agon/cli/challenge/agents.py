"""``agon challenge agents``: list the agents that are defined by a file, and show one."""

import click

from agon.cli.shared import parameters
from agon.cli.shared.commands import Command
from agon.cli.shared.output import TABLE, deliver_json


@click.command("agents", cls=Command)
@click.argument("name", required=False, metavar="[NAME]")
@parameters.form(TABLE, "json")
def list_agents(name: str | None, form: str) -> None:
    """List the agents that --agent knows by name; with NAME, print the file that defines it.

    A definition has a set-up script, which installs the agent in the container, a command, and the
    variables that it needs. Copy one and change it:

      agon challenge agents
      agon challenge agents mini-swe-agent > mine.toml
      agon challenge run tasks/ --agent mine.toml --model openai/m --agent-env OPENAI_API_KEY
    """
    from agon.errors import NotFound, did_you_mean
    from agon.runners.agents.definitions import shipped_agents

    agents = shipped_agents()
    if name is not None:
        if name not in agents:
            raise NotFound(f"there is no agent {name!r}: {did_you_mean(name, agents)}")
        click.echo(agents[name].text, nl=False)
        return
    rows = [
        {"name": one.name, "about": one.about, "variables": list(one.variables), "tried": one.tried}
        for one in agents.values()
    ]
    if form == "json":
        deliver_json({"agents": rows})
        return
    from agon.cli.shared.tables import Output, TableColumn

    out = Output()
    out.table(
        [
            TableColumn("agent", list(agents)),
            TableColumn("what it is", [one.about for one in agents.values()], folds=True),
            TableColumn("needs", [" ".join(one.variables) for one in agents.values()], folds=True),
            TableColumn("tried", [one.tried for one in agents.values()], folds=True),
        ],
        needed=1,
    )
    out.deliver()
