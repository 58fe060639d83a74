"""What settled rounds show of bots: waits, rematches, sides, faults and their surprise."""

from typing import Any

import pytest

from agon.disciplines.arena.rounds.reliability import (
    LATEST,
    BotReliability,
    RoundRecord,
    forfeit_findings,
    reliability_of,
)


def played(
    number: int, *pairs: tuple[str, str], late: tuple[str, ...] = (), owner: str = "bot",
    waiting: tuple[str, ...] = (), outcome: str = "void",
) -> RoundRecord:  # fmt: skip
    """Return a round of pairs, in which some bots gave no answer."""
    matches, outcomes = [], []
    for place, (a, b) in enumerate(pairs):
        name = f"r{number}-{place}"
        faults: list[dict[str, Any]] = [
            {"side": side, "bot": bot, "owner": owner, "code": "late", "detail": ""}
            for side, bot in (("a", a), ("b", b))
            if bot in late
        ]
        matches.append({"match": name, "bot_a": a, "bot_b": b})
        outcomes.append(
            {"match": name, "outcome": outcome if faults else "rated", "faults": faults}
        )
    made = {"result": {"matches": matches}}
    settled = {"round": f"r{number}", "outcome": {"matches": outcomes, "waiting": list(waiting)}}
    return RoundRecord.of(made, settled)


def of(bot: str, *rounds: RoundRecord) -> BotReliability:
    """Return what rounds show of one bot."""
    return next(each for each in reliability_of(rounds) if each.bot == bot)


def test_waits_rematches_and_streaks_are_counted() -> None:
    """A rematch is one within five rounds, waits included."""
    rounds = [
        played(1, ("x", "y"), waiting=("z",)),
        played(2, ("x", "y"), waiting=("z",)),
        played(3, ("x", "z"), waiting=("y",)),
        played(4, ("z", "x"), waiting=("y",)),
    ]
    x, y, z = (of(bot, *rounds) for bot in "xyz")
    assert (x.games, x.rematches, x.longest_streak, x.longest_wait) == (4, 2, 3, 0)
    assert (y.games, y.waited, y.longest_wait, y.rematches) == (2, 2, 2, 1)
    assert (z.games, z.longest_streak, z.waited) == (2, 1, 2)


def test_faults_have_owners_and_ours_are_no_forfeits() -> None:
    """A match that plays again is no game; a fault of the arena counts against no bot."""
    rounds = [
        played(1, ("x", "y"), late=("x",)),
        played(2, ("x", "y"), late=("x", "y"), owner="transport", outcome="loss"),
        played(3, ("x", "y"), late=("x",), owner="ours", outcome="again"),
    ]
    x, y = of("x", *rounds), of("y", *rounds)
    assert dict(x.faults) == {"bot": 1, "transport": 1, "ours": 1}
    assert (x.games, x.forfeits, y.forfeits, x.codes["late"]) == (2, 2, 1, 3)


@pytest.mark.parametrize(
    ("before", "latest", "surprising"),
    [(0, 6, True), (50, 10, False), (0, 0, False), (100, 20, False)],
)
def test_forfeits_are_compared_with_the_bots_own_record(
    before: int, latest: int, *, surprising: bool
) -> None:
    """A bot that always failed half of its matches is not reported for it."""
    rounds = [played(n, ("x", "y"), late=("x",) if n < before else ()) for n in range(100)]
    rounds += [
        played(100 + n, ("x", "y"), late=("x",) if n < latest else ()) for n in range(LATEST)
    ]
    x = of("x", *rounds)
    assert (x.latest_forfeits, x.forfeits) == (latest, before + latest)
    assert (x.probability < 0.001) is surprising


def test_a_new_bot_is_not_surprising_at_once() -> None:
    """One forfeit in its first match has probability one half."""
    assert of("x", played(1, ("x", "y"), late=("x",))).probability == 0.5


def test_only_forfeits_that_the_own_record_does_not_explain_are_a_warning() -> None:
    """X suddenly fails, y always failed half of its matches, z never fails."""
    rounds = []
    for n in range(80):
        late = [*("x" if n >= 70 else ""), *("y" if n % 2 else "")]
        rounds += [played(n, ("x", "z"), ("y", "z"), late=tuple(late))]
    reported = list(forfeit_findings(reliability_of(rounds), surprise=0.001))
    assert [(each.subjects, str(each.severity), each.value) for each in reported] == [
        (("x",), "warning", 10), (("y",), "info", 10)
    ]  # fmt: skip
    x, y = reported
    assert (x.expected, y.expected) == (round(20 / 62, 6), 10)
    assert x.probability is not None
    assert x.probability < 0.001
    assert "10 of 80 in all; its faults by code: late 10" in x.message
