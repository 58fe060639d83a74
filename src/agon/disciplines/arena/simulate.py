"""Simulate an arena: honest bots and judges, and one attack for every finding.

Rounds every two hours pair bots of similar skill; three judges vote on each match, see through it
with individual accuracy, and one match in ten is audited. Judges stay on panels whatever their
credibility, so that an attack leaves all its votes in the records.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from agon.disciplines.definition import Simulation
from agon.errors import NotFound, did_you_mean

ATTACKS = {
    "agreeing-judges": "A judge joins the panels of an accomplice and votes exactly as it does.",
    "audit-disagreement": "A judge votes for the worse answer nine times in ten.",
    "collusion": "A judge gets onto the panels of a befriended bot and always votes for it.",
    "handle-similarity": "One person runs accounts whose handles differ by a number or a letter.",
    "plagiarism": "A bot hands in its opponent's words in another order.",
    "position-bias": "A judge votes for label A nineteen times in twenty without reading.",
    "shared-network": "One person runs several accounts from one network.",
}

_START = np.datetime64("2026-01-01T00:00:00", "us")
_ROUND = np.timedelta64(2, "h")
_SEATS = 3
_ATTACKERS = 2  # judges, bots or accounts per attack; three accounts make a ring
_RING = 3
_RESPONSES = 20_000  # number of first matches with the text of their responses
_SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class _Cast:
    """The participants: bots 0 … n − 1, each with one owner; some of them judge."""

    skill: npt.NDArray[np.float64]
    judges: Ints
    accuracy: npt.NDArray[np.float64]
    role: npt.NDArray[Any]
    friend: Ints

    def judging(self, role: str) -> Ints:
        """Number the judges of a role."""
        return np.flatnonzero(self.role[self.judges] == role)


def simulate(*, size: int, seed: int, attacks: Sequence[str]) -> Simulation:
    """Return a simulation of ``size`` matches from one seed, with the named attacks.

    Raises:
        NotFound: the attack does not exist; the message suggests one.
    """
    for name in attacks:
        if name not in ATTACKS:
            raise NotFound(f"there is no attack {name!r}: {did_you_mean(name, ATTACKS)}")
    rng = np.random.default_rng(seed)
    cast = _cast(size, set(attacks), rng)
    bot_a, bot_b, played = _pairings(size, cast.skill, rng)
    gap = cast.skill[bot_b] - cast.skill[bot_a]
    better = (rng.random(size) > 1 / (1 + 10 ** (gap / 400))).astype(np.int8)
    honeypot = rng.random(size) < 0.05  # noqa: PLR2004 - the seed's probability
    panel = _panels(bot_a, bot_b, honeypot, cast, rng)
    responses, copied = _responses(bot_a, bot_b, cast, rng)
    skipped = copied & ~honeypot & (rng.random(size) < 0.3)  # noqa: PLR2004 - most copies slip by
    kind = np.where(honeypot, 1, np.where(skipped, 2, 0)).astype(np.int8)
    ids = np.arange(1, size + 1)
    matches = _matches(ids, played, bot_a, bot_b, kind, better, responses, rng)
    votes = _votes(ids, played, panel, kind, better, (bot_a, bot_b), cast, rng)
    owners, bots = _accounts(cast, rng)
    tables = {"owners": owners, "bots": bots, "matches": matches, "votes": votes}
    return Simulation(tables, _truth(cast, ids, better))


def _cast(size: int, attacks: set[str], rng: np.random.Generator) -> _Cast:
    bots = int(np.clip(size // 40, 24, 2000))
    judges = np.sort(rng.permutation(bots)[: int(np.clip(size // 60, 18, min(400, bots - 4)))])
    role = np.full(bots, "honest", dtype=object)
    casting = rng.permutation(judges)
    taken = 0
    for attack in sorted(attacks):
        ring = _RING if attack in {"shared-network", "handle-similarity"} else _ATTACKERS
        role[casting[taken : taken + ring]] = attack
        taken += ring
    accuracy = rng.beta(32, 8, len(judges))
    accuracy[role[judges] == "audit-disagreement"] = 0.1
    friend = np.full(len(judges), -1)
    honest = np.flatnonzero(role == "honest")
    colluding = np.flatnonzero(role[judges] == "collusion")
    friend[colluding] = rng.permutation(honest)[: len(colluding)]
    return _Cast(rng.normal(1000, 150, bots), judges, accuracy, role, friend)


def _pairings(
    size: int, skill: npt.NDArray[np.float64], rng: np.random.Generator
) -> tuple[Ints, Ints, Any]:
    """Pair neighbours in skill plus noise, round after round."""
    pairs = len(skill) // 2
    rounds = -(-size // pairs)
    noisy = skill.astype(np.float32) + rng.normal(0, 80, (rounds, len(skill))).astype(np.float32)
    order = np.argsort(noisy, axis=1)[:, : 2 * pairs]
    one, other = order[:, 0::2].ravel()[:size], order[:, 1::2].ravel()[:size]
    swap = rng.random(size) < 0.5  # noqa: PLR2004 - even odds
    played = _START + np.repeat(np.arange(rounds), pairs)[:size] * _ROUND.astype("m8[us]")
    return np.where(swap, other, one), np.where(swap, one, other), played


def _panels(
    bot_a: Ints, bot_b: Ints, honeypot: Bools, cast: _Cast, rng: np.random.Generator
) -> Ints:
    """Seat three different judges per match, none of whom plays in it."""
    pool = np.flatnonzero(~np.isin(cast.role[cast.judges], ["collusion"]))
    panel = pool[rng.integers(0, len(pool), (len(bot_a), _SEATS))]
    redo = np.arange(len(bot_a))
    while len(redo):
        seats = panel[redo]
        bots = cast.judges[seats]
        clash = (bots == bot_a[redo, None]) | (bots == bot_b[redo, None])
        twice = (seats == np.roll(seats, 1, axis=1)).any(axis=1)
        redo = redo[clash.any(axis=1) | twice]
        panel[redo] = pool[rng.integers(0, len(pool), (len(redo), _SEATS))]
    _seat_friends(panel, bot_a, bot_b, honeypot, cast, rng)
    _seat_accomplices(panel, bot_a, bot_b, cast, rng)
    return panel


def _seat_friends(
    panel: Ints, bot_a: Ints, bot_b: Ints, honeypot: Bools, cast: _Cast, rng: np.random.Generator
) -> None:
    """Assign each colluding judge to most panels of its friend, and to a few others."""
    for judge in cast.judging("collusion"):
        friend, self_ = cast.friend[judge], cast.judges[judge]
        plays = (bot_a == friend) | (bot_b == friend)
        wanted = np.where(plays & ~honeypot, 0.8, 0.2 / len(cast.judges))
        seated = (rng.random(len(panel)) < wanted) & (bot_a != self_) & (bot_b != self_)
        panel[seated & ~(panel == judge).any(axis=1), 0] = judge


def _seat_accomplices(
    panel: Ints, bot_a: Ints, bot_b: Ints, cast: _Cast, rng: np.random.Generator
) -> None:
    """Assign the second of two agreeing judges to most panels of the first."""
    ring = cast.judging("agreeing-judges")
    if len(ring) < _ATTACKERS:
        return
    first, second = ring[:2]
    own = cast.judges[second]
    beside = (panel == first).any(axis=1) & ~(panel == second).any(axis=1)
    beside &= (bot_a != own) & (bot_b != own) & (rng.random(len(panel)) < 0.6)  # noqa: PLR2004
    rows = np.flatnonzero(beside)
    seat = (np.argmax(panel[rows] == first, axis=1) + 1) % _SEATS
    panel[rows, seat] = second


def _responses(
    bot_a: Ints, bot_b: Ints, cast: _Cast, rng: np.random.Generator
) -> tuple[tuple[list[str], list[str]], Bools]:
    """Write the first responses of random words; a plagiarist reorders its opponent's."""
    count = min(len(bot_a), _RESPONSES)
    letters = np.array(_SYLLABLES)
    vocabulary = ["".join(word) for word in letters[rng.integers(0, len(letters), (3000, 3))]]
    texts = rng.integers(0, len(vocabulary), (2, count, 14))
    thief = cast.role == "plagiarism"
    copies = np.zeros((2, count), dtype=bool)
    for side, own, other in ((0, bot_a, bot_b), (1, bot_b, bot_a)):
        copies[side] = thief[own[:count]] & ~thief[other[:count]] & (rng.random(count) < 0.6)  # noqa: PLR2004
        texts[side, copies[side]] = np.flip(texts[1 - side, copies[side]], axis=1)
    written = tuple(
        [" ".join(vocabulary[word] for word in text).capitalize() + "." for text in side]
        for side in texts.tolist()
    )
    copied = np.zeros(len(bot_a), dtype=bool)
    copied[:count] = copies.any(axis=0)
    return (written[0], written[1]), copied


