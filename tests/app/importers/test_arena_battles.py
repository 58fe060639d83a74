"""Test ``arena-battles``: battles in Chatbot Arena's format become arena records."""

import gzip
import json
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import agon
from agon.app.importers import import_records
from agon.disciplines import ImportedRecords, discipline
from agon.errors import NotFound, Unreadable
from agon.records import InvalidRecords, read_rows
from agon.records.names.mapping import NO_MAPPING, source_mapping

BATTLES: list[dict[str, Any]] = [
    {"model_a": "vicuna", "model_b": "koala", "winner": "model_a", "tstamp": 1682351591.5},
    {"model_a": "koala", "model_b": "gpt-4", "winner": "model_b", "tstamp": 1682351654.6},
    {"model_a": "gpt-4", "model_b": "vicuna", "winner": "tie", "tstamp": 1682351708.9},
    {"model_a": "vicuna", "model_b": "koala", "winner": "tie (bothbad)", "tstamp": 1682351800.0},
]


def written(folder: Path, ending: str, battles: list[dict[str, Any]]) -> Path:
    """Write battles in one of the file formats."""
    file = folder / f"battles{ending}"
    if ending == ".parquet":
        pq.write_table(pa.Table.from_pylist(battles), file)
    elif ending == ".json":
        file.write_text(json.dumps(battles))
    elif ending == ".jsonl":
        file.write_text("".join(json.dumps(row) + "\n" for row in battles))
    else:
        names = list(battles[0])
        lines = [",".join(names), *(",".join(str(row[name]) for name in names) for row in battles)]
        text = "\n".join(lines) + "\n"
        file.write_bytes(gzip.compress(text.encode()) if ending.endswith("gz") else text.encode())
    return file


def matches(imported: ImportedRecords) -> list[dict[str, Any]]:
    """Return the imported matches."""
    return list(imported.tables["matches"].to_pylist())


@pytest.mark.sample(2)
@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".json", ".jsonl", ".parquet"])
def test_every_file_format_gives_the_same_records(tmp_path: Path, ending: str) -> None:
    """The data is published as JSON, and copied in other formats."""
    imported = import_records("arena-battles", written(tmp_path, ending, BATTLES))
    assert imported.discipline == "arena"
    assert [row["winner"] for row in matches(imported)] == ["a", "b", "tie", "tie"]
    assert [row["id"] for row in matches(imported)] == [1, 2, 3, 4]
    assert matches(imported)[0]["played_at"].isoformat() == "2023-04-24T15:53:11.500000"
    assert imported.tables["bots"]["id"].to_pylist() == ["gpt-4", "koala", "vicuna"]


@pytest.mark.exhaustive
def test_the_records_can_be_scored(tmp_path: Path) -> None:
    """Elo by hand: vicuna beats koala (+16), gpt-4 beats koala, ties follow."""
    imported = import_records("arena-battles", written(tmp_path, ".csv", BATTLES[:1]))
    records = read_rows(discipline("arena").schema, imported.tables)
    rows = agon.score("arena", records).board().rows()
    assert [(row["id"], row["score"]) for row in rows] == [("vicuna", 1016.0), ("koala", 984.0)]


def test_without_times_the_order_is_that_of_the_file(tmp_path: Path) -> None:
    """No times are invented; a note states it."""
    bare = [{key: row[key] for key in ("model_a", "model_b", "winner")} for row in BATTLES]
    imported = import_records("arena-battles", written(tmp_path, ".csv", bare))
    assert [row["played_at"] for row in matches(imported)] == [None] * 4
    assert "order of the rows" in imported.notes[0]


