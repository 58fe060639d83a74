"""Attack the rules of a contest in simulation, or a real board, under several editions."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from agon.app.analysis.records import read_records
from agon.attacks.ablation import Guard, ablate, guards_of
from agon.attacks.catalog import DEFAULT_SIZE, lab_of
from agon.attacks.prices import Prices
from agon.attacks.replays import AttackReplay
from agon.attacks.results import AttackResult
from agon.attacks.runner import Runner, select
from agon.attacks.search import Search, search
from agon.attacks.strategy import Strategy
from agon.attacks.undo import Undo, undo
from agon.editions import Edition, default_edition
from agon.editions import edition as released_edition
from agon.errors import CheckFailed, Conflict
from agon.kernel.progress import stages
from agon.records.names.mapping import MappingSource


@dataclass(frozen=True)
class EditionAttacks:
    """The results of strategies under one edition.

    Attributes:
        edition: the rules.
        results: of the catalog's plans.
        searches: the cheapest plan that a search found for each, if one was asked for.
        guards: what each guard of the edition is good for, if that was asked for.
        undone: what is left of each attack after it was undone; empty for a replay.
    """

    edition: Edition
    results: tuple[AttackResult, ...]
    searches: tuple[Search, ...] = ()
    guards: tuple[Guard, ...] = ()
    undone: tuple[tuple[Undo, ...], ...] = ()

    def files(self) -> Iterator[tuple[str, AttackResult]]:
        """Yield the results with the names of the files that replay them."""
        for result in self.results:
            yield f"{self.edition.name}-{result.name}.json", result
        for each in self.searches:
            if each.cheapest is not each.catalog:
                yield f"{self.edition.name}-{each.cheapest.name}-search.json", each.cheapest


@dataclass(frozen=True)
class AttackReport:
    """What attacks cost and gain under some editions.

    Attributes:
        discipline: its name.
        size: people of the simulated season; None: real records.
        seed: seed of all draws.
        records_sha256: hash of the real records; None: a simulated world.
        editions: the results by edition.
        prices: what the attacker pays.
    """

    discipline: str
    size: int | None
    seed: int
    records_sha256: str | None
    editions: tuple[EditionAttacks, ...]
    prices: Prices

    def to_dict(self, *, stored: bool = False) -> dict[str, Any]:
        """Return a plain value for JSON; ``stored``: with the names of the replays' files."""
        return {
            "discipline": self.discipline,
            "size": self.size,
            "seed": self.seed,
            "records_sha256": self.records_sha256,
            "editions": [
                {
                    "edition": attacked.edition.full_name,
                    "attacks": [
                        {
                            **self._attack(attacked, result, stored=stored),
                            "undo": [dict(vars(board)) for board in undone],
                        }
                        for result, undone in zip(
                            attacked.results,
                            attacked.undone or [()] * len(attacked.results),
                            strict=True,
                        )
                    ],
                }
                for attacked in self.editions
            ],
            "ablation": [
                {"edition": attacked.edition.full_name, **guard.to_dict(self.prices)}
                for attacked in self.editions
                for guard in attacked.guards
            ],
            "search": self._search(stored=stored),
        }

    def cheapest(
        self, attacked: EditionAttacks
    ) -> Iterator[tuple[str, AttackResult, float | None]]:
        """Yield each goal with the cheapest plan that the search found, the catalog's included.

        The last value is its price divided by that of the catalog's cheapest attack with the goal;
        None: none of the catalog reaches it.
        """
        reached = [each.cheapest for each in attacked.searches if each.cheapest.reached]
        for goal in dict.fromkeys(result.goal for result in reached):
            best = min((r for r in reached if r.goal == goal), key=self._money)
            known = (self._money(r) for r in attacked.results if r.reached and r.goal == goal)
            lowest = min(known, default=0.0)
            yield goal, best, self._money(best) / lowest if lowest else None

    def _money(self, result: AttackResult) -> float:
        return result.effort.money(self.prices)

    def _attack(
        self, attacked: EditionAttacks, result: AttackResult, *, stored: bool
    ) -> dict[str, Any]:
        names = {id(of_file): name for name, of_file in attacked.files()}
        replay = names[id(result)] if stored else None
        return {**result.to_dict(self.prices), "replay": replay}

    def _search(self, *, stored: bool) -> dict[str, Any]:
        if not any(attacked.searches for attacked in self.editions):
            return {}
        return {
            "best": [
                {
                    "edition": attacked.edition.full_name,
                    "goal": goal,
                    "ratio": ratio,
                    **self._attack(attacked, best, stored=stored),
                }
                for attacked in self.editions
                for goal, best, ratio in self.cheapest(attacked)
            ],
            "attacks": [
                {
                    "edition": attacked.edition.full_name,
                    "trials": each.trials,
                    "catalog_money": self._money(each.catalog) if each.catalog.reached else None,
                    **self._attack(attacked, each.cheapest, stored=stored),
                }
                for attacked in self.editions
                for each in attacked.searches
            ],
        }

    def replays(self) -> Iterator[tuple[str, AttackReplay]]:
        """Yield the name of a file and the replay of each result."""
        for attacked in self.editions:
            for name, result in attacked.files():
                yield (
                    name,
                    AttackReplay(
                        self.discipline,
                        attacked.edition.full_name,
                        attacked.edition.rules_sha256,
                        result.name,
                        result.goal,
                        dict(result.plan),
                        self.size,
                        self.seed,
                        self.records_sha256,
                        _plain(result, self.prices),
                    ),
                )


