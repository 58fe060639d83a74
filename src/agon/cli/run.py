"""Run a command and map its outcome to one message and one exit code."""

import atexit
import gc
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from typing import NoReturn

import click

from agon.cli.root import cli
from agon.cli.shared import interrupts
from agon.cli.shared.completion import print_completions
from agon.cli.shared.tables import echo
from agon.errors import AgonError, Conflict, NotFound, Unavailable, Unreadable
from agon.extras import hide_pandas, missing_extra

INTERRUPTED = 130
BROKEN_PIPE = 141
BUG = 70
_COLLECTED_FROM = (50_000, 10, 10)
"""Number of objects, and of collections, that start a collection: imports make 100,000 objects."""
_CODES: Mapping[type[OSError], int] = {
    FileNotFoundError: NotFound.exit_code,
    FileExistsError: Conflict.exit_code,
    PermissionError: Unreadable.exit_code,
    IsADirectoryError: Unreadable.exit_code,
    NotADirectoryError: Unreadable.exit_code,
}


def main() -> NoReturn:
    """Run the command line with the arguments of this process."""
    gc.set_threshold(*_COLLECTED_FROM)
    hide_pandas()
    if "_AGON_COMPLETE" in os.environ:  # a shell asks what could be typed next
        print_completions(cli.main)
    signal.signal(signal.SIGTERM, interrupts.terminate)
    for stream in (sys.stdout, sys.stderr):
        # A name that the terminal's encoding lacks must not end the command.
        getattr(stream, "reconfigure", lambda **_: None)(errors="backslashreplace")
    code = run(sys.argv[1:])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # only the last flush remains
    atexit._run_exitfuncs()  # noqa: SLF001 - no public function does so
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        code = _without_pipe()
    except OSError as failed:  # the disk is full
        code = _end_of(failed)
    # All is closed: the interpreter's own end, which looks for cyclic garbage, would take 0.1 s.
    os._exit(code)


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code; errors are printed on stderr.

    130 is an interrupt, 141 a closed pipe, 143 a termination, 70 a bug in agon; all
    others are those of :mod:`agon.errors`.
    """
    try:
        return _run(arguments)
    except BrokenPipeError:  # of a command's output, or of the message about its error
        return _without_pipe()
    except SystemExit as ended:
        # Rich ends the process with 1, a failed check, where the reader of a table went away.
        if isinstance(ended.__context__, BrokenPipeError):
            return _without_pipe()
        raise


def _run(arguments: Sequence[str]) -> int:  # noqa: PLR0911 (one for each way to end)
    """Run one command and return its exit code.

    Raises:
        BrokenPipeError: the reader of stdout or stderr went away.
    """
    try:
        with interrupts.noting():
            _invoke(arguments)
    except click.exceptions.Exit as ended:
        return ended.exit_code
    except (click.Abort, KeyboardInterrupt):
        _print("interrupted")
        return INTERRUPTED
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except AgonError as error:
        _print(f"Error: {error}")
        return error.exit_code
    except OSError as failed:
        return _end_of(failed)
    except Exception as failed:
        if os.environ.get("AGON_DEBUG"):
            raise
        return _report_unexpected(failed)
    return 0


def _invoke(arguments: Sequence[str]) -> None:
    """Run one command.

    Raises:
        KeyboardInterrupt: Ctrl-C was pressed, also where it led to another error.
        SystemExit: likewise for SIGTERM.
    """
    try:
        # Not `cli.main`: it would turn a reader that went away into a failed check (exit code 1).
        with cli.make_context("agon", list(arguments)) as context:
            cli.invoke(context)
    except Exception:
        interrupts.raise_noted()
        raise
    interrupts.raise_noted()


def _report_unexpected(failed: Exception) -> int:
    """Report an unexpected error: an engine's interrupt, lack of memory, a bug in agon."""
    kind = type(failed).__name__
    if kind == "InterruptException":  # DuckDB's own word for Ctrl-C
        _print("interrupted")
        return INTERRUPTED
    if kind in {"MemoryError", "OutOfMemoryException"}:
        _print("Error: out of memory; give less at a time, or more memory")
        return Unavailable.exit_code
    if isinstance(failed, ModuleNotFoundError) and (missing := missing_extra(failed)):
        _print(f"Error: {missing}")
        return missing.exit_code
    first_line = (str(failed).splitlines() or [""])[0]
    _print(
        f"Error: this is a bug in agon: {kind}: {first_line}\n"
        "Set AGON_DEBUG=1 to see the traceback, and please report it."
    )
    return BUG


def _end_of(failed: OSError) -> int:
    """Report an error of the system and return its exit code.

    Raises:
        BrokenPipeError: it is one.
    """
    if isinstance(failed, BrokenPipeError):
        raise failed
    where = "" if failed.filename is None else f"{failed.filename}: "
    _print(f"Error: {where}{failed.strerror or failed}")
    return _CODES.get(type(failed), Unavailable.exit_code)


def _print(message: str) -> None:
    """Print a message on stderr."""
    echo(message, err=True)


def _without_pipe() -> int:
    """Redirect the streams whose reader went away (``| head``) to the null device."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    for number, stream in ((1, sys.stdout), (2, sys.stderr)):
        try:
            stream.flush()
        except OSError:
            os.dup2(devnull, number)
    return BROKEN_PIPE
