"""Commands, errors and issues on a Sail server are those of the embedded engine."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import agon
from agon.disciplines import discipline
from agon.disciplines.community.records import SCHEMA
from agon.disciplines.community.rules import CommunityRules
from agon.disciplines.community.scoring import score
from agon.engines import open_tables
from agon.errors import AgonError, Conflict, Unavailable, Unreadable
from agon.records import inspect, read
from agon.records.relational import TableEngine, inspect_in
from cli.command import Cli
from engines.drawn import EngineLostAt, compare_repeats
from engines.named_session import share_session
from sizes import ALL


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Cli:
    """Run commands in this process."""
    return Cli(capsys)


def test_commands_score_and_compare_on_sail_and_reject_what_needs_rows(
    command: Cli, tmp_path: Path
) -> None:
    """Equal hashes; a reason for what counts cannot say; another discipline is refused."""
    folder = tmp_path / "records"
    agon.write_records(agon.simulate("community", size=20, seed=5), folder)
    expected = command("score", "community", str(folder), "--format", "json")
    counted = command("score", "community", str(folder), "--format", "json", "--engine", "sail")
    assert (counted.code, counted.json()) == (0, expected.json())
    hardened = ("score", "community", str(folder), "--edition", "hardened-1")
    for words in (
        ("explain", "community", str(folder), "1"),
        ("check", "community", str(folder)),
        hardened,
    ):
        refused = command(*words, "--engine", "sail")
        assert refused.code == 4
        assert "cannot be computed" in refused.err
        assert "use --engine embedded" in refused.err
    assert command("score", "challenge", str(folder), "--engine", "sail").code == 4


@pytest.mark.exhaustive
def test_commands_rate_and_explain_an_arena_on_sail(command: Cli, tmp_path: Path) -> None:
    """Counts of pairs are enough for Bradley–Terry; judges need single votes."""
    folder, form = str(tmp_path / "records"), ("--format", "json")
    agon.write_records(agon.simulate("arena", size=60, seed=5), folder)
    prior = ("--set", "bradley_terry_regularisation=1")
    rate = ("arena", "rate", folder, "--method", "bradley-terry", "--ci", *prior, *form)
    rated = command(*rate)
    assert command(*rate, "--engine", "sail").json() == rated.json()
    bot = rated.json()["rows"][0]["id"]
    explain = ("explain", "arena", folder, bot, "--board", "bradley-terry", *prior, *form)
    counted, single = command(*explain, "--engine", "sail").json(), command(*explain).json()
    for explained in (counted, single):  # which matches decide needs single ones
        explained["notes"] = [note.partition("; ")[0] for note in explained["notes"][:1]]
        for compared in explained["context"]["comparisons"]:
            decided = [compared.pop("order_matches"), compared.pop("tier_matches")]
            assert explained is single or decided == [None, None]
    assert counted == single
    refused = command("score", "arena", folder, "--board", "judges", "--engine", "sail")
    assert refused.code == 4
    assert "arena: the board judges cannot be computed on" in refused.err


def test_issues_are_counted_with_table_column_and_remedy(sail: TableEngine, tmp_path: Path) -> None:
    """The issues are those of the embedded engine, without the rows."""
    users = pa.table({"id": [1, 2, 2]})
    feedback = {
        "user_id": pa.array([1, 9, None], pa.int64()),
        "prompt_id": pa.array([1, 1, None], pa.int64()),
        "opinion": ["positive", "good", "negative"],
    }
    scores = {"response_id": pa.array([5, 5, 5]), "score": [float("nan"), 0.5, 0.2]}
    responses = {"id": [5], "prompt_id": [1], "model": pa.array([""]), "user_id": [1]}
    tables = {
        "users": users,
        "prompts": pa.table({"id": [1]}),
        "quick_feedbacks": pa.table(feedback),
        "responses": pa.table(responses),
        "scores": pa.table(scores),
    }
    for name, table in tables.items():
        pq.write_table(table, tmp_path / f"{name}.parquet")
    _, issues = inspect_in(sail, SCHEMA, tmp_path)
    with pytest.raises(agon.InvalidRecords) as error:
        read(SCHEMA, tmp_path)
    found = {(issue.code, issue.table, issue.column, issue.count) for issue in issues}
    expected = {
        (issue.code, issue.table, issue.column, issue.count) for issue in error.value.issues
    }
    assert found == expected
    assert len(found) == 7


def test_repeated_ids_are_counted_exactly(sail: TableEngine, tmp_path: Path) -> None:
    """Ids are the bits of numbers, in ranges of 64."""
    compare_repeats(sail, tmp_path)


def test_nan_among_equal_numbers_is_an_issue(sail: TableEngine, tmp_path: Path) -> None:
    """A file's statistics then state one number, which engines take for all."""
    for name, table in {
        "users": {"id": [1]},
        "prompts": {"id": [1]},
        "responses": {"id": [5], "prompt_id": [1], "model": ["m"]},
        "scores": {"response_id": [5, 5], "score": [float("nan"), 0.5]},
    }.items():
        pq.write_table(pa.table(table), tmp_path / f"{name}.parquet")
    for _, issues in (inspect_in(sail, SCHEMA, tmp_path), inspect(SCHEMA, tmp_path)):
        assert [(issue.code, issue.table, issue.column) for issue in issues] == [
            ("non-finite", "scores", "score")
        ]


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (pa.array([1.0]), "whole numbers of at most 64 bits, or text, got double"),
        (pa.array([1], pa.uint64()), "got uint64"),
    ],
)
def test_types_that_engines_read_differently_are_refused(
    sail: TableEngine, tmp_path: Path, column: Any, words: str
) -> None:
    """An engine could read another id than this machine."""
    pq.write_table(pa.table({"id": column}), tmp_path / "users.parquet")
    with pytest.raises(Conflict, match=words):
        inspect_in(sail, SCHEMA, tmp_path)


