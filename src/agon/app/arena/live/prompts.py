"""Add the prompts of an arena, and people's answers to them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from agon.app.arena.live.scored import live_rules
from agon.app.service import Service
from agon.entities.arena import HumanAnswer, Prompt
from agon.kernel.text.plain_json import unstorable
from agon.ledger.keys import id_issues, record_key
from agon.ledger.transitions import require_not_over
from agon.records import Column, InvalidRecords, Kind, RowIssue, Table
from agon.records.rows import row_checker
from agon.records.values.json_values import READERS

_SHOWN: Final = 200

PROMPTS = Table(
    "prompts",
    (
        Column("id", Kind.ID),
        Column("text", Kind.TEXT),
        Column("retired", Kind.BOOLEAN, required=False),
    ),
    key=("id",),
)

HUMAN_ANSWERS = Table(
    "human_answers",
    (Column("id", Kind.ID), Column("prompt_id", Kind.ID), Column("text", Kind.TEXT)),
    key=("id",),
)


def save_prompts(service: Service, contest_id: str, rows: Iterable[Sequence[Any]]) -> int:
    """Add prompts, or replace those with the same id; return how many.

    Raises:
        InvalidRecords: with everything that is wrong; then none is stored.
        Conflict: the contest is not an arena, or over.
    """
    with service.store.write() as session:
        contest = session.contests.lock(contest_id)
        limit = live_rules(contest).max_prompt_chars
        require_not_over(contest, remedy="no more rounds are drawn")
        values = valid_rows(PROMPTS, rows)
        long = [
            RowIssue("too-long", "prompts", "prompts", line, "text", None,
                     f"has {len(row['text']):,} characters", f"write {limit:,} at most")
            for line, row in values
            if len(row["text"]) > limit
        ]  # fmt: skip
        raise_issues(long)
        session.arena.save_prompts(
            contest.no,
            [
                Prompt(id=row["id"], text=row["text"], retired=row["retired"] or False)
                for _, row in values
            ],
        )
    return len(values)


def save_human_answers(service: Service, contest_id: str, rows: Iterable[Sequence[Any]]) -> int:
    """Add people's answers, or replace those with the same id; return how many.

    Raises:
        InvalidRecords: with everything that is wrong; then none is stored.
        Conflict: the contest is not an arena, or over.
    """
    with service.store.write() as session:
        contest = session.contests.lock(contest_id)
        live_rules(contest)
        require_not_over(contest, remedy="no bot qualifies any more")
        values = valid_rows(HUMAN_ANSWERS, rows)
        known = {prompt.id for prompt in session.arena.prompts(contest.no)}
        unknown = [
            RowIssue("unknown-reference", "human_answers", "human_answers", line, "prompt_id",
                     row["prompt_id"][:_SHOWN], "is no prompt", "add the prompt first")
            for line, row in values
            if row["prompt_id"] not in known
        ]  # fmt: skip
        raise_issues(unknown)
        session.arena.save_human_answers(contest.no, [HumanAnswer(**row) for _, row in values])
    return len(values)


def valid_rows(table: Table, rows: Iterable[Sequence[Any]]) -> list[tuple[int, Mapping[str, Any]]]:
    """Return rows with their lines, their columns read as the table defines.

    Raises:
        InvalidRecords: with everything that is wrong.
    """
    checker, issues = row_checker(table), []
    values: list[tuple[int, Mapping[str, Any]]] = []
    for number, record in enumerate(rows, start=1):
        row, line = record[1], record[3] if len(record) > 3 else number  # noqa: PLR2004 (Record)
        if isinstance(row, RowIssue):
            issues.append(row)
            continue
        wrong = [
            *_text_issues(table, row, line),
            *checker.issues(row, line),
        ] or id_issues(table, row, record_key(table, row), number=line)
        issues += {issue.column: issue for issue in reversed(wrong)}.values()
        if not wrong:
            values.append((line, _read_row(table, row)))
    raise_issues(issues)
    return values


def raise_issues(issues: Sequence[RowIssue]) -> None:
    """Raise what is wrong with a request, if anything; its rows are its lines.

    Raises:
        InvalidRecords: there are issues.
    """
    if issues:
        raise InvalidRecords([replace(issue, line=issue.row) for issue in issues])


def _text_issues(table: Table, row: Mapping[str, Any], line: int) -> Iterator[RowIssue]:
    """Yield the issues of ids and texts that are no text, or hold a character no text may have.

    Bots get texts as they are stored; a number would be another text in another notation.
    """
    for column in table.columns:
        value = row.get(column.name)
        if column.kind not in {Kind.ID, Kind.TEXT} or value is None:
            continue
        if column.kind is Kind.ID and type(value) is int:
            continue  # the id 7 is the id "7", as in all records
        if not isinstance(value, str):
            shown, reason, remedy = str(value), "is not text", "give text in quotes"
        elif (fault := unstorable(value)) is not None:
            shown, (reason, remedy) = ascii(value)[1:-1], fault
        else:
            continue
        yield RowIssue(
            "wrong-type", table.name, table.name, line, column.name, shown[:_SHOWN], reason, remedy
        )


def _read_row(table: Table, row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the columns of a valid row; None for those that are left out or empty."""
    values = {column.name: row.get(column.name) for column in table.columns}
    return {
        name: None if value is None else READERS[table.column(name).kind](value)
        for name, value in values.items()
    }
