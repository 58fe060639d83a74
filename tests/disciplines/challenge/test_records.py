"""The challenge's tables: what is rejected, with row and reason, and what a missing table means."""

from typing import Any

import pytest

from agon.disciplines.challenge.records import COMPETITIONS, SCHEMA
from agon.disciplines.challenge.rules import COMPETITION_RULES, ChallengeRules
from agon.records import InvalidRecords, Kind
from disciplines.challenge.networks import Tables, records_of, rows_of, scored, tables_of


def small() -> Tables:
    """Make two submissions that three validators evaluated."""
    return tables_of({"a": (1, [0.5, 0.6, 0.7]), "b": (2, [0.1, 0.2, 0.3])})


def error_of(tables: Tables) -> str:
    """Return the message with which tables are rejected."""
    with pytest.raises(InvalidRecords) as error:
        records_of(tables)
    return str(error.value)


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("table", "row", "column", "value", "code"),
    [
        ("evaluations", 1, "score", 1.5, "out-of-range"),
        ("evaluations", 0, "score", -0.1, "out-of-range"),
        ("evaluations", 0, "score", float("nan"), "non-finite"),
        ("evaluations", 0, "submission_id", "zz", "unknown-reference"),
        ("evaluations", 0, "validator_id", "zz", "unknown-reference"),
        ("evaluations", 0, "epoch", "soon", "wrong-type"),
        ("validators", 2, "stake", -1, "out-of-range"),
        ("validators", 0, "stake", float("inf"), "non-finite"),
        ("validators", 1, "id", "v1", "inconsistent"),
        ("submissions", 1, "id", "a", "duplicate-key"),
        ("submissions", 0, "miner_uid", -1, "out-of-range"),
        ("submissions", 0, "miner_uid", 65_536, "out-of-range"),
        ("submissions", 0, "submitted_at", "noon", "bad-timestamp"),
        ("submissions", 0, "competition", "other", "inconsistent"),
    ],
)
def test_a_bad_value_is_rejected_with_row_and_reason(
    table: str, row: int, column: str, value: object, code: str
) -> None:
    """Nothing unknown, twice, negative, out of range or not finite is scored."""
    tables = small()
    tables[table][row][column] = value
    with pytest.raises(InvalidRecords) as error:
        records_of(tables)
    issues = {(one.code, one.table, one.row, one.column) for one in error.value.issues}
    assert (code, table, row + 1, column) in issues


def test_two_stakes_without_an_epoch_are_two_in_epoch_0() -> None:
    """Which of them counts would be a guess, with or without an epoch column."""
    tables = small()
    tables["validators"].append({"id": "v1", "stake": 5})
    assert "more than one stake" in error_of(tables)
    tables["validators"][-1]["epoch"] = 0
    assert "more than one stake" in error_of(tables)
    tables["validators"][-1]["epoch"] = 1
    assert records_of(tables).count("validators") == 4


def test_shares_above_one_name_every_row() -> None:
    """No row by itself is wrong, so all that make the sum are named."""
    tables = small()
    tables["competitions"] = [
        {"id": "main", "emission_share": 0.7},
        {"id": "x", "emission_share": 0.4},
    ]
    message = error_of(tables)
    assert "competitions, row 1, column emission_share: '0.7' is part of shares" in message
    assert "competitions, row 2, column emission_share: '0.4' is part of shares" in message


def test_ten_tenths_are_not_more_than_one() -> None:
    """In floats some sums of decimals lie above 1 by a hair."""
    tables = small()
    shares = [0.1, 0.7, 0.2]
    assert sum(shares) <= 1 < sum([0.1] * 3 + [0.7]) + 1e-9
    tables["competitions"] = [
        {"id": name, "emission_share": share}
        for name, share in zip(["main", "x", "y", "z"], [0.1, 0.1, 0.1, 0.7], strict=True)
    ]
    assert records_of(tables).count("competitions") == 4


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("column", "value", "text"),
    [
        ("strategy", "cubic", "give one of linear, winner_takes_all, quadratic, ranked"),
        ("top_n", 0, "is out of range"),
        ("outlier_threshold", 0.0, "cannot be 0"),
        ("mad_when_zero", 0.0, "cannot be 0"),
        ("decay_rate", 1.5, "give a number from 0 to 1"),
        ("exclude_outliers", "maybe", "is not true or false"),
        ("weight_cap", 0.4, "applies to the network"),
        ("rounding", "nearest", "applies to the network"),
    ],
)
def test_a_competitions_own_rule_is_held_to_the_rules_bounds(
    column: str, value: object, text: str
) -> None:
    """A rule in a table is a rule: a bad one is rejected with its row and column."""
    tables = small()
    tables["competitions"] = [{"id": "main", "emission_share": 1, column: value}]
    message = error_of(tables)
    assert f"competitions, row 1, column {column}" in message
    assert text in message


