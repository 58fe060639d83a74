"""Add the records that explanations and forecasts name as missing; the result is as they say."""

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, example, given, reject, settings
from hypothesis import strategies as st

from agon.disciplines.challenge.decay import improves, least_improvement
from agon.disciplines.challenge.integrity import find
from agon.disciplines.challenge.reasons import percents_apart
from agon.disciplines.challenge.rules import ChallengeRules
from agon.errors import NotScorable
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

NEW = 7_777
"""UID of a miner who is not in the records."""


def with_submission(tables: Tables, score: float, *, miner: int, like: int, epoch: int) -> Tables:
    """Return the tables with a submission to which every validator gives one score."""
    changed = deepcopy(tables)
    model = changed["submissions"][like]
    text = isinstance(model["id"], str)
    new = dict(model, id="new" if text else 10**6, miner_uid=miner, submitted_at="2027-01-01")
    new.pop("content_hash", None)
    changed["submissions"].append(new)
    for validator in {row["id"] for row in changed["validators"]}:
        changed.setdefault("evaluations", []).append(
            {"submission_id": new["id"], "validator_id": validator, "score": score, "epoch": epoch}
        )
    return changed


@settings(max_examples=size(100), deadline=None)
@given(
    top=st.floats(1e-9, 1) | st.integers(1, 1000).map(lambda n: n / 1000),
    threshold=st.sampled_from([0, 0.02, 0.05, 1 / 3]) | st.floats(0, 10),
    improvement=st.sampled_from(["relative", "absolute"]),
)
def test_the_least_improvement_improves_and_less_does_not(
    top: float, threshold: float, improvement: str
) -> None:
    """Whatever a sentence names is enough, at most 1, and a step less is not enough."""
    terms: Any = {"threshold": threshold, "improvement": improvement}
    least = least_improvement(top, **terms)
    if least is None:
        assert not improves(1.0, top, **terms)
        return
    assert least <= 1
    assert improves(least, top, **terms)
    assert not improves(least - 1.01e-6, top, **terms)


