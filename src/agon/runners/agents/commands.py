"""Let a command work in the container: any agent that a shell can start."""

import re
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path

from agon.app.containers import Mount
from agon.app.tasks.agents import AgentEnvironment, Work
from agon.app.tasks.task import Task
from agon.errors import NotFound, Unreadable

AGENT_FOLDER = "/agent"
"""Where the agent's own files are seen in its container."""

INSTRUCTION = "/instruction.md"
"""Where the instruction is seen in its container."""

_PLACEHOLDERS = ("task", "instruction")
_BRACED = re.compile(r"\{([A-Za-z_]+)\}")
_ALIKE = 0.8
_MAX_LINE_BYTES = 128_000  # bytes; Linux takes 131,072 as one argument


class CommandAgent:
    """Run a command line in the container, in ``/app``, by the image's ``sh``.

    ``{task}`` and ``{instruction}`` in it become the task's name and instruction, each as one
    word, whether they stand bare or in quotes. The instruction also stands in the file
    :data:`INSTRUCTION`, the name in the variable ``AGON_TASK``. All other braces are the shell's.

    Example:
        >>> CommandAgent("my-agent --task {task}").command_line(task="sort-log", instruction="…")
        "my-agent --task 'sort-log'"
    """

    def __init__(self, template: str, *, files: Path | None = None) -> None:
        if not template.strip():
            raise Unreadable("the agent is an empty command; give one, or oracle, nop, openai")
        for word in _BRACED.findall(template):
            meant = get_close_matches(word, _PLACEHOLDERS, 1, _ALIKE)
            if meant and word not in _PLACEHOLDERS:
                raise Unreadable(f"the agent's command has {{{word}}}; write {{{meant[0]}}}")
        if files is not None and not files.is_dir():
            raise NotFound(f"{files}: no such folder of the agent's files")
        self._template = template
        self._files = files

    @property
    def name(self) -> str:
        """The first word of the command."""
        return self._template.split()[0]

    @property
    def settings(self) -> Mapping[str, str]:
        """The template, and where its files are."""
        files = {} if self._files is None else {"files": str(self._files.resolve())}
        return {"kind": "command", "command": self._template, **files}

    def lacks(self, task: Task) -> str:
        """Say that the command line would be longer than a kernel takes, if so."""
        line = self.command_line(task=task.name, instruction=task.instruction)
        if len(line.encode()) <= _MAX_LINE_BYTES:
            return ""
        return f"its instruction is too long for a command line; have {INSTRUCTION} read instead"

    def command_line(self, **values: str) -> str:
        """Fill the placeholders of the template."""
        line, state, at = [], "", 0
        while at < len(self._template):
            found = _BRACED.match(self._template, at)
            if found and found[1] in values:
                line.append(_word(values[found[1]], state))
                at = found.end()
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

    def work(self, task: Task, place: AgentEnvironment) -> Work:
        """Run the command."""
        instruction = place.trial.folder / "instruction.md"
        instruction.write_text(task.instruction, encoding="utf-8")
        mounts = [Mount(source=instruction, target=INSTRUCTION)]
        if self._files is not None:
            mounts.append(Mount(source=self._files, target=AGENT_FOLDER))
        line = self.command_line(task=task.name, instruction=task.instruction)
        run = place.containers.run_agent(
            place.image,
            ("sh", "-c", line),
            trial=place.trial,
            limits=place.limits,
            outputs=task.settings.outputs,
            mounts=mounts,
            environment=(*task.settings.agent_env.items(), ("AGON_TASK", task.name)),
        )
        return Work(run=run)


def _word(value: str, state: str) -> str:
    """Write a value where it stands: bare, or inside of single or double quotes."""
    if state == '"':
        return re.sub(r'(["$`\\])', r"\\\1", value)
    inner = value.replace("'", "'\\''")
    return inner if state else f"'{inner}'"
