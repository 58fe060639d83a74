"""A mapping is stated once, and every command that reads records takes it."""

import json
from pathlib import Path

import pytest

from agon import InvalidRecords, rate, read_records, write_records
from cli.command import Cli
from sizes import sample

GAMES = """left,right,verdict,remark
x,y,H,ok
y,x,K,ok
x,y,NA,ok
x,y,remis,ok
"""
MAPPING = """
null = ["NA"]
skip_missing = ["winner"]
ignore = ["remark"]
[columns]
model_a = "left"
model_b = "right"
winner = "verdict"
[values.winner]
H = "model_a"
K = "model_b"
remis = "tie"
"""
JSON = ("--format", "json")


@pytest.fixture
def games(tmp_path: Path) -> Path:
    """Hold a file of results under names of its own."""
    (tmp_path / "games.csv").write_text(GAMES)
    (tmp_path / "names.toml").write_text(MAPPING)
    return tmp_path / "games.csv"


def test_every_command_that_reads_records_takes_a_mapping(
    agon: Cli, games: Path, tmp_path: Path
) -> None:
    """Options say the same as the file, and add to it."""
    by_file = ("--mapping", tmp_path / "names.toml")
    by_options = (
        "--columns", "model_a=left,model_b=right,winner=verdict", "--null", "NA",
        "--values", "winner.H=model_a,winner.K=model_b", "--values", "winner.remis=tie",
        "--skip-missing", "winner", "--ignore", "remark",
    )  # fmt: skip
    rows = agon("arena", "rate", games, *by_file, *JSON).json()["rows"]
    assert {row["id"]: row["wins"] for row in rows} == {"x": 2, "y": 0}
    commands = [("score", "arena"), ("check", "arena"), ("compare", "arena"),
                ("explain", "arena"), ("arena", "robustness")]  # fmt: skip
    for command in sample(commands, at_least=2):
        more = {"compare": ("--set", "k_new=8"), "explain": ("x",)}.get(command[0], ())
        outs = [agon(*command, games, *more, *by, *JSON) for by in (by_file, by_options)]
        assert outs[0].code == 0, outs[0].err
        assert (outs[0].out, outs[0].code) == (outs[1].out, outs[1].code)
        assert "left out 1 row without a value of verdict" in outs[1].err + outs[1].out


def test_a_source_is_converted_to_any_format_with_the_same_hash(
    agon: Cli, games: Path, tmp_path: Path
) -> None:
    """By command, and by the library."""
    mapping = tmp_path / "names.toml"
    expected = read_records("arena", games, mapping=mapping).sha256
    for form in ("csv", "ndjson", "parquet"):
        out = tmp_path / form
        done = agon("convert", "arena", games, "--mapping", mapping, "--out", out, "--format", form)
        assert done.code == 0, done.err
        assert read_records("arena", out).sha256 == expected
    with read_records("arena", games, mapping=mapping) as records:
        write_records(records, tmp_path / "again", form="csv")
    with read_records("arena", tmp_path / "again") as again:
        assert (again.sha256, again.notes) == (expected, ())


def test_records_with_a_near_name_are_not_converted(agon: Cli, tmp_path: Path) -> None:
    """What is written is what was meant."""
    source = tmp_path / "data"
    source.mkdir()
    (source / "users.csv").write_text("id,handel\n1,ada\n")
    refused = agon("convert", "community", source, "--out", tmp_path / "out")
    assert (refused.code, "did you mean handle" in refused.err) == (2, True)
    done = agon("convert", "community", source, "--out", tmp_path / "out", "--ignore", "handel")
    assert done.code == 0, done.err


def test_a_first_mapping_is_suggested_and_can_be_completed(
    agon: Cli, games: Path, tmp_path: Path
) -> None:
    """Known names are stated, and what is unknown is a comment: the file is valid as it is."""
    first = tmp_path / "first.toml"
    done = agon("check", "arena", games, "--suggest-mapping", first)
    assert done.code == 2
    text = first.read_text()
    assert '[columns]\nmodel_a = "left"\nmodel_b = "right"\n# winner = ' in text
    [ignored] = [line for line in text.splitlines() if line.startswith("# ignore")]
    assert not {"left", "right"} & set(ignored.split('"'))
    completed = text.replace('# winner = "…"', 'winner = "verdict"')
    first.unlink()
    second = tmp_path / "second.toml"
    first.write_text(completed)
    done = agon("check", "arena", games, "--mapping", first, "--suggest-mapping", second)
    assert (
        '[columns]\nmodel_a = "left"\nmodel_b = "right"\nwinner = "verdict"' in second.read_text()
    )
    assert '# null = ["NA"]' in second.read_text()
    assert '# H = "…"  # one of model_a, model_b, tie' in second.read_text()
    assert agon("check", "arena", games, "--suggest-mapping", second).code == 4


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        (
            '[columns]\nmodel_a = "left"\nmodel_b = "left"',
            ["model_a and model_b are read from 'left'"],
        ),
        (
            '[columns]\nmodel_a = ""\n[values.winner]\nH = ""',
            ["columns.model_a is mapped to nothing", "values.winner.H is mapped to nothing"],
        ),
        ('[column]\na = "b"\n[columns]\nx = 1', ["did you mean columns", "columns.x is mapped"]),
        ("null = 3", ["null is no list of texts"]),
        ("a = = b", ["bad.toml, line 1: 'a = = b' is no TOML", "write [columns]"]),
        ("[columns]\nmodel a = 1", ["line 2: 'model a = 1'", "names that have blanks in quotes"]),
        ("[values", ["line 1: '[values' is no TOML"]),
    ],
)
def test_a_faulty_mapping_is_refused_with_all_its_faults(
    agon: Cli, games: Path, tmp_path: Path, text: str, messages: list[str]
) -> None:
    """Two columns from one, one from nothing, a misspelt part."""
    (tmp_path / "bad.toml").write_text(text)
    done = agon("score", "arena", games, "--mapping", tmp_path / "bad.toml")
    assert done.code == 2
    assert "Traceback" not in done.err
    for message in messages:
        assert message in done.err


