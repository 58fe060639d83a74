"""The formats that can be imported, and the import of one."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agon.disciplines import BUILT_IN, ImportedRecords, discipline, names
from agon.errors import Conflict, NotFound, Unreadable, did_you_mean
from agon.records.frames import Rows
from agon.records.names.columns import require_names
from agon.records.names.mapping import MappingSource, source_mapping
from agon.records.sources.memory import arrow_table, is_table

if TYPE_CHECKING:
    from agon.app.containers import AgentTimeout
    from agon.app.importers.comparisons import MatchUnit


@dataclass(frozen=True)
class Format:
    """One format that can be imported.

    Attributes:
        name: its name.
        discipline: the discipline of the imported records.
        summary: what is read, in one sentence.
        choices: names of the choices it has.
        frame: whether it is one table, which may be a data frame.
        read: reads a source, with the choices as keyword arguments; None: the function ``read`` of
            the module here that has the format's name with underscores.
    """

    name: str
    discipline: str
    summary: str
    choices: tuple[str, ...] = ()
    frame: bool = False
    read: Callable[..., ImportedRecords] | None = None

    def reader(self) -> Callable[..., ImportedRecords]:
        """Return the function that reads a source; its module is imported now."""
        if self.read is not None:
            return self.read
        module = import_module(f"agon.app.importers.{self.name.replace('-', '_')}")
        own: Callable[..., ImportedRecords] = module.read
        return own


FORMATS: Mapping[str, Format] = {
    item.name: item
    for item in (
        Format(
            "arena-battles",
            "arena",
            "Battles as Chatbot Arena publishes them: model_a, model_b, winner.",
            choices=("mapping", "where"),
            frame=True,
        ),
        Format(
            "comparisons",
            "arena",
            "Comparisons of two answers: left, right, winner and, if known, worker and pair id.",
            choices=("audit", "unit", "mapping", "where"),
            frame=True,
        ),
        Format(
            "peerbench",
            "community",
            "PeerBench's own tables: a folder, an SQLite or DuckDB file, or postgresql://….",
            choices=("mapping",),
        ),
        Format(
            "bittensor-evaluations",
            "challenge",
            "Evaluations by a subnet's validators: uid or hotkey, validator, score, stake, epoch.",
            choices=("mapping", "where"),
            frame=True,
        ),
        Format(
            "challenge-runs",
            "challenge",
            "Runs of agon challenge run: one run's folder, or a folder of several.",
        ),
        Format(
            "harbor",
            "challenge",
            "Results of Harbor: the folder of a job, or of several, with a result.json per trial.",
            choices=("agent_timeout",),
        ),
    )
}
"""The formats that agon reads itself."""


def all_formats() -> Mapping[str, Format]:
    """Return agon's own formats by name, then those of installed disciplines.

    Raises:
        Unavailable: an installed discipline cannot be loaded.
        Conflict: one has a format whose name is taken.
    """
    formats = dict(FORMATS)
    for name in names()[len(BUILT_IN) :]:
        for item in _formats_of(name):
            if item.name in formats:
                raise Conflict(
                    f"the disciplines {formats[item.name].discipline} and {name} both have a "
                    f"format {item.name!r}; update or uninstall the package of {name}"
                )
            formats[item.name] = item
    return formats


def _formats_of(name: str) -> Iterable[Format]:
    """Return the formats of a discipline."""
    if name in BUILT_IN:
        return [item for item in FORMATS.values() if item.discipline == name]
    return [
        Format(item.name, name, item.summary, item.choices, frame=item.frame, read=item.read)
        for item in discipline(name).importers
    ]


def format_of_frame(discipline_name: str) -> Format | None:
    """Return the format in which a single data frame of a discipline is read; None: there is none.

    Example:
        >>> format_of_frame("arena").name, format_of_frame("dojo")
        ('arena-battles', None)
    """
    return next((item for item in _formats_of(discipline_name) if item.frame), None)


def import_records(  # noqa: PLR0913 (an option each)
    name: str,
    source: str | Path | Rows,
    *,
    audit: str | Path | Rows | None = None,
    unit: "MatchUnit | None" = None,
    agent_timeout: "AgentTimeout | None" = None,
    columns: Mapping[str, str] | None = None,
    where: Mapping[str, Any] | None = None,
    mapping: MappingSource | None = None,
    ignore: Iterable[str] | None = None,
) -> ImportedRecords:
    """Return the records of a source in a named format; nothing is written.

    Args:
        name: one of :data:`FORMATS`, or a format of an installed discipline.
        source: a file, a folder or an address, as the format has it; of a format that is one table
            also a data frame or a list of dicts.
        audit: of ``comparisons``: a file or data frame of verdicts on the pairs.
        unit: of ``comparisons``: whether a match is one of the ``pairs`` or of the ``votes``.
        agent_timeout: of ``harbor``: whether a reward after the agent's time limit fails (default)
            or counts (``verify``).
        columns: of a format that is one table: the source's name of a column by the format's, where
            they differ.
        where: of a format that is one table: a value, or several, by column of the source; only
            such rows are imported.
        mapping: how names and values of the source are read: a file of TOML or a dict with
            ``columns``, ``tables``, ``values``, ``null``, ``ignore`` and ``skip_missing``.
        ignore: names of columns, tables or files that are not read.

    Raises:
        NotFound: there is no such format or source.
        Conflict: the format has no such option.
        InvalidRecords: with all issues.
        Unreadable: the source is not in that format.

    Example:
        >>> votes = "src/agon/examples/llmfao/crowd-comparisons.csv"
        >>> imported = import_records("comparisons", votes, unit="votes")
        >>> imported.discipline
        'arena'
        >>> imported.tables["bots"].num_rows, imported.tables["matches"].num_rows
        (59, 8931)
    """
    require_names(columns)
    wanted = _format(name)
    reads = source_mapping(mapping).with_columns(columns).with_ignored(ignore or ())
    stated = {
        "audit": audit,
        "unit": unit,
        "agent_timeout": agent_timeout,
        "mapping": reads if reads or reads.keep else None,
        "where": where,
    }
    choices = {key: value for key, value in stated.items() if value is not None}
    if others := [choice for choice in choices if choice not in wanted.choices]:
        have = [item.name for item in FORMATS.values() if others[0] in item.choices]
        raise Conflict(f"{name} has no {' or '.join(others)}; {', '.join(have)} has")
    return wanted.reader()(_source(wanted, source), **choices)


def _format(name: str) -> Format:
    """Return a format by name; installed disciplines are loaded for a name that agon lacks.

    Raises:
        NotFound: there is none; the message suggests one.
    """
    formats = FORMATS if name in FORMATS else all_formats()
    if name not in formats:
        raise NotFound(f"there is no format {name!r}: {did_you_mean(name, formats)}")
    return formats[name]


def _source(wanted: Format, source: Any) -> Any:
    """Return a source in the form its format reads: a path, an address or a data frame.

    Raises:
        Unreadable: a data frame of a format that is more than one table, or something else.
    """
    if isinstance(source, str | Path):
        return Path(source) if wanted.frame else str(source)
    if wanted.frame and is_table(source):
        return arrow_table(wanted.name, source)
    forms = "a file, a data frame or a list of dicts" if wanted.frame else "a path or an address"
    raise Unreadable(
        f"{wanted.name} cannot be read from a value of type {type(source).__name__}; give {forms}"
    )
