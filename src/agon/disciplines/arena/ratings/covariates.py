"""Read what may decide a match besides strengths: the side shown first, and styles of answers."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from agon.disciplines.arena.facts import SKIPPED, Facts
from agon.disciplines.arena.formulas import TIE, Ints, Vector
from agon.disciplines.arena.rules import ArenaRules
from agon.errors import NotScorable
from agon.records import Records
from agon.records.raw import quote

POSITION: Final = "position"
ReadColumns = Callable[[Sequence[str], str], list[pa.Array]]
_MAX_PARTS: Final = 100
_NAMED: Final = 5

_FENCED = re.compile(r"^```.*?(?:^```|\Z)", re.MULTILINE | re.DOTALL)
_COUNTS: Final[Mapping[str, re.Pattern[str]]] = {
    "headers": re.compile(r"^ {0,3}#{1,6} ", re.MULTILINE),
    "lists": re.compile(r"^\s*(?:[-*+]|\d+[.)]) ", re.MULTILINE),
    "bold": re.compile(r"(\*\*|__)(?=\S).+?(?<=\S)\1"),
}
STYLES: Final = ("length", *_COUNTS, "code")
"""Styles that are counted in the responses where the records have no column of that name."""


def style_count(name: str, text: str) -> int:
    r"""Return how much of a style a text has: words, or headers, items, bold texts, code blocks.

    Headers, items and bold texts within code are none.

    Example:
        >>> text = "# Plan\n- **one** thing\n- two\n```\n# x\n```\n"
        >>> [style_count(name, text) for name in ("length", "headers", "lists", "bold", "code")]
        [11, 1, 2, 1, 1]
    """
    if name == "length":
        return len(text.split())
    if name == "code":
        return len(_FENCED.findall(text))
    return len(_COUNTS[name].findall(_FENCED.sub("", text)))


def controls(rules: ArenaRules) -> tuple[str, ...]:
    """Return the names of the rule ``control``, each once."""
    return tuple(dict.fromkeys(filter(None, (each.strip() for each in rules.control.split(",")))))


def without_control(rules: ArenaRules, name: str) -> dict[str, str]:
    """Return the value of the rule ``control`` with one of its names left out.

    Example:
        >>> without_control(ArenaRules().override({"control": "length,cost"}), "cost")
        {'control': 'length'}
    """
    return {"control": ",".join(each for each in controls(rules) if each != name)}


def columns_of(rules: ArenaRules) -> dict[str, str]:
    """Return the columns of the matches that the rule ``control`` reads, with their kinds.

    Example:
        >>> columns_of(ArenaRules().override({"control": "cost"}))
        {'matches.cost_a': 'number', 'matches.cost_b': 'number', 'matches.cost': 'number'}
    """
    kinds: dict[str, str] = {}
    for name in controls(rules):
        kinds |= dict.fromkeys((f"{name}_a", f"{name}_b", name), "number")
        if name in STYLES:
            kinds |= {"response_a": "text", "response_b": "text"}
    return {f"matches.{name}": kind for name, kind in kinds.items()}


def obstacle_to_controls(rules: ArenaRules) -> str | None:
    """Return why no contest can follow the rule ``control``; None: it can.

    Example:
        >>> obstacle_to_controls(ArenaRules().override({"control": "length"}))
        >>> text = obstacle_to_controls(ArenaRules().override({"control": "length,cost"}))
        >>> text.partition(";")[0]
        'control=cost: matches of a contest have no columns for it'
    """
    unknown = [name for name in controls(rules) if name not in STYLES]
    if not unknown:
        return None
    return (
        f"control={','.join(unknown)}: matches of a contest have no columns for it; name styles "
        f"that are counted in the answers ({', '.join(STYLES)}), or rate an export with such "
        "columns (agon arena rate)"
    )


def covariates_of(
    facts: Facts, match: Ints, rules: ArenaRules, *, records: Records | None
) -> dict[str, Vector]:
    """Return the covariates of some matches by name, from the view of side a.

    Args:
        facts: the records as arrays.
        match: the matches, by number.
        rules: ``position``, ``control`` and ``control_form`` count.
        records: the tables; None: there are none besides the facts.

    Raises:
        NotScorable: a control is in no column, or some matches have no value of it.
    """
    made = {POSITION: _position(facts)[match]} if rules.position == "fitted" else {}
    names = controls(rules)
    if not names:
        return made
    if records is None:
        raise NotScorable(
            f"control={names[0]}: these matches have no columns besides their result",
            instead={"control": ""},
        )
    there = _columns_with_values(records)
    ids = facts.matches.ids.take(pa.array(match))

    def read(names: Sequence[str], kind: str) -> list[pa.Array]:
        listed = ", ".join(f"TRY_CAST({quote(name)} AS {kind}) AS {quote(name)}" for name in names)
        table = records.sql(f"SELECT id, {listed} FROM matches")
        place = pc.index_in(ids, value_set=table["id"].combine_chunks())
        return [table[name].combine_chunks().take(place) for name in names]

    return made | read_controls(rules, there, read, ids=ids)


def read_controls(
    rules: ArenaRules, there: Sequence[str], read: ReadColumns, *, ids: pa.Array | None = None
) -> dict[str, Vector]:
    """Return the controls of every match by name, not standardized.

    Args:
        rules: ``control`` and ``control_form`` count.
        there: the columns of the matches that have any value.
        read: returns columns of the matches by name, as a type of SQL.
        ids: the ids of the matches, by which an error names some; None: it names none.

    Raises:
        NotScorable: a control is in no column, or some matches have no value of it.
    """
    return {name: _control(name, there, read, rules, ids) for name in controls(rules)}


def _control(
    name: str, there: Sequence[str], read: ReadColumns, rules: ArenaRules, ids: pa.Array | None
) -> Vector:
    sides = [f"{name}_a", f"{name}_b"]
    responses = ["response_a", "response_b"]

    def known(column: str, values: pa.Array) -> Vector:
        if values.null_count:
            raise NotScorable(
                f"control={name}: {_without_value(values, column, ids)}. Leave these matches out, "
                "or the control",
                instead=without_control(rules, name),
            )
        numbers: Vector = values.to_numpy(zero_copy_only=False).astype(np.float64)
        return numbers

    if set(sides) <= set(there):
        of_a, of_b = map(known, sides, read(sides, "DOUBLE"))
    elif name in there:
        return known(name, read([name], "DOUBLE")[0])
    elif name in STYLES and set(responses) <= set(there):
        counts = (_style_counts(name, each) for each in read(responses, "VARCHAR"))
        of_a, of_b = map(known, responses, counts)
    else:
        has = ", or responses to count it in" if name in STYLES else ""
        raise NotScorable(
            f"control={name}: the matches have neither the columns {name}_a and {name}_b nor a "
            f"column {name}{has}. State a column that they have (a contest keeps responses, and no "
            "other columns for controls), or leave the control out",
            instead=without_control(rules, name),
        )
    if rules.control_form == "difference":
        return of_a - of_b
    if (least := min(of_a.min(initial=0.0), of_b.min(initial=0.0))) < 0:
        raise NotScorable(
            f"control={name}: {least:g} is below 0, and control_form=relative divides by the sum "
            "of both sides: set control_form=difference, or leave the control out",
            instead=without_control(rules, name),
        )
    total = of_a + of_b
    return np.divide(of_a - of_b, total, out=np.zeros_like(total), where=total != 0)


def _columns_with_values(records: Records) -> list[str]:
    """Return the columns of the matches that have any value."""
    names = records.sql("SELECT * FROM matches LIMIT 0").column_names
    counts = records.sql(f"SELECT {', '.join(f'count({quote(n)})' for n in names)} FROM matches")
    return [
        name
        for name, count in zip(names, counts.columns, strict=True)
        if count[0].as_py() and name != "_row"
    ]


def _style_counts(name: str, texts: pa.Array) -> pa.Array:
    counts = (None if text is None else style_count(name, text) for text in texts.to_pylist())
    return pa.array(counts, pa.float64())


def _without_value(values: pa.Array, column: str, ids: pa.Array | None) -> str:
    """Say how many matches have no value of a column, and which are the first.

    Example:
        >>> _without_value(pa.array([1, None, 2]), "cost_a", pa.array(["m1", "m2", "m3"]))
        '1 of 3 rated matches has no value of cost_a (first: match m2)'
    """
    missing = values.is_null()
    verb = "has" if values.null_count == 1 else "have"
    said = f"{values.null_count:,} of {len(values):,} rated matches {verb} no value of {column}"
    if ids is None:
        return said
    first = ids.filter(missing)[:_NAMED].to_pylist()
    return f"{said} (first: match {', '.join(map(str, first))})"


def matches_by(column: str, facts: Facts, *, records: Records | None) -> dict[str, Facts]:
    """Return the facts in which only the matches with one value of a column are rated, by value.

    Raises:
        NotScorable: the matches have no such column, no value, or too many.
    """
    there = [] if records is None else _columns_with_values(records)
    if records is None or column not in there:
        raise NotScorable(
            f"by={column}: no match has a value there; they have values in {', '.join(there)}"
        )
    table = records.sql(f"SELECT id, {quote(column)}::VARCHAR AS value FROM matches")
    place = pc.index_in(facts.matches.ids, value_set=table["id"].combine_chunks())
    values = table["value"].combine_chunks().take(place).dictionary_encode()
    names = values.dictionary.to_pylist()
    if not 0 < len(names) <= _MAX_PARTS:
        raise NotScorable(
            f"by={column}: the matches have {len(names):,} values of it, and boards are made for 1 "
            f"to {_MAX_PARTS}. State a column of categories"
        )
    codes = values.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return {
        name: replace(facts, matches=replace(
            facts.matches, kind=np.where(codes == code, facts.matches.kind, SKIPPED).astype(np.int8)
        ))
        for code, name in sorted(enumerate(names), key=lambda item: str(item[1]))
    }  # fmt: skip


def _position(facts: Facts) -> Vector:
    """Return 1 where side a was shown first and −1 where b was; of votes their mean.

    A vote on both orders counts 0.
    """
    votes, matches = facts.votes, len(facts.matches)
    said = votes.side != TIE  # a tie does not say which side had which label
    first = 1.0 - 2.0 * (votes.label[said] ^ votes.side[said])
    first[~facts.judges.sees_one_order[votes.judge[said]]] = 0.0
    seen = np.bincount(votes.match[said], minlength=matches)
    mean = np.bincount(votes.match[said], first, matches) / np.maximum(seen, 1)
    return np.where(facts.matches.counts.sum(axis=1) > 0, mean, 1.0)
