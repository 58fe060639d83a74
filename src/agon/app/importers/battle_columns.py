"""Name the columns of battles as files do, and find which of them a file has."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from agon.app.importers.battle_shapes import (
    columns_of_shapes,
    names_of_shape,
    other_shape,
    paths_of_shapes,
)
from agon.app.importers.reading import columns_of
from agon.records import InvalidRecords, RowIssue
from agon.records.names.mapping import SourceMapping
from agon.records.names.matching import fold_name, match_names

ALIASES = {
    "model_a": (
        "model_1",
        "model_left",
        "model_a_name",
        "generator_1",
        "answer1_model_id",
        "bot_a",
        "player_a",
        "player_1",
        "team_a",
        "team_1",
        "home_team",
        "home_team_name",
        "team_name_home",
        "home_team_id",
        "home",
        "left",
        "white",
        "white_id",
    ),
    "model_b": (
        "model_2",
        "model_right",
        "model_b_name",
        "generator_2",
        "answer2_model_id",
        "bot_b",
        "player_b",
        "player_2",
        "team_b",
        "team_2",
        "away_team",
        "away_team_name",
        "team_name_away",
        "away_team_id",
        "visitor_team_id",
        "away",
        "visitor",
        "right",
        "black",
        "black_id",
    ),
    "winner": ("result", "outcome", "ftr"),
    "win_1": ("g1_winner",),
    "win_2": ("g2_winner",),
    "wins_a": ("winner_model_a", "a_wins", "home_wins"),
    "wins_b": ("winner_model_b", "b_wins", "away_wins"),
    "ties": ("winner_tie", "winner_model_tie", "tie", "draws", "draw"),
    "points_a": (
        "home_score",
        "home_team_score",
        "score_home",
        "home_goals",
        "home_team_goal",
        "hgoal",
        "fthg",
        "home_points",
        "home_pts",
        "pts_home",
    ),
    "points_b": (
        "away_score",
        "away_team_score",
        "score_away",
        "away_goals",
        "away_team_goal",
        "vgoal",
        "ftag",
        "away_points",
        "away_pts",
        "pts_away",
    ),
    "is_tie": ("is_draw", "tied", "tie", "draw"),
    "prompt_id": ("question_id",),
}
"""Other names of columns that files have; one is read where the first name is missing."""

WON = (
    ("winner", "loser"),
    ("winner_name", "loser_name"),
    ("winner_id", "loser_id"),
    ("winner_model", "loser_model"),
)
"""Columns of who won and who lost, in files without sides: each row is a win for the first."""

_OTHER_OUTCOMES = (
    "or, instead of winner, score_a (side a's share of the point, 0 to 1), points_a and points_b "
    "(goals or marks of both sides), wins_a and wins_b, share_a (0 to 1), or preference (1 to 2)"
)
_OTHER_MEANINGS: Mapping[tuple[str, str], str] = {
    ("win_1", "unknown-value"): "numbers of wins are read from wins_a and wins_b",
    ("win_2", "unknown-value"): "numbers of wins are read from wins_a and wins_b",
    ("preference", "wrong-type"): "a side that is named is read from winner",
    ("score_a", "out-of-range"): "goals or marks of both sides are read from points_a and points_b",
}
"""What values may mean that a column does not have, by column and code of the issue."""

_TIES = ("tie", "ties", "draw", "draws", "is_tie", "is_draw", "result", "outcome")


@contextmanager
def other_outcomes_named(present: Mapping[str, str]) -> Iterator[None]:
    """Say of a missing or wrong outcome in which other columns battles may have theirs.

    Args:
        present: the source's name of each column.

    Raises:
        InvalidRecords: with that.
    """
    known_as = {stored: own for own, stored in present.items()}
    try:
        yield
    except InvalidRecords as error:
        issues = [_with_other_outcomes(issue, known_as, present) for issue in error.issues]
        raise InvalidRecords(issues, names=error.names, hints=error.hints) from None


def _with_other_outcomes(
    issue: RowIssue, known_as: Mapping[str, str], present: Mapping[str, str]
) -> RowIssue:
    """Return an issue whose remedy also names other columns of outcomes, where it is of one."""
    column = issue.column or ""
    shape = other_shape(issue, present) if issue.code == "missing-column" else ""
    if shape:
        return replace(issue, remedy=shape)
    if issue.code == "missing-column" and "winner" in column.split(", "):
        other = _OTHER_OUTCOMES
    else:
        other = _OTHER_MEANINGS.get((known_as.get(column, column), issue.code), "")
    return replace(issue, remedy=f"{issue.remedy}; {other}") if other else issue


def present_columns(source: Any, known: Sequence[str], mapping: SourceMapping) -> dict[str, str]:
    """Return the source's name of each known column, under any spelling or a stated name.

    Args:
        source: a file or an Arrow table.
        known: the names of columns, beside those of :data:`ALIASES` and :data:`WON`.
        mapping: the stated names.
    """
    own_names = {stored: name.rpartition(".")[2] for name, stored in mapping.columns.items()}
    others = [name for names in (*ALIASES.values(), *WON, _TIES) for name in names]
    known = [*dict.fromkeys([*known, *others, *columns_of_shapes()])]
    columns = columns_of(source, [*known, *own_names])
    stored = {own_names.get(name, name): name for name in columns}
    matched = match_names(known, stored).names
    present = {own: stored[name] for own, name in matched.items()}
    inside = {own: path for path, own in own_names.items() if path.partition(".")[0] in columns}
    return paths_of_shapes(present) | inside | present


def read_by_alias(present: Mapping[str, str], mapping: SourceMapping) -> dict[str, str]:
    """Return the name of each column that a source has under another usual name only.

    Of a source with winners and losers, and without sides or ties, they are the sides.

    Example:
        >>> from agon.records.names.mapping import NO_MAPPING
        >>> read_by_alias({"white": "white", "black": "black"}, NO_MAPPING)
        {'model_a': 'white', 'model_b': 'black'}
        >>> read_by_alias({name: name for name in ("left", "right", "home_wins")}, NO_MAPPING)
        {'model_a': 'left', 'model_b': 'right', 'wins_a': 'home_wins'}
        >>> read_by_alias({"winner": "winner", "loser": "loser"}, NO_MAPPING)
        {'model_a': 'winner', 'model_b': 'loser'}
    """
    stated = {name.rpartition(".")[2] for name in mapping.columns}
    found = {
        own: alias
        for own, others in ALIASES.items()
        if own not in present
        and own not in stated
        and (alias := next((name for name in others if name in present), None))
    }
    sides = {"model_a", "model_b"} & {*present, *found}
    shaped = {} if sides - stated else names_of_shape(present)
    if shaped:
        return {own: name for own, name in shaped.items() if own not in stated} | found
    ignored = {fold_name(name) for name in mapping.ignore}
    ties = [name for name in _TIES if name in present and fold_name(name) not in ignored]
    if ties or sides or {"model_a", "model_b"} & stated:
        return found
    pair = next((pair for pair in WON if present.keys() >= {*pair}), None)
    return found if pair is None else found | dict(zip(("model_a", "model_b"), pair, strict=True))