def _matches(
    ids: Ints,
    played: Any,
    bot_a: Ints,
    bot_b: Ints,
    kind: npt.NDArray[np.int8],
    better: npt.NDArray[np.int8],
    responses: tuple[list[str], list[str]],
    rng: np.random.Generator,
) -> pa.Table:
    size = len(ids)
    # On a honeypot the better side is the real one, and the other has a robotic text.
    honeypot, rated = kind == 1, kind == 0
    audited = rated & (rng.random(size) < 0.1)  # noqa: PLR2004 - the seed's probability
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
            "id": ids,
            "played_at": pa.array(played),
            "bot_a": pa.array(bot_a + 1, mask=honeypot & (better == 1)),
            "bot_b": pa.array(bot_b + 1, mask=honeypot & (better == 0)),
            "prompt_id": rng.integers(1, 501, size),
            "response_a": texts[0],
            "response_b": texts[1],
            "kind": _texts(["rated", "honeypot", "skipped"], kind),
            "honeypot_real": _texts(["a", "b"], better, keep=honeypot),
            "audit_verdict": _texts(["a", "b"], verdict, keep=audited),
        }
    )


def _votes(
    ids: Ints,
    played: Any,
    panel: Ints,
    kind: npt.NDArray[np.int8],
    better: npt.NDArray[np.int8],
    bots: tuple[Ints, Ints],
    cast: _Cast,
    rng: np.random.Generator,
) -> pa.Table:
    shape = panel.shape
    accuracy = np.where((kind == 1)[:, None], 0.98, cast.accuracy[panel])
    contrary = np.isin(panel, cast.judging("audit-disagreement"))
    accuracy[contrary] = 0.1
    wrong = rng.random(shape, dtype=np.float32) >= accuracy
    del accuracy, contrary
    side = better[:, None] ^ wrong
    first = rng.integers(0, 2, shape, dtype=np.int8)
    # A lazy judge votes A nineteen times in twenty, whichever side that is.
    lazy = np.isin(panel, cast.judging("position-bias"))
    side[lazy] = first[lazy] ^ (rng.random(int(lazy.sum())) >= 0.95)  # noqa: PLR2004
    _follow(side, panel, kind, bots, cast)
    votes = np.flatnonzero(np.repeat(kind != 2, _SEATS))  # noqa: PLR2004 - skipped: no votes
    match = votes // _SEATS
    minutes = rng.integers(1, 30, len(votes)).astype("m8[m]").astype("m8[us]")
    return pa.table(
        {
            "match_id": ids[match],
            "judge_id": cast.judges[panel.ravel()[votes]] + 1,
            "shown_first": _texts(["a", "b"], first.ravel()[votes]),
            "vote": _texts(["A", "B"], (first ^ side).ravel()[votes]),
            "voted_at": pa.array(played[match] + minutes),
        }
    )


