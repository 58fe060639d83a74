"""Simulate an arena: honest bots and judges, and one attack for every finding.

Rounds every two hours pair bots of similar skill; three judges vote on each match, see through it
with individual accuracy, and one match in ten is audited. Judges stay on panels at any
credibility, so that an attack leaves all its votes in the records.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from agon.disciplines.arena.simulation.attackers import (
    ATTACKS,
    SEATS,
    TABLE,
    AttackPairings,
    Ballots,
    Bools,
    Ints,
    Sides,
    SimulatedCast,
    SimulatedTexts,
)
from agon.disciplines.arena.simulation.population import SYLLABLES
from agon.disciplines.capabilities import Simulation
from agon.kernel.attacks import require_known
from agon.kernel.progress import stages

__all__ = ["ATTACKS", "simulate"]

_START = np.datetime64("2026-01-01T00:00:00", "us")
_ROUND = np.timedelta64(2, "h")
_RESPONSES = 20_000  # number of first matches with the text of their responses


def simulate(*, size: int, seed: int, attacks: Sequence[str]) -> Simulation:
    """Return a simulation of ``size`` matches from one seed, with the named attacks.

    Raises:
        NotFound: the attack does not exist; the message suggests one.
    """
    require_known(attacks, ATTACKS)
    rng = np.random.default_rng(seed)
    cast = _cast(size, set(attacks), rng)
    bot_a, bot_b, played = _pairings(size, cast.skill, rng)
    gap = cast.skill[bot_b] - cast.skill[bot_a]
    better = (rng.random(size) > 1 / (1 + 10 ** (gap / 400))).astype(np.int8)
    pairs = AttackPairings(bot_a, bot_b, rng.random(size) < 0.05)  # noqa: PLR2004 - the source document's probability
    with stages("drawing", total=4) as advance:
        panel = _panels(pairs, cast, rng)
        advance()
        responses, copied = _responses(pairs, cast, rng)
        advance()
        skipped = copied & ~pairs.honeypot & (rng.random(size) < 0.3)  # noqa: PLR2004 - most copies slip by
        kind = np.where(pairs.honeypot, 1, np.where(skipped, 2, 0)).astype(np.int8)
        drawn = _DrawnMatches(np.arange(1, size + 1), played, pairs, kind, better)
        matches = _matches(drawn, responses, rng)
        advance()
        votes = _votes(drawn, panel, cast, rng)
    owners, bots = _accounts(cast, rng)
    tables = {"owners": owners, "bots": bots, "matches": matches, "votes": votes}
    return Simulation(tables, _truth(cast, drawn.ids, better))


@dataclass(frozen=True)
class _DrawnMatches:
    """Matches as arrays.

    Attributes:
        ids: their ids.
        played: their times.
        pairs: who meets.
        kind: 0: rated, 1: a honeypot, 2: skipped.
        better: the better side; of a honeypot the real one.
    """

    ids: Ints
    played: Any
    pairs: AttackPairings
    kind: Sides
    better: Sides


def _cast(size: int, attacks: set[str], rng: np.random.Generator) -> SimulatedCast:
    bots = int(np.clip(size // 40, 24, 2000))
    judges = np.sort(rng.permutation(bots)[: int(np.clip(size // 60, 18, min(400, bots - 4)))])
    role = np.full(bots, "honest", dtype=object)
    casting = rng.permutation(judges)
    first = 0
    for attack in sorted(TABLE, key=lambda attack: attack.name):
        if attack.name in attacks:
            role[casting[first : first + attack.attackers]] = attack.name
            first += attack.attackers
    accuracy = rng.beta(32, 8, len(judges))
    cast = SimulatedCast(np.empty(bots), judges, accuracy, role, friend=np.full(len(judges), -1))
    for attack in TABLE:
        ring = cast.judges_of(attack.name)
        attack.enlist(cast, ring, rng)
        if attack.accuracy is not None:
            accuracy[ring] = attack.accuracy
    cast.skill[:] = rng.normal(1000, 150, bots)
    return cast


def _pairings(
    size: int, skill: npt.NDArray[np.float64], rng: np.random.Generator
) -> tuple[Ints, Ints, Any]:
    """Pair neighbors in skill plus noise, round after round."""
    pairs = len(skill) // 2
    rounds = -(-size // pairs)
    noisy = skill.astype(np.float32) + rng.normal(0, 80, (rounds, len(skill))).astype(np.float32)
    order = np.argsort(noisy, axis=1)[:, : 2 * pairs]
    left, right = order[:, 0::2].ravel()[:size], order[:, 1::2].ravel()[:size]
    swap = rng.random(size) < 0.5  # noqa: PLR2004 - even odds
    played = _START + np.repeat(np.arange(rounds), pairs)[:size] * _ROUND.astype("m8[us]")
    return np.where(swap, right, left), np.where(swap, left, right), played


def draw_panels(
    pool: Ints, judges: Ints, bot_a: Ints, bot_b: Ints, rng: np.random.Generator
) -> Ints:
    """Return three different judges of a pool for each match, none of whom plays in it.

    Args:
        pool: numbers of the judges that may be drawn.
        judges: the bot of each judge, by number.
        bot_a: the bot of side a of each match.
        bot_b: that of side b.
        rng: the draws.
    """
    panel = pool[rng.integers(0, len(pool), (len(bot_a), SEATS))]
    redo = np.arange(len(panel))
    while len(redo):
        seats = panel[redo]
        bots = judges[seats]
        clash = (bots == bot_a[redo, None]) | (bots == bot_b[redo, None])
        twice = (seats == np.roll(seats, 1, axis=1)).any(axis=1)
        redo = redo[clash.any(axis=1) | twice]
        panel[redo] = pool[rng.integers(0, len(pool), (len(redo), SEATS))]
    return panel


def _panels(pairs: AttackPairings, cast: SimulatedCast, rng: np.random.Generator) -> Ints:
    """Seat three different judges per match, none of whom plays in it."""
    uninvited = [attack.name for attack in TABLE if not attack.by_lot]
    pool = np.flatnonzero(~np.isin(cast.role[cast.judges], uninvited))
    panel = draw_panels(pool, cast.judges, pairs.bot_a, pairs.bot_b, rng)
    for attack in TABLE:
        attack.seat(panel, pairs, cast, cast.judges_of(attack.name), rng)
    return panel


def _responses(
    pairs: AttackPairings, cast: SimulatedCast, rng: np.random.Generator
) -> tuple[tuple[list[str], list[str]], Bools]:
    """Return the first responses, of random words, and which matches have a copied one."""
    count = min(len(pairs.bot_a), _RESPONSES)
    letters = np.array(SYLLABLES)
    vocabulary = ["".join(word) for word in letters[rng.integers(0, len(letters), (3000, 3))]]
    words = rng.integers(0, len(vocabulary), (2, count, 14))
    texts = SimulatedTexts(words, copies=np.zeros((2, count), dtype=bool))
    for attack in TABLE:
        attack.write(texts, pairs, cast.bots_of(attack.name), rng)
    written = tuple(
        [" ".join(vocabulary[word] for word in text).capitalize() + "." for text in side]
        for side in words.tolist()
    )
    copied = np.zeros(len(pairs.bot_a), dtype=bool)
    copied[:count] = texts.copies.any(axis=0)
    return (written[0], written[1]), copied


def _matches(
    drawn: _DrawnMatches, responses: tuple[list[str], list[str]], rng: np.random.Generator
) -> pa.Table:
    kind, better, pairs = drawn.kind, drawn.better, drawn.pairs
    size = len(drawn.ids)
    # On a honeypot the side that is not real has a robotic text.
    honeypot, rated = kind == 1, kind == 0
    audited = rated & (rng.random(size) < 0.1)  # noqa: PLR2004 - the source document's probability
    verdict = np.where(rng.random(size) < 0.95, better, 1 - better)  # noqa: PLR2004 - nearly right
    rest = [None] * (size - len(responses[0]))
    robotic = "As an AI assistant, I am designed to help with your inquiry."
    texts = [
        pa.array(
            [
                robotic if pot and real != side else text
                for text, pot, real in zip(
                    responses[side],
                    honeypot[: len(responses[side])].tolist(),
                    better[: len(responses[side])].tolist(),
                    strict=True,
                )
            ]
            + rest,
            pa.string(),
        )
        for side in (0, 1)
    ]
    return pa.table(
        {
            "id": drawn.ids,
            "played_at": pa.array(drawn.played),
            "bot_a": pa.array(pairs.bot_a + 1, mask=honeypot & (better == 1)),
            "bot_b": pa.array(pairs.bot_b + 1, mask=honeypot & (better == 0)),
            "prompt_id": rng.integers(1, 501, size),
            "response_a": texts[0],
            "response_b": texts[1],
            "kind": _texts(["rated", "honeypot", "skipped"], kind),
            "honeypot_real": _texts(["a", "b"], better, keep=honeypot),
            "audit_verdict": _texts(["a", "b"], verdict, keep=audited),
        }
    )


def _votes(
    drawn: _DrawnMatches, panel: Ints, cast: SimulatedCast, rng: np.random.Generator
) -> pa.Table:
    kind, shape = drawn.kind, panel.shape
    accuracy = np.where((kind == 1)[:, None], 0.98, cast.accuracy[panel])
    for attack in TABLE:
        if attack.accuracy is not None:
            accuracy[np.isin(panel, cast.judges_of(attack.name))] = attack.accuracy
    errs = rng.random(shape, dtype=np.float32) >= accuracy
    del accuracy
    side = drawn.better[:, None] ^ errs
    first = rng.integers(0, 2, shape, dtype=np.int8)
    ballots = Ballots(panel, side, first, kind)
    for attack in TABLE:
        attack.vote(ballots, drawn.pairs, cast, cast.judges_of(attack.name), rng)
    votes = np.flatnonzero(np.repeat(kind != 2, SEATS))  # noqa: PLR2004 - skipped: no votes
    match = votes // SEATS
    minutes = rng.integers(1, 30, len(votes)).astype("m8[m]").astype("m8[us]")
    return pa.table(
        {
            "match_id": drawn.ids[match],
            "judge_id": cast.judges[panel.ravel()[votes]] + 1,
            "shown_first": _texts(["a", "b"], first.ravel()[votes]),
            "vote": _texts(["A", "B"], (first ^ side).ravel()[votes]),
            "voted_at": pa.array(drawn.played[match] + minutes),
        }
    )


def _accounts(cast: SimulatedCast, rng: np.random.Generator) -> tuple[pa.Table, pa.Table]:
    """Return an owner for every bot, with a handle and a keyed network; rings share theirs."""
    count = len(cast.skill)
    letters = np.array(SYLLABLES)
    handles = ["".join(part) for part in letters[rng.integers(0, len(letters), (count, 6))]]
    networks = [f"{number:016x}" for number in rng.integers(0, 2**63, count)]
    for attack in TABLE:
        attack.register(handles, networks, cast.bots_of(attack.name))
    ids = np.arange(1, count + 1)
    age = rng.integers(30, 400, count).astype("m8[D]").astype("m8[us]")
    owners = pa.table(
        {
            "id": ids,
            "handle": handles,
            "account_created_at": pa.array(_START - age),
            "ip": networks,
        }
    )
    judging = np.zeros(count, dtype=bool)
    judging[cast.judges] = True
    qualified = np.full(count, _START - np.timedelta64(1, "D").astype("m8[us]"))
    bots = pa.table(
        {
            "id": ids,
            "owner_id": ids,
            "name": [f"bot {number}" for number in ids.tolist()],
            "qualified_at": pa.array(qualified),
            "is_judge": judging,
        }
    )
    return owners, bots


def _truth(cast: SimulatedCast, ids: Ints, better: Sides) -> dict[str, pa.Table]:
    numbers = np.arange(1, len(cast.skill) + 1)
    accuracy = np.zeros(len(numbers))
    accuracy[cast.judges] = cast.accuracy
    judging = np.zeros(len(numbers), dtype=bool)
    judging[cast.judges] = True
    people = {
        "id": numbers,
        "role": pa.array(cast.role.tolist()),
        "skill": cast.skill,
        "accuracy": pa.array(accuracy, mask=~judging),
    }
    return {
        "people": pa.table(people),
        "matches": pa.table({"id": ids, "better": _texts(["a", "b"], better)}),
    }


def _texts(values: list[str], codes: Any, *, keep: Bools | None = None) -> pa.Array:
    """Return codes as texts, empty where the mask is false."""
    mask = None if keep is None else ~keep
    return pa.array(values).take(pa.array(codes.astype(np.int8), mask=mask))
