"""Find the interpreter of a task's script: the one that its first line names."""

from pathlib import Path

_MAX_FIRST_LINE_BYTES = 256


def script_command(script: Path, inside: str) -> tuple[str, ...]:
    """Return the command that runs a script whose path in the container is ``inside``.

    The ``#!`` line is read as the kernel does (interpreter and at most one argument); without one
    the interpreter is ``sh``. File permissions do not matter.

    Example:
        >>> script_command(Path("no-such-file"), "/solution/solve.sh")
        ('sh', '/solution/solve.sh')
    """
    try:
        with script.open("rb") as file:
            first = file.readline(_MAX_FIRST_LINE_BYTES)
    except OSError:
        first = b""
    if first.startswith(b"#!") and (words := first[2:].decode(errors="replace").split(None, 1)):
        return (*(word.strip() for word in words), inside)
    return ("sh", inside)