def test_only_folders_of_parquet_are_read(sail: TableEngine, tmp_path: Path) -> None:
    """CSV files are read on this machine."""
    (tmp_path / "users.csv").write_text("id\n1\n")
    with pytest.raises(Conflict, match="one Parquet file per table"):
        inspect_in(sail, SCHEMA, tmp_path)
    with pytest.raises(Conflict, match="got another source"):
        agon.score("community", {"users": [{"id": 1}]}, engine="sail")
    with pytest.raises(Unreadable, match="SPARK_CONNECT_AUTHENTICATE_TOKEN"):
        open_tables("sc://host:15002/;token=secret")


@pytest.mark.usefixtures("sail")
def test_a_session_on_sail_is_not_ended_while_it_is_idle() -> None:
    """A notebook may use its records the next day; the server reads this when it starts."""
    assert int(os.environ["SAIL_SPARK__SESSION_TIMEOUT_SECS"]) > 86_400


@pytest.mark.exhaustive
def test_runs_share_a_session_that_stays(sail: TableEngine, tmp_path: Path) -> None:
    """A later run uses what the server compiled; each removes its tables."""
    share_session(sail.name.removeprefix("the server "), tmp_path, "community")


_SERVER = """
import sys
from pysail.spark import SparkConnectServer
server = SparkConnectServer(ip="127.0.0.1", port=0)
server.start(background=True)
print(server.listening_address[1], flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("query", range(10) if ALL else [4])
def test_a_server_lost_in_the_middle_is_named(tmp_path: Path, query: int) -> None:
    """There is never a board of the counts that came back before."""
    folder = tmp_path / "records"
    agon.write_records(agon.simulate("community", size=20, seed=5), folder)
    program = [sys.executable, "-c", _SERVER]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        address = f"sc://127.0.0.1:{int(server.stdout.readline())}"
        engine = EngineLostAt(open_tables(address), server, query)
        with pytest.raises(Unavailable, match=f"the server {address} failed"):
            score(inspect_in(engine, SCHEMA, folder)[0], CommunityRules()).board("user-score")
        engine.close()


def test_a_server_that_does_not_answer_is_named() -> None:
    """The error says which one, instead of a board of what was read."""
    with pytest.raises(AgonError, match=r"the server sc://127\.0\.0\.1:1 failed"):
        open_tables("sc://127.0.0.1:1")
    assert discipline("community").traits.relational


@pytest.mark.exhaustive
def test_a_mapping_is_applied_here_and_the_rows_are_sent(command: Cli, tmp_path: Path) -> None:
    """A cluster counts what this machine has read by the mapping."""
    agon.write_records(agon.simulate("community", size=20, seed=5), tmp_path / "records")
    expected = command("score", "community", tmp_path / "records", "--format", "json").json()
    folder = tmp_path / "records"
    rows = pq.read_table(folder / "quick_feedbacks.parquet")
    names = ["verdict" if name == "opinion" else name for name in rows.column_names]
    pq.write_table(rows.rename_columns(names), folder / "thumbs.parquet")
    (folder / "quick_feedbacks.parquet").unlink()
    (tmp_path / "names.toml").write_text(
        '[tables]\nquick_feedbacks = "thumbs"\n[columns]\n"quick_feedbacks.opinion" = "verdict"\n'
    )
    options = ("--mapping", tmp_path / "names.toml", "--engine", "sail", "--format", "json")
    counted = command("score", "community", folder, *options)
    assert counted.code == 0, counted.err
    for name in ("rows", "records_sha256", "board_sha256"):
        assert counted.json()[name] == expected[name]
    without = command("score", "community", folder, *options, "--where", "opinion=positive")
    assert without.json()["records_sha256"] != expected["records_sha256"]