def _follow(
    side: npt.NDArray[np.int8],
    panel: Ints,
    kind: npt.NDArray[np.int8],
    bots: tuple[Ints, Ints],
    cast: _Cast,
) -> None:
    """Set the votes of colluding judges to their friend's side, of agreeing ones to copies."""
    for judge in cast.judging("collusion"):
        for code, bot in enumerate(bots):
            rows, seats = np.nonzero((panel == judge) & (bot == cast.friend[judge])[:, None])
            side[rows, seats] = np.where(kind[rows] == 1, side[rows, seats], code)
    ring = cast.judging("agreeing-judges")
    if len(ring) >= _ATTACKERS:
        both = np.flatnonzero((panel == ring[0]).any(axis=1) & (panel == ring[1]).any(axis=1))
        from_seat = np.argmax(panel[both] == ring[0], axis=1)
        to_seat = np.argmax(panel[both] == ring[1], axis=1)
        side[both, to_seat] = side[both, from_seat]


def _accounts(cast: _Cast, rng: np.random.Generator) -> tuple[pa.Table, pa.Table]:
    """Return an owner for every bot, with a handle and a keyed network; rings share theirs."""
    count = len(cast.skill)
    letters = np.array(_SYLLABLES)
    handles = ["".join(part) for part in letters[rng.integers(0, len(letters), (count, 6))]]
    networks = [f"{number:016x}" for number in rng.integers(0, 2**63, count)]
    ring = np.flatnonzero(cast.role == "handle-similarity")
    base = handles[int(ring[0])] if len(ring) else ""
    for number, member in enumerate(ring):
        handles[member] = f"{base}{number}" if number else base[:-1] + "q"
    ring = np.flatnonzero(cast.role == "shared-network")
    for member in ring:
        networks[member] = networks[ring[0]]
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


def _truth(cast: _Cast, ids: Ints, better: npt.NDArray[np.int8]) -> dict[str, pa.Table]:
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
