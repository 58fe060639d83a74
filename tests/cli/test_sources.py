"""Commands read single files and stdin, under other names of columns, and some of the rows."""

import json
from pathlib import Path

import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from cli.command import Cli, run_process

BATTLES = """left,right,winner,language,extra
x,y,left,en,foo
y,z,right,de,foo
z,x,tie,en,bar
y,x,left,en,bar
"""
NAMES = ("--columns", "model_a=left,model_b=right")
JSON = ("--format", "json")


@pytest.fixture
def battles(tmp_path: Path) -> Path:
    """Hold a file of battles."""
    file = tmp_path / "battles.csv"
    file.write_text(BATTLES)
    return file


@pytest.mark.exhaustive
def test_a_file_of_battles_is_rated(agon: Cli, battles: Path) -> None:
    """With a category, an anchor, and notes on stderr about what is not used."""
    done = agon(
        "arena", "rate", battles, *NAMES, "--where", "language=en", "--anchor", "x=1200", *JSON
    )
    assert done.code == 0, done.err
    rows = {row["id"]: row for row in done.json()["rows"]}
    assert rows["x"]["score"] == 1200
    assert sum(row["matches"] for row in rows.values()) == 6
    assert done.json()["anchors"]["values"] == {"x": 1200}
    assert "note: not used: extra" in done.err


@pytest.mark.exhaustive
def test_every_command_that_reads_records_reads_a_file(
    agon: Cli, battles: Path, tmp_path: Path
) -> None:
    """Scores, explanations and imports agree."""
    scored = agon("score", "arena", battles, *NAMES, *JSON).json()["rows"]
    assert agon("explain", "arena", battles, "x", *NAMES, *JSON).json()["score"] in {
        row["score"] for row in scored
    }
    out = tmp_path / "data"
    assert agon("import", "arena-battles", battles, *NAMES, "--out", out).code == 0
    assert agon("score", "arena", out, *JSON).json()["rows"] == scored
    some = ("--where", "language=en", *JSON)
    checked = agon("check", "arena", battles, *NAMES, *some)
    assert (checked.code, checked.json()["rows"]["matches"]) == (0, 3)
    compared = agon("compare", "arena", battles, *NAMES, *some, "--set", "k_new=8")
    assert compared.json()["summary"]["moved"] == 3
    for done in (checked, compared):
        assert "note: not used: extra" in done.err
    german = agon("arena", "rate", out, "--where", "language=de", *JSON).json()["rows"]
    assert [row["matches"] for row in german if row["matches"]] == [1, 1]


@pytest.mark.sample(1)
@pytest.mark.parametrize("form", ["csv", "jsonl", "json", "parquet"])
def test_stdin_is_read_in_every_format(agon: Cli, battles: Path, form: str, tmp_path: Path) -> None:
    """Its format is known by its first bytes, or stated."""
    table = pyarrow.csv.read_csv(battles)
    if form == "parquet":
        pq.write_table(table, tmp_path / "p")
        content = (tmp_path / "p").read_bytes()
    elif form == "csv":
        content = BATTLES.encode()
    else:
        rows = table.to_pylist()
        lines = json.dumps(rows) if form == "json" else "\n".join(map(json.dumps, rows))
        content = lines.encode()
    options = [] if form in {"csv", "json"} else ["--stdin-format", form]
    done = agon.piped(content, "arena", "rate", "-", *NAMES, *JSON, *options)
    assert done.code == 0, done.err
    assert [row["id"] for row in done.json()["rows"]] == ["z", "x", "y"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--columns", "model_a"), "model_a=left"),
        (("--columns", "model_a=left", "--columns", "model_a=b"), "two values"),
        (("--where", "language"), "language=en"),
        (("--where", "lang=en"), "language"),
        (("--anchor", "x=high"), "not a number"),
        (("--anchor", "w=1"), "no bot"),
        (("--stdin-format", "csv"), "give - as SOURCE"),
    ],
)
def test_an_option_that_cannot_be_used_is_an_error(
    agon: Cli, battles: Path, arguments: tuple[str, ...], message: str
) -> None:
    """With what would be right, and no board."""
    names = () if "model_a" in arguments[1] else NAMES
    done = agon("arena", "rate", battles, *names, *arguments)
    assert done.code in {2, 3}
    assert message in done.err
    assert not done.out


def test_a_check_lists_the_invalid_rows_of_a_file(agon: Cli, battles: Path) -> None:
    """All of them, in a report and with the exit code of invalid rows."""
    text = BATTLES.replace("right", "wrong", 1).replace("right", "upper").replace("tie", "draw?")
    battles.write_text(text)
    done = agon("check", "arena", battles, "--columns", "model_a=left,model_b=wrong", *JSON)
    report = done.json()
    assert (done.code, report["valid"], report["source"]) == (2, False, str(battles))
    assert [problem["value"] for problem in report["problems"]] == ["upper", "draw?"]


@pytest.mark.exhaustive
def test_an_invalid_row_of_stdin_is_named() -> None:
    """With its row and the name of the column in the source."""
    broken = BATTLES.replace("z,x,tie", "z,x,both").encode()
    done = run_process("arena", "rate", "-", *NAMES, given=broken)
    assert done.code == 2
    assert "stdin.csv" in done.err
    assert "'both'" in done.err
