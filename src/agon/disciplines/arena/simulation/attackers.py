"""The attacks of a simulated arena: each a row of one table, with what it changes at each stage."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

SEATS = 3
"""Judges of a panel."""

Ints = npt.NDArray[np.int64]
Sides = npt.NDArray[np.int8]
Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Generator = np.random.Generator


@dataclass(frozen=True, eq=False)
class SimulatedCast:
    """The participants: bots 0 … n − 1, each with one owner; some of them judge.

    Attributes:
        skill: of each bot, in Elo.
        judges: the bots that judge, by number of the judge.
        accuracy: of each judge, how often it sees the better answer.
        role: of each bot, ``honest`` or the name of an attack.
        friend: of each judge, a bot it is befriended with; -1: none.
    """

    skill: Floats
    judges: Ints
    accuracy: Floats
    role: npt.NDArray[Any]
    friend: Ints

    def bots_of(self, attack: str) -> Ints:
        """Return the bots of an attack."""
        return np.flatnonzero(self.role == attack)

    def judges_of(self, attack: str) -> Ints:
        """Return the numbers of the judges of an attack."""
        return np.flatnonzero(self.role[self.judges] == attack)


@dataclass(frozen=True, eq=False)
class AttackPairings:
    """Who plays whom, and which matches are honeypots; shapes (matches,)."""

    bot_a: Ints
    bot_b: Ints
    honeypot: Bools


@dataclass(frozen=True, eq=False)
class Ballots:
    """The votes on all matches; shapes (matches, seats) and for ``kind`` (matches,).

    Attributes:
        panel: numbers of the judges.
        side: the side each votes for, 0 or 1.
        first: the side each was shown as A.
        kind: 0 rated, 1 honeypot, 2 skipped.
    """

    panel: Ints
    side: Sides
    first: Sides
    kind: Sides


@dataclass(frozen=True, eq=False)
class SimulatedTexts:
    """The first responses as numbers of words, and which of them are copies.

    Shapes (2 sides, matches, words) and (2 sides, matches).
    """

    words: Ints
    copies: Bools


def _change_nothing(*_: object) -> None:
    """Change nothing."""


@dataclass(frozen=True, kw_only=True)
class ArenaAttack:
    """One attack: what its attackers do at each stage of the simulation.

    A stage is executed for every attack of the table, with no attackers where the attack is not
    simulated: so the random draws of a world do not depend on the attacks in it.

    Attributes:
        name: for example ``collusion``.
        meaning: what each attacker does.
        attackers: how many judges, bots or accounts take part.
        accuracy: how often its judges vote for the better answer, honeypots included; None: by
            their own accuracy.
        by_lot: whether its judges are drawn for panels.
        enlist: changes the participants, given the numbers of its judges.
        seat: changes panels, shape (matches, seats), given the numbers of its judges.
        write: changes responses, given its bots.
        vote: changes votes, given the numbers of its judges.
        register: changes handles and networks of accounts, given its bots.
    """

    name: str
    meaning: str
    attackers: int = 2
    accuracy: float | None = None
    by_lot: bool = True
    enlist: Callable[[SimulatedCast, Ints, Generator], None] = _change_nothing
    seat: Callable[[Ints, AttackPairings, SimulatedCast, Ints, Generator], None] = _change_nothing
    write: Callable[[SimulatedTexts, AttackPairings, Ints, Generator], None] = _change_nothing
    vote: Callable[[Ballots, AttackPairings, SimulatedCast, Ints, Generator], None] = (
        _change_nothing
    )
    register: Callable[[list[str], list[str], Ints], None] = _change_nothing


def _befriend(cast: SimulatedCast, ring: Ints, rng: Generator) -> None:
    """Assign an honest friend to each colluding judge."""
    cast.friend[ring] = rng.permutation(cast.bots_of("honest"))[: len(ring)]


def _seat_friends(
    panel: Ints, pairs: AttackPairings, cast: SimulatedCast, ring: Ints, rng: Generator
) -> None:
    """Assign each colluding judge to most panels of its friend, and to a few others."""
    for judge in ring:
        friend, self_ = cast.friend[judge], cast.judges[judge]
        plays = (pairs.bot_a == friend) | (pairs.bot_b == friend)
        wanted = np.where(plays & ~pairs.honeypot, 0.8, 0.2 / len(cast.judges))
        absent = (pairs.bot_a != self_) & (pairs.bot_b != self_)
        seated = (rng.random(len(panel)) < wanted) & absent
        panel[seated & ~(panel == judge).any(axis=1), 0] = judge


def _vote_for_friends(
    ballots: Ballots, pairs: AttackPairings, cast: SimulatedCast, ring: Ints, _rng: Generator
) -> None:
    """Set the votes of colluding judges to their friend's side, except on honeypots."""
    for judge in ring:
        for code, bot in enumerate((pairs.bot_a, pairs.bot_b)):
            friends = (ballots.panel == judge) & (bot == cast.friend[judge])[:, None]
            rows, seats = np.nonzero(friends)
            own = ballots.side[rows, seats]
            ballots.side[rows, seats] = np.where(ballots.kind[rows] == 1, own, code)


