"""Options of the functions that read and score records: stated once, taken by keyword."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from functools import wraps
from inspect import Parameter, signature
from typing import Any, TypedDict, TypeVar, cast, get_args

from agon.errors import did_you_mean
from agon.records.names.mapping import MappingSource

_Function = TypeVar("_Function", bound=Callable[..., Any])


class SourceOptions(TypedDict, total=False):
    """How names, values and rows of a source are read.

    Attributes:
        columns: the source's name of a column by the schema's, or by the format's of a file of one
            table, where they differ: ``{"model_a": "left"}``.
        where: a value, or several, by column of the source (``{"language": "en"}``); only such
            rows are read, without the rows of other tables that refer to others.
        mapping: how names and values of the source are read: a file of TOML or a dict with
            ``columns``, ``tables``, ``values``, ``null``, ``ignore`` and ``skip_missing``.
        ignore: names of columns, tables or files that are not read.
    """

    columns: Mapping[str, str] | None
    where: Mapping[str, Any] | None
    mapping: MappingSource | None
    ignore: Iterable[str] | None


class ReadingOptions(SourceOptions, total=False):
    """How a source is read, and where: the options of ``agon.read_records``.

    Attributes:
        columns, where, mapping, ignore: see :class:`SourceOptions`.
        engine: where the tables are read (``agon engines`` lists them; None: by the source).
    """

    engine: str | None


class RuleOptions(TypedDict, total=False):
    """Under which rules records are scored, and as of which time.

    Attributes:
        edition: ``scores0002-1`` or ``community/scores0002-1`` (None: the reference edition).
        overrides: values of rules that replace the edition's; they may be text.
        as_of: leave out later records; a time or ISO 8601 text (without a zone: UTC).
    """

    edition: str | None
    overrides: Mapping[str, Any] | None
    as_of: datetime | str | None


class ScoringOptions(RuleOptions, ReadingOptions, total=False):
    """How records are read and scored: the options of ``agon.score``.

    Attributes:
        edition, overrides, as_of: see :class:`RuleOptions`.
        columns, where, mapping, ignore, engine: see :class:`ReadingOptions`.
    """


def with_options(function: _Function) -> _Function:
    """Show each of the ``**options: Unpack[…]`` in a function's signature, and refuse others.

    Python itself accepts any keyword for ``**options``; only type checkers know the names.

    Raises:
        TypeError: (when the function is called) there is no such option; the message suggests one.

    Example:
        >>> from typing import Unpack
        >>> @with_options
        ... def count(source: str, **options: Unpack[SourceOptions]) -> int:
        ...     return len(options)
        >>> list(signature(count).parameters)
        ['source', 'columns', 'where', 'mapping', 'ignore']
        >>> count("data/", wher={"language": "en"})
        Traceback (most recent call last):
        TypeError: count() has no option 'wher': did you mean where?
    """
    written = signature(function)
    *own, options = written.parameters.values()
    (kind,) = get_args(options.annotation)
    stated = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
        for name, annotation in kind.__annotations__.items()
    ]
    shown = written.replace(parameters=[*own, *stated])

    @wraps(function)
    def call(*values: Any, **named: Any) -> Any:
        for name in named:
            if name not in shown.parameters:
                hint = did_you_mean(name, shown.parameters)
                raise TypeError(f"{function.__name__}() has no option {name!r}: {hint}")
        return function(*values, **named)

    call.__signature__ = shown  # type: ignore[attr-defined]  # functions have no such attribute yet
    return cast("_Function", call)
