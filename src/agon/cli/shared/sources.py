"""Options of commands that read records, and records from stdin."""

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from shlex import quote
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING, Any

import click

from agon.cli.shared import completion
from agon.cli.shared.commands import option
from agon.cli.shared.parameters import unique
from agon.cli.shared.tables import echo

if TYPE_CHECKING:
    from agon.app.analysis.options import ReadingOptions, SourceOptions
    from agon.app.analysis.score import Result
    from agon.records import RowIssue
    from agon.records.names.mapping import SourceMapping

STDIN = "-"
_ENDINGS = {"csv": ".csv", "jsonl": ".jsonl", "json": ".json", "parquet": ".parquet"}
_CHUNK = 1 << 20
_COLUMNS = "--columns"
_IN_MAPPING = "in [columns] of --mapping FILE,"


class Pair(click.ParamType[tuple[str, str]]):
    """A parameter ``name=value``."""

    name = "name=value"

    def __init__(self, example: str) -> None:
        self.example = example

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        """Return name and value; the last equals sign divides them."""
        name, equals, text = str(value).rpartition("=")
        if not equals or not name.strip():
            self.fail(f"{value!r} is not name=value; give {self.example}", param, ctx)
        return name.strip(), text.strip()


class Pairs(click.ParamType[tuple[tuple[str, str], ...]]):
    """A parameter ``name=value``, or several with commas between them."""

    name = "name=value,…"

    def __init__(self, example: str) -> None:
        self.example = example

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[tuple[str, str], ...]:
        """Return names and values."""
        pair = Pair(self.example)
        return tuple(pair.convert(item, param, ctx) for item in str(value).split(","))


def _columns(
    ctx: click.Context, param: click.Parameter, value: tuple[tuple[tuple[str, str], ...], ...]
) -> dict[str, str] | None:
    return unique(ctx, param, tuple(pair for pairs in value for pair in pairs)) or None


def _conditions(
    ctx: click.Context,  # noqa: ARG001 (Click's signature)
    param: click.Parameter,  # noqa: ARG001
    value: tuple[tuple[str, str], ...],
) -> dict[str, list[str]] | None:
    conditions: dict[str, list[str]] = {}
    for name, text in value:
        conditions.setdefault(name, []).append(text)
    return conditions or None


_columns_option = option(
    "--columns",
    type=Pairs("names such as model_a=left,model_b=right"),
    multiple=True,
    callback=_columns,
    help="The source's name of a column: model_a=left,model_b=right.",
)
_where_option = option(
    "--where",
    type=Pair("a condition such as language=en"),
    multiple=True,
    callback=_conditions,
    help="Only rows with this value; of several values of one column, any.",
)
_mapping_option = option(
    "--mapping",
    "mapping_file",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Names and values of the source, as TOML; agon check writes a first one.",
)
_ignore_option = option(
    "--ignore",
    multiple=True,
    metavar="NAME",
    help="A column, table or file of the source that is not read.",
)
_values_option = option(
    "--values",
    type=Pairs("values such as winner.H=model_a,winner.draw=tie"),
    multiple=True,
    callback=_columns,
    help="What a text of a column means: winner.H=model_a,winner.draw=tie.",
)
_null_option = option(
    "--null",
    multiple=True,
    metavar="TEXT,…",
    help="Texts that are no value: NA,NULL,None.",
)
_skip_missing_option = option(
    "--skip-missing",
    multiple=True,
    metavar="COLUMN",
    help="Leave out the rows without a value of this column; a note counts them.",
)
_stdin_form = option(
    "--stdin-format",
    type=click.Choice(list(_ENDINGS)),
    help="Format of stdin (default: by its first bytes).",
)


