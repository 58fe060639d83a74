"""Add the prompts of an arena, and people's answers to them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from agon.app.arena.live.scored import live_rules
from agon.app.service import Service
from agon.entities.arena import HumanAnswer, Prompt
from agon.records import Column, InvalidRecords, Kind, RowIssue, Table
from agon.records.rows import row_checker

_PROMPTS = Table(
    "prompts",
    (
        Column("id", Kind.ID),
        Column("text", Kind.TEXT),
        Column("retired", Kind.BOOLEAN, required=False),
    ),
    key=("id",),
)

_HUMAN_ANSWERS = Table(
    "human_answers",
    (Column("id", Kind.ID), Column("prompt_id", Kind.ID), Column("text", Kind.TEXT)),
    key=("id",),
)


def save_prompts(service: Service, contest_id: str, rows: Iterable[Sequence[Any]]) -> int:
    """Add prompts, or replace those with the same id; return how many.

    Raises:
        InvalidRecords: with everything that is wrong; then none is stored.
        Conflict: the contest is not an arena.
    """
    with service.store.write() as session:
        contest = session.contests.lock(contest_id)
        limit = live_rules(contest).max_prompt_chars
        values = valid_rows(_PROMPTS, rows)
        long = [
            RowIssue("too-long", "prompts", "prompts", line, "text", None,
                     f"has {len(row['text']):,} characters", f"write {limit:,} at most")
            for line, row in values
            if len(row["text"]) > limit
        ]  # fmt: skip
        if long:
            raise InvalidRecords(long)
        session.arena.save_prompts(
            contest.no,
            [
                Prompt(
                    id=str(row["id"]), text=row["text"], retired=bool(row.get("retired") or False)
                )
                for _, row in values
            ],
        )
    return len(values)


def save_human_answers(service: Service, contest_id: str, rows: Iterable[Sequence[Any]]) -> int:
    """Add people's answers, or replace those with the same id; return how many.

    Raises:
        InvalidRecords: with everything that is wrong; then none is stored.
        Conflict: the contest is not an arena.
    """
    with service.store.write() as session:
        contest = session.contests.lock(contest_id)
        live_rules(contest)
        values = valid_rows(_HUMAN_ANSWERS, rows)
        known = {prompt.id for prompt in session.arena.prompts(contest.no)}
        unknown = [
            RowIssue("unknown-reference", "human_answers", "human_answers", line, "prompt_id",
                     None, "is no prompt", "add the prompt first")
            for line, row in values
            if str(row["prompt_id"]) not in known
        ]  # fmt: skip
        if unknown:
            raise InvalidRecords(unknown)
        answers = [
            HumanAnswer(id=str(row["id"]), prompt_id=str(row["prompt_id"]), text=row["text"])
            for _, row in values
        ]
        session.arena.save_human_answers(contest.no, answers)
    return len(values)


def valid_rows(table: Table, rows: Iterable[Sequence[Any]]) -> list[tuple[int, Mapping[str, Any]]]:
    """Return rows with their lines.

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
        issues += checker.issues(row, line)
        values.append((line, row))
    if issues:
        raise InvalidRecords(issues)
    return values
