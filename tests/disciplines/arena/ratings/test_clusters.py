"""Clustered intervals of the Bradley–Terry board: which matches depend on one another."""

from typing import Any

import numpy as np
import pytest

import agon
from agon.disciplines.arena.facts import facts_of
from agon.disciplines.arena.records import SCHEMA
from agon.disciplines.arena.rules import ArenaRules
from agon.disciplines.arena.scoring import LargeArena, ScoredArena
from agon.errors import NotScorable
from agon.kernel.boards import Board
from agon.records import Records, read_rows

PAIRS = [("p", "q"), ("q", "r"), ("r", "p")]


def verdicts(*, judges: int, questions: int) -> Records:
    """Return questions each of which has the same verdict by every judge."""
    dice = np.random.default_rng(3)
    matches = []
    for question in range(questions):
        a, b = PAIRS[question % 3]
        winner = str(dice.choice(["a", "b"], p=[0.6, 0.4]))
        matches += [
            {"id": f"{question}-{judge}", "played_at": None, "bot_a": a, "bot_b": b,
             "kind": "rated", "winner": winner, "prompt_id": f"q{question}"}
            for judge in range(judges)
        ]  # fmt: skip
    bots = [{"id": name, "name": name, "owner_id": None} for name in "pqr"]
    return read_rows(SCHEMA, {"bots": bots, "matches": matches})


def board(*, judges: int, questions: int = 120, **rules: Any) -> Board:
    """Return the board of such questions."""
    records = verdicts(judges=judges, questions=questions)
    return agon.score("arena", records, overrides=rules).board("bradley-terry")


def width(made: Board) -> float:
    """Return the width of the interval of one bot."""
    row = made.row("p")
    return float(row["high"] - row["low"])


@pytest.mark.sample(1)
@pytest.mark.parametrize("interval", ["sandwich", "bootstrap"])
def test_three_annotators_who_repeat_each_other_count_as_one(interval: str) -> None:
    """Questions repeat, so they are clusters without being asked for."""
    one, three, independent = (
        board(judges=judges, interval=interval, cluster=cluster)
        for judges, cluster in ((1, "auto"), (3, "auto"), (3, "none"))
    )
    assert width(three) == pytest.approx(width(one), rel=0.01 if interval == "sandwich" else 0.15)
    assert width(independent) == pytest.approx(width(one) / 3**0.5, rel=0.15)
    assert "clusters" not in one.context
    assert three.context["clusters"] == {"by": "prompt", "groups": [120]}
    [note] = three.context["notes"]
    assert "clustered by prompt (120): intervals are 1.7" in note


def test_few_clusters_are_said_and_not_chosen_by_themselves() -> None:
    """Ten questions are too few for their covariance, whoever asks for it."""
    assert "clusters" not in board(judges=12, questions=9).context
    made = board(judges=12, questions=9, cluster="prompt")
    assert "fewer than 20 clusters" in made.context["notes"][1]


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"cluster": "judge"}, "no match has a value in the column 'judge'"),
        ({"cluster": "prompt", "questions": 1}, "one value in the column 'prompt_id'"),
    ],
)
def test_a_column_that_makes_no_clusters_is_an_error(rules: dict[str, Any], message: str) -> None:
    """A wish that is silently dropped would be a wrong interval."""
    with pytest.raises(NotScorable, match=message):
        board(judges=2, bradley_terry_regularisation=1, **rules)


def test_judges_of_imported_battles_are_clusters() -> None:
    """By judge or, with the prompts, by both."""
    dice = np.random.default_rng(9)
    rows = [
        {
            "model_a": a,
            "model_b": b,
            "winner": "a" if (judge + n) % 3 else "b",
            "judge": f"j{judge}",
        }
        for judge in range(25)
        for n, (a, b) in enumerate(PAIRS * 2)
        if dice.random() < 0.9
    ]
    made = agon.rate(rows, method="bradley-terry", interval=True, overrides={"cluster": "judge"})
    assert made.board.context["clusters"] == {"by": "judge", "groups": [25]}
    assert any("clustered by judge" in note for note in made.notes)


def test_matches_that_are_read_batch_by_batch_are_clustered_alike() -> None:
    """A board is the same however its matches are read."""
    records = verdicts(judges=3, questions=60)
    large, memory = (
        arena.board("bradley-terry")
        for arena in (
            LargeArena(records, ArenaRules()),
            ScoredArena(facts_of(records), ArenaRules()),
        )
    )
    assert large.context["clusters"] == {"by": "prompt", "groups": [60]}
    assert large.sha256 == memory.sha256


def test_a_board_says_where_the_width_of_the_model_holds() -> None:
    """A tie leaves no residual, so that many of them would make intervals narrow."""
    rows = [
        {"model_a": a, "model_b": b, "winner": winner}
        for a, b in PAIRS
        for winner in ("a", "b", "tie", "tie")
    ]
    tied, decided, tie = (
        agon.rate(some, method="bradley-terry", interval=True).board.context["notes"]
        for some in (rows, [row for row in rows if row["winner"] != "tie"], rows[2:3])
    )
    [note] = tied
    assert note == (
        "no interval is narrower than the model's own: these are 1.41 times as wide as by the "
        "sandwich alone (50 % of matches are ties)"
    )
    assert decided == []
    assert "these are above 0, the width by the sandwich alone (100 % of matches" in tie[0]