def test_errors_name_the_options_that_help(agon: Cli, tmp_path: Path) -> None:
    """A hint at the command line; other doors have other ways."""
    file = tmp_path / "b.csv"
    file.write_text("model_a,model_b,winner\nx,y,\nx,y,H\nx,y,N/A\n")
    done = agon("arena", "rate", file)
    assert "--skip-missing winner" in done.err
    assert "--values winner.H=" in done.err
    assert "--null N/A" in done.err
    with pytest.raises(InvalidRecords) as error:
        rate(file)
    assert "--" not in str(error.value)


def test_errors_name_every_missing_column_and_the_path_into_an_object(
    agon: Cli, tmp_path: Path
) -> None:
    """So that one more command reads the file."""
    file = tmp_path / "b.jsonl"
    file.write_text('{"upper": "x", "lower": "y", "verdict": {"choice": "A"}}')
    done = agon("arena", "rate", file)
    assert "columns: --columns model_a=…,model_b=…,winner=…" in done.err
    done = agon("arena", "rate", file, "--columns", "model_a=upper,model_b=lower,winner=verdict")
    assert "by its path: --columns verdict=verdict.choice" in done.err


@pytest.mark.exhaustive
def test_an_unused_column_that_begins_like_a_missing_one_is_named(
    agon: Cli, tmp_path: Path
) -> None:
    """``state`` for ``status`` counted prompts that are excluded from their benchmark."""
    (tmp_path / "users.csv").write_text("id\n1\n")
    (tmp_path / "prompts.csv").write_text("id,uploader_id\n10,1\n")
    (tmp_path / "prompt_sets.csv").write_text("id,owner_id,name\n5,1,x\n")
    (tmp_path / "prompt_set_prompts.csv").write_text(
        "prompt_set_id,prompt_id,state\n5,10,excluded\n"
    )
    done = agon("score", "community", tmp_path)
    assert "prompt_set_prompts.state is not used; did you mean status?" in done.err, done.err


def test_a_table_in_a_format_that_is_not_read_is_to_be_saved_as_csv(
    agon: Cli, tmp_path: Path
) -> None:
    """It has the right name; a table that was exported under another one is to be renamed."""
    (tmp_path / "users.csv").write_text("id\n1\n")
    (tmp_path / "quick_feedbacks.numbers").write_bytes(b"PK")
    (tmp_path / "export_prompts_2026-01-20.csv").write_text("id,uploader_id\n1,1\n")
    done = agon("score", "community", tmp_path)
    assert "quick_feedbacks.numbers is not used; did you mean quick_feedbacks? save it" in done.err
    assert "export_prompts_2026-01-20.csv is not used; did you mean prompts? rename" in done.err


@pytest.mark.exhaustive
def test_scores_warn_of_what_may_be_wrong_with_their_source(agon: Cli, tmp_path: Path) -> None:
    """Names that look alike, rows that repeat and words for nothing split scores in silence."""
    source = tmp_path / "battles.csv"
    rows = ("1,GPT,x,model_a", "2,Gpt,x,tie", "3,N/A,x,tie", "3,N/A,x,tie")
    source.write_text("\n".join(["question_id,model_a,model_b,winner", *rows]))
    for command in (("score", "arena"), ("arena", "rate")):
        done = agon(*command, source, *JSON)
        assert "warning: bots.id has 'GPT', 'Gpt'" in done.err
        assert "warning: bots.id has 'N/A'" in done.err
        assert "repeat" in done.err
        assert len(done.json()["warnings"]) == done.err.count("warning: ")
    clean = agon("score", "arena", source, *JSON, "--where", "winner=model_a")
    assert (clean.json()["warnings"], "warning" in clean.err) == ([], False)


def test_lines_of_battles_are_added_as_a_file_of_battles_is(agon: Cli, tmp_path: Path) -> None:
    """Judgments are written as JSON Lines; lines of records name their table.

    Where a command takes names from a mapping alone, its errors name no other option.
    """
    database = ("--database", f"sqlite:///{tmp_path}/agon.db")
    assert agon("contest", "create", "spring", "--discipline", "arena", "--title", "S",
                *database).code == 0  # fmt: skip
    add = ("contest", "add", "spring")
    file = tmp_path / "judgments.jsonl"
    judgment = {"uid": "q", "model": "m", "games": [{"score": "A>B"}, {"score": "B>A"}]}
    file.write_text(json.dumps(judgment) + "\n")
    refused = agon(*add, file, *database)
    assert "add a column baseline with its name" in refused.err
    assert "in [columns] of --mapping FILE, model_b=…" in refused.err
    file.write_text((json.dumps({**judgment, "baseline": "b"}) + "\n") * 2)
    added = agon(*add, file, *database)
    assert added.out.startswith("6 added, ")
    said = "1 row of battles repeat another one in every column"
    assert said in added.err
    for command in (("import", "arena-battles"), ("convert", "arena")):
        assert said in agon(*command, file, "--out", tmp_path / command[0], "--dry-run").err
    file.write_text(json.dumps({"tabel": "bots", "row": {"id": "x"}}) + "\n")
    assert "did you mean table?" in agon(*add, file, *database).err
