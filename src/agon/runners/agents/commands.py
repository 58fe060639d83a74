"""Run a command in the container as an agent: any agent that a shell can start or install."""

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from hashlib import sha256
from pathlib import Path
from typing import Final

from agon.app.containers import AgentStep, Mount, Shell
from agon.app.tasks.agent_failure import AgentFailure, failure_of, failure_of_run
from agon.app.tasks.agents import AgentEnvironment, AgentWork
from agon.app.tasks.files import sha256_of
from agon.app.tasks.preparation import (
    NOT_BEGUN,
    after,
    as_agent,
    before,
    with_preparation,
)
from agon.app.tasks.task import Task
from agon.errors import NotFound, Unreadable
from agon.runners.agents.definitions import SETUP_S

AGENT_FOLDER = "/agent"
"""Path of the agent's own files in its container."""

INSTRUCTION = "/instruction.md"

_SETUP: Final = "/agent-setup.sh"
_MODEL: Final = "AGON_MODEL"
_INSTRUCTION_VARIABLE: Final = "AGON_INSTRUCTION"
_REST_S: Final = 60.0
"""Seconds of a container besides set-up and command, for what the task runs around them."""
_PLACEHOLDERS = ("task", "instruction")
_BRACED = re.compile(r"\{([A-Za-z_]+)\}")
_SIMILARITY = 0.8
_MAX_LINE_BYTES = 128_000  # bytes; Linux takes 131,072 as one argument


