"""Say what runs in the agent's container around the agent: entrypoint, health check, collecting.

All of it runs within the agent's time. The image's entrypoint goes on beside the agent, as it does
where a container waits and commands are run in it. Where a task names another user for its agent,
only the agent's own command runs as that user.
"""

import shlex
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from agon.app.containers import AGENT_LOGS, AgentTrial, HealthCheck, Image, Mount
from agon.app.tasks.agents import AgentWork
from agon.app.tasks.outputs import outputs_of
from agon.app.tasks.task import Task

NOT_READY: Final = 69
"""The exit code in place of an agent's where a health check never passed."""
NOT_SET_UP: Final = 70
"""The same where the ``setup.sh`` of a step failed."""
NOT_BEGUN: Final = {
    NOT_READY: "the task's health check never exited with 0, so the agent did not begin",
    NOT_SET_UP: "the step's setup.sh did not exit with 0, so the agent did not begin",
}
"""Why an agent did not begin, by the exit code of what runs before it."""
SETUP: Final = "setup.sh"
"""The script among the files of a step that runs once they are in the working folder."""
_PATIENCE_S: Final = 10
"""Seconds that an entrypoint has to begin what it is given; one that is a server never does."""

_ENTRYPOINT: Final = """\
begun=$(mktemp -d) || exit 1
{entrypoint} sh -c 'rmdir "$0"; exec sleep 2147483647' "$begun" </dev/null >/dev/null 2>&1 &
entry=$! waited=0
while [ -d "$begun" ] && kill -0 "$entry" 2>/dev/null && [ "$waited" -lt {tenths} ]; do
  sleep 0.1; waited=$((waited + 1))
done
rmdir "$begun" 2>/dev/null
"""

_NEW_LOGS: Final = "find /logs/agent /logs/artifacts -mindepth 1 -delete 2>/dev/null\n"
"""What a step before logged is no log of this one, and would count its tokens twice."""

_HEALTH: Final = """\
waited=0
until {user}timeout -k 5 {seconds} {command}; do
  waited=$((waited + {interval}))
  if [ "$waited" -ge {patience} ]; then
    echo "the task's health check did not exit with 0 within {patience} s" >&2
    exit {not_ready}
  fi
  sleep {interval}
done
"""

_SETUP: Final = """\
if command -v bash >/dev/null 2>&1; then shell=bash; else shell=sh; fi
{user}"$shell" ./{setup} || {{
  echo "the step's {setup} ended with exit code $?" >&2
  exit {not_set_up}
}}
"""

_AS: Final = """\
find_user() {
  name=$1 uid= gid= home=/
  while IFS=: read -r n _ u g _ h _; do
    if [ "$n" = "$name" ] || [ "$u" = "$name" ]; then name=$n uid=$u gid=$g home=$h; break; fi
  done < /etc/passwd
  case $name in *[!0-9]*) ;; *) uid=${uid:-$name} gid=${gid:-0} ;; esac
  if [ -z "$uid" ]; then echo "the image has no user $name" >&2; return 125; fi
}
run_as() {
  find_user "$1" || return; shift
  if [ "$(id -u)" != 0 ] || [ "$uid" = 0 ]; then "$@"; return; fi
  set -- env HOME="$home" "$@"
  if setpriv --help 2>&1 | grep -q reuid; then
    groups=--init-groups
    [ "$name" != "$uid" ] || groups=--clear-groups
    setpriv --reuid="$uid" --regid="$gid" $groups -- "$@"
  else
    su -p -s /bin/sh -c 'exec "$0" "$@"' -- "$name" "$@"
  fi
}
"""
"""Runs a command as a user, by whichever program of the image can: a container begins as root."""

_TAKE_BACK: Final = """\
if [ "$(id -u)" = 0 ]; then
  run_as {user} sh -c 'find "$@" -type d ! -perm -005 -exec chmod o+rx {{}} +' \\
    sh {outputs} 2>/dev/null
  chown -h -R 0:0 {outputs} 2>/dev/null
fi
"""
"""Root of a container may read what belongs to it: what an agent with a user leaves becomes its."""

_OF_STEP: Final = """\
if [ "$(id -u)" = 0 ] && find_user {user} && [ "$uid" != 0 ]; then
  run_as {user} sh -c 'kill -KILL -1'
  run_as {user} sh -c 'find "$@" -type d ! -perm -005 -exec chmod o+rx {{}} +' \\
    sh {outputs} 2>/dev/null
  {first}
  for user in {users}; do
    find_user "$user" 2>/dev/null && [ "$uid" != 0 ] || continue
    find {outputs} -user "$uid" -exec chown -h "0:$uid" {{}} + 2>/dev/null
  done
  find {outputs} ! -user 0 -exec chown -h 0:0 {{}} + 2>/dev/null
fi
"""
"""The same in a step, where the group says whose a file was, since the next step's agent may be
that user. Processes of the agent end first: one could put another's file in place of its own."""
_NO_GROUP: Final = "find {outputs} -user 0 ! -group 0 -exec chown -h 0:0 {{}} + 2>/dev/null"
"""What is root's says nothing of an agent by its group."""


def in_workdir(task: Task, image: Image) -> Image:
    """Return the image with the working folder of the task."""
    return replace(image, workdir=task.settings.workdir or image.workdir)


