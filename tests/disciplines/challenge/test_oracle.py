"""The challenge against its second implementation, on networks with all difficult features."""

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings

from agon.disciplines.challenge.boards import weights_board
from agon.disciplines.challenge.consensus import RunningConsensus
from agon.disciplines.challenge.facts import read_facts
from agon.disciplines.challenge.outcome import outcome_of
from agon.disciplines.challenge.rules import ChallengeRules
from agon.disciplines.challenge.scoring import ScoredChallenge
from agon.disciplines.challenge.weights import NetworkFacts, all_weights
from agon.errors import NotScorable
from disciplines.challenge.networks import (
    RULES,
    SEAT_RULES,
    Tables,
    networks,
    networks_with_seats,
    records_of,
    rows_of,
    scored,
)
from disciplines.challenge.oracle import Contest
from disciplines.challenge.oracle_seats import SeatedContest
from disciplines.challenge.single_epoch import consensus_at, stakes_at
from sizes import size

many = settings(
    max_examples=size(50),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def _compare_submissions(oracle: Contest, result: ScoredChallenge) -> None:
    rows = rows_of(result, "submissions")
    for name in oracle.submissions:
        wanted = oracle.score(name, oracle.epoch)
        assert (wanted is None) == (name not in rows)
        if wanted is not None:
            row = rows[name]
            assert row["score"] == pytest.approx(float(wanted), abs=1e-11)
            assert row["validators"] == len(oracle.reported(name, oracle.epoch))
            assert row["outliers"] == len(oracle.outliers(name, oracle.epoch))
            fraction = float(oracle.stake_fraction(name, oracle.epoch))
            assert row["stake_fraction"] == pytest.approx(fraction, abs=1e-11)


def _compare_competitions(oracle: Contest, result: ScoredChallenge) -> None:
    rows = rows_of(result, "competitions")
    for name, state in oracle.history.items():
        assert (state is None) == (name not in rows)
        if state is not None:
            assert rows[name]["top"] == pytest.approx(float(state[0]), abs=1e-11)
            assert rows[name]["last_improvement"] == state[1]
            burning = float(oracle.burn_percent(name))
            assert rows[name]["burn_percent"] == pytest.approx(burning, abs=1e-6)


def _compare_validators(oracle: Contest, result: ScoredChallenge) -> None:
    flagged: dict[str, int] = {}
    for name in oracle.submissions:
        if oracle.originals[name] == name:
            for validator in oracle.outliers(name, oracle.epoch):
                flagged[validator] = flagged.get(validator, 0) + 1
    for name, row in rows_of(result, "validators").items():
        assert row["flagged"] == flagged.get(name, 0)


@many
@given(networks(), RULES)
def test_every_board_is_the_oracles(tables: Tables, rules: dict[str, Any]) -> None:
    """Exact fractions and plain loops give the same scores, flags, states, weights and u16."""
    _compare(Contest(tables, **rules), tables, rules)


def test_an_added_burn_beside_what_uid_0_earns_is_no_more_than_all_there_is() -> None:
    """Uid 0 earns .2, another .8 has no agent, and 80 % of .2 burn besides: 1 instead of 1.16."""
    tables: Tables = {
        "submissions": [
            {"id": 1, "miner_uid": 0, "submitted_at": "2026-01-01T00:00:00", "competition": "c"}
        ],
        "evaluations": [{"submission_id": 1, "validator_id": 0, "score": 0.8, "epoch": 1}],
        "validators": [{"id": 0, "stake": 3}],
        "competitions": [
            {"id": "main", "emission_share": 0.8},
            {"id": "c", "emission_share": 0.2},
        ],
    }
    rules = {"min_validators": 1, "burn_application": "added", "epoch": 30}
    _compare(Contest(tables, **rules), tables, rules)


@many
@given(networks_with_seats(), RULES, SEAT_RULES)
def test_every_board_of_a_network_with_seats_is_the_oracles(
    tables: Tables, rules: dict[str, Any], of_seats: dict[str, Any]
) -> None:
    """Hotkeys leave, come back and move: who scores for which uid, and what a top falls to."""
    chosen = {"epoch": 7, **rules, **of_seats}
    _compare(SeatedContest(tables, **chosen), tables, chosen)


def _compare(oracle: Contest, tables: Tables, rules: dict[str, Any]) -> None:
    if not sum(oracle.stakes_at(oracle.epoch).values()):
        with pytest.raises(NotScorable, match="total stake"):
            scored(tables, **rules)
        return
    result = scored(tables, **rules)
    weights, integers = oracle.weights(), oracle.u16()
    board = rows_of(result, "weights")
    assert {int(uid) for uid in board} == set(weights)
    for uid, row in board.items():
        assert row["weight"] == pytest.approx(float(weights[int(uid)]), abs=1e-11)
        assert row["u16"] == integers[int(uid)]
    _compare_submissions(oracle, result)
    _compare_competitions(oracle, result)
    _compare_validators(oracle, result)


@many
@given(networks(), RULES)
def test_every_epoch_has_the_numbers_of_computing_it_alone(
    tables: Tables, rules: dict[str, Any]
) -> None:
    """Computing again only what changed gives every number of computing all, to the last bit."""
    facts = read_facts(records_of(tables))
    network = NetworkFacts.of(facts, ChallengeRules().override(rules))
    running = RunningConsensus(facts, network.eligibility)
    for scores in running.advance(until=40):
        alone = consensus_at(facts, network.eligibility, scores.epoch)
        snapshot = running.snapshot()
        assert scores.scores.tolist() == snapshot.scores.tolist() == [one.score for one in alone]
        assert scores.scored.tolist() == snapshot.scored.tolist()
        assert snapshot.status.tolist() == [one.status for one in alone]
        assert snapshot.stake_fractions.tolist() == [one.stake_fraction for one in alone]
        assert snapshot.flagged.tolist() == [one.flagged for one in alone]
        assert snapshot.included.tolist() == [one.included for one in alone]
        reports = snapshot.reports
        assert reports.epoch == scores.epoch
        assert reports.values.tolist() == [one.values for one in alone]
        assert reports.since.tolist() == [one.since for one in alone]
        assert reports.counted.tolist() == [one.counted for one in alone]
        stakes = stakes_at(facts, scores.epoch)
        assert {
            at: reports.stakes[at].item() for at in np.flatnonzero(reports.registered).tolist()
        } == stakes
        assert scores.counted.tolist() == [alone[at].counted for at in scores.rows.tolist()]


@many
@given(networks(), RULES)
def test_all_epochs_at_once_equal_each_epoch_alone(tables: Tables, rules: dict[str, Any]) -> None:
    """The weights of a complete history are those of scoring every epoch by itself."""
    facts = read_facts(records_of(tables))
    assume(len(facts.epochs))
    history = all_weights(facts, ChallengeRules().override(rules))
    assert history.epochs.tolist() == list(range(int(facts.epochs[0]), facts.last_epoch + 1))
    for row, epoch in list(enumerate(history.epochs.tolist()))[:7]:
        try:
            outcome = outcome_of(facts, ChallengeRules().override({**rules, "epoch": epoch}))
        except NotScorable:
            assert history.burn[row] == 1
            continue
        board = {one["id"]: one for one in weights_board(outcome).rows()}
        assert board["0"]["weight"] == pytest.approx(history.burn[row], abs=1e-11)
        assert board["0"]["u16"] == history.u16()[row, 0]
        for at, uid in enumerate(history.uids.tolist()):
            weight = board[str(uid)]["weight"] if str(uid) in board else 0
            assert weight == pytest.approx(history.weights[row, at], abs=1e-11)
