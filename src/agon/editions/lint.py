"""Hold an edition to its own words: every rule has a value, every worked example comes out."""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from agon.disciplines import discipline
from agon.disciplines.discipline import Discipline, Scored
from agon.editions.edition import Edition, Example
from agon.editions.registry import edition, file_of
from agon.errors import AgonError, NotFound
from agon.kernel.boards import Board
from agon.records import read_rows


@dataclass(frozen=True)
class LintIssue:
    """Hold one thing an edition says that does not hold.

    Attributes:
        edition: the edition's full name.
        example: title of the worked example, or None when the edition itself is at issue.
        message: what was found, and what should be.
    """

    edition: str
    example: str | None
    message: str

    def __str__(self) -> str:
        where = self.edition if self.example is None else f"{self.edition}, {self.example!r}"
        return f"{where}: {self.message}"

    def to_dict(self) -> dict[str, Any]:
        """Return a plain value for JSON."""
        return dict(self.__dict__)


def lint(full_name: str) -> list[LintIssue]:
    """List what is wrong with a released edition; an empty list is a good edition.

    Raises:
        NotFound: there is no such edition.
        Conflict: its file is not the one that was released.
        InvalidRule: it sets a rule that does not exist, or one out of its bounds.
    """
    released = edition(full_name)
    given = tomllib.loads(file_of(released.full_name).read_text(encoding="utf-8"))
    issues = [
        LintIssue(released.full_name, None, message)
        for message in [*_of_rules(released, given["rules"]), *_of_header(released)]
    ]
    for example in released.examples:
        issues += [
            LintIssue(released.full_name, example.title, message)
            for message in of_example(discipline(released.discipline), released, example)
        ]
    return issues


def of_example(chosen: Discipline, released: Edition, example: Example) -> list[str]:
    """Run one worked example and list what comes out otherwise than it says."""
    if not example.expect and not example.unscored:
        return ["expects nothing; name ids under expect or unscored"]
    try:
        records = read_rows(chosen.schema, example.records)
    except AgonError as refused:
        return [f"its records are refused: {refused}"]
    try:
        scored = chosen.score(records, released.with_rules(example.overrides))
        return list(_differences(scored, chosen.board_name(example.board), example))
    except AgonError as refused:
        return [str(refused)]
    finally:
        records.close()


def _of_rules(released: Edition, given: Mapping[str, Any]) -> Iterator[str]:
    known = type(released.rules).model_fields
    for name in known:
        if name not in given:
            yield f"rule {name} has no value; an edition gives every rule one"
    for name in released.reasons:
        if name not in known:
            yield f"gives a reason for {name}, which is no rule"


def _of_header(released: Edition) -> Iterator[str]:
    try:
        date.fromisoformat(released.released)
    except ValueError:
        yield f"released = {released.released!r} is not a date; give YYYY-MM-DD"
    if not released.changelog:
        yield "has no changelog; say what it is or what changed"
    if not released.examples:
        yield "has no worked example"


def _differences(scored: Scored, name: str, example: Example) -> Iterator[str]:
    board = scored.board(name)
    for who, expected in example.expect.items():
        try:
            row = board.row(who)
        except NotFound as missing:
            yield str(missing)
            continue
        yield from _unequal(expected, row, f"{who}: ", example.tolerance)
        yield from _explained(scored, board, who, row)
    reasons = {one.id for one in board.unscored}
    for who in example.unscored:
        if who not in reasons:
            yield f"{who} should be unscored on board {board.name}"


def _explained(scored: Scored, board: Board, who: str, row: Mapping[str, Any]) -> Iterator[str]:
    """Yield a difference between a row and its explanation, which must tell the same score."""
    explanation = scored.explain(who, board=board.name)
    if explanation.score != row["score"] or explanation.rank != row["rank"]:
        yield (
            f"{who}: the explanation says rank {explanation.rank}, score {explanation.score}; "
            f"the board says rank {row['rank']}, score {row['score']}"
        )


def _unequal(expected: Any, found: Any, where: str, tolerance: float) -> Iterator[str]:
    """Compare what must come out with what does: tables key by key, lists one by one."""
    if isinstance(expected, Mapping):
        for key, value in expected.items():
            if not isinstance(found, Mapping) or key not in found:
                yield f"{where}{key} is not there"
            else:
                yield from _unequal(value, found[key], f"{where}{key} ", tolerance)
    elif isinstance(expected, list):
        if not isinstance(found, Sequence) or len(found) != len(expected):
            yield f"{where}is {found!r}, should be {expected!r}"
            return
        for at, (one, other) in enumerate(zip(expected, found, strict=True)):
            yield from _unequal(one, other, f"{where}[{at}] ", tolerance)
    elif not _equal(expected, found, tolerance):
        yield f"{where}is {found!r}, should be {expected!r}"


def _equal(expected: Any, found: Any, tolerance: float) -> bool:
    numbers = (int, float)
    if isinstance(expected, bool) or isinstance(found, bool):
        return expected is found
    if isinstance(expected, numbers) and isinstance(found, numbers):
        return abs(expected - found) <= tolerance
    return bool(expected == found)