def test_newer_files_have_iso_times(tmp_path: Path) -> None:
    """Newer files have ``timestamp`` as ISO 8601, and ``both_bad``."""
    row = {"model_a": "a", "model_b": "b", "winner": "both_bad", "timestamp": "2025-02-26 10:00:00"}
    (match,) = matches(import_records("arena-battles", written(tmp_path, ".csv", [row])))
    assert match["winner"] == "tie"
    assert match["played_at"].isoformat() == "2025-02-26T10:00:00"


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("row", "column", "value"),
    [
        ({"winner": "me"}, "winner", "me"),
        ({"model_b": "vicuna"}, "model_b", "vicuna"),
        ({"model_a": ""}, "model_a", None),
        ({"tstamp": "noon"}, "tstamp", "noon"),
        ({"tstamp": "-5"}, "tstamp", "-5"),
        ({"tstamp": "inf"}, "tstamp", "inf"),
    ],
)
def test_an_invalid_battle_is_named_with_file_row_column_and_value(
    tmp_path: Path, row: dict[str, Any], column: str, value: str | None
) -> None:
    """A user finds it in the file."""
    bad = [BATTLES[0], {**BATTLES[0], **row}]
    with pytest.raises(InvalidRecords) as error:
        import_records("arena-battles", written(tmp_path, ".csv", bad))
    (issue,) = error.value.issues
    location = (issue.location, issue.row, issue.line, issue.column, issue.value)
    assert location == ("battles.csv", 2, 3, column, value)


