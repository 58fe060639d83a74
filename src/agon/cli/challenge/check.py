"""``agon challenge check``: can these tasks be accepted into a contest?"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agon.cli.challenge import arguments
from agon.cli.challenge import overrides as task_overrides
from agon.cli.shared import parameters
from agon.cli.shared.commands import Command, option
from agon.cli.shared.output import TABLE, deliver
from agon.cli.shared.tables import echo

if TYPE_CHECKING:
    from agon.app.files import FileIssue
    from agon.app.tasks.acceptance import Acceptance, CheckStep, TrialOptions
    from agon.app.tasks.formats.variables import VariableNames
    from agon.app.tasks.overrides import Overrides
    from agon.app.tasks.task import Task


@click.command("check", cls=Command)
@arguments.tasks
@arguments.jobs
@arguments.reward_source
@option(
    "--no-probes",
    is_flag=True,
    help="Try no forged programs and no remedies, which take up to 25 more containers for a task.",
)
@task_overrides.variables
@task_overrides.overrides
@arguments.engine
@arguments.networks
@parameters.form(TABLE, "json")
@click.pass_context
def check_tasks(  # noqa: PLR0913 (an option each)
    ctx: click.Context,
    tasks: tuple[Path, ...],
    *,
    jobs: int | None,
    reward_source: Any,
    no_probes: bool,
    variables: "VariableNames",
    overrides: "Overrides",
    where: arguments.EngineChoice,
    networks: arguments.Networks,
    form: str,
) -> None:
    """Check that TASKS can be accepted into a contest.

    All errors of all folders are reported together. Then each task is run: its solution must pass,
    doing nothing must fail, and its cheat (tests/cheat.sh, if present) must fail. Exit code 1 when
    a task is not acceptable.

    Weaknesses are reported with their remedies: designs with which an agent may pass without
    solving the task. The programs of the solution that the tests run are replaced by forgeries,
    and a remedy that a run can try is advised only if it works for the task. Weaknesses do not
    change the exit code.

      agon challenge check tasks/
      agon challenge check tasks/sort-log --reward-source exit_code
      agon challenge check tasks/sort-log --format json
    """
    from agon.app.tasks.acceptance import TrialOptions
    from agon.app.tasks.formats.discovery import read_readable_tasks
    from agon.app.tasks.formats.variables import with_variables
    from agon.app.tasks.overrides import with_overrides

    read, unreadable = read_readable_tasks(tasks, reward_source=reward_source)
    read = tuple(with_overrides(task, overrides) for task in read)
    read = with_variables(read, variables, environment=os.environ)
    options = TrialOptions(
        test_network=networks.tests, keep_servers=networks.keep_servers, probes=not no_probes
    )
    acceptances = []
    for number, acceptance in enumerate(
        _check(read, unreadable, where, networks, jobs=jobs, options=options), 1
    ):
        acceptances.append(acceptance)
        if acceptance.task not in unreadable:
            total = len(read) + len(unreadable)
            click.echo(f"[{number}/{total}] {acceptance.task}", err=True)
    _report(acceptances, read, form)
    ctx.exit(int(not all(result.accepted for result in acceptances)))


def _check(
    tasks: "tuple[Task, ...]",
    unreadable: "Mapping[str, Sequence[FileIssue]]",
    where: arguments.EngineChoice,
    networks: arguments.Networks,
    *,
    jobs: int | None,
    options: "TrialOptions",
) -> "Iterator[Acceptance]":
    """Yield the result of each folder, first of those that are no readable tasks."""
    from agon.app.tasks.acceptance import accept_tasks, rejected_task
    from agon.wiring import base_image, containers, new_id
    from agon.wiring.agents import acceptance_agents

    base_image(tasks, where.engine)
    for note in arguments.notes_of(tasks, networks):
        echo(f"note: {note}", err=True)
    with containers(where.engine, runtime=where.runtime, build_network=networks.build) as engine:
        yield from (rejected_task(name, issues) for name, issues in unreadable.items())
        yield from accept_tasks(
            tasks,
            acceptance_agents(),
            containers=engine,
            run=new_id(),
            jobs=arguments.at_a_time(jobs),
            options=options,
            watch=_watch,
            now=lambda: datetime.now(UTC),
        )


def _report(acceptances: "list[Acceptance]", tasks: "tuple[Task, ...]", form: str) -> None:
    if form == "json":
        from agon.cli.shared.formats import json_chunks

        report = {
            "accepted": sum(result.accepted for result in acceptances),
            "total": len(acceptances),
            "tasks": [result.to_dict() for result in acceptances],
            "keys": {task.name: _handling(task.settings.keys) for task in tasks},
        }
        deliver(json_chunks(report), None)
    else:
        _draw(acceptances)
        _draw_keys({task.name: task.settings.keys for task in tasks})


def _watch(step: "CheckStep") -> None:
    """Report a trial that has ended on stderr."""
    seconds = step.result.timings["total_s"]
    click.echo(f"  {step.task}: {step.name} {step.result.result} in {seconds:.1f} s", err=True)


def _draw(acceptances: "list[Acceptance]") -> None:
    from agon.cli.shared.tables import Output, TableColumn

    out = Output()
    by_part = [{proof.part: proof for proof in result.proofs} for result in acceptances]
    reasons = [
        "; ".join(f"{proof.part}: {proof.reason or proof.result}"
                  for proof in result.proofs if not proof.holds)
        for result in acceptances
    ]  # fmt: skip
    out.table(
        [
            TableColumn("task", [result.task for result in acceptances]),
            TableColumn("reward source", [result.reward_source or "" for result in acceptances]),
            TableColumn("accepted", ["yes" if result.accepted else "no" for result in acceptances]),
            *(
                TableColumn(part, [str(proofs[part].result or "none") if part in proofs else ""
                              for proofs in by_part])
                for part in ("oracle", "nothing", "cheat")
            ),
            TableColumn("why not", reasons, folds=True),
        ],
        needed=7,
    )  # fmt: skip
    for note in (note for result in acceptances for note in result.notes):
        out.line(f"note: {note}", style="yellow")
    for result in acceptances:
        if result.probes:
            out.line(f"probes: {result.task}: {_probes_text(result)}", style="dim")
        for weakness in result.weaknesses:
            out.line(f"weakness: {result.task}: {weakness}", style="yellow")
    accepted = sum(result.accepted for result in acceptances)
    out.line(f"{accepted} of {len(acceptances)} tasks can be accepted", style="bold")
    out.deliver()


def _handling(keys: Iterable[str]) -> dict[str, str]:
    """Return what agon does with each key of a task."""
    from agon.app.tasks.formats.keys import row_of

    return {key: row_of(key).handling for key in keys}


def _draw_keys(tasks: dict[str, tuple[str, ...]]) -> None:
    """Print every key that the tasks use, with what agon does with it and why."""
    from agon.app.tasks.formats.keys import row_of
    from agon.cli.shared.tables import Output, TableColumn

    keys = [
        row_of(key)
        for key in dict.fromkeys(key for keys_of_task in tasks.values() for key in keys_of_task)
    ]
    rows = list(dict.fromkeys(keys))
    if not rows:
        return
    out = Output()
    out.table(
        [
            TableColumn("key", [row.path for row in rows]),
            TableColumn("handling", [row.handling for row in rows]),
            TableColumn("why", [row.why for row in rows], folds=True),
        ],
        needed=3,
    )
    out.deliver()


def _probes_text(acceptance: "Acceptance") -> str:
    """Return what the tests made of the forgeries, in one line."""
    tried = [f"{probe.probe} {probe.result}" for probe in acceptance.probes if probe.result]
    reasons: dict[str, list[str]] = {}
    for probe in acceptance.probes:
        if probe.result is None:
            reasons.setdefault(probe.reason, []).append(probe.probe)
    skipped = [f"{', '.join(names)} not tried ({reason})" for reason, names in reasons.items()]
    ways = {True: "runs as another user", False: "can write to no process of the tests"}
    closed = [f"{run.path} {ways[run.other_user]}" for run in acceptance.runs if not run.writable]
    parts = [*tried, *skipped, *closed]
    return f"{', '.join(acceptance.programs)} forged: {'; '.join(parts)}"