def test_columns_of_rules_have_the_rules_bounds() -> None:
    """The table declares its rules by hand; it must not drift away from them."""
    properties = ChallengeRules.model_json_schema()["properties"]
    columns = {column.name: column for column in COMPETITIONS.columns}
    kinds = {"integer": Kind.INTEGER, "number": Kind.NUMBER, "boolean": Kind.BOOLEAN,
             "string": Kind.TEXT}  # fmt: skip
    for name in COMPETITION_RULES:
        column, given = columns[name], properties[name]
        schema: dict[str, Any] = given["anyOf"][0] if "anyOf" in given else given
        assert column.kind is kinds[schema["type"]], name
        assert column.choices == tuple(schema.get("enum", ())), name
        assert column.low == schema.get("minimum", schema.get("exclusiveMinimum")), name
        assert column.high == schema.get("maximum"), name


def test_without_a_competitions_table_there_is_one_called_main() -> None:
    """An absent table, an empty one and one with the same competition score equally."""
    tables = small()
    plain = scored(tables).board("weights").sha256
    assert scored({**tables, "competitions": []}).board("weights").sha256 == plain
    only = [{"id": "main", "emission_share": 1.0}]
    assert scored({**tables, "competitions": only}).board("weights").sha256 == plain
    named = small()
    for row in named["submissions"]:
        row["competition"] = "main"
    assert scored(named).board("weights").sha256 == plain


def test_a_submission_of_an_unnamed_competition_needs_one_called_main() -> None:
    """Where competitions are listed, a submission to none of them is rejected."""
    tables = small()
    tables["competitions"] = [{"id": "code", "emission_share": 1}]
    assert "is not among the competitions" in error_of(tables)


def test_task_results_alone_are_evaluations() -> None:
    """Score = passed / total per submission and validator, in epoch 0."""
    tables = small()
    del tables["evaluations"]
    tables["task_results"] = [
        {"submission_id": "a", "validator_id": f"v{v}", "task_id": task, "passed": task < v}
        for v in (1, 2, 3)
        for task in range(4)
    ]
    assert rows_of(scored(tables), "submissions")["a"]["score"] == 0.5


def test_a_given_evaluation_replaces_the_one_computed_from_tasks() -> None:
    """Task results stand in epoch 0 before every evaluation of that epoch."""
    tables = small()
    tables["task_results"] = [
        {"submission_id": "a", "validator_id": "v1", "task_id": 1, "passed": False}
    ]
    assert rows_of(scored(tables), "submissions")["a"]["score"] == pytest.approx(0.6)


def test_one_of_evaluations_and_task_results_is_needed() -> None:
    """A network without evaluations has nothing to score."""
    tables = small()
    del tables["evaluations"]
    assert "none of the tables evaluations, task_results" in error_of(tables)
    assert SCHEMA.one_table_of == (("evaluations", "task_results"),)


def test_the_content_hash_knows_the_order_of_evaluations_that_replace_each_other() -> None:
    """Two evaluations of one pair in one epoch: the later row counts, so their order is content."""
    tables = small()
    again = {"submission_id": "a", "validator_id": "v1", "score": 0.9, "epoch": 0}
    last = {**tables, "evaluations": [*tables["evaluations"], again]}
    first = {**tables, "evaluations": [again, *tables["evaluations"]]}
    assert records_of(last).sha256 != records_of(first).sha256
    assert rows_of(scored(last), "submissions")["a"]["score"] == pytest.approx(2.2 / 3)
    assert rows_of(scored(first), "submissions")["a"]["score"] == pytest.approx(0.6)
    other = {**tables, "evaluations": list(reversed(tables["evaluations"]))}
    assert records_of(other).sha256 == records_of(tables).sha256


def test_a_uid_that_no_chain_has_is_refused_in_every_table() -> None:
    """Uids of a subnet have 16 bits: 65535 is the last one, wherever it stands."""
    tables = tables_of({"a": (65_535, [0.5] * 3)})
    tables["registrations"] = [{"uid": 65_535, "hotkey": "k", "from_epoch": 0}]
    assert scored(tables).board("weights").table["id"].to_pylist() == ["0", "65535"]
    tables["registrations"][0]["uid"] = tables["submissions"][0]["miner_uid"] = 65_536
    message = error_of(tables)
    assert "submissions, row 1, column miner_uid" in message
    assert "registrations, row 1, column uid" in message
