"""What published boards show beyond their rows: distributions, movement, other rules, epochs."""

from typing import Annotated, Any

import orjson
from pydantic import Field

from agon.api.models.analysis import (
    Columns,
    Distribution,
    Epoch,
    Epochs,
    Movement,
    ProblemMatrix,
    RulesEffect,
    WhatIf,
)
from agon.api.operation import ContestContext, operation
from agon.api.parameters import AsOf, BoardName, FreeId, ParticipantId
from agon.api.transport import Noun
from agon.app.contests.boards.fields import proof_fields
from agon.errors import Unreadable

_BOARD = "/contests/{contest}/boards/{board}"
_MOVES = 100
_REBUILDING = {202: "Its rows are being rebuilt; repeat the request when the job is done."}

Edition = Annotated[FreeId | None, Field(description="Another edition; none: the one in force.")]
Overrides = Annotated[
    str | None,
    Field(
        max_length=20_000,
        description="Values of rules as a JSON object.",
        examples=['{"k_factor": 32}'],
    ),
]

Counts = Annotated[
    str | None,
    Field(
        max_length=20_000,
        description="Counts of parts of the score as a JSON object.",
        examples=['{"feedback_activity": 12}'],
    ),
]


@operation("GET", _BOARD + "/distribution", id="getDistribution", permission="contest.read",
           cost="quick", summary="Get the distribution of a board", also=_REBUILDING)  # fmt: skip
def get_distribution(ctx: ContestContext, board: BoardName, *, as_of: AsOf = None) -> Distribution:
    """Return how many participants have which score, and which points by part of the score."""
    from agon.app.contests.boards.distribution import distribution

    published, parts = distribution(ctx.service, ctx.view, board, as_of=as_of)
    return Distribution.model_validate({**proof_fields(published.snapshot), "parts": parts})


@operation("GET", _BOARD + "/columns", id="listColumns", permission="contest.read", cost="quick",
           summary="List the columns of a board", also=_REBUILDING)  # fmt: skip
def list_columns(ctx: ContestContext, board: BoardName, *, as_of: AsOf = None) -> Columns:
    """Return the columns by which the rows of a board can be sorted, with their ranges."""
    from agon.app.contests.boards.columns import columns

    published, listed = columns(ctx.service, ctx.view, board, as_of=as_of)
    return Columns.model_validate({**proof_fields(published.snapshot), "columns": listed})


@operation("GET", _BOARD + "/movement", id="getMovement", permission="contest.read", cost="reads",
           summary="Get the ranks before", also=_REBUILDING)  # fmt: skip
def get_movement(
    ctx: ContestContext,
    board: BoardName,
    *,
    as_of: AsOf = None,
    start: Annotated[int, Field(ge=0, lt=1 << 53, description="Index of the first row.")] = 0,
    limit: Annotated[int, Field(ge=1, le=500, description="Maximum number of rows.")] = 50,
) -> Movement:
    """Return the ranks that the rows of a page had on the last board of an earlier day."""
    from agon.app.contests.boards.movement import movement

    moved = movement(ctx.service, ctx.view, board, as_of=as_of, start=start, limit=limit)
    since = None if moved.since is None else proof_fields(moved.since)
    fields = proof_fields(moved.board.snapshot)
    return Movement.model_validate({**fields, "since": since, "ranks": moved.ranks})


@operation("GET", _BOARD + "/what-if/{id}", id="getWhatIf", permission="contest.read",
           cost="reads",
           summary="Explain a score under other rules or with other counts")  # fmt: skip
def get_what_if(
    ctx: ContestContext,
    board: BoardName,
    participant: ParticipantId,
    *,
    edition: Edition = None,
    rules: Overrides = None,
    counts: Counts = None,
    as_of: AsOf = None,
) -> WhatIf:
    """Explain a score as it is, and under other rules or with other counts; nothing is stored.

    With other counts all other scores stay as they are, and so do records.
    """
    from agon.app.contests.boards.what_if import OtherRules, what_if

    other = OtherRules(edition=edition, overrides=_overrides(rules))
    both = what_if(
        ctx.service, ctx.view, board, participant, other, counts=_counts(counts), as_of=as_of
    )
    return WhatIf.model_validate(
        {"before": both.before.to_dict(), "after": both.after.to_dict(), "rules": both.rules}
    )


@operation("GET", _BOARD + "/rules-effect", id="getRulesEffect", permission="contest.read",
           cost="boards", summary="Compare a board with that of other rules")  # fmt: skip