class CommandAgent:
    """An agent that runs a command line in the image's working folder, by its ``sh``.

    ``{task}`` and ``{instruction}`` in it become the task's name and instruction, each as one
    word, quoted or not. The instruction is also in the file :data:`INSTRUCTION`, the name in the
    variable ``AGON_TASK``. All other braces are left to the shell.

    With a set-up script the script runs first, in the same container and with the same rights and
    variables, within a time of its own; what it prints is in ``setup.log``, and what the command
    prints in ``agent.log``. A script that fails or takes too long fails the trial.

    Example:
        >>> CommandAgent("my-agent --task {task}").command_line(task="sort-log", instruction="…")
        "my-agent --task 'sort-log'"
    """

    def __init__(
        self,
        template: str,
        *,
        files: Path | None = None,
        name: str = "",
        setup: str = "",
        setup_s: float = SETUP_S,
        model: str = "",
        variables: Sequence[str] = (),
    ) -> None:
        if not template.strip():
            raise Unreadable(
                "the agent is an empty command; give one, or oracle, nop, openai, anthropic"
            )
        for word in _BRACED.findall(template):
            meant = get_close_matches(word, _PLACEHOLDERS, 1, _SIMILARITY)
            if meant and word not in _PLACEHOLDERS:
                raise Unreadable(f"the agent's command has {{{word}}}; write {{{meant[0]}}}")
        if files is not None and not files.is_dir():
            raise NotFound(f"{files}: no such folder of the agent's files")
        self._template = template
        self._files = files
        self._sha256 = "" if files is None else sha256_of(files)
        self._name = name
        self._setup = setup
        self._setup_s = setup_s
        self._own = {_MODEL: model} if model else {}
        self._variables = tuple(variables)

    @property
    def name(self) -> str:
        """Return the name of its definition, else the first word of the command."""
        return self._name or self._template.split()[0]

    @property
    def settings(self) -> Mapping[str, str]:
        """The template, its set-up, and the folder of its files with the hash of its content."""
        settings = {"kind": "command", "command": self._template}
        if self._name:
            settings["definition"] = self._name
        if self._setup:
            settings["setup_sha256"] = sha256(self._setup.encode()).hexdigest()
            settings["setup_s"] = f"{self._setup_s:g}"
        if self._own:
            settings["model"] = self._own[_MODEL]
        if self._files is None:
            return settings
        return settings | {"files": str(self._files.resolve()), "files_sha256": self._sha256}

    def missing_for(self, task: Task) -> str:
        """Return which variables are missing, or that the command line would be too long."""
        known = {**task.settings.agent_env, **self._own}
        if missing := [name for name in self._variables if name not in known]:
            options = ["--model" if name == _MODEL else f"--agent-env {name}" for name in missing]
            return f"the agent needs {', '.join(missing)}; add {' and '.join(options)}"
        line = self.command_line(task=task.name, instruction=task.instruction)
        if len(line.encode()) <= _MAX_LINE_BYTES:
            return ""
        return f"its instruction is too long for a command line; have {INSTRUCTION} read instead"

    def command_line(self, **values: str) -> str:
        """Return the template with its placeholders filled."""
        line, state, index = [], "", 0
        while index < len(self._template):
            match = _BRACED.match(self._template, index)
            if match and match[1] in values:
                line.append(_word(values[match[1]], state))
                index = match.end()
                continue
            character = self._template[index]
            if character == "\\" and state != "'":
                line.append(self._template[index : index + 2])
                index += 2
                continue
            if character in "'\"" and state in {"", character}:
                state = "" if state else character
            line.append(character)
            index += 1
        return "".join(line)

    def work(self, task: Task, place: AgentEnvironment) -> AgentWork:
        """Run the set-up, if there is one, and the command."""
        mounts = [Mount(source=self._file(place, "instruction.md", task.instruction),
                        target=INSTRUCTION)]  # fmt: skip
        if self._files is not None:
            mounts.append(Mount(source=self._files, target=AGENT_FOLDER))
        text = self.command_line(task=task.name, instruction=task.instruction)
        command = ("sh", "-c", text)
        variables = {**task.settings.agent_env, **self._own, "AGON_TASK": task.name}
        if task.instruction.isprintable() and len(task.instruction.encode()) < _MAX_LINE_BYTES:
            variables[_INSTRUCTION_VARIABLE] = task.instruction
        if self._setup:
            script = self._file(place, "setup.sh", self._setup)
            mounts.append(Mount(source=script, target=_SETUP))
            return self._with_setup(task, place, command, mounts, variables)
        run = place.run(
            with_preparation(task, place.image, command, place.outputs),
            variables=variables,
            mounts=mounts,
        )
        return AgentWork(run=run, failure=failure_of_run(run))

    def _with_setup(
        self,
        task: Task,
        place: AgentEnvironment,
        command: tuple[str, ...],
        mounts: Sequence[Mount],
        variables: Mapping[str, str],
    ) -> AgentWork:
        """Run set-up and command one after the other, each within its own time."""
        progress = _Progress(place.trial.folder)

        def drive(shell: Shell) -> None:
            if first := before(task, place.image):
                done = shell.execute(("sh", "-c", first), timeout_s=place.limits.timeout_s)
                if done.exit_code in NOT_BEGUN:
                    progress.end = NOT_BEGUN[done.exit_code]
                    return
            began = time.monotonic()
            done = shell.execute(as_agent(task, ("sh", _SETUP)), timeout_s=self._setup_s)
            progress.setup_s = time.monotonic() - began
            progress.write("setup.log", done)
            if done.timed_out:
                progress.end = f"its set-up script took longer than {self._setup_s:g} s"
            elif failed := failure_of(done.exit_code, done.stderr):
                progress.end = failed.text_of("its set-up script")
            if progress.end:
                return
            done = shell.execute(as_agent(task, command), timeout_s=place.limits.timeout_s)
            progress.write("agent.log", done)
            progress.timed_out = done.timed_out
            progress.failure = failure_of(done.exit_code, done.stderr)
            if last := after(task, place.outputs):
                shell.execute(("sh", "-c", last), timeout_s=place.limits.timeout_s)

        run = place.drive(
            drive, variables=variables, mounts=mounts, further_s=self._setup_s + _REST_S
        )
        if run.outcome == "finished" and progress.end:
            run = replace(run, outcome="failed", reason=progress.end, outputs=None)
        elif run.outcome == "finished" and progress.timed_out:
            reason = f"its time of {place.limits.timeout_s:g} s was up"
            run = replace(run, outcome="timeout", reason=reason, outputs=None)
        return AgentWork(
            run=run,
            setup_s=progress.setup_s,
            logs=tuple(progress.logs),
            failure=progress.failure,
        )

    @staticmethod
    def _file(place: AgentEnvironment, name: str, text: str) -> Path:
        path = place.trial.folder / name
        path.write_text(text, encoding="utf-8")
        return path


class _Progress:
    """What set-up and command of one trial came to."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.setup_s = 0.0
        self.end = ""
        self.timed_out = False
        self.failure: AgentFailure | None = None
        self.logs: list[Path] = []

    def write(self, name: str, done: AgentStep) -> None:
        """Write what a command printed: its output, then its errors."""
        path = self._folder / name
        path.write_bytes(done.stdout + done.stderr)
        self.logs.append(path)


def _word(value: str, state: str) -> str:
    """Return a value as a shell word: unquoted, or inside single or double quotes (``state``)."""
    if state == '"':
        return re.sub(r'(["$`\\])', r"\\\1", value)
    inner = value.replace("'", "'\\''")
    return inner if state else f"'{inner}'"
