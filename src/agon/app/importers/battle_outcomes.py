"""Say in which columns a row of battles states its outcome, and write SQL of its matches."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from agon.errors import Unreadable
from agon.records import Column, CrossRowCheck, Kind, Records
from agon.records.values.conversion_notes import count_rows

_MAX_MATCHES = 100_000  # of a row
_RESULTS = ("model_a", "model_b", "tie")
SIDES = ("model_a", "model_b")
"""The columns that name who met."""

_NAMED = tuple(Column(name, Kind.TEXT) for name in SIDES)

_CLEARLY_A, _CLEARLY_B = ("A>>B", "B<<A"), ("B>>A", "A<<B")
_CLEAR_WEIGHT = 3  # of a clear win in Arena-Hard
WINNER = Column("winner", Kind.TEXT, choices=(*_RESULTS, *_CLEARLY_A, *_CLEARLY_B), sides=SIDES,
                 is_points=True)  # fmt: skip
"""The column of the winner."""

_OR_TIE = (replace(WINNER, nullable=True), Column("is_tie", Kind.BOOLEAN, nullable=True))
_SCORE = (Column("score_a", Kind.NUMBER, low=0, high=1),)
ORDERS = tuple(
    Column(name, Kind.TEXT, choices=_RESULTS, sides=SIDES) for name in ("win_1", "win_2")
)
"""The columns of the winners of both orders of the answers."""

_COUNTS = (
    Column("wins_a", Kind.INTEGER, low=0, high=_MAX_MATCHES),
    Column("wins_b", Kind.INTEGER, low=0, high=_MAX_MATCHES),
    Column("ties", Kind.INTEGER, required=False, low=0, high=_MAX_MATCHES),
)
_SHARE = (
    Column("share_a", Kind.NUMBER, low=0, high=1),
    Column("matches", Kind.INTEGER, required=False, low=1, high=_MAX_MATCHES),
)
_PREFERENCE = (Column("preference", Kind.NUMBER, nullable=True, low=0, high=2),)
_GAMES = tuple(
    replace(WINNER, name=name, nullable=True, sides=(), is_points=False)
    for name in ("game_1", "game_2")
)
_ANNOTATORS = tuple(
    Column(f"annotator{number}", Kind.INTEGER, nullable=True, low=0, high=2) for number in (1, 2, 3)
)
_POINTS = tuple(Column(name, Kind.NUMBER, nullable=True) for name in ("points_a", "points_b"))
_IN_ORDER = CrossRowCheck(
    "preference",
    "preference > 0 AND preference < 1",
    ("battles",),
    "is no preference",
    "give 1 (side a) to 2 (side b), or 0 for a tie",
    columns=("preference",),
)
_WINNER_OR_TIE = CrossRowCheck(
    "winner",
    "winner IS NULL AND is_tie IS NOT TRUE",
    ("battles",),
    "is empty, and is_tie is not true",
    "name the winner, or say that the row is a tie",
    columns=("winner", "is_tie"),
)


_TWO_NAMES = CrossRowCheck(
    "cmp_key",
    "length(cmp_key) - length(replace(cmp_key, '_', '')) <> 1 "
    "OR trim(split_part(cmp_key, '_', 1)) IN ('', trim(split_part(cmp_key, '_', 2))) "
    "OR trim(split_part(cmp_key, '_', 2)) = ''",
    ("battles",),
    "is not two different names with one _ between them",
    "write the first and the second model as FIRST_SECOND, with no other _ in a name",
    columns=("cmp_key",),
)

# Of the first game side a is the baseline, of the second the model: the answers change places.
_EACH_GAME = """
(SELECT * REPLACE (model_b AS model_a, model_a AS model_b), game_1 AS winner, 1 AS verdict
 FROM battles WHERE game_1 IS NOT NULL AND game_2 IS NOT NULL
 UNION ALL
 SELECT *, game_2 AS winner, 2 AS verdict
 FROM battles WHERE game_1 IS NOT NULL AND game_2 IS NOT NULL)
"""
_EACH_ANNOTATOR = """
(SELECT *, split_part(cmp_key, '_', 1) AS model_a, split_part(cmp_key, '_', 2) AS model_b,
        unnest([annotator1, annotator2, annotator3]) AS better, unnest([1, 2, 3]) AS verdict,
        unnest(['annotator1', 'annotator2', 'annotator3']) AS judge
 FROM battles)
"""
_BY_COUNTS = """
SELECT *, wins_a AS "a:", coalesce(ties, 0) AS "tie:", wins_b AS "b:", 0.5 AS "rest:" FROM battles
"""
# The points are so many wins and, for the rest, one match that is shared; 0.62 of 100 is whole.
_BY_SHARE = """
SELECT *, floor("points:") AS "a:", ("rest:" > 0)::INTEGER AS "tie:",
       "of:" - floor("points:") - ("rest:" > 0)::INTEGER AS "b:"
