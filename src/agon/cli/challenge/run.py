"""``agon challenge run``: run an agent on tasks."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agon.cli.challenge import agent_options, arguments
from agon.cli.challenge import overrides as task_overrides
from agon.cli.shared import parameters
from agon.cli.shared.commands import Command, option
from agon.cli.shared.output import TABLE, deliver_json
from agon.cli.shared.tables import echo

if TYPE_CHECKING:
    from agon.app.containers import AgentTimeout
    from agon.app.tasks.agents import Agent
    from agon.app.tasks.budget import Budget
    from agon.app.tasks.formats.variables import VariableNames
    from agon.app.tasks.overrides import Overrides
    from agon.app.tasks.results.folder import RunPlan
    from agon.app.tasks.run import RunProgress
    from agon.app.tasks.task import Task
    from agon.wiring.agents import AgentChoice


@dataclass(frozen=True, kw_only=True)
class _Choices:
    """The arguments and options of one call."""

    tasks: tuple[Path, ...]
    agent: "AgentChoice"
    jobs: int | None
    out: Path | None
    trials: int
    reward_source: Any
    pass_threshold: float | None
    reward_key: str | None
    agent_timeout: "AgentTimeout"
    budget: "Budget"
    recorded: arguments.RecordNames
    variables: "VariableNames"
    overrides: "Overrides"
    where: arguments.EngineChoice
    networks: arguments.Networks
    reach: arguments.AgentReach
    form: str
    dry_run: bool


@click.command("run", cls=Command)
@arguments.tasks
@agent_options.agent
@arguments.jobs
@option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="The run's folder, new or one to continue (default: agon-runs/ and the time).",
)
@option(
    "--trials",
    type=click.IntRange(1, 10_000),
    default=1,
    show_default=True,
    metavar="N",
    help="Trials of each task.",
)
@arguments.reward_source
@arguments.pass_threshold
@arguments.reward_key
@arguments.agent_timeout
@agent_options.budget
@arguments.record_options
@task_overrides.variables
@task_overrides.overrides
@arguments.engine
@arguments.networks
@arguments.egress
@parameters.form(TABLE, "json")
@parameters.dry_run
def run_agent(**choices: Any) -> None:
    r"""Run an agent on TASKS, in containers without a network unless you open it.

    TASKS are task folders, or folders of them. The agent is a command that the container's shell
    runs in the image's WORKDIR, where {task} and {instruction} are filled in; or oracle (the
    tasks' own solutions), nop (nothing), openai or anthropic (a model at an endpoint), or one of
    agon challenge agents, which a set-up script installs. The tests then judge what it left in a
    fresh container.

      agon challenge run tasks/ --agent oracle
      agon challenge run tasks/ --agent 'my-agent --prompt {instruction}' --agent-files ./agent \
          --trials 4 --jobs 2 --out run1/
      agon challenge run tasks/ --agent openai --model m --endpoint http://127.0.0.1:8000/v1

    Tasks get variables of your environment by name alone; the run's record has the names, and no
    file or command line the values.

      agon challenge run tasks/ --agent ./agent --agent-env MODEL_KEY --timeout-multiplier 2

    With --agent-network allowlist the agent reaches the hosts of --allow-host through a proxy
    (Debian package squid), by CONNECT only; its requests are in network.log of each trial.

    --max-cost and --max-tokens limit the whole run: no further trial starts, one whose model is
    called from here ends after the call, without a score, and one inside the container when it is
    done. The same command with a larger limit goes on.

    DIR gets summary.json and a folder with result.json for each trial. The same command continues
    a run that was cut off; a finished trial never runs twice. Exit code 0: the run is complete; 5:
    no container engine works, no trial has a score, or a limit ended the run.
    """
    _run(_Choices(**choices))


def _run(chosen: _Choices) -> None:
    """Read the tasks, state the plan of the run, and run it unless it is a dry run."""
    from agon.app.tasks.run import run_tasks
    from agon.wiring import base_image, containers
    from agon.wiring.agents import require_endpoint, task_agent

    agent = task_agent(chosen.agent)
    tasks, unreadable = _read(chosen, agent)
    plan = _plan(chosen, agent, tasks, unreadable)
    folder = chosen.out or Path("agon-runs") / f"{_now():%Y%m%dT%H%M%SZ}"
    if chosen.dry_run:
        click.echo(
            f"would run {agent.name} on {len(tasks)} tasks, {chosen.trials} trials each, in "
            f"{folder}"
        )
        return
    networks, where = chosen.networks, chosen.where
    for note in arguments.notes_of(tasks, networks):
        echo(f"note: {note}", err=True)
    require_endpoint(chosen.agent)
    base_image(tasks, where.engine)
    with (
        containers(where.engine, runtime=where.runtime, build_network=networks.build) as engine,
        _watching() as watch,
    ):
        summary = run_tasks(
            tasks,
            agent,
            plan=replace(plan, build_network=engine.build_network),
            containers=engine,
            out=folder,
            jobs=arguments.at_a_time(chosen.jobs),
            now=_now,
            watch=watch,
            budget=chosen.budget,
        )
    _report(summary, folder, chosen.form)


def _read(chosen: _Choices, agent: "Agent") -> tuple[tuple["Task", ...], dict[str, str]]:
    """Return the tasks as they are run, and the first error of each that cannot be read."""
    from agon.app.tasks.formats.discovery import read_readable_tasks
    from agon.app.tasks.formats.variables import with_variables
    from agon.app.tasks.overrides import with_overrides

    tasks, unreadable = read_readable_tasks(chosen.tasks, reward_source=chosen.reward_source)
    first_issues = {name: str(issues[0]) for name, issues in unreadable.items()}
    for issue in first_issues.values():
        echo(f"warning: left out: {issue}", err=True)
    tasks = tuple(
        with_overrides(task, chosen.overrides).with_pass_rule(
            threshold=chosen.pass_threshold, key=chosen.reward_key
        )
        for task in tasks
    )
    solutions = agent.settings.get("kind") == "oracle"
    tasks = with_variables(tasks, chosen.variables, environment=os.environ, solutions=solutions)
    return tasks, first_issues


def _plan(
    chosen: _Choices, agent: "Agent", tasks: tuple["Task", ...], unreadable: dict[str, str]
) -> "RunPlan":
    """Return the plan of the run, with what the tests and the agent may reach."""
    from agon.app.tasks.run import plan_of
    from agon.wiring import new_id

    prices = chosen.agent.prices
    plan = plan_of(
        tasks,
        agent,
        trials=chosen.trials,
        run=new_id(),
        now=_now,
        unreadable=unreadable,
        variables=chosen.variables.to_dict(),
        overrides=chosen.overrides.to_dict(),
        agent_timeout=chosen.agent_timeout,
        prices={} if prices is None else prices.to_dict(),
        **chosen.recorded,
    )
    return replace(
        plan,
        test_network=chosen.networks.tests,
        keep_servers=chosen.networks.keep_servers,
        agent_network=chosen.reach.network,
        allowed_hosts=arguments.hosts_of(chosen.reach, tasks),
    )


def _report(summary: dict[str, Any], folder: Path, form: str) -> None:
    """Print the summary, and what to do about trials without a score.

    Raises:
        Unavailable: no trial has a score, or a limit ended the run.
    """
    if form == "json":
        deliver_json(summary)
    else:
        _draw(summary)
    click.echo(f"wrote {folder}/summary.json", err=True)
    if left_out := _left_out(summary):
        echo(f"warning: {left_out}; the rate says nothing of them", err=True)
    if unscored := _without_score(summary):
        click.echo(f"warning: {unscored}; the same command tries them again", err=True)
    from agon.errors import Unavailable

    if "stopped" in summary:
        raise Unavailable(
            f"the run ended early: {summary['stopped']}; {summary['total']} of "
            f"{len(summary['tasks']) * summary['trials']} trials are finished; "
            "the same command with a larger limit goes on"
        )
    if "reason" in summary:
        first = next(iter(summary["tasks"].values()))["reason"]
        raise Unavailable(f"no trial has a score; the first one: {first}")


def _now() -> datetime:
    return datetime.now(UTC)


@contextmanager
def _watching() -> Iterator["Callable[[RunProgress], None]"]:
    """Report every trial on stderr: a progress bar on a terminal, else one line each."""
    if not sys.stderr.isatty():
        yield lambda progress: click.echo(line, err=True) if (line := _line(progress)) else None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    console = Console(stderr=True, highlight=False, markup=False)
    columns = (TextColumn("trials"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Bar(*columns, console=console) as bar:
        task_id = bar.add_task("trials", total=None)

        def watch(progress: "RunProgress") -> None:
            if line := _line(progress):
                console.print(line)
            bar.update(task_id, completed=progress.done, total=progress.total)

        yield watch


def _line(progress: "RunProgress") -> str:
    """Return one line about the trial that ended, or about trials finished earlier."""
    from agon.kernel.text.visible import visible_text

    if (result := progress.result) is None:
        return f"{progress.done} of {progress.total} trials are finished" if progress.done else ""
    why = f": {result.why}" if result.why else ""
    seconds = result.timings["total_s"]
    return visible_text(
        f"[{progress.done}/{progress.total}] {result.task}__{result.number} "
        f"{result.result} in {seconds:.1f} s{why}"
    )


def _draw(summary: dict[str, Any]) -> None:
    from agon.app.tasks.results.summary_text import MARKS, reach_text, usage_text
    from agon.cli.shared.tables import Output, TableColumn

    out = Output()
    tasks = summary["tasks"]
    rows = list(tasks.values())
    out.table(
        [
            TableColumn("task", list(tasks)),
            TableColumn("passed", [_passed_text(row) for row in rows], right=True),
            TableColumn("trials", ["".join(MARKS[value] for value in row["results"].values())
                              for row in rows]),
            TableColumn("seconds", [f"{row['seconds']:.1f}" for row in rows], right=True),
            TableColumn("why not", [row["reason"] for row in rows], folds=True),
        ],
        needed=5,
    )  # fmt: skip
    out.line(f"agent {summary['agent']} · {_rate(summary)}", style="bold")
    out.line(_sources_text(summary["reward_sources"]))
    if rewards := summary["rewards"]:
        means = (f"{key} {mean:.3f}" for key, mean in rewards.items())
        out.line(f"mean rewards: {', '.join(means)}")
    if summary["agent_timeout"] == "verify":
        out.line("agents whose time was up were judged by what they left (agent_timeout verify)")
    if summary["agent_network"] != "none":
        out.line(reach_text(summary["agent_network"], summary["allowed_hosts"]))
    if len(chances := summary["pass_at_k"]) > 1:
        single = {k: value for k, value in chances.items() if int(k).bit_count() == 1}
        rates = [f"pass@{k} {value:.3f}" for k, value in single.items()]
        out.line(" · ".join([*rates, *filter(None, [_without_score(summary), _left_out(summary)])]))
    used = summary["usage"]
    if used["steps"] or used["input_tokens"]:
        out.line(usage_text(used, summary["prices"]))
    out.line("✓ passed  ✗ failed  t time was up  ? unscored", style="dim")
    out.deliver()


def _sources_text(sources: dict[str, list[str]]) -> str:
    """Return what made a trial a pass, and for how many tasks where they differ.

    Example:
        >>> _sources_text({"both": ["a", "b"]})
        'reward_source both'
        >>> _sources_text({"both": ["a", "b"], "exit_code": ["c"]})
        'reward_source both (2 tasks), exit_code (1 task)'
    """
    counts = {name: len(tasks) for name, tasks in sources.items()}
    if len(counts) == 1:
        return f"reward_source {next(iter(counts))}"
    said = (f"{name} ({n} task{'' if n == 1 else 's'})" for name, n in counts.items())
    return f"reward_source {', '.join(said)}"


def _rate(summary: dict[str, Any]) -> str:
    unscored = _without_score(summary)
    if not summary["total"]:
        return " · ".join(filter(None, ["no score", unscored, _left_out(summary)]))
    interval, bounds = summary["interval"], summary["bounds"]
    parts = [f"pass rate {summary['pass_rate']:.3f} ({summary['passed']} of {summary['total']})"]
    if unscored:
        parts.append(f"{unscored}, with them {bounds['low']:.3f} to {bounds['high']:.3f}")
    parts += filter(None, [_left_out(summary)])
    parts.append(f"95 % {interval['low']:.3f} … {interval['high']:.3f}")
    return ", ".join(parts)


def _without_score(summary: dict[str, Any]) -> str:
    """Return how many trials have no score; empty when all have one."""
    unscored = summary["unscored"]
    return f"{unscored} of {summary['total'] + unscored} trials unscored" if unscored else ""


def _left_out(summary: dict[str, Any]) -> str:
    """Return how many folders were left out since they cannot be read; empty: none.

    Example:
        >>> _left_out({"unreadable": {"a": "has no tests"}, "tasks": {"b": {}, "c": {}}})
        '1 of 3 folders left out'
    """
    refused = len(summary["unreadable"])
    return f"{refused} of {refused + len(summary['tasks'])} folders left out" if refused else ""


def _passed_text(row: dict[str, Any]) -> str:
    unscored = f" ({row['unscored']} unscored)" if row["unscored"] else ""
    return f"{row['passed']}/{row['trials']}{unscored}"
