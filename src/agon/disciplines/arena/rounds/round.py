"""Draw a round of the arena from one seed: pairs, prompts, honeypots, audits, panels of judges.

A draw states its seed and all its inputs, so that anyone with the ledger can repeat it.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from agon.disciplines.arena.judges.pool import Candidate, candidates_of, obstacles
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
from agon.disciplines.arena.rounds.spread import History
from agon.disciplines.arena.rules import ArenaRules

if TYPE_CHECKING:
    from agon.disciplines.arena.facts import Bots
    from agon.disciplines.arena.scoring import ScoredArena

METHOD: Final = "arena-round-2"
"""The method of drawing rounds; a draw names its method, so a new method changes no old draw."""


_GUARDS: Final = frozenset({"networks", "newcomers"})


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
        networks: for each owner that shares a network with another one, the number of its group;
            empty without the rule ``network_guard``.
        newcomers: the judges that are newcomers, sorted.
    """

    name: str
    at: str
    entrants: tuple[Entrant, ...]
    judges: tuple[Judge, ...]
    prompts: tuple[str, ...]
    recent_prompts: Mapping[str, tuple[str, ...]]
    histories: Mapping[str, History] = field(default_factory=dict)
    again: tuple[tuple[str, str], ...] = ()
    networks: Mapping[str, int] = field(default_factory=dict)
    newcomers: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the inputs as a JSON value, as a draw records them.

        Networks and newcomers are left out where there are none, as before there were such rules.
        """
        always = {name: value for name, value in vars(self).items() if name not in _GUARDS or value}
        return {
            **always,
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
            networks=value.get("networks", {}),
            newcomers=tuple(value.get("newcomers", ())),
        )


def entrants_of(scored: "ScoredArena", present: Iterable[str]) -> tuple[Entrant, ...]:
    """Return the qualified bots among those present, with their ratings, in id order."""
    bots = scored.facts.bots
    rating = dict(zip(bots.ids.to_pylist(), scored.ratings.rating.tolist(), strict=True))
    return tuple(
        Entrant(name, rating[name], owner)
        for name, owner in owners_of_qualified(bots, frozenset(present)).items()
    )


def owners_of_qualified(bots: "Bots", present: Collection[str]) -> dict[str, str | None]:
    """Return the owner of each qualified bot among those present, in id order."""
    return {
        str(bots.ids[index]): bots.owner[index].as_py()
        for index in range(len(bots))
        if bots.qualified[index] and str(bots.ids[index]) in present
    }


def judges_of(
    scored: "ScoredArena", present: Collection[str], *, at: datetime, new: Iterable[Candidate] = ()
) -> tuple[Candidate, ...]:
    """Return the eligible judges among those present, in id order.

    Args:
        scored: the scores of the records.
        present: the judges that can vote now.
        at: the time of the round.
        new: people who can vote now and are not recorded as judges yet.
    """
    recorded = candidates_of(
        scored.facts,
        scored.standings.games,
        scored.credibilities,
        scored.rules,
        only=frozenset(present),
    )
    eligible = [
        candidate
        for candidate in (*recorded, *new)
        if not obstacles(candidate, at=at, rules=scored.rules)
    ]
    return tuple(sorted(eligible, key=lambda candidate: candidate.id))


def panel_candidates(
    judges: Sequence[Judge],
    *,
    owners: Iterable[str | None],
    networks: Mapping[str, int],
    newcomers: Collection[str],
    rules: ArenaRules,
) -> list[str]:
    """Return who of some judges, in the order of the draw, may judge a match.

    A judge never judges a bot of its owner. With the rule ``network_guard`` it judges none of its
    network either, and of each owner and each network only the first judge stays. Of the
    newcomers the first ``newcomers_per_panel`` stay. So this holds for the panel however its judges
    are replaced by reserves.

    Args:
        judges: all that are eligible for any match, in the order of the draw.
        owners: the owners of the bots in the match, None where unknown.
        networks: the number of the network of those who share one, by owner.
        newcomers: the judges that are newcomers.
        rules: the guards.

    Example:
        >>> judges = [Judge("ada", "ada"), Judge("bob", "bob"), Judge("eve", "eve")]
        >>> panel_candidates(judges, owners=["bob"], networks={"ada": 1, "eve": 1}, newcomers=(),
        ...                  rules=ArenaRules(network_guard=True))
        ['ada']
    """
    excluded: set[str | int] = {owner for owner in owners if owner is not None}
    if rules.network_guard:
        excluded |= {networks[owner] for owner in owners if owner and owner in networks}
    candidates, seats = [], rules.newcomers_per_panel
    for judge in judges:
        known = (judge.owner_id, networks.get(judge.owner_id or ""))
        same = {each for each in known if each is not None}
        if excluded & same or (judge.id in newcomers and not seats):
            continue
        seats -= judge.id in newcomers
        if rules.network_guard:
            excluded |= same
        candidates.append(judge.id)
    return candidates


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
    entrants = {entrant.id: entrant for entrant in inputs.entrants}
    pairings, waiting = _pairings(inputs, entrants, rules)
    matches = []
    for number, pairing in enumerate(pairings, start=1):
        match, both = f"{inputs.name}-{number}", (pairing.chooser, pairing.opponent)
        honeypot = is_honeypot(seed, match, probability=rules.honeypot_probability)
        order = _judges(inputs, match, seed=seed, both=both, entrants=entrants, rules=rules)
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
                **_panel(order, match, seed=seed, rules=rules),
            }
        )
    return {"matches": matches, "waiting": waiting}


def draw_qualification(
    inputs: Mapping[str, Any], *, seed: str, rules: ArenaRules
) -> dict[str, Any]:
    """Draw an attempt to qualify: the person's answer, and the order in which judges are asked.

    Args:
        inputs: ``name``, ``bot``, ``owner_id``, the eligible ``judges``, ids of human ``answers``,
            and ``networks`` and ``newcomers`` where there are some.
        seed: the seed of all draws.
        rules: the size of the panel.

    Returns:
        As :func:`draw_round`, with one match; the bot has side a, the ``human`` answer side b.
    """
    match = f"{inputs['name']}-1"
    order = panel_candidates(
        _drawn_order((Judge(**judge) for judge in inputs["judges"]), [inputs["bot"]], seed, match),
        owners=[inputs["owner_id"]],
        networks=inputs.get("networks", {}),
        newcomers=inputs.get("newcomers", ()),
        rules=rules,
    )
    drawn = {
        "match": match,
        "bot_a": inputs["bot"],
        "bot_b": None,
        "human": min(lots(seed, match, "human", inputs["answers"]))[1],
        "honeypot_real": None,
        "audited": False,
        **_panel(order, match, seed=seed, rules=rules),
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
    inputs: RoundInputs, entrants: Mapping[str, Entrant], rules: ArenaRules
) -> tuple[list[Pairing], list[str]]:
    """Return the pairs, those that play again first, and the bots that wait."""
    again, playing = [], set[str]()
    for first, second in inputs.again:
        if first in entrants and second in entrants and not playing & {first, second}:
            playing |= {first, second}
            distance = abs(entrants[first].rating - entrants[second].rating)
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
    entrants: Mapping[str, Entrant],
    rules: ArenaRules,
) -> list[str]:
    """Return the judges of a match and then its reserves, in the order in which they are asked."""
    return panel_candidates(
        _drawn_order(inputs.judges, both, seed, match),
        owners=[entrants[bot].owner_id for bot in both],
        networks=inputs.networks,
        newcomers=inputs.newcomers,
        rules=rules,
    )


def _panel(order: list[str], match: str, *, seed: str, rules: ArenaRules) -> dict[str, Any]:
    """Return the judges of a match, its reserves and which response each of them sees as A.

    Source: document 003, 3. Judge Eligibility.
    """
    size = rules.judges_per_match
    if len(order) < size:
        return {"judges": [], "reserves": [], "shown_first": {}, "api": True}
    return {
        "judges": order[:size],
        "reserves": order[size:],
        "shown_first": shown_first(seed, match, order),
        "api": False,
    }


def _drawn_order(
    judges: Iterable[Judge], bots: Collection[str], seed: str, match: str
) -> list[Judge]:
    """Return judges that do not play in a match, in the order of its draw."""
    by_id = {judge.id: judge for judge in judges if judge.id not in bots}
    return [by_id[name] for name in sample(seed, match, list(by_id), size=len(by_id))]