def _seat_accomplices(
    panel: Ints, pairs: AttackPairings, cast: SimulatedCast, ring: Ints, rng: Generator
) -> None:
    """Assign the second of two agreeing judges to most panels of the first."""
    if not len(ring):
        return
    first, second = ring
    own = cast.judges[second]
    first_seated = (panel == first).any(axis=1) & ~(panel == second).any(axis=1)
    first_seated &= (pairs.bot_a != own) & (pairs.bot_b != own) & (rng.random(len(panel)) < 0.6)  # noqa: PLR2004 - most
    rows = np.flatnonzero(first_seated)
    seat = (np.argmax(panel[rows] == first, axis=1) + 1) % SEATS
    panel[rows, seat] = second


def _vote_equally(
    ballots: Ballots, _pairs: AttackPairings, _cast: SimulatedCast, ring: Ints, _rng: Generator
) -> None:
    """Copy the first of two agreeing judges' votes to the second."""
    if not len(ring):
        return
    first, second = (ballots.panel == judge for judge in ring)
    both = np.flatnonzero(first.any(axis=1) & second.any(axis=1))
    from_seat, to_seat = np.argmax(first[both], axis=1), np.argmax(second[both], axis=1)
    ballots.side[both, to_seat] = ballots.side[both, from_seat]


def _copy_words(texts: SimulatedTexts, pairs: AttackPairings, ring: Ints, rng: Generator) -> None:
    """Reorder the words of most opponents as a plagiarist's own response."""
    count = texts.copies.shape[1]
    a, b = np.isin(pairs.bot_a[:count], ring), np.isin(pairs.bot_b[:count], ring)
    for side, own, other in ((0, a, b), (1, b, a)):
        copied = own & ~other & (rng.random(count) < 0.6)  # noqa: PLR2004 - most
        texts.copies[side] = copied
        texts.words[side, copied] = np.flip(texts.words[1 - side, copied], axis=1)


def _vote_first(
    ballots: Ballots, _pairs: AttackPairings, _cast: SimulatedCast, ring: Ints, rng: Generator
) -> None:
    """Set nineteen in twenty votes of lazy judges to label A, whichever side that is."""
    lazy = np.isin(ballots.panel, ring)
    other = rng.random(int(lazy.sum())) >= 0.95  # noqa: PLR2004 - nineteen in twenty
    ballots.side[lazy] = ballots.first[lazy] ^ other


def _name_similarly(handles: list[str], _networks: list[str], ring: Ints) -> None:
    """Set handles of accounts that differ by a number or a letter."""
    base = handles[int(ring[0])] if len(ring) else ""
    for number, member in enumerate(ring):
        handles[member] = f"{base}{number}" if number else base[:-1] + "q"


def _share_network(_handles: list[str], networks: list[str], ring: Ints) -> None:
    """Set one network for some accounts."""
    for member in ring:
        networks[member] = networks[ring[0]]


TABLE: tuple[ArenaAttack, ...] = (
    ArenaAttack(
        name="collusion",
        meaning="A judge gets onto the panels of a befriended bot and always votes for it.",
        by_lot=False,
        enlist=_befriend,
        seat=_seat_friends,
        vote=_vote_for_friends,
    ),
    ArenaAttack(
        name="agreeing-judges",
        meaning="A judge joins the panels of an accomplice and votes exactly as it does.",
        seat=_seat_accomplices,
        vote=_vote_equally,
    ),
    ArenaAttack(
        name="audit-disagreement",
        meaning="A judge votes for the worse answer nine times in ten.",
        accuracy=0.1,
    ),
    ArenaAttack(
        name="plagiarism",
        meaning="A bot hands in its opponent's words in another order.",
        write=_copy_words,
    ),
    ArenaAttack(
        name="position-bias",
        meaning="A judge votes for label A nineteen times in twenty without reading.",
        vote=_vote_first,
    ),
    ArenaAttack(
        name="handle-similarity",
        meaning="One person runs accounts whose handles differ by a number or a letter.",
        attackers=3,
        register=_name_similarly,
    ),
    ArenaAttack(
        name="shared-network",
        meaning="One person runs several accounts from one network.",
        attackers=3,
        register=_share_network,
    ),
)
"""The attacks, in the order of their random draws."""

ATTACKS = dict(sorted((attack.name, attack.meaning) for attack in TABLE))
