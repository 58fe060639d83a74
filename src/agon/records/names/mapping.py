"""State once how a source's names and values are read: a mapping, in a file or as a value.

.. code-block:: toml

    null = ["NA"]                 # texts that are no value
    ignore = ["prompts.notes"]    # names that are not read
    skip_missing = ["winner"]     # rows without a value here are left out

    [tables]
    battles = "games.csv"         # the schema's name = the source's

    [columns]
    model_a = "left"

    [values.winner]               # the source's text = the schema's value
    H = "model_a"

Mappings of several sources may be one file: a name that a source does not have is an error only in
``tables`` and ``columns``.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Final, TypeAlias

from agon.errors import NotFound, Unreadable, did_you_mean
from agon.records.names.columns import require_names

_AT_LINE: Final = re.compile(r"at line ([0-9]+)")
_SHOWN: Final = 80
_LISTS: Final = ("null", "ignore", "skip_missing")
_NAMES: Final = ("tables", "columns")


@dataclass(frozen=True)
class SourceMapping:
    """How a source's names and values are read.

    Attributes:
        tables: the source's name of a table, by the schema's.
        columns: the source's name of a column, by the schema's (``model_a``, ``battles.model_a``).
        values: the schema's value by the source's text, by column.
        null: texts that are read as no value.
        ignore: names of columns, tables and files that are not read.
        skip_missing: columns; rows without a value in one are left out, and counted.
        keep: further columns of tables that are read where a source has them (``matches.topic``),
            with their kind, ``number`` or ``text``. It is no part of a file.
    """

    tables: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    null: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    skip_missing: tuple[str, ...] = ()
    keep: Mapping[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return any(getattr(self, item.name) for item in fields(self) if item.name != "keep")

    def with_columns(self, columns: Mapping[str, str] | None) -> "SourceMapping":
        """Return the mapping with further names of columns, which replace its own.

        Raises:
            Unreadable: they are no mapping.
        """
        require_names(columns)
        return replace(self, columns={**self.columns, **columns}) if columns else self

    def names_of(self, table: str, column: str, spelled: str) -> set[str]:
        """Return the names that a column goes by in the mapping: the schema's, and the source's.

        Args:
            table: the table.
            column: the schema's name of the column.
            spelled: the source's name of it, if it is only spelled otherwise.

        Example:
            >>> stated = SourceMapping(columns={"votes.vote": "Which one?"})
            >>> sorted(stated.names_of("votes", "vote", "vote"))
            ['Which one?', 'vote', 'votes.Which one?', 'votes.vote']
        """
        names = {column, spelled}
        names |= {self.columns[own] for own in (column, f"{table}.{column}") if own in self.columns}
        return names | {f"{table}.{name}" for name in names}

    def with_ignored(self, names: Iterable[str]) -> "SourceMapping":
        """Return the mapping with further names that are not read."""
        return replace(self, ignore=(*self.ignore, *names))

    def with_kept(self, kinds: Mapping[str, str]) -> "SourceMapping":
        """Return the mapping with further columns that are kept."""
        return replace(self, keep={**self.keep, **kinds})

    def merge(self, other: "SourceMapping") -> "SourceMapping":
        """Return the mapping with what another one adds, which replaces its own values."""
        values = {**self.values}
        for column, words in other.values.items():
            values[column] = {**values.get(column, {}), **words}
        return SourceMapping(
            tables={**self.tables, **other.tables},
            columns={**self.columns, **other.columns},
            values=values,
            null=(*self.null, *other.null),
            ignore=(*self.ignore, *other.ignore),
            skip_missing=(*self.skip_missing, *other.skip_missing),
            keep={**self.keep, **other.keep},
        )


NO_MAPPING: Final = SourceMapping()

MappingSource: TypeAlias = SourceMapping | Mapping[str, Any] | str | Path
"""All that a mapping is read from: a file of TOML, a dict of the same form, or a mapping."""


def source_mapping(mapping: MappingSource | None) -> SourceMapping:
    """Return a mapping from a file of TOML, or from a dict of the same form.

    Raises:
        NotFound: there is no such file.
        Unreadable: it is no TOML, or not of the form; all errors at once.

    Example:
        >>> source_mapping({"columns": {"model_a": "left"}, "null": ["NA"]}).columns
        {'model_a': 'left'}
    """
    if mapping is None:
        return NO_MAPPING
    if isinstance(mapping, SourceMapping):
        return mapping
    label = "the mapping"
    if isinstance(mapping, str | Path):
        label, mapping = str(mapping), _read_toml(Path(mapping))
    if not isinstance(mapping, Mapping):
        raise Unreadable(
            f"a mapping is the name of a TOML file or a dict, got {type(mapping).__name__}; give "
            "{'columns': {'model_a': 'left'}}"
        )
    return _mapping(mapping, label)


def _read_toml(path: Path) -> Mapping[str, Any]:
    try:
        text = path.read_text("utf-8-sig")
    except FileNotFoundError:
        raise NotFound(f"{path}: no such file; give a mapping as TOML") from None
    except (OSError, UnicodeDecodeError) as error:
        raise Unreadable(f"{path} cannot be read as text ({error})") from None
    return parse_mapping(text, str(path))


def parse_mapping(text: str, label: str) -> Mapping[str, Any]:
    r"""Return what a mapping's TOML says; ``label`` names it in messages.

    Raises:
        Unreadable: it is no TOML, with the line from which on it is none.

    Example:
        >>> parse_mapping("[columns]\nmodel_a = 'left'", "mapping.toml")
        {'columns': {'model_a': 'left'}}
    """
    text = text.replace("\r\n", "\n")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        lines = text.splitlines() or [""]
        place = _AT_LINE.search(str(error))
        line = min(int(place[1]), len(lines)) if place else len(lines)
        raise Unreadable(
            f"{label}, line {line}: {lines[line - 1].strip()[:_SHOWN]!r} is no TOML; write "
            '[columns] and a line such as handle = "Name", with names that have blanks in quotes'
        ) from None


def _mapping(value: Mapping[str, Any], label: str) -> SourceMapping:
    known = [item.name for item in fields(SourceMapping) if item.name != "keep"]
    faults = [
        f"{name!r} is no part of a mapping: {did_you_mean(str(name), known)}"
        for name in value
        if name not in known
    ]
    lists = {name: _texts(value.get(name, ()), name, faults) for name in _LISTS}
    names = {name: _names(value.get(name, {}), name, faults) for name in _NAMES}
    values = _values(value.get("values", {}), faults)
    if faults:
        raise Unreadable(f"{label}: {'; '.join(faults)}")
    return SourceMapping(
        tables=names["tables"],
        columns=names["columns"],
        values=values,
        null=lists["null"],
        ignore=lists["ignore"],
        skip_missing=lists["skip_missing"],
    )


def _texts(value: Any, name: str, faults: list[str]) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, Sequence) or not all(isinstance(item, str) for item in value):
        faults.append(f'{name} is no list of texts; write {name} = ["…"]')
        return ()
    return tuple(value)


def _names(value: Any, name: str, faults: list[str]) -> dict[str, str]:
    """Return names; each of the schema's has one of the source's, and no two the same one."""
    if not isinstance(value, Mapping):
        faults.append(f"[{name}] is no table; write the schema's name = \"the source's\"")
        return {}
    names: dict[str, str] = {}
    for own, stored in _by_dotted_name(value) if name == "columns" else value.items():
        if not isinstance(stored, str) or not stored.strip():
            faults.append(
                f"{name}.{own} is mapped to {_shown(stored)}; give one name of the source, as a "
                "text in quotes"
            )
        else:
            names[str(own)] = stored.strip()
    return names


def _by_dotted_name(columns: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield columns by name; TOML reads ``users.id = "a"`` as a table ``users`` that has ``id``."""
    for name, stored in columns.items():
        if isinstance(stored, Mapping) and stored:
            yield from ((f"{name}.{column}", inner) for column, inner in stored.items())
        else:
            yield str(name), stored


def _shown(value: Any) -> str:
    """Return what stands where one text belongs."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return "nothing"
    if isinstance(value, Mapping):
        return "a table"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "a list"
    return str(value)


def _values(value: Any, faults: list[str]) -> dict[str, dict[str, str]]:
    if not isinstance(value, Mapping):
        faults.append('[values] is no table; write [values.winner] and H = "model_a" below')
        return {}
    values: dict[str, dict[str, str]] = {}
    for column, words in value.items():
        if isinstance(words, Mapping):
            name, by_text = str(column), words
        else:  # "winner.H" = "model_a"
            name, _, text = str(column).partition(".")
            by_text = {text: words}
        for text, word in by_text.items():
            plain = _plain(word)
            if not text:
                faults.append(f"values.{name} names no text; write [values.{name}]")
            elif plain is None:
                faults.append(
                    f"values.{name}.{text} is mapped to {_shown(word)}; give one value, as a text "
                    "in quotes"
                )
            else:
                values.setdefault(name, {})[str(text)] = plain
    return values


def _plain(word: Any) -> str | None:
    if isinstance(word, bool):
        return str(word).lower()
    return str(word) if isinstance(word, str | int | float) and str(word) != "" else None