FROM (SELECT *, round("points:" - floor("points:"), 6) AS "rest:"
      FROM (SELECT *, round(share_a * coalesce(matches, 1), 6) AS "points:",
                   coalesce(matches, 1) AS "of:" FROM battles))
"""
_WEIGHT = "nullif(coalesce(weight, 1) * ({times}), 1)::DOUBLE AS weight"
_TIME = """coalesce(played_at, "timestamp", {tstamp}) AS played_at"""
# A row without a match (all counts 0) names its models, which are rated nowhere.
_MATCHES = f"""
SELECT row_number() OVER (ORDER BY _row, place, n) AS id, {_TIME},
       model_a AS bot_a, model_b AS bot_b, 'rated' AS kind, outcome AS winner,
       CASE WHEN place = 2 AND "rest:" <> 0.5 THEN "rest:" END::DOUBLE AS score_a,
       {_WEIGHT}{{added}}
FROM (SELECT *, unnest(range("a:"::BIGINT)) AS n, 'a' AS outcome, 1 AS place FROM ({{outcomes}})
      UNION ALL BY NAME
      SELECT *, unnest(range("tie:"::BIGINT)) AS n,
             CASE WHEN "rest:" > 0.5 THEN 'a' WHEN "rest:" < 0.5 THEN 'b' ELSE 'tie' END AS outcome,
             2 AS place FROM ({{outcomes}})
      UNION ALL BY NAME
      SELECT *, unnest(range("b:"::BIGINT)) AS n, 'b' AS outcome, 3 AS place FROM ({{outcomes}}))
ORDER BY id
"""
_ONE_EACH = f"""
SELECT {{id}} AS id, {_TIME}, model_a AS bot_a, model_b AS bot_b, 'rated' AS kind,
       CASE WHEN {{score}} > 0.5 THEN 'a' WHEN {{score}} < 0.5 THEN 'b' ELSE 'tie' END AS winner,
       CASE WHEN {{score}} NOT IN (0, 0.5, 1) THEN {{score}} END::DOUBLE AS score_a,
       {_WEIGHT}{{added}}
