"""Matchmaking: the pairing of the spec page, and a naive reading of it as second opinion."""

import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agon.disciplines.arena.rounds.matchmaking import Entrant, Pairing, pair
from disciplines.arena.oracle import id_key
from sizes import size


def pairs(*bots: Entrant, within: float = 200, descending: bool = False) -> list[tuple[str, str]]:
    """Pair bots and keep who meets whom."""
    made = pair(bots, within=within, descending=descending).pairings
    return [(one.chooser, one.opponent) for one in made]


def test_each_takes_the_nearest_above() -> None:
    """The lowest rating chooses first."""
    bots = [Entrant("c", 1180), Entrant("a", 1000), Entrant("d", 1900), Entrant("b", 1150)]
    assert pairs(*bots) == [("a", "b"), ("c", "d")]


def test_equal_ratings_and_distances_go_to_the_lower_id() -> None:
    """Ids compare as on boards: 2 before 10."""
    assert pairs(Entrant("10", 1000), Entrant("2", 1000), Entrant("9", 1000)) == [("2", "9")]
    assert pairs(Entrant("a", 1000), Entrant("c", 1100), Entrant("b", 1100)) == [("a", "b")]


@pytest.mark.parametrize(("rating", "in_range"), [(1200, True), (1200.01, False)])
def test_the_range_is_inclusive_and_with_none_in_it_the_nearest_is_taken(
    rating: float,
    in_range: bool,  # noqa: FBT001 - a parameter of the table
) -> None:
    """±200 counts 200 itself; beyond it a match is made all the same, and marked."""
    made = pair([Entrant("a", 1000), Entrant("b", rating), Entrant("c", 5000)], within=200)
    assert [(one.opponent, one.in_range) for one in made.pairings] == [("b", in_range)]
    assert made.waiting == ("c",)


def test_bots_of_one_owner_never_meet() -> None:
    """Not even when no other bot is left: then one waits."""
    one, two = Entrant("a", 1000, "ada"), Entrant("b", 1001, "ada")
    assert pairs(one, two, Entrant("c", 1900, "bob")) == [("a", "c")]
    alone = pair([one, two], within=200)
    assert (alone.pairings, alone.waiting) == ((), ("a", "b"))


def test_bots_without_an_owner_are_unrelated() -> None:
    """Imported bots have no owner; that does not make them one person's."""
    assert pairs(Entrant("a", 1000), Entrant("b", 1000)) == [("a", "b")]


def test_an_odd_bot_waits() -> None:
    """Three bots make one match."""
    made = pair([Entrant(name, 1000) for name in "abc"], within=200)
    assert (len(made.pairings), made.waiting) == (1, ("c",))


def test_the_highest_may_choose_first() -> None:
    """The order is a rule; it decides who is left over."""
    bots = [Entrant("a", 1000), Entrant("b", 1100), Entrant("c", 1200)]
    assert pairs(*bots) == [("a", "b")]
    assert pairs(*bots, descending=True) == [("c", "b")]


entrants = st.lists(
    st.tuples(st.integers(1, 12), st.sampled_from([1000, 1100, 1150, 1500]),
              st.sampled_from([None, "ada", "bob"])),
    unique_by=lambda one: one[0],
)  # fmt: skip


@settings(max_examples=size(100), deadline=None)
@given(entrants, st.booleans(), st.randoms(use_true_random=False))
def test_pairing_equals_the_page_read_word_by_word(
    given_: list[tuple[int, int, str | None]],
    descending: bool,  # noqa: FBT001 - Hypothesis gives arguments by name
    dice: object,
) -> None:
    """Each in order compares all unmatched others: in range first, nearest, lower id."""
    bots = [Entrant(str(name), rating, owner) for name, rating, owner in given_]
    free = sorted(bots, key=lambda bot: ((-1 if descending else 1) * bot.rating, id_key(bot.id)))
    expected = []
    waiting = []
    while free:
        first = free[0]
        others = [bot for bot in free[1:] if bot.owner_id is None or bot.owner_id != first.owner_id]
        if not others:
            waiting.append(first.id)
            free.remove(first)
            continue
        near = [bot for bot in others if abs(bot.rating - first.rating) <= 100]
        best = min(near or others, key=lambda bot: (abs(bot.rating - first.rating), id_key(bot.id)))
        expected.append((first.id, best.id))
        free.remove(first)
        free.remove(best)
    dice.shuffle(bots)  # type: ignore[attr-defined]  # Hypothesis gives a random.Random
    made = pair(bots, within=100, descending=descending)
    assert [(one.chooser, one.opponent) for one in made.pairings] == expected
    assert list(made.waiting) == waiting


def pair_by_scanning(bots: list[Entrant], *, descending: bool) -> tuple[list[Pairing], list[str]]:
    """Pair as the page says, in quadratic time: remove the first, scan for its opponent."""
    sign = -1 if descending else 1
    free = sorted(bots, key=lambda bot: (sign * bot.rating, id_key(bot.id)))
    pairings, waiting = [], []
    while free:
        chooser = free.pop(0)
        at = next((i for i, bot in enumerate(free) if not chooser.shares_owner_with(bot)), None)
        if at is None:
            waiting.append(chooser.id)
            continue
        opponent = free.pop(at)
        distance = abs(chooser.rating - opponent.rating)
        pairings.append(Pairing(chooser.id, opponent.id, distance, distance <= 200))
    return pairings, waiting


@pytest.mark.parametrize("owners", [1, 2, 3, 40, 500])
@pytest.mark.parametrize("descending", [False, True])
def test_long_runs_of_one_owner_are_paired_as_by_scanning(owners: int, *, descending: bool) -> None:
    """Runs of one owner's bots are skipped, split and joined; the result is that of a scan."""
    dice = random.Random(owners)
    for _ in range(size(40)):
        bots = [
            Entrant(str(n), dice.choice([1000, 1100, dice.gauss(1200, 200)]),
                    dice.choice([None, *(f"o{min(dice.randrange(owners), 7)}" for _ in range(9))]))
            for n in range(dice.randrange(150))
        ]  # fmt: skip
        made = pair(bots, within=200, descending=descending)
        assert (list(made.pairings), list(made.waiting)) == pair_by_scanning(
            bots, descending=descending
        )


@pytest.mark.exhaustive
def test_a_hundred_thousand_bots_are_paired_in_linear_steps() -> None:
    """Half of them of one owner, at the low end: each of those scanned all others of its owner.

    Measured 0.5 s of processor time, by scanning minutes; the limit is far from both.
    """
    owner = {n: "o" if n < 50_000 else f"o{n}" for n in range(100_000)}
    bots = [Entrant(str(n), 1000 + (n >= 50_000) * 500, owner[n]) for n in owner]
    start = time.process_time()
    made = pair(bots, within=200)
    assert time.process_time() - start < 10
    assert len(made.pairings) == 50_000
