"""Miners are hotkeys and uids are seats: who is paid when a seat changes hands."""

from typing import Any

import pytest

from agon.disciplines.challenge.facts import read_facts
from agon.disciplines.challenge.integrity import find
from agon.disciplines.challenge.rules import ChallengeRules
from agon.disciplines.challenge.weights import all_weights
from agon.records import InvalidRecords
from disciplines.challenge.networks import Tables, records_of, rows_of, scored, tables_of

VALIDATORS = ("v1", "v2", "v3")
SEATS: list[dict[str, Any]] = [
    {"uid": 7, "hotkey": "5OLD", "from_epoch": 0},
    {"uid": 7, "hotkey": "5NEW", "from_epoch": 5},
]


def by_all(score: float, *epochs: int) -> dict[tuple[str, int], float]:
    """Return the same score by every validator."""
    return {(validator, epoch): score for validator in VALIDATORS for epoch in epochs}


def network(seats: list[dict[str, Any]] | None = None) -> Tables:
    """Return a network whose uid 7 is another hotkey's from epoch 5 on."""
    tables = tables_of(
        {
            "old": (7, by_all(0.9, 0, 4)),
            "new": (7, by_all(0.1, 5, 6)),
            **{name: (uid, by_all(0.5, 0)) for name, uid in (("a", 8), ("b", 9), ("c", 10))},
        },
        miner_hotkey={"old": "5OLD", "new": "5NEW"},
    )
    return {**tables, "registrations": SEATS if seats is None else seats}


def weights(tables: Tables, **rules: Any) -> dict[str, float]:
    """Return the weights by uid, on five decimals."""
    rows = rows_of(scored(tables, **rules), "weights")
    return {uid: round(row["weight"], 5) for uid, row in rows.items()}


def test_a_seat_pays_for_what_its_present_holder_submitted() -> None:
    """The score of the hotkey that left must not pay the one that came."""
    assert weights(network(), epoch=4)["7"] == 0.375
    assert weights(network(), epoch=5) == {
        "7": 0.0625,
        "8": 0.3125,
        "9": 0.3125,
        "10": 0.3125,
        "0": 0,
    }
    held = {epoch: rows_of(scored(network(), epoch=epoch), "weights") for epoch in (4, 5)}
    assert [held[epoch]["7"]["hotkey"] for epoch in (4, 5)] == ["5OLD", "5NEW"]
    assert (held[5]["8"]["hotkey"], held[5]["0"]["hotkey"]) == (None, None)
    (left,) = scored(network(), epoch=5).board("submissions").unscored
    assert left.id == "old"
    assert "its hotkey 5OLD holds no uid in epoch 5" in left.reason


def test_every_epoch_of_a_history_has_the_seats_of_that_epoch() -> None:
    """All epochs at once and each alone agree."""
    history = all_weights(read_facts(records_of(network())), ChallengeRules())
    column = history.uids.tolist().index(7)
    for row, epoch in enumerate(history.epochs.tolist()):
        alone = rows_of(scored(network(), epoch=epoch), "weights")["7"]["weight"]
        assert history.weights[row, column] == pytest.approx(alone)


def test_the_share_of_a_departed_hotkey_burns_where_the_rule_says_so() -> None:
    """Rule unregistered: the others get no more than they would with it on the network."""
    burned = weights(network(), epoch=6, unregistered="burn")
    assert burned == {"0": 0.36, "7": 0.04, "8": 0.2, "9": 0.2, "10": 0.2}


def test_a_hotkey_that_moves_takes_its_score_to_its_new_uid() -> None:
    """It was deregistered and registered again: the seat changed, the miner did not."""
    moved: list[dict[str, Any]] = [*SEATS, {"uid": 11, "hotkey": "5OLD", "from_epoch": 6}]
    assert weights(network(moved), epoch=6)["11"] == 0.36
    vacant: list[dict[str, Any]] = [SEATS[0], {"uid": 7, "hotkey": None, "from_epoch": 3}]
    assert "7" not in weights(network(vacant), epoch=3)


def test_the_top_of_a_departed_hotkey_falls_and_the_decay_goes_on() -> None:
    """Else nobody would ever reach 0.9; and leaving must not reset the count."""
    dropped = rows_of(scored(network(), epoch=12), "competitions")["main"]
    assert (dropped["top"], dropped["last_improvement"], dropped["stale"]) == (0.5, 0, 2)
    carried = scored(network(), epoch=12, top_of_departed="keep")
    assert rows_of(carried, "competitions")["main"]["top"] == 0.9
    explained = scored(network(), epoch=12).explain("main", board="competitions")
    assert [part.points for part in explained.parts] == pytest.approx([0.9, -0.4, 0])
    better = network()
    better["submissions"] += [{"id": "d", "miner_uid": 12, "submitted_at": "2026-02-01"}]
    better["evaluations"] += [
        {"submission_id": "d", "validator_id": v, "score": 0.6, "epoch": 9} for v in VALIDATORS
    ]
    row = rows_of(scored(better, epoch=12), "competitions")["main"]
    assert (row["top"], row["last_improvement"]) == (0.6, 9)


