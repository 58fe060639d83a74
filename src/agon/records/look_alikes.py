"""Find values that look like others, or like no value, in columns whose texts are compared.

``math`` and ``Math``, ``GPT-4`` with a blank at its end, and names with an invisible sign are
different values that people take for one; ``NULL`` and ``N/A`` are texts that people take for none.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from agon.kernel.findings import Finding, Severity
from agon.records.counting import Counts
from agon.records.raw import literal, quote
from agon.records.schemas import Column, Kind, Table
from agon.records.tables import Records

MISSING_WORDS: Final = (
    "null", "none", "nan", "n/a", "na", "#n/a", "nil", "undefined", "-", "--", "?", "\\n",
)  # fmt: skip
"""Texts, in small letters, that people write where there is no value."""

MAX_LENGTH: Final = 200  # longer texts are content
MAX_GROUPS: Final = 20
_MAX_NAMED: Final = 4
_DASHES: Final = "\u2010\u2011\u2012\u2013\u2014\u2212"
_INVISIBLE: Final = (
    "\u00ad\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069"
    "\ufeff"
)
_BLANKS: Final = "\u00a0\u2007\u202f\t"
_PLAIN: Final = str.maketrans(
    _DASHES + _BLANKS, "-" * len(_DASHES) + " " * len(_BLANKS), _INVISIBLE
)

_IS_MISSING: Final = f"lower(trim(text)) IN ({', '.join(map(literal, MISSING_WORDS))})"
# A source may have millions of different texts, which only the engine groups in seconds; the texts
# of a request are values of Python, which :func:`fold_look` folds. A test compares both.
_FOLDED: Final = (
    f"lower(trim(translate(nfc_normalize(text), {literal(_DASHES + _BLANKS + _INVISIBLE)}, "
    f"{literal('-' * len(_DASHES) + ' ' * len(_BLANKS))})))"
)
"""SQL of a ``text`` without what people do not see in it."""


def source_findings(records: Records) -> list[Finding]:
    """Return warnings about a source: unused names, repeated rows, values that look alike."""
    about_values = value_findings(records) if records.has_rows else []
    return [*records.names.findings, *records.row_findings, *about_values]


def value_findings(records: Records) -> list[Finding]:
    """Return a warning for each column with texts that look like others, or like no value.

    Only texts that are compared or counted are examined: ids that refer to nothing else, names and
    categories of up to 200 signs.
    """
    counts = records.counts()
    texts = [
        _Texts(table.name, column, records.relation(table.name), counts)
        for table in records.schema
        if records.has(table.name)
        for column in table.columns
        if _is_compared(records, table, column)
    ]
    findings: dict[tuple[str, ...], Finding] = {}
    for of_column in texts:
        for finding in of_column.findings(records):
            findings.setdefault((finding.code, *finding.subjects), finding)
    return list(findings.values())


def _is_compared(records: Records, table: Table, column: Column) -> bool:
    if column.kind is Kind.TEXT:
        return not column.choices
    is_reference = column.references is not None and records.has(column.references.split(".")[0])
    return (
        column.kind is Kind.ID
        and not is_reference
        and not records.is_integer(table.name, column.name)
    )


class _Texts:
    """The texts of a column; how many are remarkable is asked when the object is made."""

    def __init__(self, table: str, column: Column, relation: str, counts: Counts) -> None:
        self._name = f"{table}.{column.name}"
        text = quote(column.name)
        self._texts = (
            f"(SELECT {text} AS text, count(*) AS rows FROM {relation} "
            f"WHERE length({text}) <= {MAX_LENGTH} GROUP BY 1)"
        )
        self._oddities = ODDITIES if column.kind is Kind.ID else ()
        odd = (f"count_if({oddity.matches})" for oddity in self._oddities)
        alike = f"count(*) - count(DISTINCT {_FOLDED})"
        self._counted = counts.ask([f"count_if({_IS_MISSING})", alike, *odd], self._texts)

    def findings(self, records: Records) -> Iterator[Finding]:
        missing, alike, *odd = self._counted()
        if missing:
            sql = (
                f"SELECT text, rows FROM {self._texts} WHERE {_IS_MISSING} "
                f"ORDER BY rows DESC, text LIMIT {MAX_GROUPS}"
            )
            rows = records.sql(sql).to_pylist()
            texts = [row["text"] for row in rows]
            yield missing_words(self._name, texts, sum(row["rows"] for row in rows))
        if alike:
            sql = (
                f"SELECT list(text ORDER BY text) AS texts FROM {self._texts} GROUP BY {_FOLDED} "
                f"HAVING count(*) > 1 ORDER BY 1 LIMIT {MAX_GROUPS}"
            )
            for group in records.sql(sql).to_pylist():
                yield look_alike(self._name, group["texts"])
        for oddity, count in zip(self._oddities, odd, strict=True):
            if count:
                sql = (
                    f"SELECT text FROM {self._texts} WHERE {oddity.matches} "
                    f"ORDER BY text LIMIT {MAX_GROUPS}"
                )
                yield oddity.finding(self._name, records.sql(sql)["text"].to_pylist())


@dataclass(frozen=True)
class Oddity:
    """What a spreadsheet leaves in ids, which are then other ids than a person means.

    Attributes:
        code: the code of the finding.
        pattern: an expression that such an id matches completely, in any case of letters.
        what: what such ids are.
        remedy: what to do about them.
    """

    code: str
    pattern: str
    what: str
    remedy: str

    @property
    def matches(self) -> str:
        """Return SQL of whether ``text`` is such an id."""
        return f"regexp_full_match(text, {literal(self.pattern)}, 'i')"

    def finding(self, name: str, texts: Sequence[str]) -> Finding:
        """Return the warning about ids of a column."""
        listed = ", ".join(repr(text) for text in texts[:_MAX_NAMED])
        more = f" and {len(texts) - _MAX_NAMED} more" if len(texts) > _MAX_NAMED else ""
        message = f"{name} has {listed}{more}: {self.what}; {self.remedy}"
        return _finding(self.code, tuple(texts), self.what, len(texts), message)


ODDITIES: Final = (
    Oddity(
        "quoted-id",
        r"""=".*"|[“„«].*[”“»]|'[0-9].*""",
        "quotation marks that are a part of the ids",
        "export the column as plain text",
    ),
    Oddity(
        "rounded-id",
        r"[0-9](\.[0-9]+)?E\+?[0-9]+",
        "numbers that a spreadsheet rounded, so that different ids may have become one",
        "export the column as text",
    ),
    Oddity(
        "total-row",
        "(grand )?total|sum|summe|gesamt|average|mean",
        "a row of totals, which counts as a record",
        "leave the row out if it is none",
    ),
)