@pytest.mark.exhaustive
@settings(
    max_examples=size(30, at_least=3, dear=True),
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
@given(tables=networks(), rules=RULES, data=st.data())
def test_the_score_that_is_named_ends_the_burn(
    tables: Tables, rules: dict[str, Any], data: st.DataObject
) -> None:
    """For each competition with a top score, after many epochs, under any rules.

    A submission with that score, which every validator gives it, is an improvement, and nothing
    burns by decay; where no score is named, not even 1 is one.
    """
    late = {**rules, "epoch": 200, "min_stake_fraction": 0.0, "evaluation_window": None}
    late["min_validators"] = 1
    try:
        outcome = scored(tables, **late).outcome
    except NotScorable:  # no validator has a stake at that epoch
        reject()
    states = [state for state in outcome.allocation.states if state.top is not None]
    assume(states)
    at = data.draw(
        st.sampled_from(
            [at for at, state in enumerate(outcome.allocation.states) if state.top is not None]
        )
    )
    name = outcome.network.facts.competitions[at].id
    (decay,) = [
        part
        for part in scored(tables, **late).explain(name, board="competitions").parts
        if part.name == "decay"
    ]
    best = decay.step.get("best")
    like = data.draw(st.sampled_from(
        [n for n in range(len(tables["submissions"]))
         if int(outcome.submissions.competitions[_number(outcome, tables, n)]) == at]
    ))  # fmt: skip
    try_it = with_submission(tables, 1.0 if best is None else best, miner=NEW, like=like, epoch=200)
    after = scored(try_it, **late)
    state = after.outcome.allocation.states[at]
    assert (state.last_improvement == 200) == (best is not None), decay.missing
    if best is not None:
        assert after.outcome.allocation.burn_percents[at] == 0
        is_any = outcome.network.of_competition[at].improvement_by == "any"
        who = "a best" if is_any else "a new agent with a"
        assert decay.missing == f"{who} score of at least {_shown(best)} restarts the count"


def _number(outcome: Any, tables: Tables, row: int) -> int:
    return int(outcome.submissions.number[str(tables["submissions"][row]["id"])])


def _shown(value: float) -> str:
    return f"{value:.6f}".rstrip("0").rstrip(".")


@pytest.mark.sample(1)
@pytest.mark.parametrize("strategy", ["winner_takes_all", "ranked"])
@settings(max_examples=size(50, at_least=3, dear=True), deadline=None)
@given(scores=st.lists(st.floats(0, 1), min_size=2, max_size=5))
def test_the_score_that_is_named_gives_the_better_place(strategy: str, scores: list[float]) -> None:
    """Who gets what the sentence says passes the one it names, and is paid more."""
    tables = tables_of({f"s{n}": (n + 1, [score] * 3) for n, score in enumerate(scores)})
    result = scored(tables, strategy=strategy, weight_cap=1)
    assume(any(scores))
    for row in result.board("weights").rows():
        if row["id"] == "0":
            continue
        step = next(
            part for part in result.explain(row["id"], board="weights").parts
            if part.name == "strategy main"
        )  # fmt: skip
        if not step.step:
            continue
        changed = deepcopy(tables)
        for evaluation in changed["evaluations"]:
            if evaluation["submission_id"] == f"s{int(row['id']) - 1}":
                evaluation["score"] = step.step["score"]
        after = rows_of(scored(changed, strategy=strategy, weight_cap=1), "weights")
        assert after[row["id"]]["weight"] > row["weight"], step.missing


@pytest.mark.exhaustive
@settings(max_examples=size(50, at_least=3, dear=True), deadline=None)
@given(
    stakes=st.lists(st.integers(0, 1000), min_size=4, max_size=6),
    least=st.floats(0, 1),
)
@example(stakes=[0, 0, 0, 1], least=0.0)
def test_the_missing_stake_and_the_missing_validators_are_enough(
    stakes: list[int], least: float
) -> None:
    """Stake moved to those who evaluated, as much as is said, gives the score; so do reports."""
    assume(sum(stakes) > 0)
    held = {f"v{n + 1}": stake for n, stake in enumerate(stakes)}
    tables = tables_of({"a": (1, [0.5, 0.5])}, stakes=held)
    rules = {"min_validators": 2, "min_stake_fraction": least}
    part = scored(tables, **rules).explain("a", board="submissions").parts[1]
    if part.step:
        moved = part.step["percent"] / 100 * sum(stakes)
        others = sum(stakes[2:])
        changed = deepcopy(tables)
        for row in changed["validators"]:
            rest = max(others - moved, 0) / others if others else 0
            row["stake"] *= 1 if row["id"] in {"v1", "v2"} else rest
            row["stake"] += moved if row["id"] == "v1" else 0
        assert rows_of(scored(changed, **rules), "submissions")["a"], part.missing
    few = scored(tables, min_validators=4, min_stake_fraction=0)
    more = few.explain("a", board="submissions").parts[0].step["validators"]
    further = [f"v{n}" for n in range(3, 3 + more)]  # without stake they would not count
    held |= {name: max(held.get(name, 0), 1) for name in further}
    tables = tables_of({"a": (1, [0.5] * (2 + more))}, stakes=held)
    reported = scored(tables, min_validators=4, min_stake_fraction=0)
    assert reported.outcome.consensus.scored[0]


def test_a_percentage_is_never_shown_as_the_limit_it_misses() -> None:
    """'100 %; at least 100 % must' explains nothing."""
    held = {"v1": 10**7, "v2": 10**7, "v3": 10**7, "v4": 1}
    result = scored(tables_of({"a": (1, [0.5] * 3)}, stakes=held), min_stake_fraction=1)
    (unscored,) = result.board("submissions").unscored
    assert unscored.reason == (
        "99.999997 % of all stake stands behind the evaluations that count; at least 100 % must "
        "(min_stake_fraction)"
    )
    assert percents_apart(0.3, 0.30000000001) == ("30 %", "30.000000001 %")
    assert percents_apart(0.3, 0.3) == ("30 %", "30 %")


def test_a_top_score_that_cannot_be_improved_on_is_reported_and_explained() -> None:
    """Above 1 / 1.02 no score is 2 % more; the burn then grows whatever miners do."""
    result = scored(tables := tables_of({"a": (1, [0.99] * 3)}), epoch=30)
    decay = result.explain("main", board="competitions")
    assert decay.parts[-1].missing is None
    (note,) = decay.notes
    assert note == (
        "no score can improve on 0.99 any more: 1.0098 or more is needed (improvement_threshold = "
        "0.02, relative), and scores end at 1; the burn reaches its maximum of 80 % in epoch 26"
    )
    waterfall = {part.name: part for part in result.explain("1", board="weights").parts}
    assert waterfall["decay main"].missing is None
    (finding,) = find(records_of(tables), ChallengeRules())
    assert (finding.code, finding.subjects) == ("unimprovable-top", ("main",))
    assert finding.message.endswith("scores end at 1; 80 % burns from epoch 26 on")
    assert find(records_of(tables_of({"a": (1, [0.98] * 3)})), ChallengeRules()) == []


def test_pay_for_a_score_of_zero_is_reported_and_can_be_switched_off() -> None:
    """By the seed's formula ranked pays every rank; a rule leaves scores of 0 out."""
    tables = tables_of({"a": (1, [0.5] * 3), "b": (2, [0.0] * 3), "c": (3, [0.0] * 3)})
    ranked = scored(tables, strategy="ranked", weight_cap=1)
    assert [row["weight"] for row in ranked.board("weights").rows()[:3]] == pytest.approx(
        [3 / 6, 2 / 6, 1 / 6]
    )
    (finding,) = find(records_of(tables), ChallengeRules(strategy="ranked"))
    assert (finding.code, finding.subjects, finding.value) == (
        "paid-without-score", ("2", "3"), 0.5,
    )  # fmt: skip
    unpaid = {"strategy": "ranked", "ranked_zero": "unpaid"}
    assert rows_of(scored(tables, **unpaid, weight_cap=1), "weights")["1"]["weight"] == 1
    assert find(records_of(tables), ChallengeRules().override(unpaid)) == []
