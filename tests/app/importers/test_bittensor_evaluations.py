"""``bittensor-evaluations``: rows of uid, validator, score, stake and epoch become records."""

import json
from pathlib import Path
from typing import Any

import pytest

import agon
from agon.app.importers import import_records
from agon.app.importers.bittensor_evaluations import FIELDS
from agon.disciplines import discipline
from agon.errors import Unreadable
from agon.records import InvalidRecords, read_rows
from agon.records.names.mapping import SourceMapping

ROWS = [
    {"uid": uid, "hotkey": f"5H{uid}", "validator": f"v{v}", "score": 0.5 + uid / 10,
     "stake": 100 * v, "epoch": epoch}
    for epoch in (0, 1)
    for uid in (1, 2)
    for v in (1, 2, 3)
]  # fmt: skip


def written(folder: Path, rows: list[dict[str, Any]], name: str = "evaluations.json") -> Path:
    """Write rows as JSON, or as CSV."""
    file = folder / name
    if name.endswith(".json"):
        file.write_text(json.dumps(rows))
    else:
        lines = [",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]
        file.write_text("\n".join(lines) + "\n")
    return file


def tables(file: Path) -> dict[str, list[dict[str, Any]]]:
    """Import a file and return the tables' rows."""
    imported = import_records("bittensor-evaluations", file)
    return {name: table.to_pylist() for name, table in imported.tables.items()}


def test_rows_become_submissions_evaluations_and_validators(tmp_path: Path) -> None:
    """A miner's hotkey names its submission; stakes are stored by epoch."""
    records = tables(written(tmp_path, ROWS))
    assert [(row["id"], row["miner_uid"]) for row in records["submissions"]] == [
        ("5H1", 1),
        ("5H2", 2),
    ]
    assert len(records["evaluations"]) == 12
    assert [(row["id"], row["stake"], row["epoch"]) for row in records["validators"]][:3] == [
        ("v1", 100.0, 0),
        ("v2", 200.0, 0),
        ("v3", 300.0, 0),
    ]


@pytest.mark.parametrize("name", ["score", "pts", "evaluations.score"])
def test_a_renamed_field_is_stated_by_either_name(name: str, tmp_path: Path) -> None:
    """What a mapping says of missing values and words holds for the field, however it is named."""
    rows: list[dict[str, Any]] = [
        {**{key: value for key, value in row.items() if key != "score"}, "pts": row["score"]}
        for row in ROWS
    ]
    rows[0]["pts"], rows[1]["pts"] = None, "half"
    mapping = SourceMapping(
        columns={"score": "pts"}, values={name: {"half": "0.5"}}, skip_missing=(name,)
    )
    file = written(tmp_path, rows)
    imported = import_records("bittensor-evaluations", file, mapping=mapping)
    scores = imported.tables["evaluations"].to_pylist()
    assert len(scores) == len(ROWS) - 1
    assert next(row for row in scores if row["validator_id"] == "v2")["score"] == 0.5


def test_csv_and_json_give_the_same_records(tmp_path: Path) -> None:
    """The file format does not matter."""
    comma = written(tmp_path, ROWS, "evaluations.csv")
    assert tables(comma) == tables(written(tmp_path, ROWS))


@pytest.mark.exhaustive
def test_the_records_can_be_scored(tmp_path: Path) -> None:
    """Scores .6 and .7 under the linear strategy: 6/13 and 7/13, the larger capped at a half."""
    imported = import_records("bittensor-evaluations", written(tmp_path, ROWS))
    records = read_rows(discipline("challenge").schema, imported.tables)
    weights = agon.score("challenge", records, overrides={"strategy": "linear"}).board()
    assert weights.row("2")["weight"] == pytest.approx(0.5)


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("field", "name"), [(field, name) for field, names in FIELDS.items() for name in names]
)
def test_every_documented_name_of_a_column_is_accepted(
    tmp_path: Path, field: str, name: str
) -> None:
    """The documentation lists these names."""
    extra = {"submission": "s1", "evaluated_at": "2026-01-01", "submitted_at": "2026-01-01"}
    row = {**ROWS[0], **extra}
    value = row.pop(field)
    records = tables(written(tmp_path, [{**row, name: value}]))
    assert records["submissions"][0]["id"] == "s1"
    assert records["evaluations"][0]["score"] == 0.6


