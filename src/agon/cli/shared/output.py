"""Write the output of a command to stdout, or to a file that is created when it is complete.

Commands that take longer show their progress on stderr meanwhile, if it is a terminal.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    import pyarrow as pa

    from agon.kernel.progress import ProgressStep


TABLE = "table"
MACHINE = ("json", "csv", "ndjson", "parquet")
_ENDINGS = {
    ".json": "json",
    ".csv": "csv",
    ".ndjson": "ndjson",
    ".jsonl": "ndjson",
    ".parquet": "parquet",
    ".svg": "svg",
    ".html": "html",
    ".toml": "toml",
    ".txt": TABLE,
    "": TABLE,
}


def chosen_form(form: str | None, output: Path | None, choices: Sequence[str]) -> str:
    """Return the output format: the given one, else by the file's ending, else the first choice.

    Args:
        form: the value of ``--format``; None where it was not given.
        output: the file to write; None: stdout.
        choices: the formats of the command; a file without an ending has the first.

    Raises:
        UsageError: the ending is not that of a format of the command, or Parquet has no file.
    """
    if form is None and output is not None:
        form = _ENDINGS.get(output.suffix.lower())
        if form not in choices:
            endings = [ending for ending, name in _ENDINGS.items() if ending and name in choices]
            raise click.UsageError(
                f"expected --output with the ending {or_text(endings)}, got {output}; "
                f"change the ending, or choose with --format: {', '.join(choices)}"
            )
    if form == "parquet" and output is None:
        raise click.UsageError("Parquet is not text; give a file with --output F")
    return form or choices[0]


def or_text(names: Sequence[str]) -> str:
    """Return names as alternatives.

    Example:
        >>> or_text([".svg", ".png"]), or_text([".csv"])
        ('.svg or .png', '.csv')
    """
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last


def board_chunks(table: "pa.Table", form: str) -> Iterable[bytes]:
    """Return a board's table as CSV, NDJSON or Parquet."""
    from agon.cli.shared.formats import csv_chunks, ndjson_chunks, parquet_bytes

    if form == "parquet":
        return [parquet_bytes(table)]
    return csv_chunks(table) if form == "csv" else ndjson_chunks(table)


def require_writable(output: Path | None) -> None:
    """Check before any work is done that a file can be written.

    Raises:
        NotFound: its folder is missing.
    """
    if output is not None and not output.absolute().parent.is_dir():
        from agon.errors import NotFound

        raise NotFound(f"{output.parent}: no such folder; create it first")


def require_new_file(file: Path) -> None:
    """Check before any work is done that a file does not exist and can be written.

    Raises:
        NotFound: its folder is missing.
        Conflict: it exists.
    """
    require_writable(file)
    if file.exists():
        from agon.errors import Conflict

        raise Conflict(f"{file} exists; give a new file")


def deliver_secret(text: str, file: Path | None) -> None:
    """Print a secret, or write it to a new file that only its owner can read."""
    if file is None:
        click.echo(text)
        return
    import os

    handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w") as stream:
        stream.write(f"{text}\n")


def require_new_folder(out: Path) -> None:
    """Check before any work is done that a folder is empty or can be created.

    Raises:
        NotFound: its parent is missing.
        Conflict: it exists and is not empty.
    """
    require_writable(out)
    if out.is_dir() and any(out.iterdir()):
        from agon.errors import Conflict

        raise Conflict(f"{out} exists; give a new or an empty folder")


def deliver(chunks: Iterable[bytes], output: Path | None) -> None:
    """Write to stdout, or to a file, which is replaced in one step when it is complete."""
    if output is None:
        for chunk in chunks:
            _write(chunk)
        sys.stdout.buffer.flush()
        return
    from agon.records.writing import write_atomically

    write_atomically(output, chunks)


def deliver_json(value: Mapping[str, Any], output: Path | None = None) -> None:
    """Write an object as readable JSON to stdout, or to a file."""
    from agon.cli.shared.formats import json_chunks

    deliver(json_chunks(value), output)


def _write(chunk: bytes) -> None:
    """Write all of a chunk; an unbuffered stdout (``PYTHONUNBUFFERED``) may accept only a part."""
    rest = memoryview(chunk)
    while rest:
        rest = rest[sys.stdout.buffer.write(rest) :]


_DELAY_S = 0.7
_INTERVAL_S = 0.2


@contextmanager
def working(label: str) -> Iterator[None]:
    """Show on a terminal what the block does, with its share where it is known; not at once."""
    if not sys.stderr.isatty():
        yield
        return
    from agon.kernel.progress import observe

    with observe() as steps:
        ended = Event()
        thread = Thread(target=_draw_progress, args=(label, steps, ended), daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()


def _draw_progress(label: str, steps: "list[ProgressStep]", ended: Event) -> None:
    """Draw the innermost step until the block has ended: a bar with percentage and time left."""
    if ended.wait(_DELAY_S):
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn
    from rich.progress import TimeRemainingColumn as TimeLeft

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(),
               TaskProgressColumn(), TimeLeft(compact=True))  # fmt: skip
    console = Console(stderr=True, highlight=False)
    with Progress(*columns, console=console, transient=True) as bar:
        task, shown = bar.add_task(f"{label} …", total=None), label
        while True:
            current, share = _current(label, steps)
            if current != shown:  # another step has a pace of its own
                bar.remove_task(task)
                task, shown = bar.add_task(f"{current} …", total=None), current
            bar.update(task, total=None if share is None else 1, completed=share or 0)
            if ended.wait(_INTERVAL_S):
                return


def _current(label: str, steps: "list[ProgressStep]") -> tuple[str, float | None]:
    """Return the label and the share of the innermost step whose share is known."""
    for step in reversed(steps.copy()):
        # A step may end, and close what it asks, while it is asked.
        with suppress(Exception):
            share = step.share()
            if share is not None:
                return f"{label}: {step.label}", min(max(share, 0.0), 1.0)
    return label, None
