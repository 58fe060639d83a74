"""Spread pairing: games, opponents and sides are even, whatever the ratings and owners."""

import random
import time
from collections import Counter
from datetime import UTC, datetime

import pytest

from agon.disciplines.arena.records import SCHEMA
from agon.disciplines.arena.rounds.matchmaking import Entrant, Pairings
from agon.disciplines.arena.rounds.pairing import pair_by_rules
from agon.disciplines.arena.rounds.round import entrants_of
from agon.disciplines.arena.rounds.spread import (
    MEMORY,
    History,
    PastRound,
    histories_of,
    pair_spread,
)
from agon.disciplines.arena.rules import ArenaRules
from agon.disciplines.arena.scoring import score
from agon.records import read_rows
from disciplines.arena.arenas import Tables, match
from sizes import size

WITHIN = 200


def play(
    bots: list[Entrant], rounds: int, *, dice: random.Random, presence: float = 1
) -> list[tuple[list[Entrant], dict[str, History], Pairings]]:
    """Play rounds with ratings that move; some bots miss some rounds. Return what each was."""
    histories: dict[str, History] = {}
    played = []
    for _ in range(rounds):
        bots = [
            Entrant(bot.id, bot.rating + dice.choice([-16, 0, 16]), bot.owner_id) for bot in bots
        ]
        always = len(bots) // 2
        present = [bot for at, bot in enumerate(bots) if at < always or dice.random() < presence]
        made = pair_spread(dice.sample(present, len(present)), histories=histories, within=WITHIN)
        played.append((present, histories, made))
        past = PastRound([(one.chooser, one.opponent) for one in made.pairings], made.waiting)
        histories = histories_of([past], since=histories)
    return played


def requires_rematch(bot: str, bots: dict[str, Entrant], histories: dict[str, History]) -> bool:
    """Return whether all bots of other owners in range were met recently, by comparing all."""
    me = bots[bot]
    recent = histories.get(bot, History()).opponents[:MEMORY]
    return all(
        other.id in recent or bot in histories.get(other.id, History()).opponents[:MEMORY]
        for other in bots.values()
        if other.id != bot
        and not other.shares_owner_with(me)
        and abs(other.rating - me.rating) <= WITHIN
    )


FIELDS = [
    (30, 300.0, 1.0),
    (31, 300.0, 1.0),
    (60, 150.0, 0.7),
    (100, 400.0, 0.9),
    (13, 50.0, 1.0),
]  # fmt: skip


@pytest.mark.sample(2)
@pytest.mark.parametrize(("count", "deviation", "presence"), FIELDS)
def test_games_opponents_and_sides_are_spread(
    count: int, deviation: float, presence: float
) -> None:
    """Games equal within 1, streaks of at most 3, no avoidable rematch, no wait twice in a row."""
    for seed in range(size(20, at_least=2)):
        dice = random.Random(f"{count} {seed}")
        bots = [Entrant(f"b{n}", dice.gauss(1000, deviation), f"o{n}") for n in range(count)]
        played = play(bots, 40, dice=dice, presence=presence)
        for present, histories, made in played:
            known = {bot.id: bot for bot in present}
            everyone = [name for one in made.pairings for name in (one.chooser, one.opponent)]
            assert sorted([*everyone, *made.waiting]) == sorted(known)
            assert len(made.waiting) == len(present) % 2
            for bot in made.waiting:
                assert histories.get(bot, History()).waited == 0
                del known[bot]
            for one in made.pairings:
                assert one.distance == abs(known[one.chooser].rating - known[one.opponent].rating)
                if one.opponent in histories.get(one.chooser, History()).opponents[:MEMORY]:
                    assert requires_rematch(one.chooser, known, histories)
                    assert requires_rematch(one.opponent, known, histories)
        final = histories_of(
            PastRound([(one.chooser, one.opponent) for one in made.pairings], made.waiting)
            for _, _, made in played
        )
        always = [final[bot.id].played for bot in bots[: count // 2]]
        assert max(always) - min(always) <= 1
        assert max(_streaks(played)) <= 3


def _streaks(played: list[tuple[list[Entrant], dict[str, History], Pairings]]) -> list[int]:
    """Return the streaks that occurred."""
    return [past.streak for _, histories, _ in played for past in histories.values()]


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 6, 7, 8])
def test_small_fields_play_on(count: int) -> None:
    """With few bots rematches are needed; all but the odd one play, and sides still change."""
    dice = random.Random(count)
    played = play([Entrant(f"b{n}", 1000) for n in range(count)], 30, dice=dice)
    for _, histories, made in played:
        assert len(made.waiting) == count % 2
        for bot in made.waiting:
            assert histories.get(bot, History()).waited == 0 or count == 1
    assert max(_streaks(played)) <= 3


def test_a_new_bot_plays_in_the_next_round() -> None:
    """Also when the field is odd and all others have waited before."""
    dice = random.Random(1)
    bots = [Entrant(f"b{n}", 1000 + n) for n in range(8)]
    *_, (_, histories, _) = play(bots, 30, dice=dice)
    made = pair_spread([*bots, Entrant("new", 1000)], histories=histories, within=WITHIN)
    assert len(made.waiting) == 1
    assert "new" not in made.waiting


