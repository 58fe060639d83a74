"""``agon score`` prints the board in every format, to stdout or atomically to a file."""

import csv
import io
import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import agon as library
from cli.command import Cli
from sizes import ALL

CONTRACT = {
    "discipline",
    "edition",
    "rules_sha256",
    "records_sha256",
    "board_sha256",
    "board",
    "as_of",
    "unscored",
    "rows",
}


def row_of(text: str, name: str) -> dict[str, str]:
    """Return one id's row of a CSV text."""
    return next(row for row in csv.DictReader(io.StringIO(text)) if row["id"] == name)


@pytest.mark.exhaustive
def test_json_has_the_documented_keys(agon: Cli, arena: Path) -> None:
    """Other programs read these keys."""
    value = agon("score", "arena", arena, "--format", "json").json()
    assert set(value) >= CONTRACT
    assert value["discipline"] == "arena"
    assert value["edition"] == "sentience-1"
    assert value["board"] == "bots"
    assert value["as_of"] is None
    assert [row["rank"] for row in value["rows"]] == [1, 2, 3]
    first = value["rows"][0]
    assert {"rank", "id", "score", "rating", "matches", "wins", "losses", "ties"} <= set(first)
    assert isinstance(first["score"], float)


@pytest.mark.exhaustive
def test_community_rows_contain_components_and_counts(agon: Cli, tmp_path: Path) -> None:
    """They have the documented format, and the parts sum to the score."""
    assert agon("simulate", "community", "--out", tmp_path / "c", "--size", "30").code == 0
    value = agon("score", "community", tmp_path / "c", "--format", "json", "--top", 3).json()
    assert value["versions"]["algorithm"] == "scores0002-v1"
    assert len(value["rows"]) == 3
    for row in value["rows"]:
        assert sum(row["components"].values()) == pytest.approx(row["score"])
        assert {"h_index", "quality_prompts", "feedback_activity", "collaboration"} <= set(
            row["counts"]
        )


def test_the_unscored_are_listed_with_their_reason(agon: Cli, arena: Path) -> None:
    """JSON and table list them; formats of rows alone report their number on stderr."""
    bots = (arena / "bots.csv").read_text()
    (arena / "bots.csv").write_text(bots + "dan,o1,Dan\n")
    value = agon("score", "arena", arena, "--format", "json").json()
    assert [row["id"] for row in value["unscored"]] == ["dan"]
    assert value["unscored"][0]["reason"]
    assert "dan: " in agon("score", "arena", arena).out
    rows = agon("score", "arena", arena, "--format", "csv")
    assert "dan" not in rows.out
    assert "1 unscored" in rows.err


def test_all_formats_contain_the_same_numbers(agon: Cli, arena: Path, tmp_path: Path) -> None:
    """A number must not depend on its format."""
    rows: list[dict[str, Any]] = agon("score", "arena", arena, "--format", "json").json()["rows"]
    ndjson = agon("score", "arena", arena, "--format", "ndjson").out
    assert [json.loads(line) for line in ndjson.splitlines()] == rows
    comma = list(csv.DictReader(io.StringIO(agon("score", "arena", arena, "--format", "csv").out)))
    assert [float(row["score"]) for row in comma] == [row["score"] for row in rows]
    file = tmp_path / "board.parquet"
    assert agon("score", "arena", arena, "--output", file).code == 0
    assert pq.read_table(file).to_pylist() == rows


@pytest.mark.exhaustive
def test_the_file_extension_selects_the_format(agon: Cli, arena: Path, tmp_path: Path) -> None:
    """``--output board.json`` writes JSON; --format takes precedence."""
    for name, begins in (("b.json", b"{\n"), ("b.csv", b"rank,"), ("b.ndjson", b'{"rank"'),
                         ("b.txt", b"bots"), ("b.parquet", b"PAR1")):  # fmt: skip
        ended = agon("score", "arena", arena, "--output", tmp_path / name)
        assert (ended.code, ended.out) == (0, "")
        assert (tmp_path / name).read_bytes().startswith(begins)
    agon("score", "arena", arena, "--output", tmp_path / "b.csv", "--format", "json")
    assert json.loads((tmp_path / "b.csv").read_text())["board"] == "bots"


@pytest.mark.exhaustive
def test_scoring_twice_gives_the_same_bytes(agon: Cli, arena: Path) -> None:
    """Scores are a pure function of records, rules and time."""
    first = agon("score", "arena", arena, "--format", "json").out
    assert agon("score", "arena", arena, "--format", "json").out == first


