"""Draw a round of the arena from one seed: pairs, prompts, honeypots, audits, panels of judges.

A draw states its seed and all its inputs, so that anyone with the ledger can repeat it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from agon.disciplines.arena.facts import PERSON
from agon.disciplines.arena.rounds.draws import (
    honeypot_real,
    is_audited,
    is_honeypot,
    lots,
    sample,
    shown_first,
)
from agon.disciplines.arena.rounds.matchmaking import Entrant, Pairing
from agon.disciplines.arena.rounds.pairing import pair_by_rules
from agon.disciplines.arena.rounds.panel import candidates_of, obstacles
from agon.disciplines.arena.rounds.spread import History
from agon.disciplines.arena.rules import ArenaRules

if TYPE_CHECKING:
    from agon.disciplines.arena.scoring import ScoredArena

METHOD: Final = "arena-round-2"
"""The method of drawing rounds; a draw names its method, so a new method changes no old draw."""


@dataclass(frozen=True)
class Judge:
    """A judge that is eligible for any match of a round."""

    id: str
    owner_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class RoundInputs:
    """Everything but the seed that the draw of a round depends on.

    Attributes:
        name: the round's name; its matches are ``name-1``, ``name-2``, ….
        at: the time at which judges are eligible and matches are played.
        entrants: the bots that take part.
        judges: the judges that are eligible for any match.
        prompts: ids of the prompts, sorted.
        recent_prompts: for each bot the ids of the prompts it was asked last.
        histories: the past rounds of each bot; only ``pairing = spread`` depends on them.
        again: pairs of an earlier round that did not play through no fault of theirs.
    """

    name: str
    at: str
    entrants: tuple[Entrant, ...]
    judges: tuple[Judge, ...]
    prompts: tuple[str, ...]
    recent_prompts: Mapping[str, tuple[str, ...]]
    histories: Mapping[str, History] = field(default_factory=dict)
    again: tuple[tuple[str, str], ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the inputs as a JSON value, as a draw records them."""
        return {
            **vars(self),
            "entrants": [vars(entrant) for entrant in self.entrants],
            "judges": [vars(judge) for judge in self.judges],
            "histories": {bot: vars(past) for bot, past in self.histories.items()},
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "RoundInputs":
        """Return the inputs that :meth:`as_json` wrote."""
        return cls(
            name=value["name"],
            at=value["at"],
            entrants=tuple(Entrant(**entrant) for entrant in value["entrants"]),
            judges=tuple(Judge(**judge) for judge in value["judges"]),
            prompts=tuple(value["prompts"]),
            recent_prompts={bot: tuple(ids) for bot, ids in value["recent_prompts"].items()},
            histories={
                bot: History(**{**past, "opponents": tuple(past["opponents"])})
                for bot, past in value["histories"].items()
            },
            again=tuple((first, second) for first, second in value["again"]),
        )


def entrants_of(scored: "ScoredArena", present: Iterable[str]) -> tuple[Entrant, ...]:
    """Return the qualified bots among those present, with their ratings, in id order."""
    bots, rating, playing = scored.facts.bots, scored.ratings.rating, frozenset(present)
    return tuple(
        Entrant(str(bots.ids[at]), float(rating[at]), bots.owner[at].as_py())
        for at in range(len(bots))
        if bots.qualified[at] and str(bots.ids[at]) in playing
    )


def judges_of(scored: "ScoredArena", present: Iterable[str], *, at: datetime) -> tuple[Judge, ...]:
    """Return the eligible judges among those present, in id order.

    A person without a recorded owner is the owner of that id.
    """
    voting = frozenset(present)
    candidates = candidates_of(scored.facts, scored.ratings, scored.credibilities, scored.rules)
    bots = {
        candidate.id: Judge(candidate.id, candidate.owner_id)
        for candidate in candidates
        if candidate.id in voting and not obstacles(candidate, at=at, rules=scored.rules)
    }
    of, level = scored.facts.judges, scored.rules.credibility_active
    people = {
        name: Judge(name, of.owner[number].as_py() or name)
        for number, name in enumerate(map(str, of.ids.to_pylist()))
        if name in voting
        and of.kind[number] == PERSON
        and int(scored.credibilities.credibility[number]) >= level
        and scored.credibilities.deactivation_of(number, level=level) is None
    }
    return tuple(judge for _, judge in sorted({**people, **bots}.items()))


def draw_round(inputs: RoundInputs, *, seed: str, rules: ArenaRules) -> dict[str, Any]:
    """Draw a round: pairs, prompts, honeypots, audits, and the order in which judges are asked.

    Args:
        inputs: what the draw depends on.
        seed: the seed of all draws (:func:`agon.disciplines.arena.rounds.commitment.drawing_seed`).
        rules: probabilities and sizes.

    Returns:
        ``matches`` in order and ``waiting``, the bots without an opponent. Each match has its
        ``judges`` and the ``reserves``, which replace judges that fail; ``api``: fewer judges than
        the rule are eligible, so the API judge is the panel.
    """
    of = {entrant.id: entrant for entrant in inputs.entrants}
    pairings, waiting = _pairings(inputs, of, rules)
    degraded = len(inputs.judges) < rules.min_judge_pool
    matches = []
    for number, pairing in enumerate(pairings, start=1):
        match, both = f"{inputs.name}-{number}", (pairing.chooser, pairing.opponent)
        honeypot = is_honeypot(seed, match, probability=rules.honeypot_probability)
        order = _judges(inputs, match, seed=seed, both=both, of=of)
        api = len(order) < rules.judges_per_match
        size = 0 if api else rules.judges_per_match
        matches.append(
            {
                "match": match,
                "bot_a": pairing.chooser,
                "bot_b": pairing.opponent,
                "distance": pairing.distance,
                "in_range": pairing.in_range,
                "prompt": draw_prompt(inputs, match, seed=seed, bots=both),
                "honeypot_real": honeypot_real(seed, match) if honeypot else None,
                "audited": not honeypot
                and is_audited(seed, match, probability=rules.audit_probability),
                "judges": order[:size],
                "reserves": [] if api else order[size:],
                "shown_first": {} if api else shown_first(seed, match, order),
                "api": api,
                "degraded": degraded,
            }
        )
    return {"matches": matches, "waiting": waiting}


def draw_qualification(
    inputs: Mapping[str, Any], *, seed: str, rules: ArenaRules
) -> dict[str, Any]:
    """Draw an attempt to qualify: the person's answer, and the order in which judges are asked.

    Args:
        inputs: ``name``, ``bot``, ``owner_id``, the eligible ``judges``, ids of human ``answers``.
        seed: the seed of all draws.
        rules: the size of the panel.

    Returns:
        As :func:`draw_round`, with one match; the bot has side a, the ``human`` answer side b.
    """
    match = f"{inputs['name']}-1"
    pool = [
        judge["id"]
        for judge in inputs["judges"]
        if judge["id"] != inputs["bot"]
        and (judge["owner_id"] is None or judge["owner_id"] != inputs["owner_id"])
    ]
    order = sample(seed, match, pool, size=len(pool))
    api = len(order) < rules.judges_per_match
    size = 0 if api else rules.judges_per_match
    drawn = {
        "match": match,
        "bot_a": inputs["bot"],
        "bot_b": None,
        "human": min(lots(seed, match, "human", inputs["answers"]))[1],
        "honeypot_real": None,
        "audited": False,
        "judges": order[:size],
        "reserves": [] if api else order[size:],
        "shown_first": {} if api else shown_first(seed, match, order),
        "api": api,
    }
    return {"matches": [drawn], "waiting": []}


def draw_prompt(inputs: RoundInputs, match: str, *, seed: str, bots: Iterable[str]) -> str | None:
    """Draw a prompt, uniformly among those that none of the bots was asked lately.

    If there is none of those, all prompts are drawn from; None if the contest has no prompt.
    """
    seen = {prompt for bot in bots for prompt in inputs.recent_prompts.get(bot, ())}
    candidates = [prompt for prompt in inputs.prompts if prompt not in seen] or inputs.prompts
    return min(lots(seed, match, "prompt", candidates), default=(0, None))[1]


def _pairings(
    inputs: RoundInputs, of: Mapping[str, Entrant], rules: ArenaRules
) -> tuple[list[Pairing], list[str]]:
    """Return the pairs, those that play again first, and the bots that wait."""
    again, playing = [], set[str]()
    for first, second in inputs.again:
        if first in of and second in of and not playing & {first, second}:
            playing |= {first, second}
            distance = abs(of[first].rating - of[second].rating)
            again.append(Pairing(first, second, distance, distance <= rules.matchmaking_range))
    rest = pair_by_rules(
        [entrant for entrant in inputs.entrants if entrant.id not in playing],
        histories=inputs.histories,
        rules=rules,
    )
    return [*again, *rest.pairings], list(rest.waiting)


def _judges(
    inputs: RoundInputs,
    match: str,
    *,
    seed: str,
    both: tuple[str, str],
    of: Mapping[str, Entrant],
) -> list[str]:
    """Return the judges whose owner owns neither bot, in the order in which they are asked."""
    owners = {of[bot].owner_id for bot in both} - {None}
    pool = [
        judge.id for judge in inputs.judges if judge.id not in both and judge.owner_id not in owners
    ]
    return sample(seed, match, pool, size=len(pool))