@pytest.mark.parametrize(("one_owner", "others"), [(6, 6), (9, 4), (5, 8), (3, 0), (40, 41)])
def test_bots_of_one_owner_never_meet_and_as_few_as_possible_wait(
    one_owner: int, others: int
) -> None:
    """Only the surplus of an owner with more than half of the field waits, in turns."""
    dice = random.Random(one_owner)
    bots = [
        *(Entrant(f"x{n}", 900 + n, "x") for n in range(one_owner)),
        *(Entrant(f"y{n}", 1000 + 10 * n, f"o{n}") for n in range(others)),
    ]
    owner = {bot.id: bot.owner_id for bot in bots}
    waits: Counter[str] = Counter()
    for present, _, made in play(bots, 20, dice=dice):
        assert all(owner[one.chooser] != owner[one.opponent] for one in made.pairings)
        assert len(made.waiting) == max(2 * one_owner - len(present), len(present) % 2)
        waits.update(made.waiting)
    if 2 * one_owner > len(bots):
        assert set(waits) == {bot.id for bot in bots[:one_owner]}
        assert max(waits.values()) - min(waits.values()) <= 1


def test_mixed_owners_never_meet_their_own() -> None:
    """Random owners of random sizes, whose bots stand anywhere in the order."""
    for seed in range(size(150)):
        dice = random.Random(seed)
        owners = [None, *(f"o{n}" for n in range(dice.randrange(1, 6)))]
        bots = [
            Entrant(f"b{n}", dice.choice([1000, dice.gauss(1000, 300)]), dice.choice(owners))
            for n in range(dice.randrange(60))
        ]
        known = {bot.id: bot for bot in bots}
        sizes = Counter(bot.owner_id for bot in bots if bot.owner_id is not None)
        largest = max(sizes.values(), default=0)
        for _, _, made in play(bots, 4, dice=dice):
            assert not any(
                known[one.chooser].shares_owner_with(known[one.opponent]) for one in made.pairings
            )
            assert len(made.waiting) == max(2 * largest - len(bots), len(bots) % 2)


def test_the_order_of_the_bots_does_not_matter() -> None:
    """A draw is repeated from the ledger, where rows may stand in another order."""
    dice = random.Random(3)
    bots = [Entrant(f"b{n}", dice.choice([1000, 1100]), f"o{n % 9}") for n in range(41)]
    *_, (_, histories, _) = play(bots, 6, dice=dice)
    first = pair_spread(bots, histories=histories, within=WITHIN)
    assert first == pair_spread(bots[::-1], histories=histories, within=WITHIN)


def test_pairs_are_near() -> None:
    """Spreading opponents keeps them close: the mean distance is that of a few ranks."""
    dice = random.Random(4)
    bots = [Entrant(f"b{n}", 500 + 10 * n, f"o{n}") for n in range(100)]
    *_, (_, _, made) = play(bots, 30, dice=dice)
    assert sum(one.distance for one in made.pairings) / len(made.pairings) < 80


def test_a_hundred_thousand_bots_with_a_past_are_paired_in_time() -> None:
    """Measured 2 s of processor time for 100,000 bots; a quadratic search takes an hour."""
    count = size(100_000) // 2
    dice = random.Random(5)
    bots = [Entrant(str(n), dice.gauss(1000, 200), f"o{n}") for n in range(count)]
    start = time.process_time()
    played = play(bots, 2, dice=dice)
    assert time.process_time() - start < 40
    assert all(len(made.pairings) == count // 2 for _, _, made in played)


def test_the_rule_pairing_spreads_a_planned_round() -> None:
    """Two neighbors that met in the round before do not meet again."""
    tables: Tables = {
        "bots": [
            {"id": name, "name": name, "qualified_at": datetime(2026, 1, 1, tzinfo=UTC)}
            for name in "wxyz"
        ],
        "matches": [match(1, "w", "x", winner="tie"), match(2, "y", "z", winner="tie")],
        "votes": [],
    }
    met = {}
    for pairing in ("nearest", "spread"):
        scored = score(read_rows(SCHEMA, tables), ArenaRules(pairing=pairing))
        paired = pair_by_rules(
            entrants_of(scored, "wxyz"),
            histories=histories_of([PastRound([("w", "x"), ("y", "z")])]),
            rules=scored.rules,
        )
        met[pairing] = {frozenset((one.chooser, one.opponent)) for one in paired.pairings}
    assert met["nearest"] == {frozenset("wx"), frozenset("yz")}
    assert not met["spread"] & met["nearest"]


@pytest.mark.parametrize("pairing", ["nearest", "spread"])
def test_bots_that_wait_together_are_of_one_owner(pairing: str) -> None:
    """No bot waits while an opponent of another owner waits too, whatever the ratings."""
    rules = ArenaRules().override({"pairing": pairing})
    for seed in range(60):
        dice = random.Random(seed)
        owners = dice.randint(1, 6)
        bots = [
            Entrant(f"b{n}", dice.randint(0, 3000), f"o{min(dice.randrange(owners) for _ in 'ab')}")
            for n in range(dice.randint(1, 25))
        ]
        owner = {bot.id: bot.owner_id for bot in bots}
        made = pair_by_rules(bots, histories={}, rules=rules)
        assert len(made.waiting) + 2 * len(made.pairings) == len(bots)
        assert len({owner[bot] for bot in made.waiting}) <= 1
