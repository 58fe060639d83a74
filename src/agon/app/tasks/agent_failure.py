"""Say how an agent's own command failed, so that a failed trial shows whether the agent ran."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from agon.app.containers import AgentRun
from agon.kernel.text.visible import visible_text

MAX_LINES: Final = 5
"""The last lines of stderr that are kept."""
MAX_CHARACTERS: Final = 200
"""The most characters of one of these lines, its end."""
_READ_BYTES: Final = 8192


@dataclass(frozen=True, kw_only=True)
class AgentFailure:
    """An agent's command that ended by itself, but not with exit code 0.

    Attributes:
        exit_code: the exit code.
        stderr: the last lines that it wrote to stderr, printable; empty: it wrote nothing.
    """

    exit_code: int
    stderr: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Return the exit code and the last line.

        Example:
            >>> AgentFailure(exit_code=127, stderr=("sh: solve: not found",)).text
            "the agent's command ended with exit code 127: sh: solve: not found"
        """
        return self.text_of("the agent's command")

    def text_of(self, command: str) -> str:
        """Return the same of a command of another name."""
        code = f"{command} ended with exit code {self.exit_code}"
        return f"{code}: {self.stderr[-1]}" if self.stderr else code

    @classmethod
    def from_dict(cls, row: Mapping[str, Any] | None) -> "AgentFailure | None":
        """Return what :func:`dataclasses.asdict` made of one; None of None."""
        if row is None:
            return None
        return cls(exit_code=row["exit_code"], stderr=tuple(row["stderr"]))


def failure_of(exit_code: int | None, stderr: bytes) -> AgentFailure | None:
    r"""Return the failure of a command; None where it did not fail, or did not end by itself.

    Args:
        exit_code: that of the command; None: something ended it.
        stderr: what it wrote there, or the end of that.

    Example:
        >>> failure_of(1, b"a\n" * 9 + b"\x1b[31mno model\n\n").stderr
        ('a', 'a', 'a', 'a', '\\x1b[31mno model')
        >>> failure_of(0, b"a warning") is None
        True
    """
    if not exit_code:
        return None
    lines = [line.strip() for line in stderr.decode(errors="replace").splitlines()]
    last = [visible_text(line)[-MAX_CHARACTERS:] for line in lines if line][-MAX_LINES:]
    return AgentFailure(exit_code=exit_code, stderr=tuple(last))


def failure_of_run(run: AgentRun) -> AgentFailure | None:
    """Return the failure of a command that was all of an agent's container."""
    return failure_of(run.account.exit_code, _end_of(run.account.stderr.path))


def _end_of(path: Path) -> bytes:
    if not path.is_file():
        return b""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _READ_BYTES))
        return file.read()