def of_task(task: Task, trial: AgentTrial, image: Image) -> AgentTrial:
    """Return the trial with what its task says of users, files of a step, and of what is left out.

    Args:
        task: the task.
        trial: the trial.
        image: the image, with the working folder of the task.
    """
    settings, files = task.settings, task.files
    environment = None if trial.state else files.environment  # the first step brings it for all
    laid = filter(None, (environment, files.workdir))
    return replace(
        trial,
        user=settings.agent_user,
        tests_user=settings.verifier_user,
        reserved=tuple(place.path for place in settings.service_outputs),
        keeps_owners=settings.is_step and bool(settings.agent_user),
        excluded=settings.excluded if settings.separate else (),
        laid=tuple(Mount(source=folder, target=image.workdir) for folder in laid),
    )


def before(task: Task, image: Image) -> str:
    """Return the script that runs before the agent; empty: nothing does."""
    script = _NEW_LOGS if task.settings.is_step else ""
    if image.entrypoint:
        script += _ENTRYPOINT.format(
            entrypoint=shlex.join(image.entrypoint), tenths=10 * _PATIENCE_S
        )
    script += _health(task.settings.preparation)
    name = task.settings.agent_user
    user = f"run_as {shlex.quote(name)} " if name else ""
    of_step = _SETUP.format(user=user, setup=SETUP, not_set_up=NOT_SET_UP) if _sets_up(task) else ""
    of_step += _health(task.settings.step_preparation, user=user)
    return f"{script}{_AS if user and of_step else ''}{of_step}"


def _health(check: HealthCheck | None, *, user: str = "") -> str:
    """Return the script of a health check, with what runs it as a user; empty: there is none."""
    if check is None:
        return ""
    return _HEALTH.format(
        user=user,
        seconds=max(1, round(check.timeout_s)),
        command=shlex.join(check.command),
        interval=max(1, round(check.interval_s)),
        patience=max(1, round(check.patience_s)),
        not_ready=NOT_READY,
    )


def _sets_up(task: Task) -> bool:
    """Return whether the files of a step set up what the agent begins with."""
    return task.files.workdir is not None and (task.files.workdir / SETUP).is_file()


def only_if_begun(task: Task, work: AgentWork) -> AgentWork:
    """Return an agent's work, failed if what runs before it kept it from beginning.

    Tests that pass by themselves would otherwise pass an agent that never began.
    """
    settings, run = task.settings, work.run
    runs = {
        NOT_READY: bool(settings.preparation or settings.step_preparation),
        NOT_SET_UP: _sets_up(task),
    }
    code = run.account.exit_code
    if run.outcome != "finished" or code is None or not runs.get(code):
        return work
    return replace(work, run=replace(run, outcome="failed", reason=NOT_BEGUN[code], outputs=None))


def after(task: Task, outputs: Sequence[str]) -> str:
    """Return the script that runs after the agent; empty: nothing does.

    Args:
        task: the task.
        outputs: what is handed over.
    """
    user, commands = task.settings.agent_user, []
    collected = [one for one in task.settings.collected if not one.service]
    for one in collected:
        line = f"timeout -k 5 {max(1, round(one.timeout_s))} sh -c {shlex.quote(one.command)}\n"
        commands.append(f"run_as {shlex.quote(one.user)} {line}" if one.user else line)
    script = "".join(commands)
    if user:
        first, again = _take_back(task, outputs)
        script = f"{first}{script}{again}" if commands else first
    needs = user or any(one.user for one in collected)
    return f"{_AS}{script}" if needs else script


def _take_back(task: Task, outputs: Sequence[str]) -> tuple[str, str]:
    """Return the scripts that give root what an agent with a user left, and do so again."""
    settings = task.settings
    parts = {
        "user": shlex.quote(settings.agent_user), "outputs": shlex.join((*outputs, *AGENT_LOGS)),
    }  # fmt: skip
    if not settings.is_step:
        return (_TAKE_BACK.format(**parts),) * 2
    parts["users"] = shlex.join(settings.users_of_steps)
    first = _NO_GROUP.format(**parts)
    return _OF_STEP.format(**parts, first=first), _OF_STEP.format(**parts, first=":")


def as_agent(task: Task, command: tuple[str, ...]) -> tuple[str, ...]:
    """Return a command that runs as the user that the task names for its agent."""
    if not task.settings.agent_user:
        return command
    script = f'{_AS}run_as {shlex.quote(task.settings.agent_user)} "$@"\n'
    return ("sh", "-c", script, "agon", *command)


def with_preparation(
    task: Task, image: Image, command: tuple[str, ...], outputs: Sequence[str] = ("/app",)
) -> tuple[str, ...]:
    """Return an agent's command with what runs before and after it, and its exit code."""
    first, last = before(task, image), after(task, outputs)
    command = as_agent(task, command)
    if not first and not last:
        return command
    end = 'exec "$@"\n' if not last else f'"$@"\ncode=$?\n{last}exit "$code"\n'
    return ("sh", "-c", first + end, "agon", *command)


def outputs(task: Task, image: Image) -> tuple[str, ...]:
    """Return the paths that the tests receive, with the task's working folder."""
    declared = outputs_of(task, image)
    own = task.settings.workdir
    if not own or task.settings.separate:
        return declared
    return tuple(dict.fromkeys((*declared, own)))
