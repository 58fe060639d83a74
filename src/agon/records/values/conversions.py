"""Convert the values of a source as people write them, before they are read as their kinds.

Words of closed lists in other spellings, values that a mapping states, texts that mean no value,
ids such as ``10.0``, times in seconds since 1970, and names of sides are replaced column by column,
each with one note. Columns whose values are exact are only looked at.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from agon.records.counting import Counts
from agon.records.names.mapping import SourceMapping
from agon.records.raw import RawTable, SourceTables, literal, quote
from agon.records.schemas import Column, Kind, Schema, Table
from agon.records.values.changes import TableChanges, names_of_sides, text_read_as
from agon.records.values.conversion_notes import (
    count_rows,
    read_as_utc,
    read_numbers_as_times,
    read_truths,
    read_whole_ids,
    read_words,
    unknown_names,
)
from agon.records.values.json_values import EPOCH_END, EPOCH_FIRST, EPOCH_UNITS
from agon.records.values.row_issues import (
    ambiguous_side,
    may_hold_no_record,
    rows_without_a_record,
)
from agon.records.values.words import (
    EXACT_TRUTHS,
    FALSE,
    NAME,
    TRUE,
    WHOLE_ID,
    StatedWords,
    fold_word,
    home_and_away,
    points,
)

_ROW: Final = quote("converted row:")
_MAX_WORDS: Final = 1_000  # different words of one column that are converted
_EPOCH: Final = r"[0-9]{9,16}(\.[0-9]*)?"
_ZONE: Final = r".*([zZ]| UTC|[+-][0-9]{2}(:?[0-9]{2})?)"
_TRUTHS: Final = {**dict.fromkeys(TRUE, "true"), **dict.fromkeys(FALSE, "false")}
_NUMERIC: Final = (
    "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "U", "FLOAT", "DOUBLE", "DECIMAL",
)  # fmt: skip


def convert_values(
    connection: Any,
    schema: Schema,
    source: SourceTables,
    mapping: SourceMapping,
    *,
    words_in_place: bool,
    together: bool = False,
) -> tuple[SourceTables, list[str]]:
    """Return a source with converted values, and one note for each column that was converted.

    Args:
        connection: the engine.
        schema: the tables.
        source: its tables, under the names of the schema.
        mapping: values, texts without a value, and columns without which a row is left out.
        words_in_place: whether the words of files that are read in place are looked at; that costs
            as much as their validation, which shows whether it is needed.
        together: whether one statement looks at all tables, as of few rows.
    """
    tables, notes = dict(source.tables), list(unknown_names(schema, source, mapping))
    issues = list(source.issues)
    zoneless: list[str] = []
    counts = Counts(connection, together=together)
    conversions = {}
    for table in schema:
        raw = tables.get(table.name)
        if raw is not None and raw.types:
            start = f"{table.name}." if len(schema.tables) > 1 else ""
            words = words_in_place or not raw.in_place
            conversions[table.name] = _Conversion(counts, table, raw, mapping, start, words=words)
    for name, conversion in conversions.items():
        tables[name] = conversion.apply()
        notes += conversion.changes.notes
        issues += conversion.changes.issues
        zoneless += conversion.changes.zoneless
    if zoneless:
        notes.append(read_as_utc(zoneless))
    return replace(source, tables=tables, issues=issues), notes


class _Conversion:
    """The conversion of one table's values; what it depends on is asked when it is made."""

    def __init__(
        self,
        counts: Counts,
        table: Table,
        raw: RawTable,
        mapping: SourceMapping,
        start: str,
        *,
        words: bool,
    ) -> None:
        self._words = words
        self._connection, self._few = counts.connection, counts.together
        self._table = table
        self._raw = raw
        self._mapping = mapping
        self._start = start
        self._copies = 0
        self.changes = TableChanges()
        self._columns = [column for column in table.columns if column.name in raw.types]
        self._read_as_missing(self._columns)
        self._raw = self._with_changes()
        self._looks = self._look_at(self._columns)
        self._seen = counts.ask([*self._looks.values()], self._raw.relation)

    def apply(self) -> RawTable:
        """Return the table with the converted values, without the rows that are left out."""
        columns = self._columns
        stated = {column.name: self._stated_values(column) for column in columns}
        seen = dict(zip(self._looks, self._seen(), strict=True))
        if seen.get("no record"):
            texts = [(self._text(one.name), [*self._names_of(one.name)]) for one in columns]
            self.changes.issues += rows_without_a_record(self._query, self._raw, texts)
        for column in columns:
            name = column.name
            if stated[name] or (seen.get(f"words:{name}") and column.choices):
                self._convert_words(column, stated[name])
            elif seen.get(f"words:{name}"):
                self._convert_truths(column)
            if seen.get(f"id:{name}"):
                self._convert_ids(column)
            if seen.get(f"epoch:{name}"):
                self._convert_times(column)
            if seen.get(f"zone:{name}"):
                self.changes.zoneless.append(self._label(name))
        self._raw = self._with_changes()
        return self._without_missing()

    def _stated_values(self, column: Column) -> Mapping[str, str]:
        """Return the values that the mapping states for a column, by text."""
        return {
            text: value
            for name in self._names_of(column.name)
            for text, value in self._mapping.values.get(name, {}).items()
        }

    def _names_of(self, name: str) -> set[str]:
        spelled = self._raw.spelled.get(name, name)
        return self._mapping.names_of(self._table.name, name, spelled)

    def _text(self, name: str) -> str:
        """Return SQL of a value as text."""
        as_text = {"JSON": f"({quote(name)} ->> '$')", "VARCHAR": quote(name)}
        return as_text.get(self._raw.types[name], f"{quote(name)}::VARCHAR")

    def _is_text(self, name: str) -> bool:
        return self._raw.types[name].partition("(")[0] in {"VARCHAR", "JSON", "ENUM"}

    def _read_as_missing(self, columns: list[Column]) -> None:
        if not self._mapping.null:
            return
        words = ", ".join(literal(text.strip().lower()) for text in self._mapping.null)
        named = {c.name: f"lower(trim({self._text(c.name)})) IN ({words})" for c in columns}
        counts = self._query([f"count_if({is_null})" for is_null in named.values()])
        for (name, is_null), count in zip(named.items(), counts, strict=True):
            if count:
                kind = self._raw.types[name]
                value = f"CASE WHEN {is_null} THEN NULL ELSE {quote(name)} END"
                note = f"{self._label(name)}: {count_rows(count)} read as missing"
                self.changes.replace(name, value, note, kind)

    def _look_at(self, columns: list[Column]) -> dict[str, str]:
        """Return SQL that counts, in one pass, what does not look exact in each column."""
        counted: dict[str, str] = {}
        if columns and all(self._is_text(column.name) for column in columns):
            name = columns[0].name
            condition = may_hold_no_record(self._text(name), [*self._names_of(name)])
            counted["no record"] = f"count_if({condition})"
        other_ids = self._ids_that_are_not_whole(columns)
        for column in columns:
            if not (column.lists and self._convert_lists(column)):
                counted |= self._inexact(column, is_whole=column.name not in other_ids)
        return counted

    def _inexact(self, column: Column, *, is_whole: bool) -> dict[str, str]:
        """Return SQL that counts what does not look exact in a column, by what it may be.

        Args:
            column: the column.
            is_whole: whether its ids may be whole.
        """
        name, text = column.name, self._text(column.name)
        if not self._is_text(name):
            is_number = self._raw.types[name].startswith(_NUMERIC)
            kind = "epoch" if column.kind is Kind.TIMESTAMP else "words"
            is_read = is_number and (column.kind is Kind.TIMESTAMP or column.is_points)
            return {f"{kind}:{name}": f"count({quote(name)})"} if is_read else {}
        if column.kind is Kind.TIMESTAMP:
            # A case, because both sides of AND would be evaluated for each row.
            is_zoned = f"regexp_full_match(trim({text}), {literal(_ZONE)})"
            zoneless = (
                f"CASE WHEN {text} LIKE '____-%:%' AND {text} NOT LIKE '%Z' THEN NOT {is_zoned} END"
            )
            return {
                f"epoch:{name}": f"count_if({text} NOT LIKE '____-%')",
                f"zone:{name}": f"count_if({zoneless})",
            }
        if column.choices and self._words:
            listed = " AND ".join(f"{text} <> {literal(one)}" for one in column.choices)
            return {f"words:{name}": f"count_if({listed})"}
        if column.kind is Kind.BOOLEAN:
            exact = ", ".join(map(literal, EXACT_TRUTHS))
            return {f"words:{name}": f"count_if(lower({text}) NOT IN ({exact}))"}
        if column.kind is Kind.ID and is_whole:
            return {f"id:{name}": f"count_if(contains({text}, '.0'))"}
        return {}

    def _ids_that_are_not_whole(self, columns: list[Column]) -> set[str]:
        """Return columns of a file that is read in place whose first id shows what they hold.

        Ids such as ``10.0`` are read as 10 where all are whole. Reading a column of many rows for
        nothing costs more than a look at the first one.
        """
        texts = {c.name: self._text(c.name) for c in columns
                 if c.kind is Kind.ID and self._is_text(c.name)}  # fmt: skip
        if self._few or not (self._raw.in_place and texts):
            return set()
        sql = f"SELECT {', '.join(texts.values())} FROM {self._raw.relation} LIMIT 1"
        first = dict(zip(texts, self._connection.execute(sql).fetchone() or (), strict=False))
        seen = {name: text.strip() for name, text in first.items() if text is not None}
        return {name for name, text in seen.items() if text and not re.fullmatch(WHOLE_ID, text)}

    def _convert_lists(self, column: Column) -> bool:
        """Read lists of texts as one text; return whether there are any."""
        name, kind = column.name, self._raw.types[column.name]
        if kind.endswith("[]"):
            value = f"array_to_string({quote(name)}, ', ')"
        elif kind == "JSON" and self._query([f"count_if(json_type({quote(name)}) = 'ARRAY')"])[0]:
            joined = f"array_to_string(CAST({quote(name)} AS VARCHAR[]), ', ')"
            is_list = f"json_type({quote(name)}) = 'ARRAY'"
            value = f"CASE WHEN {is_list} THEN {joined} ELSE {self._text(name)} END"
        else:
            return False
        self.changes.replace(name, value, f"{self._label(name)}: lists are read as one text")
        return True

    def _convert_words(self, column: Column, stated: Mapping[str, str]) -> None:
        """Read the words of a column, each as what it means, and names as the side they name."""
        name, text = column.name, self._text(column.name)
        named_by = names_of_sides(
            text, [self._text(side) for side in column.sides if side in self._raw.types]
        )
        items = [text, "count(*)", f"min({self._raw.row})", *(f"count_if({c})" for c in named_by)]
        sql = (
            f"SELECT {', '.join(items)} FROM {self._raw.relation} WHERE {text} IS NOT NULL "
            f"GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT {_MAX_WORDS}"
        )
        found = self._connection.execute(sql).fetchall()
        if not any(any(row[3:]) for row in found):
            found_words = [row[0] for row in found]
            if column.is_points and not stated:
                stated = points(found_words)
            stated = {**home_and_away(column, found_words, stated), **stated}
        words = StatedWords(column, stated)
        read: dict[str, str] = {}
        named: list[str] = []
        counts: dict[tuple[str, str], int] = {}
        total = 0
        for word, count, first, *by_side in found:
            meant = words.meaning(word)
            if meant == NAME or (meant is None and any(by_side)):
                named.append(word)
                total += count
            elif meant is not None and meant != word:
                if not words.states(word) and _is_other_side(column, meant, by_side):
                    label = self._raw.spelled.get(name, name)
                    self.changes.issues.append(
                        ambiguous_side(self._raw, first, label, word, meant, count=count)
                    )
                read[word] = meant
                counts[word, meant] = count
        if named or read:
            value = text_read_as(text, read)
            listed = ", ".join(map(literal, named))
            by_choice = list(zip(named_by if named else (), column.choices, strict=False))
            # Of one name on both sides, the first holds.
            for names_side, choice in reversed(by_choice):
                value = (
                    f"CASE WHEN {text} IN ({listed}) AND {names_side} THEN {literal(choice)} "
                    f"ELSE {value} END"
                )
            self.changes.replace(name, value, read_words(self._label(name), counts, names=total))

    def _convert_truths(self, column: Column) -> None:
        text = self._text(column.name)
        sql = (
            f"SELECT {text}, count(*) FROM {self._raw.relation} GROUP BY 1 "
            f"ORDER BY 2 DESC, 1 LIMIT {_MAX_WORDS}"
        )
        words = [word for word, _ in self._connection.execute(sql).fetchall() if word]
        read = {word: _TRUTHS[fold_word(word)] for word in words if fold_word(word) in _TRUTHS}
        odd = {word: read[word] for word in read if word.lower() not in EXACT_TRUTHS}
        if odd:
            note = read_truths(self._label(column.name), odd)
            self.changes.replace(column.name, text_read_as(text, odd), note)

    def _convert_ids(self, column: Column) -> None:
        text = f"trim({self._text(column.name)})"
        whole = f"regexp_full_match({text}, {literal(WHOLE_ID)})"
        if self._query([f"bool_and({whole} OR {text} = '')"])[0]:
            value = f"split_part({text}, '.', 1)"
            self.changes.replace(column.name, value, read_whole_ids(self._label(column.name)))

    def _convert_times(self, column: Column) -> None:
        """Read numbers of a complete column as times since 1970, in the one unit that fits."""
        name = column.name
        number = quote(name)
        if self._is_text(name):
            text = f"nullif(trim({self._text(name)}), '')"
            if not self._query([f"bool_and(regexp_full_match({text}, {literal(_EPOCH)}))"])[0]:
                return
            number = text
        low, high = self._query([f"min(({number})::DOUBLE)", f"max(({number})::DOUBLE)"])
        if low is None:
            return
        for unit in EPOCH_UNITS:
            if EPOCH_FIRST * unit <= low and high < EPOCH_END * unit:
                micros = f"round(({number})::DOUBLE * {1_000_000 // unit})::BIGINT"
                self.changes.replace(
                    name,
                    f"make_timestamp({micros})",
                    read_numbers_as_times(self._label(name), [unit]),
                    "TIMESTAMP",
                )

    def _with_changes(self) -> RawTable:
        """Return the table with the changes so far."""
        changes, raw = self.changes, self._raw
        if not changes.values:
            return raw
        items = [f"{raw.row} AS {_ROW}"]
        items += [f"{changes.values.get(name, quote(name))} AS {quote(name)}" for name in raw.types]
        changed = self._copy_of(f"SELECT {', '.join(items)} FROM {raw.relation}")
        types = {name: changes.types.get(name, kind) for name, kind in raw.types.items()}
        changes.values, changes.types = {}, {}
        return replace(changed, types=types)

    def _without_missing(self) -> RawTable:
        """Leave out the rows without a value in a column of which the mapping says so."""
        raw = self._raw
        missing = set(self._mapping.skip_missing)
        names = [name for name in raw.types if self._names_of(name) & missing]
        if not names:
            return raw
        empty = " OR ".join(f"coalesce(trim({self._text(name)}), '') = ''" for name in names)
        count = self._query([f"count_if({empty})"])[0]
        if not count:
            return raw
        shown = ", ".join(map(self._label, names))
        self.changes.notes.append(f"left out {count_rows(count)} without a value of {shown}")
        items = ", ".join([f"{raw.row} AS {_ROW}", *map(quote, raw.types)])
        rows = f"(SELECT {items} FROM {raw.relation})"
        return self._copy_of(f"SELECT * FROM {rows} WHERE NOT ({empty})")

    def _copy_of(self, sql: str) -> RawTable:
        """Return the table of a query: a copy where the table is one, else the query itself."""
        raw = self._raw
        if not raw.stored:
            return replace(raw, relation=f"({sql})", row=_ROW, has_empty_texts=True)
        self._copies += 1
        copy = quote(f"converted {self._copies}:{self._table.name}")
        self._connection.execute(f"CREATE OR REPLACE TABLE {copy} AS {sql}")
        if self._copies > 1:  # the first copy is of the source's own table, which stays
            self._connection.execute(f"DROP TABLE {raw.relation}")
        return replace(raw, relation=copy, row=_ROW, has_empty_texts=True)

    def _label(self, name: str) -> str:
        return self._start + self._raw.spelled.get(name, name)

    def _query(self, items: list[str]) -> tuple[Any, ...]:
        if not items:
            return ()
        sql = f"SELECT {', '.join(items)} FROM {self._raw.relation}"
        row: tuple[Any, ...] = self._connection.execute(sql).fetchall()[0]
        return row


def _is_other_side(column: Column, meant: str, by_side: list[int]) -> bool:
    """Return whether a word that means a side is, in some row, the name on another side."""
    index = column.choices.index(meant)
    return any(count for side, count in enumerate(by_side) if side != index)