@pytest.mark.parametrize(
    ("more", "top", "last_improvement"),
    [
        ({"d": by_all(0.6, 3) | by_all(0.8, 8)}, 0.6, 0),  # d was there as the top fell to it
        ({"d": by_all(0.6, 3) | by_all(0.8, 8), "e": by_all(0.82, 9)}, 0.82, 9),
        ({"d": by_all(0.6, 3) | by_all(0.8, 8), "e": by_all(0.79, 9)}, 0.6, 0),
        ({"e": by_all(0.95, 5)}, 0.95, 5),  # beats what the departing hotkey had
        ({"e": by_all(0.91, 5) | by_all(0.95, 6)}, 0.9, 0),
    ],
)
def test_after_a_fall_a_new_agent_is_one_first_evaluated_after_it(
    more: dict[str, dict[tuple[str, int], float]], top: float, last_improvement: int
) -> None:
    """An agent that was there when the top fell, and is measured again, ends no decay."""
    tables = network()
    further = tables_of({name: (12 + at, more[name]) for at, name in enumerate(sorted(more))})
    for name in ("submissions", "evaluations"):
        tables[name] = tables[name] + further[name]
    row = rows_of(scored(tables, epoch=10), "competitions")["main"]
    assert (row["top"], row["last_improvement"]) == (top, last_improvement)


def test_without_registrations_hotkeys_change_nothing() -> None:
    """Records of before score as before."""
    tables = network([])
    plain = tables_of({"old": (7, by_all(0.9, 0, 4)), "new": (7, by_all(0.1, 5, 6))})
    tables["submissions"] = [row for row in tables["submissions"] if row["id"] in {"old", "new"}]
    tables["evaluations"] = [
        row for row in tables["evaluations"] if row["submission_id"] in {"old", "new"}
    ]
    assert weights(tables) == weights(plain)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([SEATS[0], {"uid": 7, "hotkey": "5X", "from_epoch": 0}], "more than one hotkey"),
        ([SEATS[0], {"uid": 8, "hotkey": "5OLD", "from_epoch": 3}], "two uids at the same time"),
        ([{"uid": 65_536, "hotkey": "5OLD"}], "65536|65,536"),
        ([{"uid": 1}, {"uid": 1, "hotkey": "5X", "from_epoch": 0}], "more than one hotkey"),
    ],
)
def test_seats_that_contradict_each_other_are_rejected(
    rows: list[dict[str, Any]], message: str
) -> None:
    """A uid has one hotkey in an epoch, and a hotkey one uid."""
    with pytest.raises(InvalidRecords, match=message):
        scored(network(rows))


def test_the_burn_goes_to_the_uid_of_the_rule() -> None:
    """On a subnet whose owner holds another uid, UID 0 may be a miner's."""
    tables = tables_of({"a": (0, [0.5] * 3), "b": (9, [0.5] * 3)})
    rows = rows_of(scored(tables, burn_uid=9, epoch=18), "weights")
    assert rows["0"]["weight"] == pytest.approx(0.15)  # half of the miners' .3, by the cap
    assert rows["9"]["weight"] == pytest.approx(0.85)
    assert scored(tables, burn_uid=9, epoch=18).explain("9", board="weights").score == 0.85


def findings(tables: Tables, **rules: Any) -> dict[str, list[str]]:
    """Return the messages of the findings by code."""
    found: dict[str, list[str]] = {}
    for one in find(records_of(tables), ChallengeRules().override(rules)):
        found.setdefault(one.code, []).append(one.message)
    return found


def test_a_changed_seat_is_reported_with_what_it_would_be_paid() -> None:
    """The uid alone would get 0.375, the price of the mistake."""
    (message,) = findings(network())["seat-changed-hands"]
    assert "no longer that of 5OLD: by uid alone it would get 0.375" in message
    assert "seat-changed-hands" not in findings(network(), epoch=4)