def test_an_invalid_battle_in_json_is_named_by_its_index(tmp_path: Path) -> None:
    """Line numbers of a JSON list have no meaning."""
    bad = [BATTLES[0], {**BATTLES[0], "winner": "nobody"}]
    with pytest.raises(InvalidRecords) as error:
        import_records("arena-battles", written(tmp_path, ".json", bad))
    (issue,) = error.value.issues
    assert (issue.location, issue.row, issue.line) == ("battles.json", 2, None)


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    """Otherwise each battle would lack a winner."""
    bare = [{"model_a": "a", "model_b": "b"}]
    with pytest.raises(InvalidRecords, match="winner"):
        import_records("arena-battles", written(tmp_path, ".csv", bare))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("battles.json", b'{"a": 1', "not JSON"),
        ("battles.json", b'"text"', "no list"),
        ("battles.json", b"17", "no list"),
        ("battles.json", b"null", "no list"),
        ("battles.json", b"\xff\xfe{}", "UTF-16"),
        ("battles.json", b"[" * 200_000, "not JSON"),
        ("battles.yaml", b"model_a", "format is unknown"),
    ],
)
def test_a_file_that_is_not_of_the_format_is_rejected(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    """The error states what is expected, without a traceback."""
    (tmp_path / name).write_bytes(content)
    with pytest.raises(Unreadable, match=message):
        import_records("arena-battles", tmp_path / name)


def test_elements_that_are_not_objects_are_named(tmp_path: Path) -> None:
    """A list of numbers is not a list of battles."""
    (tmp_path / "b.json").write_text(json.dumps([BATTLES[0], 7, None]))
    with pytest.raises(InvalidRecords) as error:
        import_records("arena-battles", tmp_path / "b.json")
    assert [issue.row for issue in error.value.issues] == [2, 3]


def test_a_missing_file_and_an_unknown_format_are_not_found(tmp_path: Path) -> None:
    """Both have exit code 3 at the command line."""
    with pytest.raises(NotFound):
        import_records("arena-battles", tmp_path / "none.csv")
    with pytest.raises(NotFound, match="did you mean arena-battles"):
        import_records("arena-battle", tmp_path / "none.csv")


@pytest.mark.exhaustive
def test_categories_are_kept_and_other_columns_named(tmp_path: Path) -> None:
    """Nothing that the published files contain is dropped without a note."""
    rows = [
        {**row, "language": language, "turn": 1, "is_code": False, "question_id": "q", "conv": "x"}
        for row, language in zip(BATTLES, ["en", "de", "en", "en"], strict=True)
    ]
    for source in (rows, pa.Table.from_pylist(rows), written(tmp_path, ".json", rows)):
        imported = import_records("arena-battles", source)
        assert [row["language"] for row in matches(imported)] == ["en", "de", "en", "en"]
        assert imported.notes == (
            "read question_id as prompt_id",
            "kept as categories of the matches: prompt_id, is_code, language, turn",
            "not used: conv",
            "winner: read 'tie (bothbad)' as tie (1 row)",
        )
        german = import_records("arena-battles", source, where={"language": "de"})
        assert [row["bot_a"] for row in matches(german)] == ["koala"]
        german_only = agon.score("arena", imported, where={"language": "de"})
        assert german_only.board().row("koala") == agon.score("arena", german).board().row("koala")
    agon.write_records(imported, tmp_path / "data")
    assert (
        len(agon.rate(tmp_path / "data", where={"language": "en"}).result.records.arrow("matches"))
        == 3
    )


@pytest.mark.exhaustive
def test_a_row_may_count_several_battles() -> None:
    """Counts and shares are as many matches, with the ids in order."""
    rows = [
        {"model_a": "x", "model_b": "y", "wins_a": 2, "wins_b": 1, "ties": 1},
        {"model_a": "y", "model_b": "z", "wins_a": 0, "wins_b": 1, "ties": None},
    ]
    imported = matches(import_records("arena-battles", rows))
    assert [row["winner"] for row in imported] == ["a", "a", "tie", "b", "b"]
    assert [row["id"] for row in imported] == [1, 2, 3, 4, 5]
    shares = [
        {"model_a": "x", "model_b": "y", "share_a": 0.625, "matches": 4},
        {"model_a": "y", "model_b": "z", "share_a": 0.0, "matches": 1},
    ]
    assert [row["winner"] for row in matches(import_records("arena-battles", shares))] == [
        "a", "a", "tie", "b", "b",
    ]  # fmt: skip
    alone = [{"model_a": "x", "model_b": "y", "won": share} for share in (1, 0.5, 0)]
    imported = matches(import_records("arena-battles", alone, columns={"share_a": "won"}))
    assert [row["winner"] for row in imported] == ["a", "tie", "b"]
    rest = matches(import_records("arena-battles", [{**shares[0], "matches": 3}]))
    assert [row["winner"] for row in rest] == ["a", "a", "b"]
    assert [row["score_a"] for row in rest] == [None, 0.875, None]


@pytest.mark.exhaustive
def test_counts_rate_as_their_battles_do() -> None:
    """The maximum of the likelihood depends on the counts of each pair alone."""
    counts = [
        {"model_a": "x", "model_b": "y", "wins_a": 3, "wins_b": 2, "ties": 1},
        {"model_a": "y", "model_b": "z", "wins_a": 4, "wins_b": 2, "ties": 0},
    ]
    battles = [
        {"model_a": row["model_a"], "model_b": row["model_b"], "winner": winner}
        for winner in ("b", "tie", "a")
        for row in counts
        for _ in range(int({"a": row["wins_a"], "b": row["wins_b"], "tie": row["ties"]}[winner]))  # type: ignore[call-overload]
    ]
    expected = agon.rate(battles, method="bradley-terry").rows()
    assert agon.rate(counts, method="bradley-terry").rows() == expected


@pytest.mark.parametrize("header", ["model_a,model_b,rating", "home,away,goals"])
def test_battles_without_a_winner_are_told_of_other_outcomes(tmp_path: Path, header: str) -> None:
    """Scales and points are as usual as winners."""
    (tmp_path / "b.csv").write_text(f"{header}\nx,y,1\n")
    with pytest.raises(InvalidRecords, match="instead of winner, score_a") as error:
        import_records("arena-battles", tmp_path / "b.csv")
    assert error.value.issues[0].code == "missing-column"


def test_the_side_with_more_points_wins() -> None:
    """Goals and marks are no shares: 1 to 0 is a win as 9 to 7 is; rows without are left out."""
    rows = [
        {"home": "x", "visitor": "y", "hgoal": home, "vgoal": away}
        for home, away in ((1, 0), (2, 2), (7.5, 9), (None, None))
    ]
    imported = import_records("arena-battles", rows)
    assert [row["winner"] for row in matches(imported)] == ["a", "tie", "b"]
    assert "rows without the points of both sides are left out: 1" in imported.notes
    stated = import_records("arena-battles", [{**row, "result": "draw"} for row in rows])
    assert {row["winner"] for row in matches(stated)} == {"tie"}, "a stated result goes first"


@pytest.mark.parametrize(
    ("outcome", "remedy"),
    [
        ({"win1": 3, "win2": 1}, "numbers of wins are read from wins_a and wins_b"),
        ({"preference": "A"}, "a side that is named is read from winner"),
        ({"score_a": 7, "score_b": 9}, "are read from points_a and points_b"),
    ],
)
def test_values_of_another_outcome_say_where_they_are_read(
    outcome: dict[str, Any], remedy: str
) -> None:
    """A column's name may mean something else here: the message names the column that has it."""
    with pytest.raises(InvalidRecords) as error:
        import_records("arena-battles", [{"model_a": "x", "model_b": "y", **outcome}])
    assert error.value.issues[0].remedy.endswith(remedy)


def test_a_winner_may_be_the_name_of_the_column_of_its_side() -> None:
    """Files with team_1 and team_2 name the winning column, as arena-rank's examples do."""
    rows = [
        {"team_1": a, "team_2": b, "winner": winner}
        for a, b, winner in (("x", "y", "team_1"), ("y", "x", "team_2"), ("x", "y", "tie"))
    ]
    sides = {"model_a": "team_1", "model_b": "team_2"}
    imported = import_records("arena-battles", rows, mapping=NO_MAPPING.with_columns(sides))
    assert imported.tables["matches"]["winner"].to_pylist() == ["a", "b", "tie"]
    assert "winner: read 'team_1' as model_a (1 row), 'team_2' as model_b (1 row)" in imported.notes
    stated = NO_MAPPING.with_columns(sides).merge(
        source_mapping({"values": {"winner": {"team_1": "model_b"}}})
    )
    reversed_ = import_records("arena-battles", rows, mapping=stated)
    assert reversed_.tables["matches"]["winner"].to_pylist()[0] == "b"


def test_a_column_that_is_named_as_the_id_names_the_matches() -> None:
    """Two files of one contest would both begin with the match 1; ids may stand in any column."""
    rows = [
        {"model_a": "x", "model_b": "y", "winner": "model_a", "id": 7, "battle": "may-1"},
        {"model_a": "y", "model_b": "z", "winner": "tie", "id": 3, "battle": "may-2"},
    ]
    named = {"id": "battle"}

    def ids(battles: list[dict[str, Any]], columns: dict[str, str] | None = None) -> list[Any]:
        frame = pa.Table.from_pylist(battles)
        return [
            row["id"] for row in matches(import_records("arena-battles", frame, columns=columns))
        ]

    assert ids(rows, named) == ["may-1", "may-2"]
    assert ids(rows) == [1, 2]
    with pytest.raises(InvalidRecords, match="row 2, column battle: 'may-1' stands in row 1 al"):
        ids([rows[0], {**rows[1], "battle": "may-1"}], named)
    counts = [{"model_a": "x", "model_b": "y", "wins_a": 2, "wins_b": 1, "battle": "may-1"}]
    with pytest.raises(Unreadable, match="several matches, which are numbered: read no column as"):
        ids(counts, named)


GAMES = [
    ("A>>B", "B>A"), ("A=B", "A>B"), ("B>>A", "A>>B"), ("A<B", "B=A"), ("B<<A", "A<<B"),
    ("A>B", None), (None, None),
]  # fmt: skip
"""Verdicts of the first and the second game of a judgment."""


def test_games_of_arena_hard_have_the_points_that_it_gives_them() -> None:
    """Its report counts the second game as it stands, the first reversed, a clear win three times.

    It leaves out judgments with a game that has no verdict.
    """
    points: dict[str | None, list[float]] = {
        "A>>B": [1] * 3, "A>B": [1], "A=B": [0.5], "B=A": [0.5], "A<B": [0], "B>A": [0],
        "B>>A": [0] * 3, "A<<B": [0] * 3, "B<<A": [1] * 3,
    }  # fmt: skip
    expected = [
        points[second] + [1 - point for point in points[first]]
        for first, second in GAMES
        if first and second
    ]
    rows = [
        {"uid": f"q{number}", "model": "new", "baseline": "old", "judge": "gpt-4.1",
         "games": [{"score": score} for score in scores]}
        for number, scores in enumerate(GAMES)
    ]  # fmt: skip
    imported = import_records("arena-battles", rows)
    counted: dict[str, list[float]] = {}
    first_sides: dict[str, list[str]] = {}
    for match in matches(imported):
        side = "a" if match["bot_a"] == "new" else "b"
        point = 0.5 if match["winner"] == "tie" else float(match["winner"] == side)
        counted.setdefault(match["prompt_id"], []).extend([point] * int(match["weight"] or 1))
        first_sides.setdefault(match["prompt_id"], []).append(match["bot_a"])
    assert [sorted(each) for each in counted.values()] == [sorted(each) for each in expected]
    assert all(sides == ["old", "new"] for sides in first_sides.values())
    assert "rows without the verdicts of both games are left out: 2" in imported.notes


def test_a_judge_who_prefers_the_first_answer_is_seen_in_games_of_both_orders() -> None:
    """The sides change places in the second game, so that no strength explains what side a wins."""
    rows = [
        {"uid": f"q{number}", "model": "xyz"[number % 3], "baseline": "old", "judge": "j",
         "games": [{"score": first}, {"score": second}]}
        for number in range(90)
        for first, second in [("A>B", "A>B") if number % 5 else ("A>B", "B>A")]
    ]  # fmt: skip
    audit = agon.audit(rows)
    assert audit["position"].verdict == "look"
    assert audit["position"].sentence.startswith("side a took 90.0% of the points, and 50.0% are")
    assert any("clustered by prompt (90)" in note for note in audit.notes)


def test_annotators_of_one_row_are_three_judges_of_one_prompt() -> None:
    """So that intervals can be by question: three who agree say little more than one."""
    row = {"idx": 7, "cmp_key": "opt-7b_pythia-6.9b", "response1": "…", "response2": "…"}
    verdicts = {"annotator1": 1, "annotator2": 0, "annotator3": None}
    imported = import_records("arena-battles", [row | verdicts])
    seen = [(match["prompt_id"], match["judge"], match["winner"]) for match in matches(imported)]
    assert seen == [(7, "annotator1", "a"), (7, "annotator2", "tie")]
    assert imported.tables["bots"]["id"].to_pylist() == ["opt-7b", "pythia-6.9b"]
    assert "verdicts that are missing are left out: 1" in imported.notes


def test_rows_of_one_side_are_refused_with_the_query_that_joins_them() -> None:
    """The query is run here: what it gives is read."""
    rows = [
        {"Game_ID": game, "Team": team, "PTS": points}
        for game, team, points in ((1, "BOS", 126), (1, "PHI", 117), (2, "LAL", 99), (2, "BOS", 99))
    ]
    with pytest.raises(InvalidRecords, match="one side of a match each") as error:
        import_records("arena-battles", rows)
    query = str(error.value).partition("SELECT")[2].partition("\n")[0]
    table = duckdb.from_arrow(pa.Table.from_pylist(rows))
    joined = table.query("battles", f"SELECT {query}")
    assert joined is not None
    read = matches(import_records("arena-battles", joined))
    won = {(row["bot_a"], row["bot_b"]): row["winner"] for row in read}
    assert won == {("BOS", "PHI"): "a", ("BOS", "LAL"): "tie"}


def test_matches_from_both_sides_are_a_warning_unless_prompts_name_them() -> None:
    """Counted twice, intervals are too narrow; judges who see both orders name the prompt."""
    rows = [
        {"model_a": a, "model_b": b, "winner": winner}
        for a, b in ("xy", "yz", "zx")
        for winner in ("model_a",) * 3 + ("model_b",)
    ]
    exchanged = {"model_a": "model_b", "model_b": "model_a"}
    mirrored = [
        {"model_a": row["model_b"], "model_b": row["model_a"], "winner": exchanged[row["winner"]]}
        for row in rows
    ]
    both = rows + mirrored
    assert [each.code for each in import_records("arena-battles", both).findings] == [
        "mirrored-matches"
    ]
    assert not import_records("arena-battles", [*both, rows[0]]).findings
    of_prompts = [{**row, "prompt_id": f"q{number % 12}"} for number, row in enumerate(both)]
    assert not import_records("arena-battles", of_prompts).findings


@pytest.mark.parametrize("nothing", [float("nan"), None, pd.NA, pd.NaT], ids=str)
def test_a_model_that_is_missing_in_a_list_of_rows_is_no_model_called_nan(nothing: Any) -> None:
    """Rows that came from a frame have NaN for nothing."""
    rows = [{**BATTLES[0], "model_a": nothing}, BATTLES[1]]
    with pytest.raises(InvalidRecords) as error:
        import_records("arena-battles", rows)
    (issue,) = error.value.issues
    assert (issue.code, issue.row, issue.column) == ("empty", 1, "model_a")
