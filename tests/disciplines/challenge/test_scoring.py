"""The challenge's boards: laws, order, epochs, as-of, file formats, the golden board."""

import json
import random
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from agon.disciplines.challenge import DISCIPLINE
from agon.disciplines.challenge.records import SCHEMA
from agon.disciplines.challenge.rules import ChallengeRules
from agon.disciplines.challenge.scoring import ScoredChallenge, score
from agon.editions import edition
from agon.errors import NotFound, NotScorable
from agon.records import read, read_rows
from disciplines.challenge.networks import (
    RULES,
    Tables,
    networks,
    records_of,
    rows_of,
    scored,
    tables_of,
)
from sizes import size

GOLDEN = Path(__file__).parent / "golden.json"
laws = settings(max_examples=size(20), deadline=None, suppress_health_check=list(HealthCheck))


def scorable(tables: Tables, rules: dict[str, Any]) -> ScoredChallenge:
    """Score drawn tables, or pass them over where there is no stake."""
    try:
        return scored(tables, **rules)
    except NotScorable:
        assume(condition=False)
        raise


@laws
@given(networks(), RULES)
def test_weights_and_the_burn_sum_to_one(tables: Tables, rules: dict[str, Any]) -> None:
    """All emission is paid or burned, except the dropped excess of a cap."""
    rows = scorable(tables, rules).board("weights").rows()
    total = sum(row["weight"] for row in rows)
    own = [one.get("burn_application") for one in tables.get("competitions", [])]
    assume("added" not in [*own, rules.get("burn_application")])
    assert total <= 1 + 1e-10
    if rules.get("cap_excess") != "drop":
        assert total == pytest.approx(1, abs=1e-10)


@laws
@given(networks(), RULES)
def test_no_miner_is_paid_above_the_cap(tables: Tables, rules: dict[str, Any]) -> None:
    """The cap is a part of what the miners get together, before it is applied; UID 0 has none."""
    result = scorable(tables, rules)
    limit = rules.get("weight_cap", 0.5) * result.outcome.allocation.uncapped.sum()
    for row in result.board("weights").rows():
        assert row["id"] == "0" or row["weight"] <= limit + 1e-9


