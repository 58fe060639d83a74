"""Attack the rules of a contest in simulation, or a real board, under several editions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from agon.app.analysis.records import read_records
from agon.attacks.catalog import lab_of
from agon.attacks.prices import Prices, default_prices
from agon.attacks.replays import Replay
from agon.attacks.results import AttackResult
from agon.attacks.runner import Runner, select
from agon.editions import Edition, default_edition
from agon.editions import edition as released_edition
from agon.errors import CheckFailed, Conflict
from agon.kernel.progress import count_steps

DEFAULT_SIZE = 10_000


@dataclass(frozen=True)
class EditionAttacks:
    """The results of strategies under one edition."""

    edition: Edition
    results: tuple[AttackResult, ...]


@dataclass(frozen=True)
class AttackReport:
    """What attacks cost and gain under some editions.

    Attributes:
        discipline: its name.
        size: of the simulated world; None: real records.
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
                    "edition": under.edition.full_name,
                    "attacks": [
                        {
                            **result.to_dict(self.prices),
                            "replay": replay_name(under.edition, result) if stored else None,
                        }
                        for result in under.results
                    ],
                }
                for under in self.editions
            ],
            "ablation": [],
            "search": {},
        }

    def replays(self) -> Iterator[tuple[str, Replay]]:
        """Yield the name of a file and the replay of each result."""
        for under in self.editions:
            for result in under.results:
                yield (
                    replay_name(under.edition, result),
                    Replay(
                        self.discipline,
                        under.edition.full_name,
                        under.edition.rules_sha256,
                        result.name,
                        result.goal,
                        dict(result.plan),
                        self.size,
                        self.seed,
                        self.records_sha256,
                        _plain(result),
                    ),
                )


def replay_name(edition: Edition, result: AttackResult) -> str:
    """Return the name of the file with a replay."""
    return f"{edition.name}-{result.name}.json"


def attack(
    of: str,
    *,
    editions: Sequence[str] = (),
    names: Sequence[str] = (),
    size: int = DEFAULT_SIZE,
    seed: int = 1,
    goal: str | None = None,
    source: Any = None,
    prices: Prices | None = None,
) -> AttackReport:
    """Return what attacks cost and gain under some editions, and which findings name them.

    Args:
        of: the name of the discipline.
        editions: full or short names (default: the reference edition).
        names: attacks of the catalog (default: all).
        size: of the simulated world.
        seed: seed of all draws; equal arguments give equal results.
        goal: a rank to aim at (default: the goal of each attack).
        source: real records to attack from their last epoch on; None: a simulated world.
        prices: what the attacker pays (default: agon's table).

    Raises:
        NotFound: the discipline has no attack lab; there is no such edition or attack.
        Unreadable, InvalidRecords: the records cannot be read; the size is too small.
        NotScorable: the records end before anything is evaluated.
    """
    lab = lab_of(of)
    strategies = select(lab, names)
    released = [released_edition(name, of=of) for name in editions or (default_edition(of),)]
    world, digest = _world(of, source, size=size, seed=seed)
    runs = [(edition, strategy) for edition in released for strategy in strategies]
    runners = {edition.full_name: Runner(lab, world, edition.rules) for edition in released}
    results: dict[str, list[AttackResult]] = {edition.full_name: [] for edition in released}
    for edition, strategy in count_steps(runs, label="attacks", total=len(runs)):
        runner = runners[edition.full_name]
        results[edition.full_name].append(runner.run(strategy, goal=goal))
    return AttackReport(
        of,
        None if source is not None else size,
        seed,
        digest,
        tuple(EditionAttacks(edition, tuple(results[edition.full_name])) for edition in released),
        prices or default_prices(),
    )


def repeat(replay: Replay, *, source: Any = None, prices: Prices | None = None) -> AttackReport:
    """Return the report of a stored run, which must be equal to the stored one.

    Args:
        replay: the stored run.
        source: the real records, for a run on real records.
        prices: what the attacker pays (default: agon's table).

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
    world, digest = _world(replay.discipline, source, size=replay.size or 1, seed=replay.seed)
    if digest != replay.records_sha256:
        raise Conflict(
            f"expected records with the hash {replay.records_sha256}, got {digest}; "
            "give the records of the stored run with --records"
        )
    runner = Runner(lab, world, edition.rules)
    result = runner.run_plan(strategy, replay.plan, goal=replay.goal)
    if _plain(result) != replay.result:
        raise CheckFailed(
            f"expected {dict(replay.result)}, got {_plain(result)}; the replay or agon has changed"
        )
    under = EditionAttacks(edition, (result,))
    return AttackReport(
        replay.discipline, replay.size, replay.seed, digest, (under,), prices or default_prices()
    )


def _world(of: str, source: Any, *, size: int, seed: int) -> tuple[Any, str | None]:
    """Return a simulated world, or one of real records with their hash."""
    lab = lab_of(of)
    if source is None:
        return lab.simulate(size=size, seed=seed), None
    with read_records(of, source) as records:
        return lab.observe(records, seed=seed), records.sha256


def _plain(result: AttackResult) -> dict[str, Any]:
    """Return a result for JSON without what prices and plans state."""
    value = result.to_dict(default_prices())
    cost = {name: number for name, number in value["cost"].items() if name != "money"}
    return {
        "reached": value["reached"],
        "cost": cost,
        "gain": dict(value["gain"]),
        "detected": [dict(detection) for detection in value["detected"]],
        "harm": dict(value["harm"]),
    }