def test_without_uids_hotkeys_are_numbered_and_the_note_warns(tmp_path: Path) -> None:
    """Such weights may be read, but not set on a chain."""
    bare = [{key: value for key, value in row.items() if key != "uid"} for row in ROWS]
    imported = import_records("bittensor-evaluations", written(tmp_path, bare))
    assert imported.tables["submissions"]["miner_uid"].to_pylist() == [1, 2]
    assert "do not set weights" in imported.notes[0]


def test_without_epochs_all_is_epoch_zero(tmp_path: Path) -> None:
    """A note states it."""
    bare = [{key: row[key] for key in row if key != "epoch"} for row in ROWS[:6]]
    imported = import_records("bittensor-evaluations", written(tmp_path, bare))
    assert set(imported.tables["evaluations"]["epoch"].to_pylist()) == {0}
    assert "epoch 0" in imported.notes[0]


def test_a_missing_column_is_reported_with_its_accepted_names(tmp_path: Path) -> None:
    """It is reported before a row is read."""
    with pytest.raises(Unreadable, match="stake: give one of stake, validator_stake"):
        tables(written(tmp_path, [{"uid": 1, "validator": "v", "score": 1}]))


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("wrong", "column"),
    [
        ({"score": 1.5}, "score"),
        ({"score": "high"}, "score"),
        ({"stake": -1}, "stake"),
        ({"stake": "nan"}, "stake"),
        ({"uid": -1}, "uid"),
        ({"uid": 1.5}, "uid"),
        ({"uid": 65536}, "uid"),
        ({"epoch": -1}, "epoch"),
        ({"validator": None}, "validator"),
        ({"hotkey": None}, "hotkey"),
    ],
)
def test_an_invalid_row_is_named(tmp_path: Path, wrong: dict[str, Any], column: str) -> None:
    """The issue has file, row, column and value."""
    rows = [*ROWS, {**ROWS[0], "validator": "v9", "epoch": 5, **wrong}]
    with pytest.raises(InvalidRecords) as error:
        tables(written(tmp_path, rows))
    locations = {(issue.location, issue.row, issue.column) for issue in error.value.issues}
    assert ("evaluations.json", 13, column) in locations


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"stake": 7}, "same validator and epoch"),
        ({"uid": 9, "validator": "v9"}, "same hotkey and epoch"),
    ],
)
def test_rows_that_contradict_each_other_are_rejected(
    tmp_path: Path, wrong: dict[str, Any], message: str
) -> None:
    """Two stakes of a validator in an epoch, or two uids of a hotkey, cannot both be right."""
    with pytest.raises(InvalidRecords, match=message):
        tables(written(tmp_path, [*ROWS, {**ROWS[0], **wrong}]))


@pytest.mark.exhaustive
def test_hotkeys_beside_uids_become_seats(tmp_path: Path) -> None:
    """A uid that was reused pays for what its present holder did; a hotkey that moved moves."""
    seats = [
        (0, 7, "5OLD"), (0, 8, "5MOVES"), (4, 7, "5OLD"), (5, 7, "5NEW"), (5, 9, "5MOVES"),
        (6, 9, "5MOVES"),
    ]  # fmt: skip
    rows = [
        {"epoch": epoch, "uid": uid, "hotkey": key, "validator": f"V{n}", "score": 0.5, "stake": 1}
        for epoch, uid, key in seats
        for n in (1, 2, 3)
    ]
    file = tmp_path / "subnet.json"
    file.write_text(json.dumps(rows))
    imported = import_records("bittensor-evaluations", file)
    assert imported.tables["registrations"].to_pylist() == [
        {"uid": 7, "hotkey": "5OLD", "from_epoch": 0},
        {"uid": 8, "hotkey": "5MOVES", "from_epoch": 0},
        {"uid": 7, "hotkey": "5NEW", "from_epoch": 5},
        {"uid": 8, "hotkey": None, "from_epoch": 5},
        {"uid": 9, "hotkey": "5MOVES", "from_epoch": 5},
    ]
    with read_rows(discipline("challenge").schema, imported.tables) as records:
        board = agon.score("challenge", records).board("weights").rows()
    assert {row["id"] for row in board if row["weight"]} == {"7", "9"}