@laws
@given(networks(), RULES, st.integers(0, 1000))
def test_row_order_without_meaning_changes_nothing(
    tables: Tables, rules: dict[str, Any], seed: int
) -> None:
    """Rows may come in any order, but for evaluations that replace each other."""
    dice = random.Random(seed)
    places = {id(row): place for place, row in enumerate(tables["evaluations"])}

    def again(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return dice.sample(rows, len(rows))

    shuffled = {name: again(rows) for name, rows in tables.items()}
    slots: dict[tuple[Any, Any], list[int]] = {}
    for at, row in enumerate(shuffled["evaluations"]):
        slots.setdefault((row["submission_id"], row["validator_id"]), []).append(at)
    for pair, holes in slots.items():
        mine = [row for row in tables["evaluations"]
                if (row["submission_id"], row["validator_id"]) == pair]  # fmt: skip
        for hole, row in zip(holes, sorted(mine, key=lambda r: places[id(r)]), strict=True):
            shuffled["evaluations"][hole] = row
    one, other = scorable(tables, rules), scorable(shuffled, rules)
    for board in DISCIPLINE.boards:
        assert one.board(board).sha256 == other.board(board).sha256


@laws
@given(networks(), st.sampled_from([0, 1, 2, 5]))
def test_what_comes_later_does_not_change_an_epoch(tables: Tables, epoch: int) -> None:
    """Scoring as of an epoch is scoring the records up to it: a prefix stands by itself."""

    def known_by_then(row: dict[str, Any]) -> bool:
        return (row.get("epoch") or 0) <= epoch

    registered = {row["id"] for row in tables["validators"] if known_by_then(row)}
    prefix = {
        name: [
            row
            for row in rows
            if known_by_then(row) and row.get("validator_id") in {None, *registered}
        ]
        for name, rows in tables.items()
    }
    complete, prefix_result = scorable(tables, {"epoch": epoch}), scorable(prefix, {"epoch": epoch})
    for board in ("weights", "submissions", "competitions"):
        assert complete.board(board).rows() == prefix_result.board(board).rows()


@laws
@given(networks(), RULES)
def test_ranks_are_a_total_order_of_what_is_published(
    tables: Tables, rules: dict[str, Any]
) -> None:
    """Ranks are 1, 2, 3, …, scores fall, and an id stands on a board or among the unscored."""
    result = scorable(tables, rules)
    for name in DISCIPLINE.boards:
        board = result.board(name)
        rows = board.rows()
        assert [row["rank"] for row in rows] == list(range(1, len(rows) + 1))
        scores = [row["score"] for row in rows]
        assert scores == sorted(scores, reverse=True)
        ids = [row["id"] for row in rows] + [one.id for one in board.unscored]
        assert len(ids) == len(set(ids))


def test_equal_scores_go_to_the_earlier_then_the_smaller_id() -> None:
    """Challenge, Ranking; `10` comes after `2`, number or text."""
    tables = tables_of({name: (at, [0.5] * 3) for at, name in enumerate(["10", "2", "9"])})
    for row in tables["submissions"]:
        row["submitted_at"] = "2026-01-02"
    tables["submissions"][2]["submitted_at"] = "2026-01-01"
    board = scored(tables).board("submissions").rows()
    assert [row["id"] for row in board] == ["9", "2", "10"]


def test_a_board_has_the_columns_of_the_contract() -> None:
    """The names are a contract (interfaces)."""
    result = scored(tables_of({"a": (1, [0.5] * 3)}), emission_total=100)
    columns = {name: result.board(name).table.column_names for name in DISCIPLINE.boards}
    assert columns["weights"] == ["rank", "id", "score", "weight", "u16", "amount"]
    assert {"validators", "outliers", "stake_fraction", "miner_uid"} <= set(columns["submissions"])
    assert {"top", "last_improvement", "stale", "burn_percent"} <= set(columns["competitions"])
    assert columns["validators"] == [
        "rank", "id", "score", "stake", "evaluations", "flagged", "mean_abs_z",
    ]  # fmt: skip
    assert (
        "amount" not in scored(tables_of({"a": (1, [0.5] * 3)})).board("weights").table.schema.names
    )


def test_amounts_are_weights_of_the_total() -> None:
    """E·w, on a billionth."""
    rows = rows_of(scored(tables_of({"a": (1, [0.5] * 3)}), emission_total=7200), "weights")
    assert (rows["1"]["amount"], rows["0"]["amount"]) == (3600.0, 3600.0)


def test_uid_0_is_never_capped_and_its_earnings_join_the_burn() -> None:
    """A submission of the burn address competes; what it earns goes where the burn goes."""
    rows = rows_of(scored(tables_of({"a": (0, [0.9] * 3), "b": (1, [0.1] * 3)})), "weights")
    # Miner 1 alone shares 0.1 among the miners, of which it may get half.
    assert rows["0"]["weight"] == pytest.approx(0.95)
    assert rows["1"]["weight"] == pytest.approx(0.05)


def test_zero_total_stake_is_an_error() -> None:
    """Forgotten stakes should not give an empty board."""
    tables = tables_of({"a": (1, [0.5] * 3)}, stakes={"v1": 0, "v2": 0, "v3": 0})
    with pytest.raises(NotScorable, match="total stake at epoch 0 is 0"):
        scored(tables)


def test_an_epoch_before_the_first_stake_has_no_stake() -> None:
    """Stakes are those of the epoch, not those that came later."""
    tables = tables_of({"a": (1, [0.5] * 3)})
    for row in tables["validators"]:
        row["epoch"] = 3
    with pytest.raises(NotScorable, match="total stake at epoch 2 is 0"):
        scored(tables, epoch=2)
    assert rows_of(scored(tables, epoch=3), "submissions")["a"]["score"] == 0.5


def test_without_any_evaluation_everything_burns() -> None:
    """Zero rows are records too."""
    tables: Tables = {
        "submissions": [{"id": "a", "miner_uid": 1, "submitted_at": "2026-01-01"}],
        "evaluations": [],
        "validators": [{"id": "v", "stake": 1}],
    }
    result = scored(tables)
    assert [row["weight"] for row in result.board("weights").rows()] == [1.0]
    assert result.board("weights").unscored[0].id == "1"
    assert "no validator's evaluation counts" in result.board("submissions").unscored[0].reason
    empty = scored({**tables, "submissions": []})
    assert empty.board("submissions").rows() == []


def test_the_scored_epoch_is_the_last_in_the_records() -> None:
    """Idle epochs age the top score: decay goes on without evaluations."""
    tables = tables_of({"a": (1, [0.5] * 3)})
    tables["validators"].append({"id": "v1", "stake": 100, "epoch": 30})
    row = rows_of(scored(tables), "competitions")["main"]
    assert (row["stale"], row["burn_percent"]) == (20, 80.0)
    assert rows_of(scored(tables, epoch=12), "competitions")["main"]["stale"] == 2


def test_far_apart_epochs_cost_no_more_than_near_ones() -> None:
    """Epochs may be block numbers: only those in which something happens are visited."""
    tables = tables_of({"a": (1, {("v1", 0): 0.5, ("v2", 0): 0.5, ("v3", 10**12): 0.5})})
    row = rows_of(scored(tables), "competitions")["main"]
    assert (row["last_improvement"], row["burn_percent"]) == (10**12, 0.0)


def test_as_of_leaves_out_what_was_not_there_yet() -> None:
    """A later submission's evaluations have no parent yet, and must not matter."""
    tables = tables_of({"a": (1, [0.5] * 3), "b": (2, [0.9] * 3)})
    tables["evaluations"][0]["evaluated_at"] = "2026-01-01T12:00:00"
    records = records_of(tables)
    early = score(records.as_of(datetime(2026, 1, 1, 13, tzinfo=UTC)), ChallengeRules())
    assert [row["id"] for row in early.board("submissions").rows()] == ["a"]
    sooner = score(records.as_of(datetime(2026, 1, 1, 11, tzinfo=UTC)), ChallengeRules())
    assert "2 validators reported" in sooner.board("submissions").unscored[0].reason


def test_ids_as_numbers_and_as_text_give_one_board(tmp_path: Path) -> None:
    """A CSV folder scores as the tables in memory do."""
    names = {f"{at}": (at, [at / 20, 0.2, 0.3]) for at in range(1, 12)}
    tables = tables_of(names)
    for name, rows in tables.items():
        lines = [",".join(rows[0])] + [",".join(str(v) for v in row.values()) for row in rows]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n")
    for row in tables["submissions"]:
        row["id"] = int(row["id"])
    for row in tables["evaluations"]:
        row["submission_id"] = int(row["submission_id"])
    from_csv = score(read(SCHEMA, tmp_path), ChallengeRules())
    for board in DISCIPLINE.boards:
        assert from_csv.board(board).sha256 == scored(tables).board(board).sha256


def test_a_competitions_own_rules_hold_for_it_alone() -> None:
    """A column named like a rule overrides it for that competition."""
    tables = tables_of(
        {"a": (1, [0.6] * 3), "b": (2, [0.2] * 3), "c": (3, [0.6] * 3), "d": (4, [0.2] * 3)},
        competitions=[
            {"id": "x", "emission_share": 0.5, "strategy": "winner_takes_all", "top_n": 2},
            {"id": "y", "emission_share": 0.5},
        ],
        competition={"a": "x", "b": "x", "c": "y", "d": "y"},
    )
    weights = {name: row["weight"] for name, row in rows_of(scored(tables), "weights").items()}
    assert weights == pytest.approx({"0": 0, "1": 0.25, "2": 0.25, "3": 0.375, "4": 0.125})


def test_an_unknown_board_is_not_found() -> None:
    """The message suggests one."""
    with pytest.raises(NotFound, match="did you mean weights"):
        scored(tables_of({"a": (1, [0.5] * 3)})).board("weight")


def test_the_payload_lists_every_weight_by_uid() -> None:
    """The burn is uid 0; the largest weight is 65535."""
    result = scored(tables_of({"a": (2, [0.9] * 3), "b": (1, [0.06] * 3), "c": (3, [0.04] * 3)}))
    payload = result.payload()
    assert (payload.uids, payload.weights) == ((1, 2, 3), (39321, 65535, 26214))


def test_the_edition_has_the_examples_and_rules_of_its_source() -> None:
    """Every example of the seed and every vector of the page, as records."""
    assert len(edition("challenge/term-1").examples) >= 40
    assert edition("challenge/term-1").rules == ChallengeRules()


def test_the_golden_network_scores_as_it_did() -> None:
    """A stored network with everything in it; a moved number needs a new edition."""
    golden = json.loads(GOLDEN.read_text())
    rules = ChallengeRules().override(edition("challenge/term-1").rules.model_dump())
    result = score(read_rows(SCHEMA, golden["records"]), rules)
    for name in DISCIPLINE.boards:
        board = result.board(name)
        assert board.rows() == golden["boards"][name]["rows"]
        assert [one.to_dict() for one in board.unscored] == golden["boards"][name]["unscored"]