def attack(  # noqa: PLR0913 (one parameter for each option of the command)
    discipline_name: str,
    *,
    editions: Sequence[str] = (),
    names: Sequence[str] = (),
    size: int = DEFAULT_SIZE,
    seed: int = 1,
    goal: str | None = None,
    source: Any = None,
    mapping: MappingSource | None = None,
    prices: Prices | None = None,
    trials: int = 0,
    ablation: bool = False,
) -> AttackReport:
    """Measure the costs and gains of attacks under some editions, and the findings that name them.

    Args:
        discipline_name: the name of the discipline.
        editions: full or short names (default: the reference edition).
        names: attacks of the catalog (default: all).
        size: people of the simulated season: users, bots that judge, or miners and validators.
        seed: seed of all draws; equal arguments give equal results.
        goal: a rank to aim at (default: the goal of each attack).
        source: real records to attack from their last epoch on; None: a simulated world.
        mapping: how names and values of the source are read, as for :func:`agon.read_records`.
        prices: what the attacker pays (default: those of the lab).
        trials: other plans to try for each attack, in search of a cheaper one.
        ablation: whether to switch every guard of the editions off alone.

    Raises:
        NotFound: the discipline has no attack lab; there is no such edition or attack.
        Unreadable, InvalidRecords: the records cannot be read; the size is too small.
        NotScorable: the records end before anything is evaluated.
    """
    lab = lab_of(discipline_name)
    strategies = select(lab, names)
    chosen = editions or (default_edition(discipline_name),)
    released = [released_edition(name, of=discipline_name) for name in chosen]
    world, digest = _world(discipline_name, source, mapping, size=size, seed=seed)
    paid = prices or lab.prices
    guards = {
        edition.full_name: list(guards_of(lab, edition)) if ablation else [] for edition in released
    }
    passes = len(released) * (2 if trials else 1) + sum(map(len, guards.values()))
    searching = partial(search, prices=paid, seed=seed, trials=trials) if trials else None
    simulated = None if source is not None else size
    with stages("attacks", total=passes * len(strategies)) as advance:
        attacked = [
            _attack_edition(
                Runner(lab, world, edition.rules), edition, strategies, goal=goal,
                searching=searching, guards=guards[edition.full_name], advance=advance,
            )
            for edition in released
        ]  # fmt: skip
    return AttackReport(discipline_name, simulated, seed, digest, tuple(attacked), paid)


def _attack_edition(
    runner: Runner,
    edition: Edition,
    strategies: Sequence[Strategy[Any]],
    *,
    goal: str | None,
    searching: Callable[[Runner, Strategy[Any], AttackResult], Search] | None,
    guards: Sequence[Mapping[str, tuple[Any, Any]]],
    advance: Callable[[], None],
) -> EditionAttacks:
    """Run every attack under one edition, search cheaper plans, and switch off each guard."""
    results, searches, undone = [], [], []
    for strategy in strategies:
        results.append(runner.run(strategy, goal=goal))
        undone.append(undo(runner, strategy, results[-1].plan))
        advance()
        if searching is not None:
            searches.append(searching(runner, strategy, results[-1]))
            advance()
    attacks = list(zip(strategies, results, strict=True))
    ablations = [ablate(runner, rules, attacks, advance=advance) for rules in guards]
    return EditionAttacks(edition, tuple(results), tuple(searches), tuple(ablations), tuple(undone))


def repeat(
    replay: AttackReplay,
    *,
    source: Any = None,
    mapping: MappingSource | None = None,
    prices: Prices | None = None,
) -> AttackReport:
    """Return the report of a stored run, which must be equal to the stored one.

    Args:
        replay: the stored run.
        source: the real records, for a run on real records.
        mapping: how names and values of the source are read.
        prices: what the attacker pays (default: those of the lab).

    Raises:
        Conflict: the rules or the records are not those of the stored run.
        CheckFailed: the result differs.
    """
    lab = lab_of(replay.discipline)
    edition = released_edition(replay.edition, of=replay.discipline)
    if edition.rules_sha256 != replay.rules_sha256:
        raise Conflict(
            f"the rules of {replay.edition} are {edition.rules_sha256}, those of the replay "
            f"{replay.rules_sha256}; repeat it with the version of agon that stored it"
        )
    strategy = select(lab, [replay.attack])[0]
    world, digest = _world(
        replay.discipline, source, mapping, size=replay.size or 1, seed=replay.seed
    )
    if digest != replay.records_sha256:
        raise Conflict(
            f"expected records with the hash {replay.records_sha256}, got {digest}; "
            "give the records of the stored run with --records"
        )
    runner = Runner(lab, world, edition.rules)
    result = runner.run_plan(strategy, replay.plan, goal=replay.goal)
    if (plain := _plain(result, lab.prices)) != replay.result:
        raise CheckFailed(
            f"expected {dict(replay.result)}, got {plain}; the replay or agon has changed"
        )
    attacked = EditionAttacks(edition, (result,))
    return AttackReport(
        replay.discipline, replay.size, replay.seed, digest, (attacked,), prices or lab.prices
    )


def _world(
    discipline_name: str, source: Any, mapping: MappingSource | None, *, size: int, seed: int
) -> tuple[Any, str | None]:
    """Return a simulated world, or one of real records with their hash."""
    lab = lab_of(discipline_name)
    if source is None:
        return lab.simulate(size=size, seed=seed), None
    with read_records(discipline_name, source, mapping=mapping) as records:
        return lab.observe(records, seed=seed), records.sha256


def _plain(result: AttackResult, prices: Prices) -> dict[str, Any]:
    """Return a result for JSON without what prices and plans state."""
    value = result.to_dict(prices)
    cost = {name: number for name, number in value["cost"].items() if name != "money"}
    return {
        "reached": value["reached"],
        "cost": cost,
        "gain": dict(value["gain"]),
        "detected": [dict(detection) for detection in value["detected"]],
        "harm": dict(value["harm"]),
    }