@pytest.mark.exhaustive
def test_overrides_and_time_change_the_score(agon: Cli, arena: Path) -> None:
    """--set changes rules, --as-of selects records; both are in the result."""
    plain = agon("score", "arena", arena, "--format", "json").json()
    smaller = agon("score", "arena", arena, "--set", "k_new=4", "--format", "json").json()
    assert smaller["rules_sha256"] != plain["rules_sha256"]
    assert smaller["records_sha256"] == plain["records_sha256"]
    assert smaller["rows"][0]["score"] < plain["rows"][0]["score"]
    early = agon(
        "score", "arena", arena, "--as-of", "2026-01-01T23:00:00Z", "--format", "json"
    ).json()
    assert early["as_of"] == "2026-01-01T23:00:00+00:00"
    assert early["rows"][0]["id"] == "ann"
    assert [row["matches"] for row in early["rows"]] == [1, 1]


@pytest.mark.exhaustive
def test_the_table_fits_eighty_columns_without_truncating_ids(
    agon: Cli, arena: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Omitted columns are listed below the table."""
    monkeypatch.setenv("COLUMNS", "80")
    assert max(map(len, agon("score", "arena", arena).out.splitlines())) <= 80
    long = "a-model-with-a-name-" * 4 + "end"
    for name in ("bots.csv", "matches.csv"):
        text = (arena / name).read_text()
        (arena / name).write_text(text.replace("ann,", f"{long},", 1).replace("ann", long))
    ended = agon("score", "arena", arena)
    assert any(long in line for line in ended.out.splitlines())
    assert "too wide to show" in ended.out


@pytest.mark.exhaustive
def test_columns_that_belong_together_are_shown_together(
    agon: Cli, arena: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At 80 columns the table had the upper end of a gap, without the gap and its lower end."""
    groups = ["low high", "rank_low rank_high", "gap gap_low gap_high"]
    together = 0
    for width in range(40, 180, 4 if ALL else 20):
        monkeypatch.setenv("COLUMNS", str(width))
        ended = agon("arena", "rate", arena, "--method", "bradley-terry", "--ci")
        left_out = ended.out.partition("too wide to show: ")[2].strip().split(", ")
        for group in groups:
            missing = set(group.split()) & set(left_out)
            assert missing in (set(), set(group.split())), width
            together += bool(missing)
    assert together >= len(groups)


@pytest.mark.exhaustive
def test_the_table_is_limited_to_a_hundred_rows(agon: Cli, tmp_path: Path) -> None:
    """A board of a million rows must not flood the terminal."""
    agon("simulate", "community", "--out", tmp_path / "c", "--size", "120")
    assert "20 more; --top 120" in agon("score", "community", tmp_path / "c").out
    assert " more; --top" not in agon("score", "community", tmp_path / "c", "--top", "120").out


_KILLED_IN_THE_MIDDLE = """
import os, signal, sys
from agon.cli import run, score

def chunks(table, form):
    yield b"half of the new boa"
    os.kill(os.getpid(), signal.SIGKILL)

score.board_chunks = chunks
run.run(["score", "arena", sys.argv[1], "--output", sys.argv[2]])
"""


def test_a_killed_write_preserves_the_old_file(arena: Path, tmp_path: Path) -> None:
    """Readers of the file always see a complete board."""
    file = tmp_path / "board.csv"
    file.write_text("the old board\n")
    process = subprocess.run(
        [sys.executable, "-c", _KILLED_IN_THE_MIDDLE, str(arena), str(file)], check=False
    )
    assert process.returncode == -signal.SIGKILL
    assert file.read_text() == "the old board\n"


@pytest.mark.exhaustive
def test_a_failed_write_leaves_no_file(
    agon: Cli, arena: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a full disk the command fails and removes its temporary file."""

    def full(*_: object) -> Iterator[bytes]:
        yield b"half of the new boa"
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("agon.cli.score.board_chunks", full)
    ended = agon("score", "arena", arena, "--output", tmp_path / "board.csv")
    assert ended.code == 5
    assert "No space left" in ended.err
    assert [path.name for path in tmp_path.iterdir()] == ["arena"]


def test_all_invalid_rows_are_reported_together(agon: Cli, arena: Path) -> None:
    """Each has file, row, column, value and remedy."""
    text = (arena / "matches.csv").read_text()
    (arena / "matches.csv").write_text(
        text + "5,never,ann,bob,rated,a\n6,2026-01-06,ann,zoe,rated,c\n"
    )
    ended = agon("score", "arena", arena)
    assert (ended.code, ended.out) == (2, "")
    assert "matches.csv, line 6 (row 5), column played_at: 'never'" in ended.err
    assert "'zoe'" in ended.err
    assert "'c'" in ended.err


@pytest.mark.exhaustive
def test_the_library_returns_the_board_of_the_command(agon: Cli, arena: Path) -> None:
    """Both use the same scoring code."""
    printed = agon("score", "arena", arena, "--format", "json").json()
    assert library.score("arena", arena).to_dict() == printed


@pytest.mark.exhaustive
def test_headings_and_json_name_the_overrides_in_force(agon: Cli, tmp_path: Path) -> None:
    """A board with overrides must not look like one of the unchanged edition."""
    from agon.app.analysis.simulate import simulate, write_simulation

    folder = tmp_path / "arena"
    write_simulation(simulate("arena", size=300, seed=1), folder)
    changed = ("--set", "k_new=8", "--set", "round_changes=false")
    assert agon("score", "arena", folder).out.splitlines()[0] == "bots · arena/sentience-1"
    head = "arena/sentience-1 with k_new=8, round_changes=false"
    assert agon("score", "arena", folder, *changed).out.splitlines()[0] == f"bots · {head}"
    value = agon("score", "arena", folder, *changed, "--format", "json").json()
    first = value["rows"][0]["id"]
    assert head in agon("explain", "arena", folder, first, *changed).out.splitlines()[0]
    assert value["overrides"] == {"k_new": 8.0, "round_changes": False}
    assert agon("score", "arena", folder, "--format", "json").json()["overrides"] == {}


@pytest.mark.exhaustive
def test_intervals_name_their_method_and_level(agon: Cli, tmp_path: Path) -> None:
    """An interval is meaningless without its method and level."""
    from agon.app.analysis.simulate import simulate, write_simulation

    folder = tmp_path / "arena"
    write_simulation(simulate("arena", size=600, seed=1), folder)
    strengths = agon("score", "arena", folder, "--board", "bradley-terry")
    assert " · 95 % intervals (sandwich), ranks by single comparisons" in strengths.out
    value = agon("arena", "rate", folder, "--method", "bradley-terry", "--ci", "--set",
                 "confidence=0.9", "--format", "json").json()  # fmt: skip
    assert value["intervals"] == {
        "method": "sandwich", "confidence": 0.9, "simultaneous": "neighbours"
    }  # fmt: skip
    elo = agon("arena", "rate", folder, "--ci", "--set", "bootstrap_rounds=20")
    assert elo.out.splitlines()[0].endswith("95 % intervals (bootstrap)")
    assert "intervals" not in agon("arena", "rate", folder).out.splitlines()[0]


def test_a_value_that_stands_for_something_else_is_drawn_as_its_meaning(
    agon: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """2,000,000,000 more matches are no plan that anybody can follow."""
    battles = tmp_path / "battles.csv"
    battles.write_text("model_a,model_b,winner\nann,bob,tie\n")
    monkeypatch.setenv("COLUMNS", "200")
    drawn = agon("arena", "rate", battles, "--method", "bradley-terry", "--ci")
    assert "more than a billion" in drawn.out
    assert "2,000,000,000" not in drawn.out


def test_a_page_needs_nothing_else_and_explains(agon: Cli, tmp_path: Path) -> None:
    """It can be sent as a file; names are data."""
    folder = tmp_path / "records"
    folder.mkdir()
    (folder / "users.csv").write_text("id,affiliation\n<b>ada</b>,org\nben,\n")
    page = tmp_path / "board.html"
    done = agon("score", "community", folder, "--output", page)
    assert done.code == 0, done.err
    text = page.read_text()
    assert "<b>ada" not in text
    assert "&lt;b&gt;ada" in text
    assert text.count("<details") == 2
    assert "default-src 'none'" in text
    assert not any(word in text for word in ("http:", "https:", "<script", " src=", "url("))
    assert "<svg" not in text  # of two rows the table says all


def test_a_page_begins_with_a_picture_whose_names_lead_to_why(agon: Cli, tmp_path: Path) -> None:
    """It showed 10 digits, and values as Python writes them."""
    battles = [f"{a},{b},model_a\n" for a, b in (("a", "b"), ("b", "c"), ("c", "a"), ("a", "c"))]
    source, page = tmp_path / "battles.csv", tmp_path / "board.html"
    source.write_text("model_a,model_b,winner\n" + "".join(battles))
    done = agon("score", "arena", source, "--board", "bradley-terry", "--output", page)
    assert done.code == 0, done.err
    text = page.read_text()
    drawn = text.partition("</svg>")[0]
    assert re.findall(r'href="(.*?)"', drawn) == ["#why-0", "#why-1", "#why-2"]
    assert text.count('<details id="why-') == 3
    cells = re.findall(r"<td[^>]*>-?([0-9.]+)</td>", text.partition("<h2>Why")[0])
    assert max(len(cell.replace(".", "").lstrip("0")) for cell in cells) <= 6
    assert not any(word in text for word in ("{'", "{}", ">None<", "https:"))
    assert text.count("http:") == text.count('xmlns="http:') == 1  # a name, which is not loaded