def test_validators_that_stopped_are_named_and_the_one_that_works_is_excused() -> None:
    """Old reports outvote it, which is no fault of its own."""
    scores = {("v1", 0): 0.9, ("v2", 0): 0.9, **{("v3", epoch): 0.2 for epoch in range(1, 30)}}
    found = find(records_of(tables_of({"a": (1, scores)})), ChallengeRules())
    named = [(one.code, one.subjects) for one in found if "validator" in one.code]
    assert named[:2] == [("stopped-validator", ("v1",)), ("stopped-validator", ("v2",))]
    (outlier,) = [one for one in found if one.code == "outlier-record"]
    assert (outlier.severity, "the only one that still evaluates" in outlier.message) == (
        "info", True,
    )  # fmt: skip


def test_who_alone_measures_an_improved_miner_again_favors_nobody() -> None:
    """The others' old reports make it look so; those who stopped are named before it."""
    scores = {
        f"s{miner}": (miner, {
            (f"v{v}", epoch): 0.95 if miner == 1 and epoch > 3 else 0.4 + miner / 10
            for v in (1, 2, 3, 4) for epoch in range(1, 21) if v == 1 or epoch <= 3
        })
        for miner in (1, 2, 3)
    }  # fmt: skip
    found = find(records_of(tables_of(scores)), ChallengeRules())
    assert [one.code for one in found][:3] == ["stopped-validator"] * 3
    (votes,) = [one for one in found if one.code == "self-serving-votes"]
    assert votes.subjects == ("v1", "1")
    assert votes.severity == "info"
    assert "the only one that still evaluates" in votes.message


def test_a_validator_that_leaves_a_miner_out_is_named() -> None:
    """Miner 2 is evaluated by all others, epochs ago."""
    tables = tables_of({"a": (1, by_all(0.5, 0, 3)), "b": (2, {("v1", 0): 0.5, ("v2", 0): 0.5})})
    (message,) = findings(tables)["partial-validator"]
    assert message.startswith("v3 has never evaluated 1 miner whom all 2 other")


def test_dust_carried_tops_and_votes_without_stake_are_named() -> None:
    """What is not paid, cannot be reached, or was not counted is said."""
    tiny = tables_of({"a": (1, [1.0] * 3), "b": (2, [1.0] * 3), "c": (3, [0.001] * 3)})
    (message,) = findings(tiny, strategy="quadratic")["dust"]
    assert "3 (5e-07) is above 0" in message
    assert (
        "is less than a half"
        in scored(tiny, strategy="quadratic").explain("3", board="weights").parts[-1].text
    )
    assert "old in epoch 0" in findings(network(), top_of_departed="keep")["carried-top"][0]
    stakes = {"v1": 5, "v2": 5, "v3": 0}
    (message,) = findings(tables_of({"a": (1, [0.5] * 3)}, stakes=stakes))["zero-stake"]
    assert "to count them would change the score of a" in message


def test_results_of_another_reward_source_are_named() -> None:
    """What counted as a pass was decided when the tasks ran, not when they are scored."""
    tables = tables_of({"a": (1, [0.5] * 3)})
    tables["task_results"] = [
        {"submission_id": "a", "validator_id": "v1", "task_id": f"t{at}", "passed": True,
         "reward_source": source}
        for at, source in enumerate(["both", "both", None])
    ]  # fmt: skip
    (message,) = findings(tables)["other-reward-source"]
    assert message.startswith("2 task results were made with reward_source both, and these rules")
    assert "other-reward-source" not in findings(tables, reward_source="both")


def test_the_reach_of_an_agent_is_on_the_board_and_in_the_explanation() -> None:
    """Who ranks agents sees which of them had a model, or the network, to ask."""
    tables = tables_of({"a": (1, [0.5] * 3), "b": (2, [0.4] * 3)})
    assert "reach" not in scored(tables).board("submissions").table.column_names
    reach = [
        ("none", None),
        ("allowlist", "api.test:443,pypi.test:443"),
        ("public", None),
        (None,) * 2,
    ]
    tables["task_results"] = [
        {"submission_id": "a", "validator_id": "v1", "task_id": f"t{at}", "passed": True,
         "agent_network": network, "allowed_hosts": hosts}
        for at, (network, hosts) in enumerate(reach)
    ]  # fmt: skip
    rows = scored(tables).board("submissions").rows()
    assert {row["id"]: row["reach"] for row in rows} == {
        "a": "unknown; api.test:443, pypi.test:443; none; public",
        "b": "unknown",
    }
    parts = scored(tables).explain("a", board="submissions").parts
    assert [part.text for part in parts if part.name.startswith("agent network")] == [
        "in 1 task result the agent could reach by a proxy: api.test:443, pypi.test:443",
        "in 1 task result the agent could reach nothing",
        "in 1 task result the agent could reach every host",
    ]
