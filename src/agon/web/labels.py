"""What the rows of a board are called that have no name, in tables, charts and titles alike."""

from collections.abc import Callable
from typing import Any

from agon.api.models.contests import Contest
from agon.app.analysis.score import rules_of
from agon.disciplines import discipline
from agon.errors import NotFound
from agon.kernel.text.participants import short_id


def labels(contest: Contest, board: str) -> Callable[[str], str]:
    """Return the function from the id of a row without a name to what it is called.

    A miner is called by its uid, the row of the burn as such; others by their ids.

    Args:
        contest: with the rules in force.
        board: the board that has the row.
    """
    label = discipline(contest.discipline).traits.label
    if label is None:
        return short_id
    rules = _rules(contest)
    return lambda row: short_id(label(board, row, rules))


def weight_labels(contest: Contest) -> tuple[Callable[[str], str], str]:
    """Return the function of :func:`labels` for the weights of a challenge, and the burn's label.

    Raises:
        NotFound: the discipline has no epochs.
    """
    epochs = discipline(contest.discipline).epochs
    if epochs is None:
        raise NotFound(f"{contest.id} is a {contest.discipline} contest, which has no epochs")
    label = labels(contest, epochs.weights)
    return label, label(str(_rules(contest).burn_uid))


def _rules(contest: Contest) -> Any:
    return rules_of(contest.discipline, contest.edition, contest.overrides)[1]