_FLAGS: Final = re.IGNORECASE | re.DOTALL
_ANY_ODDITY: Final = re.compile("|".join(f"(?:{oddity.pattern})" for oddity in ODDITIES), _FLAGS)


def oddities_of(text: str) -> tuple[Oddity, ...]:
    """Return in which ways an id is odd.

    Example:
        >>> [oddity.code for oddity in oddities_of("1.2E+15")], oddities_of("gpt-4")
        (['rounded-id'], ())
    """
    if _ANY_ODDITY.fullmatch(text) is None:  # one look at each id of a request
        return ()
    return tuple(one for one in ODDITIES if re.fullmatch(one.pattern, text, _FLAGS))


def missing_words(name: str, texts: Sequence[str], rows: int) -> Finding:
    """Return the warning about texts of a column that look like no value."""
    return _finding(
        "missing-word",
        tuple(texts),
        "values that look like no value",
        rows,
        f"{name} has {', '.join(map(repr, texts))}, which count as values; state them as texts "
        "without a value, or leave the cells empty",
    )


def look_alike(name: str, texts: Sequence[str]) -> Finding:
    """Return the warning about different texts of a column that look alike."""
    return _finding(
        "look-alike",
        tuple(texts),
        "different values that look alike",
        len(texts),
        f"{name} has {', '.join(map(ascii, texts))}: they differ in case, blanks or signs that "
        "cannot be seen, and count as different values; write equal ones in one way",
    )


def fold_look(text: str) -> str:
    r"""Return a text without what people do not see in it, as :func:`value_findings` folds it.

    Example:
        >>> fold_look("GPT\u20114 "), fold_look("gpt-4\u200b")
        ('gpt-4', 'gpt-4')
    """
    if text.isascii():  # most are, and only a tab among them is replaced
        return text.replace("\t", " ").strip(" ").lower()
    return unicodedata.normalize("NFC", text).translate(_PLAIN).strip(" ").lower()


def _finding(
    code: str, subjects: tuple[str, ...], statistic: str, value: int, message: str
) -> Finding:
    return Finding(
        code=code,
        severity=Severity.WARNING,
        subjects=subjects,
        statistic=statistic,
        value=value,
        expected=0,
        probability=None,
        message=message,
    )
