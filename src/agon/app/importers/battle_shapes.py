"""Recognize files whose rows are not one battle each, and say of others what would be."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from agon.records import RowIssue

SHAPES: Final[tuple[tuple[tuple[str, ...], Mapping[str, str]], ...]] = (
    (
        ("games", "model"),  # Arena-Hard
        {
            "model_a": "model",
            "model_b": "baseline",
            "prompt_id": "uid",
            "game_1": "games.0.score",
            "game_2": "games.1.score",
        },
    ),
    (("cmp_key", "annotator1", "annotator2", "annotator3"), {"prompt_id": "idx"}),  # PandaLM
)
"""Columns that show a form of several verdicts in a row, and the names of others in it."""

_MATCH: Final = ("match_id", "game_id", "battle_id", "fixture_id")
_SIDE: Final = (
    "team", "team_name", "team_abbreviation", "team_id",
    "player", "player_name", "player_id", "bot", "bot_id", "model",
)  # fmt: skip
_RESULTS: Final = {
    **dict.fromkeys(("points", "pts", "score", "goals"), "{}"),
    **dict.fromkeys(("rank", "place", "placement"), "-{}"),
    **dict.fromkeys(("won", "win", "is_winner", "winner"), "{}::INTEGER"),
    **dict.fromkeys(("wl", "result", "outcome"), "({} = 'W')::INTEGER"),
}
"""Columns of one side's result, and SQL of its points."""

_OF_BOTH: Final = {
    **dict.fromkeys(("rank", "place", "placement"), ("points_a", "points_b", True)),
    **dict.fromkeys(("won", "win", "is_winner"), ("wins_a", "wins_b", False)),
}
"""Results that rows may have of both sides: the columns that they are read from, and whether the
lower one is better."""

_ENDS: Final = (("_a", "_b"), ("_1", "_2"), ("_home", "_away"))

_GAMES: Final = (
    "the games of a judgment are a list of two objects with a score: "
    '[{"score": "A>B"}, {"score": "B>A"}]'
)
_BASELINE: Final = (
    "judgments with games compare a model with a baseline: add a column baseline with its name "
    "(Arena-Hard 0.1 has gpt-4-0314)"
)


def columns_of_shapes() -> list[str]:
    """Return the names of columns by which forms other than one battle in a row are recognized."""
    shaped = [name for shown, named in SHAPES for name in (*shown, *named.values())]
    of_both = [name + end for name in _OF_BOTH for ends in _ENDS for end in ends]
    return [name for name in (*shaped, *_MATCH, *_SIDE, *_RESULTS, *of_both) if "." not in name]


def paths_of_shapes(present: Mapping[str, str]) -> dict[str, str]:
    """Return the source's name of each value inside a column, of the columns that are present.

    Example:
        >>> paths_of_shapes({"games": "Games"})
        {'games.0.score': 'Games.0.score', 'games.1.score': 'Games.1.score'}
    """
    paths = [name for _, named in SHAPES for name in named.values() if "." in name]
    parts = {path: path.partition(".") for path in paths}
    return {
        path: f"{present[first]}.{rest}"
        for path, (first, _, rest) in parts.items()
        if first in present
    }


def names_of_shape(present: Collection[str]) -> dict[str, str]:
    """Return the name of each column of the form that the columns of a source show.

    Example:
        >>> names_of_shape(["idx", "cmp_key", "annotator1", "annotator2", "annotator3"])
        {'prompt_id': 'idx'}
    """
    for shown, named in SHAPES:
        if {*shown} <= {*present}:
            return {own: name for own, name in named.items() if name in present}
    return {}


def other_shape(issue: RowIssue, present: Mapping[str, str]) -> str:
    """Return what would be right where a missing column shows another form; "": it shows none.

    Args:
        issue: the missing column.
        present: the source's name of each column that is there.

    Example:
        >>> missing = RowIssue("missing-column", "b", "b.csv", None, "model_a", None, "", "")
        >>> print(other_shape(missing, {name: name for name in ("game_id", "team", "pts")}))
        rows that have one side of a match each are not read; give one row for each match, from a \
table battles: SELECT x.team AS model_a, y.team AS model_b, x.pts AS points_a, y.pts AS points_b \
FROM battles x JOIN battles y ON x.game_id = y.game_id AND x.team < y.team
    """
    missing = (issue.column or "").split(", ")
    if "game_1" in missing:
        return _GAMES
    if missing == ["model_b"] and {"games", "model"} <= {*present}:
        return _BASELINE
    if missing == ["winner"]:
        return _of_both(present)
    match, side = (_first(names, present) for names in (_MATCH, _SIDE))
    result = _first([*_RESULTS], present)
    if "model_a" not in missing or match is None or side is None or result is None:
        return ""
    points = _RESULTS[result].format
    stored = present[result]
    return (
        "rows that have one side of a match each are not read; give one row for each match, from "
        f"a table battles: SELECT x.{present[side]} AS model_a, y.{present[side]} AS model_b, "
        f"{points(f'x.{stored}')} AS points_a, {points(f'y.{stored}')} AS points_b "
        f"FROM battles x JOIN battles y ON x.{present[match]} = y.{present[match]} "
        f"AND x.{present[side]} < y.{present[side]}"
    )


def _of_both(present: Mapping[str, str]) -> str:
    """Return how rows are read that have a result of both sides; "": they have none.

    Example:
        >>> _of_both({"rank_1": "rank1", "rank_2": "rank2"})
        'if the lower rank won, read rank2 as points_a, and rank1 as points_b'
        >>> _of_both({"won_a": "won_a", "won_b": "won_b"})
        'read won_a as wins_a, and won_b as wins_b'
    """
    for name, (own_a, own_b, lower) in _OF_BOTH.items():
        for end_a, end_b in _ENDS:
            a, b = present.get(name + end_a), present.get(name + end_b)
            if a and b and lower:
                return f"if the lower {name} won, read {b} as {own_a}, and {a} as {own_b}"
            if a and b:
                return f"read {a} as {own_a}, and {b} as {own_b}"
    return ""


def _first(names: Sequence[str], present: Mapping[str, str]) -> str | None:
    return next((name for name in names if name in present), None)