def reading(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of reading; they arrive as ``reads``.

    The argument ``source`` arrives as a file where it was ``-``.
    """

    @wraps(function)
    def call(
        *,
        source: str,
        columns: dict[str, str] | None,
        where: dict[str, list[str]] | None,
        stdin_format: str | None,
        **remaining: Any,
    ) -> Any:
        mapping = _take_mapping(remaining)
        reads: SourceOptions = {"columns": columns, "where": where, "mapping": mapping}
        if stdin_format is not None and source != STDIN:
            raise click.UsageError("--stdin-format is about stdin; give - as SOURCE")
        with _with_hints():
            if source != STDIN:
                return function(source=source, reads=reads, **remaining)
            with _save(sys.stdin.buffer, stdin_format) as file:
                return function(source=str(file), reads=reads, **remaining)

    return _columns_option(_where_option(_mapping_options(_stdin_form(call))))


def with_mapping(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a mapping; they arrive as ``mapping`` (None: there is none)."""

    @wraps(function)
    def call(**remaining: Any) -> Any:
        mapping = _take_mapping(remaining)
        with _with_hints(columns=_IN_MAPPING):
            return function(mapping=mapping, **remaining)

    return _mapping_options(call)


def _mapping_options(function: Callable[..., Any]) -> Callable[..., Any]:
    for add in (_skip_missing_option, _ignore_option, _null_option, _values_option):
        function = add(function)
    return _mapping_option(function)


def _take_mapping(options: dict[str, Any]) -> "SourceMapping | None":
    """Remove the options of a mapping from others; return what its file and they state."""
    from agon.records.names.mapping import source_mapping

    file = options.pop("mapping_file")
    lists = {name: _parts(options.pop(name)) for name in ("null", "ignore", "skip_missing")}
    stated = source_mapping({"values": options.pop("values") or {}, **lists})
    return source_mapping(file).merge(stated) or None


@contextmanager
def _with_hints(*, columns: str = _COLUMNS) -> Iterator[None]:
    """Add the options that help against the issues of records to their error.

    Args:
        columns: how the command takes the names of columns.
    """
    from agon.errors import Unreadable

    try:
        yield
    except Unreadable as error:
        from agon.records import InvalidRecords

        if not isinstance(error, InvalidRecords):
            raise
        given = (hint.replace(_COLUMNS, columns) for hint in hints_of(error.issues))
        hints = tuple(dict.fromkeys((*error.hints, *given)))
        raise InvalidRecords(error.issues, names=error.names, hints=hints) from None


def hints_of(issues: "Sequence[RowIssue]") -> list[str]:
    """Return the options that help against some issues, one line each."""
    first: dict[str, RowIssue] = {}
    for issue in issues:
        first.setdefault(_hint_code(issue), issue)
    return [text(first[code]) for code, text in _HINTS.items() if code in first]


def _hint_code(issue: "RowIssue") -> str:
    """Return the code of an issue, or what its value shows beyond that."""
    from agon.records.look_alikes import MISSING_WORDS

    if (issue.value or "").strip().lower() in MISSING_WORDS:
        return "missing-word"
    is_object = _FIRST_KEY.match(issue.value or "") is not None
    return "object" if is_object else issue.code


def _columns_hint(issue: "RowIssue") -> str:
    names = (issue.column or "").split(", ")
    several = "s" * (len(names) > 1)
    pairs = ",".join(f"{name}=…" for name in names)
    return f"say what the source calls the column{several}: {_COLUMNS} {pairs}"


def _values_hint(issue: "RowIssue") -> str:
    word = quote(issue.value or "")
    return (
        f"state what a value means: --values {issue.column}.{word}=…; or leave its rows out: "
        f"--null {word} --skip-missing {issue.column}"
    )


def _path_hint(issue: "RowIssue") -> str:
    key = _FIRST_KEY.match(issue.value or "")
    path = f"{issue.column}.{key[1] if key else '…'}"
    return f"read a value inside another one by its path: {_COLUMNS} {issue.column}={path}"


_FIRST_KEY = re.compile(r'\{\s*"([^"]+)"')
_HINTS: "Mapping[str, Callable[[RowIssue], str]]" = {
    "missing-word": lambda issue: f"texts that are no value: --null {quote(issue.value or '')}",
    "empty": lambda issue: f"leave out rows without a value: --skip-missing {issue.column}",
    "unknown-value": _values_hint,
    "ambiguous-value": lambda issue: (
        f"state what a value means: --values {issue.column}.{quote(issue.value or '')}=name"
    ),
    "missing-column": _columns_hint,
    "object": _path_hint,
}


def _parts(texts: tuple[str, ...]) -> list[str]:
    """Return the texts of an option that may be repeated, or have several with commas."""
    return [part.strip() for text in texts for part in text.split(",") if part.strip()]


_engine_option = option(
    "--engine",
    metavar="E",
    shell_complete=completion.engines,
    help="Where the tables are read: embedded, postgres, sail, sc://… (default: by SOURCE).",
)


def scoring(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of :func:`reading` and ``--engine``; they arrive as ``reads``."""

    @wraps(function)
    def call(*, reads: "SourceOptions", engine: str | None, **remaining: Any) -> Any:
        reading: ReadingOptions = {**reads, "engine": engine}
        return function(reads=reading, **remaining)

    return reading(_engine_option(call))


@contextmanager
def _save(stream: IO[bytes], form: str | None) -> Iterator[Path]:
    """Yield a temporary file with the content of a stream."""
    if sys.stdin is not None and sys.stdin.isatty():
        raise click.UsageError("stdin is a terminal; pipe a file into it, or name the file")
    with TemporaryDirectory(prefix="agon-stdin-") as folder:
        chunk = stream.read(_CHUNK)
        file = Path(folder) / f"stdin{_ENDINGS[form or _form_of(chunk)]}"
        with file.open("wb") as copy:
            while chunk:
                copy.write(chunk)
                chunk = stream.read(_CHUNK)
        yield file


def _form_of(begin: bytes) -> str:
    """Return the format of text or bytes that begin so.

    Example:
        >>> [_form_of(begin) for begin in (b"PAR1", b' [{"a": 1}]', b'{"a": 1}', b"a,b")]
        ['parquet', 'json', 'jsonl', 'csv']
    """
    if begin.startswith(b"PAR1"):
        return "parquet"
    first = begin.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    return {b"[": "json", b"{": "jsonl"}.get(first, "csv")


def echo_notes(notes: tuple[str, ...]) -> None:
    """Print what was decided in an import on stderr."""
    for note in notes:
        echo(f"note: {note}", err=True)


def echo_reading(result: "Result") -> None:
    """Print on stderr how the records of a result were read, and what may be wrong with them."""
    echo_notes(result.notes)
    echo_warnings(finding.message for finding in result.source_findings)


def echo_warnings(messages: Iterable[str]) -> None:
    """Print on stderr what may be wrong with a source."""
    for message in messages:
        echo(f"warning: {message}", err=True)


def numbers(
    ctx: click.Context, param: click.Parameter, value: tuple[tuple[str, str], ...]
) -> Mapping[str, float] | None:
    """Return the numbers of an option by name.

    Raises:
        BadParameter: a value is not a number, or a name has two.
    """
    pairs = []
    for name, text in value:
        try:
            pairs.append((name, float(text)))
        except ValueError:
            reason = f"{text!r} is not a number; give a rating such as {name}=1000"
            raise click.BadParameter(reason, ctx=ctx, param=param) from None
    return unique(ctx, param, tuple(pairs)) or None
