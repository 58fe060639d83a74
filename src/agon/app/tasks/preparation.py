"""Say what runs in the agent's container around the agent: entrypoint, health check, collecting.

All of it runs with the agent's rights and within its time. The image's entrypoint goes on beside
the agent, as it does where a container waits and commands are run in it.
"""

import shlex
from dataclasses import replace
from typing import Final

from agon.app.containers import Image
from agon.app.tasks.outputs import outputs_of
from agon.app.tasks.task import Task

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

_HEALTH: Final = """\
waited=0
until timeout -k 5 {seconds} {command}; do
  waited=$((waited + {interval}))
  if [ "$waited" -ge {patience} ]; then
    echo "the task's health check did not exit with 0 within {patience} s" >&2
    exit 1
  fi
  sleep {interval}
done
"""


def in_workdir(task: Task, image: Image) -> Image:
    """Return the image with the working folder of the task."""
    return replace(image, workdir=task.settings.workdir or image.workdir)


def before(task: Task, image: Image) -> str:
    """Return the script that runs before the agent; empty: nothing does."""
    script = ""
    if image.entrypoint:
        script += _ENTRYPOINT.format(
            entrypoint=shlex.join(image.entrypoint), tenths=10 * _PATIENCE_S
        )
    if (check := task.settings.preparation) is not None:
        script += _HEALTH.format(
            seconds=max(1, round(check.timeout_s)),
            command=shlex.join(check.command),
            interval=max(1, round(check.interval_s)),
            patience=max(1, round(check.patience_s)),
        )
    return script


def after(task: Task) -> str:
    """Return the script that runs after the agent; empty: nothing does."""
    return "".join(
        f"timeout -k 5 {max(1, round(one.timeout_s))} sh -c {shlex.quote(one.command)}\n"
        for one in task.settings.collected
    )


def with_preparation(task: Task, image: Image, command: tuple[str, ...]) -> tuple[str, ...]:
    """Return an agent's command with what runs before and after it, and its exit code."""
    first, last = before(task, image), after(task)
    if not first and not last:
        return command
    end = 'exec "$@"\n' if not last else f'"$@"\ncode=$?\n{last}exit "$code"\n'
    return ("sh", "-c", first + end, "agon", *command)


def outputs(task: Task, image: Image) -> tuple[str, ...]:
    """Return the paths that the tests receive, with the task's working folder."""
    declared = outputs_of(task, image)
    own = task.settings.workdir
    if not own or (task.settings.separate and task.settings.outputs):
        return declared
    return tuple(dict.fromkeys((*declared, own)))
