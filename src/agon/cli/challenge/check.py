"""``agon challenge check``: can these tasks be accepted into a contest?"""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agon.cli.challenge import arguments
from agon.cli.shared import parameters
from agon.cli.shared.commands import Command
from agon.cli.shared.output import TABLE, deliver

if TYPE_CHECKING:
    from agon.app.tasks.acceptance import Acceptance


@click.command("check", cls=Command)
@arguments.tasks
@arguments.jobs
@arguments.engine
@parameters.form(TABLE, "json")
@click.pass_context
def check_tasks(
    ctx: click.Context,
    tasks: tuple[Path, ...],
    *,
    jobs: int | None,
    where: arguments.Where,
    form: str,
) -> None:
    """Check that TASKS can be accepted into a contest.

    All errors of all folders are reported together. Then each task is run: its solution must pass,
    doing nothing must fail, and its cheat (tests/cheat.sh, if present) must fail. Exit code 1 when
    a task is not acceptable.

      agon challenge check tasks/
      agon challenge check tasks/sort-log --format json
    """
    from agon.app.tasks.acceptance import accept_tasks
    from agon.app.tasks.discovery import read_tasks
    from agon.wiring import acceptance_agents, base_image, containers, new_id

    read = read_tasks(tasks)
    base_image(read, where.engine)
    with containers(where.engine, runtime=where.runtime) as engine:
        found = []
        for one in accept_tasks(
            read,
            acceptance_agents(),
            containers=engine,
            run=new_id(),
            jobs=arguments.at_a_time(jobs),
            now=lambda: datetime.now(UTC),
        ):
            found.append(one)
            click.echo(f"[{len(found)}/{len(read)}] {one.task}", err=True)
    if form == "json":
        from agon.cli.shared.formats import json_chunks

        accepted = sum(one.accepted for one in found)
        made = {
            "accepted": accepted,
            "total": len(found),
            "tasks": [one.to_dict() for one in found],
        }
        deliver(json_chunks(made), None)
    else:
        _draw(found)
    ctx.exit(int(not all(one.accepted for one in found)))


def _draw(found: "list[Acceptance]") -> None:
    from agon.cli.shared.tables import Column, Output

    out = Output()
    by_part = [{proof.part: proof for proof in one.proofs} for one in found]
    reasons = [
        "; ".join(f"{proof.part}: {proof.reason or proof.result}"
                  for proof in one.proofs if not proof.holds)
        for one in found
    ]  # fmt: skip
    out.table(
        [
            Column("task", [one.task for one in found]),
            Column("accepted", ["yes" if one.accepted else "no" for one in found]),
            *(
                Column(part, [str(proofs[part].result or "none") if part in proofs else ""
                              for proofs in by_part])
                for part in ("oracle", "nothing", "cheat")
            ),
            Column("why not", reasons, folds=True),
        ],
        needed=6,
    )  # fmt: skip
    for note in (note for one in found for note in one.notes):
        out.line(f"note: {note}", style="yellow")
    accepted = sum(one.accepted for one in found)
    out.line(f"{accepted} of {len(found)} tasks can be accepted", style="bold")
    out.deliver()
