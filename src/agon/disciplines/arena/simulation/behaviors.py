"""Draw the votes of honest judges and of one with a known behavior, to measure checks.

Honest judges see the better answer with individual accuracies drawn from Beta(32, 8), as in
:mod:`~agon.disciplines.arena.simulate`; the better answer is drawn by the bots' strengths.
"""

from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from agon.disciplines.arena.facts import HONEYPOT, RATED, Facts
from agon.disciplines.arena.formulas import NONE, Codes, Ints, Vector
from agon.disciplines.arena.simulation.arrays import MatchArrays, facts_of_arrays

Behavior = Literal[
    "honest", "coin flip", "always wrong", "honest, then wrong", "always for one bot", "specialist"
]
"""How the judge under test votes.

``always for one bot`` votes on matches of a bot of middle strength only; ``specialist`` is honest
and votes on matches of the strongest one only. Dishonest judges recognize every honeypot.
"""

SUBJECT: Final = 0
"""The number of the judge under test."""

_SEATS: Final = 3
_HONEYPOT: Final = 0.98  # how often an honest judge passes one, as in the simulation
_AUDIT: Final = 0.95  # how often an audit sees the better answer, as in the simulation
_SPREAD: Final = 150  # standard deviation of strengths, as in the simulation
_NOISE: Final = 80  # of the ratings by which bots are paired, as in the simulation


def draw_votes(  # noqa: PLR0913 (one parameter for each number of a world)
    behavior: Behavior,
    *,
    votes: int,
    ring: int = 1,
    bots: int = 20,
    judges: int = 30,
    saved: int = 0,
    honeypots: float = 0,
    audits: float = 0,
    seed: int,
) -> Facts:
    """Return an arena in which one judge has cast so many votes.

    Every other judge is honest and casts about 150 votes, or more where the matches need them.

    Args:
        behavior: of the judge under test, number :data:`SUBJECT`.
        votes: its votes.
        ring: number of judges that behave so for one bot, each with so many votes.
        bots: number of bots.
        judges: number of judges, with the one under test.
        saved: number of its first votes that are honest, if it is ``honest, then wrong``.
        honeypots: share of matches that are honeypots.
        audits: share of rated matches that are audited.
        seed: of all draws.

    Example:
        >>> facts = draw_votes("coin flip", votes=40, seed=1)
        >>> len(facts.judges), int((facts.votes.judge == SUBJECT).sum())
        (30, 40)
    """
    rng = np.random.default_rng(seed)
    strength = np.sort(rng.normal(1000, _SPREAD, bots))
    focus = {"always for one bot": bots // 2, "specialist": bots - 1}.get(behavior)
    matches = max(50 * judges, ring * votes * (1 if focus is None else bots))
    bot_a, bot_b = _pairs(matches, strength, rng)
    gap = strength[bot_b] - strength[bot_a]
    better = (rng.random(matches) > 1 / (1 + 10 ** (gap / 400))).astype(np.int8)
    seen = (bot_a == focus) | (bot_b == focus) | (focus is None)
    panel, own = _seat_judges(np.flatnonzero(seen), rng, votes, (matches, judges), ring=ring)
    kind = np.where(rng.random(matches) < honeypots, HONEYPOT, RATED).astype(np.int8)
    accuracy = rng.beta(32, 8, judges)[panel]
    accuracy[kind == HONEYPOT] = _HONEYPOT
    _behave(behavior, accuracy, own, dishonest=own[saved:], kind=kind)
    # A vote is the better side, turned over where the judge errs.
    side = better[:, None] ^ (rng.random(panel.shape) >= accuracy)
    if behavior == "always for one bot":
        side[own, 0] = np.where(kind[own] == RATED, bot_b[own] == focus, better[own])
    audit = _audits(better, kind, rng, share=audits)
    match = np.repeat(np.arange(matches), _SEATS)
    real = np.where(kind == HONEYPOT, better, NONE).astype(np.int8)
    winner = np.full(matches, NONE, dtype=np.int8)
    first = (match % 2).astype(np.int8)
    sides = side.astype(np.int8).ravel()
    arrays = MatchArrays(
        bot_a, bot_b, kind, real, audit, winner, match, panel.ravel(), sides, first
    )
    return facts_of_arrays(arrays, bots=bots, judges=judges)


def _seat_judges(
    seen: Ints, rng: np.random.Generator, votes: int, shape: tuple[int, int], *, ring: int
) -> tuple[Ints, Ints]:
    """Return the panel of each match, and the matches that the judges under test vote on.

    Args:
        seen: the matches that they may vote on.
        rng: source of the draws.
        votes: the number of votes of each.
        shape: the number of matches, and of judges.
        ring: the number of judges under test, who have the first numbers.
    """
    matches, judges = shape
    # The first three of a random order of honest judges sit on each panel.
    panel = ring + np.argsort(rng.random((matches, judges - ring)), axis=1)[:, :_SEATS]
    # The judges under test take the first seat of the matches that they vote on.
    own = np.sort(rng.permutation(seen)[: ring * votes])
    panel[own, 0] = SUBJECT + np.arange(len(own)) % ring
    return panel, own


def _audits(better: Codes, kind: Codes, rng: np.random.Generator, *, share: float) -> Codes:
    """Return the verdict of each audited match, drawn among the rated ones."""
    audited = (rng.random(len(better)) < share) & (kind == RATED)
    verdict = better ^ (rng.random(len(better)) >= _AUDIT)
    return np.where(audited, verdict, NONE).astype(np.int8)


def _behave(
    behavior: Behavior,
    accuracy: npt.NDArray[np.float64],
    own: Ints,
    *,
    dishonest: Ints,
    kind: Codes,
) -> None:
    """Set how often the judge under test sees the better answer."""
    chance = {"coin flip": 0.5, "always wrong": 0.0, "honest, then wrong": 0.0}.get(behavior)
    if chance is None:
        return
    places = dishonest if behavior == "honest, then wrong" else own
    accuracy[places, 0] = np.where(kind[places] == HONEYPOT, 1.0, chance)


def _pairs(matches: int, strength: Vector, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Pair neighbors in strength plus noise, round after round."""
    rounds = -(-matches // (len(strength) // 2))
    noisy = strength + rng.normal(0, _NOISE, (rounds, len(strength)))
    order = np.argsort(noisy, axis=1)[:, : len(strength) // 2 * 2]
    pairs = order.reshape(-1, 2)[:matches]
    swap = rng.random(matches) < 0.5  # noqa: PLR2004 - even odds
    return np.where(swap, pairs[:, 1], pairs[:, 0]), np.where(swap, pairs[:, 0], pairs[:, 1])
