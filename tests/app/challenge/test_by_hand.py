"""Compare weights with figures computed by hand, at every door: boards, history, payload, checks.

Unless a case says otherwise three validators of equal stake agree, so that a score is the number in
the table, and the strategy is linear: w = s / Σ s (document 001, Weight Normalization).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from agon.app.analysis.score import Result, score
from agon.app.challenge.epochs import payload_of, weigh_epochs
from agon.disciplines.challenge.integrity import find
from agon.disciplines.challenge.rules import ChallengeRules
from agon.records import InvalidRecords
from disciplines.challenge.networks import Tables, records_of, tables_of

THREE = ("v1", "v2", "v3")


def by(validators: tuple[str, ...], value: float, *epochs: int) -> dict[tuple[str, int], float]:
    """Return the same score by each of the validators in each epoch."""
    return {(one, epoch): value for one in validators for epoch in epochs or (0,)}


def seats(*rows: tuple[int, str | None, int]) -> list[dict[str, Any]]:
    """Return registrations: uid, hotkey, first epoch."""
    return [{"uid": uid, "hotkey": key, "from_epoch": epoch} for uid, key, epoch in rows]


def network(
    submissions: Mapping[str, tuple[int, Any]],
    *registered: tuple[int, str | None, int],
    keys: Mapping[str, str] | None = None,
    stakes: Mapping[str, float] | None = None,
) -> Tables:
    """Return tables of submissions (uid, score by all three, or scores by validator and epoch)."""
    scores = {
        name: (uid, by(THREE, given) if isinstance(given, float) else given)
        for name, (uid, given) in submissions.items()
    }
    tables = tables_of(scores, stakes=stakes, miner_hotkey=keys or {})
    return {**tables, "registrations": seats(*registered)} if registered else tables


@dataclass(frozen=True, kw_only=True)
class Case:
    """A network, the rules, and what is paid: weight by uid, the uid that burns included.

    ``named`` are the subjects of a finding by its code, None where it must not be made; ``top`` is
    the top score, τ and B in percent.
    """

    tables: Tables
    weights: Mapping[int, float]
    rules: Mapping[str, Any] = field(default_factory=dict)
    named: Mapping[str, tuple[str, ...] | None] = field(default_factory=dict)
    top: tuple[float, int, float] | None = None
    sent: Mapping[int, int] | None = None


ONE = {"a": (7, 0.6), "c": (8, 0.4), "d": (9, 0.4)}
HANDED = network(
    {**ONE, "b": (7, by(THREE, 0.2, 5))}, (7, "A", 0), (7, "B", 5), keys={"a": "A", "b": "B"}
)
RETURNED = network(ONE, (7, "A", 0), (7, None, 3), (7, "A", 6), keys={"a": "A"})
MOVED = network(ONE, (7, "A", 0), (7, "B", 3), (11, "A", 3), keys={"a": "A"})
ROUND = network(ONE, (7, "A", 0), (7, "B", 3), (11, "A", 3), (7, "A", 6), (11, "B", 6),
                keys={"a": "A"})  # fmt: skip
TOP = network(
    {"a": (7, 0.9), "b": (8, 0.45), "c": (9, 0.45), "d": (10, by(THREE, 0.6, 12))},
    (7, "A", 0), (7, None, 3), keys={"a": "A"},
)  # fmt: skip
CHAIN = network(
    {"a": (7, 0.9), "b": (8, 0.45), "c": (9, 0.3), "d": (10, 0.3), "e": (11, by(THREE, 0.32, 12))},
    (7, "A", 0), (8, "B", 0), (7, None, 3), (8, None, 5), keys={"a": "A", "b": "B"},
)  # fmt: skip
THIRD_IDLE = network(
    {"a": (1, 0.4), "b": (2, 0.3), "c": (3, 0.3)}, stakes={"v1": 100, "v2": 100, "v3": 0}
)
CROWD = network(
    {"a": (1, {**by(THREE, 0.5), **by(("z1", "z2", "z3", "z4"), 0.9)})},
    stakes={**dict.fromkeys(THREE, 50), **dict.fromkeys(("z1", "z2", "z3", "z4"), 0)},
)
PLAIN = network({"a": (1, 0.4), "b": (2, 0.3), "c": (3, 0.3)})
QUORUM = network({"a": (1, by(("v1", "v2"), 0.9)), "b": (2, 0.4), "c": (3, 0.4)})
STOPPED = network(
    {
        name: (uid, {**by(THREE, 0.4), **by(("v1",), 0.9, *range(1, 13))})
        for name, uid in (("a", 1), ("b", 2), ("c", 3))
    }
)
PARTIAL = network(
    {"a": (1, by(THREE, 0.4, 0, 1)), "b": (2, by(("v1", "v2"), 0.4)), "c": (3, by(THREE, 0.2))}
)
LATE = network(
    {"a": (7, by(("v1", "v2"), 0.4)), "b": (8, by(THREE, 0.4, 5)), "c": (9, by(THREE, 0.4, 5))},
    (7, "A", 0), (7, None, 3), keys={"a": "A"},
)  # fmt: skip
OWNER = network({"a": (0, 0.5), "b": (9, 0.25), "c": (3, 0.25)})
CAPPED = network({"a": (1, 0.9), "b": (2, 0.06), "c": (3, 0.04)})

CASES = {
    # Σ = .6 + .4 + .4 = 1.4.
    "the former holder": Case(
        tables=HANDED, rules={"epoch": 4}, weights={7: 3 / 7, 8: 2 / 7, 9: 2 / 7, 0: 0},
        named={"seat-changed-hands": None},
    ),
    # A holds no seat, B has .2: Σ = .2 + .4 + .4 = 1.
    "the seat was handed over": Case(
        tables=HANDED, rules={"epoch": 5}, weights={7: 0.2, 8: 0.4, 9: 0.4, 0: 0},
        named={"seat-changed-hands": ("7",)},
    ),
    # Without A: .4 and .4.
    "the hotkey is away": Case(
        tables=RETURNED, rules={"epoch": 4}, weights={8: 0.5, 9: 0.5, 0: 0}, top=(0.4, 0, 0),
        named={"seat-changed-hands": ("7",)},
    ),
    # A is back with .6 of 1.4. Its return is no progress: τ = 13 - 0 - 10 = 3, B = 15 %.
    "the hotkey is back": Case(
        tables=RETURNED, rules={"epoch": 13}, top=(0.4, 3, 15),
        weights={7: 0.85 * 3 / 7, 8: 0.85 * 2 / 7, 9: 0.85 * 2 / 7, 0: 0.15},
        named={"seat-changed-hands": None},
    ),
    # The seat 7 is B's, who submitted nothing; A's .6 scores for 11.
    "the hotkey moved": Case(
        tables=MOVED, rules={"epoch": 3}, weights={11: 3 / 7, 8: 2 / 7, 9: 2 / 7, 0: 0},
        top=(0.6, 0, 0), named={"seat-changed-hands": ("7",)},
    ),
    # A and B change places again: 7 is A's as at first, 11 no more.
    "the hotkey moved back": Case(
        tables=ROUND, rules={"epoch": 6}, weights={7: 3 / 7, 8: 2 / 7, 9: 2 / 7, 0: 0},
        named={"seat-changed-hands": ("11",)},
    ),
    # The top falls to .45; d's .6 >= .459 improves in epoch 12; Σ = 1.5.
    "a departed top is dropped": Case(
        tables=TOP, rules={"epoch": 14}, top=(0.6, 0, 0), weights={8: 0.3, 9: 0.3, 10: 0.4, 0: 0},
        named={"carried-top": None},
    ),
    # .6 < .918: no improvement since epoch 0, τ = 4, B = 20 %.
    "a departed top is kept": Case(
        tables=TOP, rules={"epoch": 14, "top_of_departed": "keep"}, top=(0.9, 4, 20),
        weights={8: 0.24, 9: 0.24, 10: 0.32, 0: 0.2}, named={"carried-top": ("main",)},
    ),
    # Six epochs on τ = 10, B = 50 %; with drop τ = 20 - 12 - 10 = 0.
    "a kept top burns on": Case(
        tables=TOP, rules={"epoch": 20, "top_of_departed": "keep"}, top=(0.9, 10, 50),
        weights={8: 0.15, 9: 0.15, 10: 0.2, 0: 0.5},
    ),
    # .9 falls to .45 in epoch 3; its holder leaves too, so to .3. e's .32 >= .306; Σ = .92.
    "one top after another departs": Case(
        tables=CHAIN, rules={"epoch": 14}, top=(0.32, 0, 0),
        weights={9: 0.3 / 0.92, 10: 0.3 / 0.92, 11: 0.32 / 0.92, 0: 0},
    ),
    # A's 3/7 burns; the others get what they would with A.
    "a share without a seat burns": Case(
        tables=RETURNED, rules={"epoch": 4, "unregistered": "burn"},
        weights={8: 2 / 7, 9: 2 / 7, 0: 3 / 7},
    ),
    # v3 has no stake: two validators reported, three must.
    "no quorum without stake": Case(
        tables=THIRD_IDLE, weights={0: 1}, named={"zero-stake": ("v3",)}, sent={0: 65535}
    ),
    # v3 counts for the quorum, and nothing in the mean. Σ = 1.
    "a quorum with one of no stake": Case(
        tables=THIRD_IDLE, rules={"zero_stake_counts": True},
        weights={1: 0.4, 2: 0.3, 3: 0.3, 0: 0}, named={"zero-stake": ("v3",)},
    ),
    # Three of stake say .5. One miner: its cap is a half, the rest burns.
    "a crowd without stake is not heard": Case(
        tables=CROWD, weights={1: 0.5, 0: 0.5}, named={"zero-stake": ("z1", "z2", "z3", "z4")}
    ),
    # Median .9, MAD 0 taken as .01: z(.5) = -.6745 x .4 / .01 = -26.98. No stake is left: unscored.
    "a crowd without stake decides": Case(
        tables=CROWD, rules={"zero_stake_counts": True}, weights={0: 1}
    ),
    # Σ = 0: the competition's share burns.
    "all scores are 0": Case(
        tables=network({"a": (1, 0.0), "b": (2, 0.0)}), weights={1: 0, 2: 0, 0: 1}, sent={0: 65535}
    ),
    # τ = 11 - 10 = 1, B = min(1 x 1 x 100, 100) = 100 %.
    "all burns by decay": Case(
        tables=PLAIN, rules={"epoch": 11, "decay_rate": 1, "max_burn": 100}, top=(0.4, 1, 100),
        weights={1: 0, 2: 0, 3: 0, 0: 1}, sent={0: 65535},
    ),
    # a has two of three validators; .4 and .4 are left.
    "one validator below the quorum": Case(tables=QUORUM, weights={2: 0.5, 3: 0.5, 0: 0}),
    # .9, .4, .4: z(.9) = 33.7, so v1 is left out: .4 each. τ = 12 - 10 = 2, B = 10 %.
    "two validators stopped": Case(
        tables=STOPPED, top=(0.4, 2, 10), weights={1: 0.3, 2: 0.3, 3: 0.3, 0: 0.1},
        named={"stopped-validator": ("v2", "v3"), "partial-validator": None},
    ),
    # b has two reports, .4; Σ = 1.
    "a partial validator": Case(
        tables=PARTIAL, rules={"min_validators": 2}, weights={1: 0.4, 2: 0.4, 3: 0.2, 0: 0},
        named={"partial-validator": ("v3",)},
    ),
    # A had left when v3 came: v3 could not evaluate it.
    "a validator came after a miner left": Case(
        tables=LATE, rules={"epoch": 6}, weights={8: 0.5, 9: 0.5, 0: 0},
        named={"partial-validator": None},
    ),
    # s²: 1, 1, 1e-6; Σ = 2.000001. 3 is sent as round(65535 x 1e-6) = 0.
    "dust": Case(
        tables=network({"a": (1, 1.0), "b": (2, 1.0), "c": (3, 0.001)}),
        rules={"strategy": "quadratic"}, named={"dust": ("3",)},
        weights={1: 1 / 2.000001, 2: 1 / 2.000001, 3: 1e-6 / 2.000001, 0: 0},
        sent={1: 65535, 2: 65535},
    ),
    # s²: 1, 1, 9e-6. Of 65535 it is .29, so 0; sent it is round(65535 x 9e-6 = .59) = 1.
    "small and still sent": Case(
        tables=network({"a": (1, 1.0), "b": (2, 1.0), "c": (3, 0.003)}),
        rules={"strategy": "quadratic"}, named={"dust": None},
        weights={1: 1 / 2.000009, 2: 1 / 2.000009, 3: 9e-6 / 2.000009, 0: 0},
        sent={1: 65535, 2: 65535, 3: 1},
    ),
    # 9's own quarter burns; miners get .5 + .25 = .75, the limit is .375: 0 gives .125 to 3.
    "another uid burns, and submitted": Case(
        tables=OWNER, rules={"burn_uid": 9}, weights={0: 0.375, 3: 0.375, 9: 0.25},
        sent={0: 65535, 3: 65535, 9: 43690},
    ),
    # .4 above the limit: 6/10 and 4/10 of it to b and c.
    "the cap hands on": Case(tables=CAPPED, weights={1: 0.5, 2: 0.3, 3: 0.2, 0: 0}),
    "the cap burns": Case(
        tables=CAPPED, rules={"cap_excess": "burn"}, weights={1: 0.5, 2: 0.06, 3: 0.04, 0: 0.4}
    ),
    # The bare minimum of the source document: weights sum to .6.
    "the cap drops": Case(
        tables=CAPPED, rules={"cap_excess": "drop"}, weights={1: 0.5, 2: 0.06, 3: 0.04, 0: 0}
    ),
    # τ = 15 - 10 = 5, B = 25 %, beside weights that stay.
    "a burn beside the weights": Case(
        tables=PLAIN, rules={"epoch": 15, "burn_application": "added"}, top=(0.4, 5, 25),
        weights={1: 0.4, 2: 0.3, 3: 0.3, 0: 0.25}, sent={0: 40959, 1: 65535, 2: 49151, 3: 49151},
    ),
    # τ = 20, B = 80 %, and uid 1, which burns, earned .4: 1.2, of which there is 1.
    "a burn beside the weights is at most 1": Case(
        tables=PLAIN, rules={"epoch": 30, "burn_application": "added", "burn_uid": 1},
        top=(0.4, 20, 80), weights={1: 1.0, 2: 0.3, 3: 0.3}, sent={1: 65535, 2: 19660, 3: 19660},
    ),
}  # fmt: skip


def scored(case: Case) -> Result:
    """Score a case as the use case does."""
    return score("challenge", records_of(case.tables), overrides=case.rules)


@pytest.mark.sample(5)
@pytest.mark.parametrize("name", CASES)
def test_every_door_shows_the_figures_computed_by_hand(name: str) -> None:
    """The board, the history, the explanations and the payload say the same, and it is right."""
    case = CASES[name]
    result = scored(case)
    rows = {int(row["id"]): row for row in result.board("weights").rows()}
    assert {uid: row["weight"] for uid, row in rows.items()} == pytest.approx(
        case.weights, abs=1e-11
    )
    u16 = {uid: int(weight * 65535 + 0.5 + 1e-9) for uid, weight in case.weights.items()}
    assert {uid: row["u16"] for uid, row in rows.items()} == u16
    last = weigh_epochs(result)
    burning = case.rules.get("burn_uid", 0)
    history = {row["uid"]: row for row in last.rows(since=last.epochs[-1])}
    assert {uid: row["weight"] for uid, row in history.items()} == {
        uid: row["weight"] for uid, row in rows.items() if row["weight"] or uid == burning
    }
    assert {row["burn"] for row in history.values()} == {rows[burning]["weight"]}
    for uid, row in rows.items():
        explained = result.explain(str(uid), board="weights")
        assert explained.score == row["weight"]
        assert sum(part.points for part in explained.parts) == pytest.approx(row["weight"])
    largest = max(case.weights.values())
    scaled = {uid: round(weight / largest * 65535) for uid, weight in case.weights.items()}
    sent = payload_of(result)
    assert dict(zip(sent.uids, sent.weights, strict=True)) == (
        case.sent or {uid: weight for uid, weight in scaled.items() if weight}
    )
    if case.top is not None:
        (row,) = result.board("competitions").rows()
        assert (row["top"], row["stale"], row["burn_percent"]) == pytest.approx(case.top)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.named])
def test_the_checks_name_what_the_hand_figures_show(name: str) -> None:
    """A finding names the uids and validators of the table, and no others."""
    case = CASES[name]
    named: dict[str, tuple[str, ...]] = {}
    for one in find(records_of(case.tables), ChallengeRules().override(case.rules)):
        named[one.code] = named.get(one.code, ()) + one.subjects
    assert {code: named.get(code) for code in case.named} == case.named


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("registered", "message"),
    [
        ([(7, "A", 0), (8, "A", 4)], "two uids at the same time"),
        ([(7, "A", 0), (7, None, 4), (8, "A", 3)], "two uids at the same time"),
        ([(7, "A", 2), (7, "B", 2)], "more than one hotkey"),
    ],
)
def test_seats_that_overlap_are_rejected(
    registered: list[tuple[int, str | None, int]], message: str
) -> None:
    """Such records cannot say who is paid; an end in epoch 4 overlaps a start in epoch 3."""
    with pytest.raises(InvalidRecords, match=message):
        records_of(network(ONE, *registered, keys={"a": "A"}))


def test_who_alone_goes_on_is_not_accused() -> None:
    """Those who stopped are named first; v1's reports are outliers among old ones, by no fault."""
    found = find(records_of(CASES["two validators stopped"].tables), ChallengeRules())
    assert [(one.code, one.subjects[0]) for one in found][:2] == [
        ("stopped-validator", "v2"), ("stopped-validator", "v3"),
    ]  # fmt: skip
    assert [one.code for one in found if "v1" in one.subjects and one.severity != "info"] == []


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("name", "uid", "board", "said"),
    [
        ("small and still sent", "3", "weights", "and there it is above 0"),
        ("dust", "3", "weights", "so it is left out of what is sent"),
        ("the cap hands on", "1", "weights", "so 0.4 goes to those below it"),
        ("the cap burns", "1", "weights", "so 0.4 burns"),
        ("the cap drops", "1", "weights", "so 0.4 is dropped"),
        ("a burn beside the weights is at most 1", "1", "weights", "together 1.2, of which"),
        ("a crowd without stake is not heard", "1", "weights", "0.5 has nowhere to go and burns"),
    ],
)
def test_the_explanation_says_where_a_weight_went(
    name: str, uid: str, board: str, said: str
) -> None:
    """What is small, cut or burned is said as it is."""
    parts = scored(CASES[name]).explain(uid, board=board).parts
    assert any(said in part.text for part in parts), [part.text for part in parts]


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("window", "said"), [(None, "reports count on"), (5, "reports count no more")]
)
def test_old_reports_of_who_stopped_count_as_long_as_the_rule_says(
    window: int | None, said: str
) -> None:
    """With a window of 5 the reports of epoch 0 have ended by epoch 12."""
    rules = ChallengeRules().override({"evaluation_window": window})
    found = find(records_of(CASES["two validators stopped"].tables), rules)
    assert all(said in one.message for one in found if one.code == "stopped-validator")


def test_each_departure_of_a_top_is_a_part_of_its_explanation() -> None:
    """.9 is a's, then b's .45 is the top, then .3."""
    case = CASES["one top after another departs"]
    explained = scored(replace(case, rules={"epoch": 11})).explain("main", board="competitions")
    assert [part.points for part in explained.parts if part.points] == pytest.approx(
        [0.9, -0.45, -0.15]
    )
    texts = [part.text for part in explained.parts if part.name.startswith("departure")]
    assert ["of a held no uid" in texts[0], "of b held no uid" in texts[1]] == [True, True]
