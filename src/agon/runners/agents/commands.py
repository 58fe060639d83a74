"""Run a command in the container as an agent: any agent that a shell can start."""

import re
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path

from agon.app.containers import Mount
from agon.app.tasks.agents import AgentEnvironment, AgentWork
from agon.app.tasks.files import sha256_of
from agon.app.tasks.preparation import with_preparation
from agon.app.tasks.task import Task
from agon.errors import NotFound, Unreadable

AGENT_FOLDER = "/agent"
"""Path of the agent's own files in its container."""

INSTRUCTION = "/instruction.md"

_PLACEHOLDERS = ("task", "instruction")
_BRACED = re.compile(r"\{([A-Za-z_]+)\}")
_SIMILARITY = 0.8
_MAX_LINE_BYTES = 128_000  # bytes; Linux takes 131,072 as one argument


class CommandAgent:
    """An agent that runs a command line in the image's working folder, by its ``sh``.

    ``{task}`` and ``{instruction}`` in it become the task's name and instruction, each as one
    word, quoted or not. The instruction is also in the file :data:`INSTRUCTION`, the name in the
    variable ``AGON_TASK``. All other braces are left to the shell.

    Example:
        >>> CommandAgent("my-agent --task {task}").command_line(task="sort-log", instruction="…")
        "my-agent --task 'sort-log'"
    """

    def __init__(self, template: str, *, files: Path | None = None) -> None:
        if not template.strip():
            raise Unreadable("the agent is an empty command; give one, or oracle, nop, openai")
        for word in _BRACED.findall(template):
            meant = get_close_matches(word, _PLACEHOLDERS, 1, _SIMILARITY)
            if meant and word not in _PLACEHOLDERS:
                raise Unreadable(f"the agent's command has {{{word}}}; write {{{meant[0]}}}")
        if files is not None and not files.is_dir():
            raise NotFound(f"{files}: no such folder of the agent's files")
        self._template = template
        self._files = files
        self._sha256 = "" if files is None else sha256_of(files)

    @property
    def name(self) -> str:
        """Return the first word of the command."""
        return self._template.split()[0]

    @property
    def settings(self) -> Mapping[str, str]:
        """The template, and the folder of its files with the hash of its content."""
        settings = {"kind": "command", "command": self._template}
        if self._files is None:
            return settings
        return settings | {"files": str(self._files.resolve()), "files_sha256": self._sha256}

    def missing_for(self, task: Task) -> str:
        """Return that the command line would be longer than the kernel allows, if so."""
        line = self.command_line(task=task.name, instruction=task.instruction)
        if len(line.encode()) <= _MAX_LINE_BYTES:
            return ""
        return f"its instruction is too long for a command line; have {INSTRUCTION} read instead"

    def command_line(self, **values: str) -> str:
        """Return the template with its placeholders filled."""
        line, state, at = [], "", 0
        while at < len(self._template):
            match = _BRACED.match(self._template, at)
            if match and match[1] in values:
                line.append(_word(values[match[1]], state))
                at = match.end()
                continue
            character = self._template[at]
            if character == "\\" and state != "'":
                line.append(self._template[at : at + 2])
                at += 2
                continue
            if character in "'\"" and state in {"", character}:
                state = "" if state else character
            line.append(character)
            at += 1
        return "".join(line)

    def work(self, task: Task, place: AgentEnvironment) -> AgentWork:
        """Run the command."""
        instruction = place.trial.folder / "instruction.md"
        instruction.write_text(task.instruction, encoding="utf-8")
        mounts = [Mount(source=instruction, target=INSTRUCTION)]
        if self._files is not None:
            mounts.append(Mount(source=self._files, target=AGENT_FOLDER))
        line = self.command_line(task=task.name, instruction=task.instruction)
        run = place.containers.run_agent(
            place.image,
            with_preparation(task, place.image, ("sh", "-c", line), place.outputs),
            trial=place.trial,
            limits=place.limits,
            outputs=place.outputs,
            mounts=mounts,
            environment=(*task.settings.agent_env.items(), ("AGON_TASK", task.name)),
        )
        return AgentWork(run=run)


def _word(value: str, state: str) -> str:
    """Return a value as a shell word: unquoted, or inside single or double quotes (``state``)."""
    if state == '"':
        return re.sub(r'(["$`\\])', r"\\\1", value)
    inner = value.replace("'", "'\\''")
    return inner if state else f"'{inner}'"