FROM {{rows}} WHERE ({{score}}) IS NOT NULL ORDER BY id
"""
_BY_WINNER = (
    f"CASE WHEN winner IN {('model_a', *_CLEARLY_A)} THEN 1 "
    f"WHEN winner IN {('model_b', *_CLEARLY_B)} THEN 0 ELSE 0.5 END"
)
_BY_WINNER_OR_TIE = f"CASE WHEN is_tie THEN 0.5 ELSE {_BY_WINNER} END"
_BY_ORDERS = (
    "CASE WHEN win_1 <> win_2 THEN 0.5 WHEN win_1 = 'model_a' THEN 1 "
    "WHEN win_1 = 'model_b' THEN 0 ELSE 0.5 END"
)
_BY_PREFERENCE = "CASE WHEN preference = 0 THEN 0.5 ELSE round(2 - preference, 12) END"
_BY_BETTER = "CASE better WHEN 1 THEN 1 WHEN 2 THEN 0 WHEN 0 THEN 0.5 END"
_BY_POINTS = (
    "CASE WHEN points_a > points_b THEN 1 WHEN points_a < points_b THEN 0 "
    "WHEN points_a = points_b THEN 0.5 END"
)


@dataclass(frozen=True)
class Form:
    """The columns that state the outcome of a row.

    Attributes:
        columns: the columns.
        matches: SQL of the matches of the rows, with places for :func:`matches_sql`.
        checks: what has to hold in each row.
        sides: the columns that name who met.
        rows: SQL of the rows with both sides; of several verdicts in a row, each is one.
        judges: whether the verdicts of a row are those of judges whom it names.
        note: how rows are read, where that is not plain.
        left_out: SQL of the rows that are no match, and what they are.
    """

    columns: tuple[Column, ...]
    matches: str
    checks: tuple[CrossRowCheck, ...] = ()
    sides: tuple[Column, ...] = _NAMED
    rows: str = "battles"
    judges: bool = False
    note: str = ""
    left_out: tuple[str, str] | None = None


_BY_NAME = Form((WINNER,), _ONE_EACH.replace("{score}", _BY_WINNER))
_BY_WINNERS = (
    Form(_OR_TIE, _ONE_EACH.replace("{score}", _BY_WINNER_OR_TIE), (_WINNER_OR_TIE,)),
    _BY_NAME,
)
_BY_GAMES = Form(
    _GAMES,
    _ONE_EACH.replace("{score}", _BY_WINNER),
    rows=_EACH_GAME,
    note="each row is two matches, in the second of which the answers change places",
    left_out=(
        "battles WHERE game_1 IS NULL OR game_2 IS NULL",
        "rows without the verdicts of both games",
    ),
)
_BY_ANNOTATORS = Form(
    _ANNOTATORS,
    _ONE_EACH.replace("{score}", _BY_BETTER),
    (_TWO_NAMES,),
    sides=(Column("cmp_key", Kind.TEXT),),
    rows=_EACH_ANNOTATOR,
    judges=True,
    note="each row is a match for each of its annotators, who are the judges",
    left_out=(f"{_EACH_ANNOTATOR} WHERE better IS NULL", "verdicts that are missing"),
)
_FORMS = (
    Form(_SCORE, _ONE_EACH.replace("{score}", "score_a")),
    *_BY_WINNERS,
    Form(ORDERS, _ONE_EACH.replace("{score}", _BY_ORDERS)),
    Form(_COUNTS, _MATCHES.replace("{outcomes}", _BY_COUNTS)),
    Form(_SHARE, _MATCHES.replace("{outcomes}", _BY_SHARE)),
    Form(
        _PREFERENCE,
        _ONE_EACH.replace("{score}", _BY_PREFERENCE),
        (_IN_ORDER,),
        left_out=("battles WHERE preference IS NULL", "rows without a preference"),
    ),
    Form(
        _POINTS,
        _ONE_EACH.replace("{score}", _BY_POINTS),
        note="each row is won by the side with more points; equal points are a tie",
        left_out=(
            "battles WHERE points_a + points_b IS NULL",
            "rows without the points of both sides",
        ),
    ),
    _BY_GAMES,
    _BY_ANNOTATORS,
)
OUTCOMES = tuple(
    dict.fromkeys(
        column.name
        for form in _FORMS
        for column in (*form.columns, *form.sides)
        if column.name not in SIDES
    )
)
"""The columns that state outcomes of battles, in any form."""

_CLEAR_OR_NOT = (*_BY_WINNERS, _BY_GAMES)
EACH_A_WIN = Form((), _ONE_EACH.replace("{score}", "1"), note="each row is a win of model_a")
"""The form of rows of a winner and a loser."""


def form_of(present: Collection[str]) -> Form:
    """Return the form of which a source has all columns, else one that it begins."""
    for form in _FORMS:
        needed = {column.name for column in (*form.columns, *form.sides) if column.required}
        if needed - {*SIDES} <= {*present}:
            return form
    return next((form for form in _FORMS if form.columns[0].name in present), _BY_NAME)


def matches_sql(form: Form, *, has_ids: bool, tstamp: str, added: str) -> str:
    """Return SQL of the matches of the rows of the table ``battles``.

    Args:
        form: the columns that state the outcomes.
        has_ids: whether rows have ids, which are those of their matches; else they are numbered.
        tstamp: SQL of the time in the column ``tstamp``.
        added: SQL of more columns, each after a comma.

    Raises:
        Unreadable: rows have ids, and stand for several matches each.
    """
    several = form.rows != "battles"
    if has_ids and (several or "{id}" not in form.matches):
        columns = ", ".join(column.name for column in form.columns)
        raise Unreadable(f"a row of {columns} stands for several matches, which are numbered: "
                         "read no column as id")  # fmt: skip
    numbers = "row_number() OVER (ORDER BY _row, verdict)" if several else "_row"
    values = {
        "{id}": "id" if has_ids else numbers,
        "{rows}": form.rows,
        "{added}": f"{added}, judge" if form.judges else added,
        "{tstamp}": tstamp,
        "{times}": _times(form),
    }
    sql = form.matches
    for place, value in values.items():
        sql = sql.replace(place, value)
    return sql


def outcome_notes(battles: Records, form: Form) -> Iterator[str]:
    """Yield a note about rows that are left out, and about those that count more than once."""
    if form.note:
        yield form.note
    if form.left_out is not None:
        rows, said = form.left_out
        missing = len(battles.sql(f"SELECT 1 FROM {rows}"))
        if missing:
            yield f"{said} are left out: {missing:,}"
    if form in _CLEAR_OR_NOT:
        clear = (*_CLEARLY_A, *_CLEARLY_B)
        count = len(battles.sql(f"SELECT 1 FROM {form.rows} WHERE winner IN {clear}"))
        if count:
            yield (
                f"clear wins such as A>>B count {_CLEAR_WEIGHT} times, as in Arena-Hard: "
                f"{count_rows(count)}"
            )


def _times(form: Form) -> str:
    """Return SQL of how often an outcome counts by itself: a clear win more than others."""
    if form not in _CLEAR_OR_NOT:
        return "1"
    return f"CASE WHEN winner IN {(*_CLEARLY_A, *_CLEARLY_B)} THEN {_CLEAR_WEIGHT} ELSE 1 END"
