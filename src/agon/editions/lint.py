"""Check an edition: every rule has a value, every worked example has its expected result."""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby
from typing import Any

from agon.disciplines import Discipline, ScoredRecords, discipline
from agon.editions.edition import Edition, Example
from agon.editions.registry import edition, file_of
from agon.errors import AgonError, NotFound
from agon.kernel.boards import Board
from agon.records import Records, read_rows


@dataclass(frozen=True)
class LintIssue:
    """Something an edition states that is not so.

    Attributes:
        edition: the edition's full name.
        example: title of the worked example; None when the issue is in the edition itself.
        message: the actual and the expected value.
    """

    edition: str
    example: str | None
    message: str

    def __str__(self) -> str:
        subject = self.edition if self.example is None else f"{self.edition}, {self.example!r}"
        return f"{subject}: {self.message}"

    def to_dict(self) -> dict[str, Any]:
        """Return a plain value for JSON."""
        return dict(self.__dict__)


def lint(full_name: str) -> list[LintIssue]:
    """Return the issues of a released edition.

    Raises:
        NotFound: there is no such edition.
        Conflict: its rules are not those that were released.
        InvalidRule: it sets a rule that does not exist, or one out of its bounds.
    """
    released = edition(full_name)
    content = tomllib.loads(file_of(released.full_name).read_text(encoding="utf-8"))
    base = None if released.base is None else edition(released.base)
    issues = [
        LintIssue(released.full_name, None, message)
        for message in [
            *_rule_issues(released),
            *_repetitions(released, content, base),
            *_header_issues(released),
        ]
    ]
    chosen = discipline(released.discipline)
    for _, same in groupby(released.examples, key=lambda example: example.records):
        issues += example_issues(chosen, released, list(same))
    return issues


def example_issues(
    chosen: Discipline, released: Edition, examples: Sequence[Example]
) -> list[LintIssue]:
    """Run worked examples of equal records, which are read once; return every difference."""
    try:
        records = read_rows(chosen.schema, examples[0].records)
    except AgonError as error:
        rejected = [f"its records are rejected: {error}"]
        return [
            LintIssue(released.full_name, example.title, message)
            for example in examples
            for message in _expects_nothing(example) or rejected
        ]
    with records:
        return [
            LintIssue(released.full_name, example.title, message)
            for example in examples
            for message in _expects_nothing(example)
            or _of_records(chosen, released, example, records)
        ]


def _expects_nothing(example: Example) -> list[str]:
    if example.expect or example.unscored:
        return []
    return ["expects nothing; name ids under expect or unscored"]


def _of_records(
    chosen: Discipline, released: Edition, example: Example, records: Records
) -> list[str]:
    try:
        scored = chosen.score(records, released.with_rules(example.overrides))
        return list(_differences(scored, chosen.board_name(example.board), example))
    except AgonError as error:
        return [str(error)]


def _rule_issues(released: Edition) -> Iterator[str]:
    """Yield the rules that lack a value, and those that did not exist at the release."""
    rules = type(released.rules)
    try:
        existing = rules.existing_in(released.agon)
    except ValueError:
        yield f"agon = {released.agon!r} is not a version; give one such as 0.1"
        return
    for name in sorted(rules.basic() - released.stated):
        yield f"rule {name} has no value; an edition states every rule of the source document"
    since = {text.name: text.since for text in rules.texts()}
    for name in sorted(released.stated - existing):
        yield f"rule {name} exists since agon {since[name]}, the edition is of {released.agon}"
    for name in released.reasons:
        if name not in since:
            yield f"gives a reason for {name}, which is not a rule"


def _repetitions(
    released: Edition, content: Mapping[str, Any], base: Edition | None
) -> Iterator[str]:
    """Yield the values that the file repeats from the code or from its base."""
    reasons = {text.name: text.reason for text in type(released.rules).texts()}
    if base is not None:
        reasons.update(base.reasons)
        for name in content.get("rules", {}):
            if name in base.stated and getattr(base.rules, name) == getattr(released.rules, name):
                yield f"rule {name} has the value of its base {base.full_name}; leave it out"
    for name, reason in content.get("reasons", {}).items():
        if reasons.get(name) == reason:
            yield f"the reason for {name} is known without it; leave it out"


def _header_issues(released: Edition) -> Iterator[str]:
    try:
        date.fromisoformat(released.released)
    except ValueError:
        yield f"released = {released.released!r} is not a date; give YYYY-MM-DD"
    if not released.changelog:
        yield "has no changelog; state what the edition is or what changed"
    if not released.examples:
        yield "has no worked example"


def _differences(scored: ScoredRecords, name: str, example: Example) -> Iterator[str]:
    board = scored.board(name)
    for participant, expected in example.expect.items():
        try:
            row = board.row(participant)
        except NotFound as missing:
            yield str(missing)
            continue
        yield from _unequal(expected, row, f"{participant}: ", example.tolerance)
        yield from _explanation_differences(scored, board, participant, row)
    unscored = {entry.id for entry in board.unscored}
    for participant in example.unscored:
        if participant not in unscored:
            yield f"{participant} should be unscored on board {board.name}"


def _explanation_differences(
    scored: ScoredRecords, board: Board, participant: str, row: Mapping[str, Any]
) -> Iterator[str]:
    """Yield a difference between a row and its explanation, which must give the same score."""
    explanation = scored.explain(participant, board=board.name)
    if explanation.score != row["score"] or explanation.rank != row["rank"]:
        yield (
            f"{participant}: the explanation gives rank {explanation.rank}, score "
            f"{explanation.score}; the board gives rank {row['rank']}, score {row['score']}"
        )


def _unequal(expected: Any, value: Any, path: str, tolerance: float) -> Iterator[str]:
    """Yield the differences between two values: tables key by key, lists item by item."""
    if isinstance(expected, Mapping):
        for key, part in expected.items():
            if not isinstance(value, Mapping) or key not in value:
                yield f"{path}{key} is missing"
            else:
                yield from _unequal(part, value[key], f"{path}{key} ", tolerance)
    elif isinstance(expected, list):
        if not isinstance(value, Sequence) or len(value) != len(expected):
            yield f"{path}is {value!r}, should be {expected!r}"
            return
        for index, (part, actual) in enumerate(zip(expected, value, strict=True)):
            yield from _unequal(part, actual, f"{path}[{index}] ", tolerance)
    elif not _equal(expected, value, tolerance):
        yield f"{path}is {value!r}, should be {expected!r}"


def _equal(expected: Any, value: Any, tolerance: float) -> bool:
    numbers = (int, float)
    if isinstance(expected, bool) or isinstance(value, bool):
        return expected is value
    if isinstance(expected, numbers) and isinstance(value, numbers):
        return abs(expected - value) <= tolerance
    return bool(expected == value)
