"""The report and the replay of a league are made from its ledger by commands."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cli.command import Cli
from fakes.arena import league
from fakes.workbooks import write_workbook


@pytest.fixture
def database(tmp_path: Path) -> str:
    """Play two rounds of a league of seven bots, in which b1 gives no answer."""
    played = league(tmp_path, bots=7)
    played.fail("b1", owner="bot", code="late")
    for _ in range(2):
        assert played.play() == []
    with played.service.store.write() as session:
        now = played.service.clock()
        session.judging.add_failure("openai/m", "invalid", detail="status 200, but prose", at=now)
    played.service.store.close()
    return f"sqlite:///{tmp_path}/agon.db"


def test_prompts_and_human_answers_are_added(agon: Cli, database: str, tmp_path: Path) -> None:
    """A human answer to an unknown prompt is rejected."""
    (tmp_path / "p.ndjson").write_text('{"id": "new", "text": "Why?"}\n')
    add = ("arena", "prompts", "autumn")
    added = agon(*add, tmp_path / "p.ndjson", "--database", database)
    assert added.out == "1 prompt saved\n", added.err
    file = tmp_path / "h.ndjson"
    file.write_text('{"id": "h", "prompt_id": "new", "text": "So."}\n')
    answers = (*add, file, "--human-answers", "--database", database)
    assert agon(*answers).out == "1 human answer saved\n"
    file.write_text('{"id": "h", "prompt_id": "p77", "text": "So."}\n')
    wrong = agon(*answers)
    assert (wrong.code, "add the prompt first" in wrong.err) == (2, True)
    robotic = (*add, file, "--honeypot-answers", "--database", database)
    assert "add the prompt first" in agon(*robotic).err
    file.write_text('{"id": "k1", "text": "As requested."}\n{"id": "k2", "text": "Noted."}\n')
    assert agon(*robotic).out == "2 honeypot answers saved\n"
    assert "set one of" in agon(*robotic, "--human-answers").err


@pytest.mark.exhaustive
def test_prompts_are_added_from_files_of_every_format(
    agon: Cli, database: str, tmp_path: Path
) -> None:
    """As at the desk and by ``agon contest add``, with the same mapping and notes."""
    rows = [{"id": 71, "text": "Why, then?"}, {"id": 72, "text": "How?"}]
    (tmp_path / "p.csv").write_text('ID;Text;notes\n71;"Why, then?";x\n72;How?;y\n')
    (tmp_path / "p.json").write_text(json.dumps(rows))
    (tmp_path / "p.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "p.parquet")
    add = ("arena", "prompts", "autumn", "--database", database)
    sheet: list[list[object]] = [[*rows[0]], *([*row.values()] for row in rows)]
    write_workbook(tmp_path / "p.xlsx", {"Sheet1": sheet})
    for name in ("p.csv", "p.json", "p.jsonl", "p.parquet", "p.xlsx"):
        added = agon(*add, tmp_path / name)
        assert added.out == "2 prompts saved\n", added.err
        is_spelled = name == "p.csv"
        assert ("not used: notes" in added.err, "read ID as id" in added.err) == (is_spelled,) * 2
    (tmp_path / "q.csv").write_text("no,question,retired\n73,Where?,NA\n")
    (tmp_path / "map.toml").write_text('[columns]\nid = "no"\ntext = "question"\n')
    mapped = agon(*add, tmp_path / "q.csv", "--mapping", tmp_path / "map.toml", "--null", "NA")
    assert mapped.out == "1 prompt saved\n", mapped.err
    title = write_workbook(tmp_path / "t.xlsx", {"Sheet1": [["Spring"], [None], *sheet]})
    wrong = agon(*add, title)
    assert "names its columns in row 3, after other rows; remove the rows before it" in wrong.err
    wrong = agon(*add, tmp_path / "q.csv")
    assert (wrong.code, "is missing; the header has" in wrong.err) == (2, True)


@pytest.mark.exhaustive
def test_a_round_begins_at_will(agon: Cli, tmp_path: Path) -> None:
    """Besides the rounds that begin by themselves; not in a contest without matches."""
    played = league(tmp_path, bots=7)
    database = f"sqlite:///{tmp_path}/agon.db"
    begun = agon("arena", "round", "autumn", "--database", database)
    assert begun.code == 0, begun.err
    assert f"agon jobs show {begun.out.strip()}" in begun.err
    played.clock.at = datetime.now(UTC) + timedelta(minutes=1)  # after the command's job
    assert played.work() == []
    assert [body["round"] for body in played.entries("round-settled")] == ["r1"]
    listed = agon("arena", "round", "autumn", "--database", database, "--format", "json")
    assert listed.json()["state"] == "queued"
    wrong = agon("arena", "round", "spring", "--database", database)
    assert (wrong.code, "there is no contest 'spring'" in wrong.err) == (3, True), wrong.err
    played.service.store.close()


def test_a_league_is_reported_and_replayed(agon: Cli, database: str) -> None:
    """A row for every bot; the draws are repeated on the way to the board."""
    report = agon("arena", "report", "autumn", "--database", database, "--format", "json")
    assert report.code == 0, report.err
    rows, latencies = report.json()["bots"], report.json()["latencies"]
    assert len(rows) == 7
    assert sum(row["games"] for row in rows) == 12
    assert sum(row["waited"] for row in rows) == 2
    (late,) = (row for row in rows if row["forfeits"])
    assert late["faults_bot"] == late["forfeits"] == late["games"] > 0
    everyone = {row["kind"]: row for row in latencies if row["participant"] is None}
    assert everyone["answer"]["count"] == 12 - sum(row["forfeits"] for row in rows)
    prompt = {row["bot"] for row in rows if row["bot"] != late["bot"]}
    assert {row["participant"] for row in latencies} == prompt | {None}
    (first, *_) = (row for row in rows if row["bot"] in prompt)
    assert 0 <= first["answer_p50"] <= first["answer_p95"] <= first["answer_p99"]
    assert "answer_p50" not in late
    table = agon("arena", "report", "autumn", "--database", database)
    assert {"games", "forfeits"} <= set(table.out.split())
    [failed] = report.json()["failed_calls"]
    assert (failed["judge"], failed["code"], failed["calls"]) == ("openai/m", "invalid", 1)
    assert "openai/m failed once with invalid, last: status 200, but prose\n" in table.err
    assert report.json()["undecided_matches"] == []
    replayed = agon("replay", "autumn", "--database", database)
    assert replayed.code == 0, replayed.err
    missing = agon("replay", "no-ledger/")
    assert (missing.code, "there is no folder no-ledger/" in missing.err) == (3, True)