def get_rules_effect(
    ctx: ContestContext,
    board: BoardName,
    *,
    edition: Edition = None,
    rules: Overrides = None,
    as_of: AsOf = None,
) -> RulesEffect:
    """Return the ranks that other rules would change on a board; nothing is stored."""
    from agon.app.contests.boards.what_if import OtherRules, rules_effect

    other = OtherRules(edition=edition, overrides=_overrides(rules))
    effect = rules_effect(ctx.service, ctx.view, board, other, as_of=as_of)
    return RulesEffect.model_validate(
        {
            "board": effect.snapshot.board,
            "seq": effect.snapshot.seq,
            "rules": effect.rules,
            "summary": effect.difference.summary.to_dict(),
            "moves": effect.difference.moves[:_MOVES],
        }
    )


@operation("GET", "/contests/{contest}/epochs", id="listEpochs", permission="contest.read",
           cost="quick", summary="List the epochs of a challenge")  # fmt: skip
def list_epochs(ctx: ContestContext, *, as_of: AsOf = None) -> Epochs:
    """Return where the emission of the last epochs went, and the forecast."""
    from agon.app.challenge.published import epochs

    return Epochs.model_validate(epochs(ctx.service, ctx.view, as_of=as_of))


@operation("GET", "/contests/{contest}/epochs/{number}", id="getEpoch", permission="contest.read",
           cost="quick", summary="Get an epoch of a challenge")  # fmt: skip
def get_epoch(
    ctx: ContestContext,
    number: Annotated[int, Field(ge=0, lt=1 << 53, description="The epoch's number.")],
    *,
    as_of: AsOf = None,
) -> Epoch:
    """Return an epoch with the rows of its boards and its payload."""
    from agon.app.challenge.published import epoch

    return Epoch.model_validate(epoch(ctx.service, ctx.view, number, as_of=as_of))


@operation("GET", "/contests/{contest}/problem-matrix", id="getProblemMatrix",
           permission="contest.read",
           cost="reads", summary="Get a season by participant and problem",
           also=_REBUILDING)  # fmt: skip
def get_problem_matrix(
    ctx: ContestContext,
    *,
    as_of: AsOf = None,
    cursor: Annotated[str | None, Field(max_length=200, description="As a page gave it.")] = None,
    limit: Annotated[int, Field(ge=1, le=200, description="Maximum number of rows.")] = 50,
) -> ProblemMatrix:
    """Return a page of the default board with each participant's points by problem.

    A solution says whether it is completely right, and whether it was the first one that was.
    """
    from agon.app.contests.boards.problem_matrix import published_matrix

    made = published_matrix(ctx.service, ctx.view, as_of=as_of, cursor=cursor, limit=limit)
    page, solutions = made.page, made.matrix.solutions
    return ProblemMatrix.model_validate(
        {
            **proof_fields(page.snapshot),
            "start": page.start,
            "next": page.next,
            "previous": page.previous,
            "names": None if page.names is None else dict(page.names),
            "problems": made.matrix.problems,
            "solved_by": made.matrix.solved_by,
            "rows": [
                {**row, "solutions": {name: vars(each) for name, each in cells.items()}}
                for line in page.lines
                for row in (orjson.loads(line),)
                for cells in (solutions.get(row["id"], {}),)
            ],
        }
    )


class Analysis(Noun):
    """What published boards show beyond their rows; ``rules`` are values of rules as JSON."""

    columns = list_columns
    distribution = get_distribution
    movement = get_movement
    what_if = get_what_if
    rules_effect = get_rules_effect
    epochs = list_epochs
    epoch = get_epoch
    problem_matrix = get_problem_matrix


def _overrides(text: str | None) -> dict[str, Any] | None:
    """Return values of rules.

    Raises:
        Unreadable: the text is not a JSON object.
    """
    return _json_object("rules", text, example='{"k_factor": 32}')


def _counts(text: str | None) -> dict[str, float] | None:
    """Return counts of parts.

    Raises:
        Unreadable: the text is not a JSON object of numbers.
    """
    counts = _json_object("counts", text, example='{"feedback_activity": 12}')
    for name, value in (counts or {}).items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise Unreadable(
                f"counts: expected a number of {name[:80]}, got {str(value)[:80]!r}; give one"
            )
    return counts


def _json_object(name: str, text: str | None, *, example: str) -> dict[str, Any] | None:
    """Return a JSON object; None: there is none.

    Raises:
        Unreadable: the text is no JSON object.
    """
    if not text:
        return None
    try:
        value = orjson.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise Unreadable(f"{name}: expected a JSON object, got {text[:80]!r}; as {example}")
    return value
