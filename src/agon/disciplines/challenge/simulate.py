"""Simulate a network: miners who improve, validators who measure, and attackers."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256

import numpy as np
import pyarrow as pa

from agon.disciplines.capabilities import Simulation
from agon.disciplines.challenge.records import MAX_UID
from agon.kernel.arrays import FloatArray, IntArray
from agon.kernel.attacks import Attack, meanings, require_known

TASKS = 200
"""Tasks a validator draws for each evaluation; its score is the pass rate."""

LIFE = 8
"""Epochs in which a submission is evaluated; later its last evaluations count."""

WITH_SOURCE = 500
"""How many submissions disclose their source, where not stated."""

MAX_MINERS = MAX_UID - 535  # the last ones are left to attackers

_PRESENT = 0.95  # of the evaluations that could be made are made
_BONUS = 0.15  # what a self-serving validator adds
_START = np.datetime64("2026-01-01T00:00:00", "us")
_OPERATORS = "+-*/%&|^<>"
_WORDS = ("if", "for", "while", "return", "try", "with", "yield", "raise", "assert", "not", "in")


@dataclass
class _Agents:
    """Collect submissions: one entry each in every list, in order of submission."""

    miners: list[int]
    skills: list[float]
    epochs: list[int]
    contents: list[str]
    sources: list[str | None]
    roles: dict[int, str] = field(default_factory=dict)

    @property
    def last_with_source(self) -> tuple[int, str]:
        """Return the last honest submission with a known source, and that source."""
        last = sum(
            source is not None and uid not in self.roles
            for uid, source in zip(self.miners, self.sources, strict=True)
        )
        return last - 1, self.sources[last - 1] or ""

    def add(self, role: str, like: int, *, epoch: int, content: str, source: str | None) -> None:
        """Add a submission of a new miner, as good as submission ``like``."""
        uid = max(self.miners) + 1
        self.miners.append(uid)
        self.skills.append(self.skills[like])
        self.epochs.append(epoch)
        self.contents.append(content)
        self.sources.append(source)
        self.roles[uid] = role


@dataclass
class _Reports:
    """Collect evaluations as columns; each attacker is one more validator."""

    submissions: list[IntArray]
    validators: list[IntArray]
    epochs: list[IntArray]
    scores: list[FloatArray]

    def add(
        self, submissions: IntArray, validator: int, epochs: IntArray, scores: FloatArray
    ) -> None:
        """Append one validator's evaluations."""
        self.submissions.append(submissions)
        self.validators.append(np.full(len(submissions), validator))
        self.epochs.append(epochs)
        self.scores.append(scores)


def simulate(*, size: int, seed: int, attacks: Sequence[str] = ()) -> Simulation:
    """Return a simulation of about ``size`` evaluations of one network, plus the attackers'.

    A submission has a skill, and every validator measures it by the pass rate on tasks it draws,
    again in each of the submission's first :data:`LIFE` epochs. Miners get better from submission
    to submission, so top scores are beaten and, between times, decay. An attacker is one more
    validator or miner to the honest ones.

    Args:
        size: evaluations by honest validators, at least 1.
        seed: equal arguments give equal records.
        attacks: names in :data:`ATTACKS`.

    Raises:
        NotFound: the attack does not exist.
        ValueError: when ``size`` is below 1.
    """
    if size < 1:
        raise ValueError(f"size = {size}; give at least 1 evaluation")
    validators = int(np.clip(round(size**0.25), 6, 64))
    submissions = max(6, round(size / (validators * LIFE * _PRESENT)))
    miners = min(max(5, submissions // 4), MAX_MINERS)
    network = SimulatedNetwork(miners=miners, validators=validators, submissions=submissions)
    return simulate_network(network, seed=seed, attacks=attacks)


@dataclass(frozen=True, kw_only=True)
class SimulatedNetwork:
    """The honest participants of a simulated network.

    Attributes:
        miners: number of miners, of whom some may submit nothing.
        validators: number of validators.
        submissions: number of submissions, each by a random miner.
        sources: how many of them, the first ones, disclose their source.
        lines: of each source.
    """

    miners: int
    validators: int
    submissions: int
    sources: int = WITH_SOURCE
    lines: int = 30


def simulate_network(
    network: SimulatedNetwork, *, seed: int, attacks: Sequence[str] = ()
) -> Simulation:
    """Return a simulation of a network; :func:`simulate` says what is in it."""
    require_known(attacks, ATTACKS)
    dice = np.random.default_rng(seed)
    honest = network.validators
    agents = _agents(dice, network)
    for miner_attack in BY_MINERS:
        if miner_attack.name in attacks:
            miner_attack.play(agents)
    stakes = np.round(dice.lognormal(8.0, 0.5, honest), 2).tolist()
    names = [f"v{index + 1}" for index in range(honest)]
    validators = _Validators(dice, agents, _honest_reports(dice, agents, honest), names, stakes)
    for validator_attack in BY_VALIDATORS:
        if validator_attack.name in attacks:
            validator_attack.play(validators)
    return Simulation(
        {
            "submissions": _submissions(agents),
            "evaluations": _evaluations(validators.reports, names),
            "validators": pa.table({"id": names, "stake": stakes}),
        },
        {"people": _people(agents, names, honest)},
    )


def _agents(dice: np.random.Generator, network: SimulatedNetwork) -> _Agents:
    """Return submissions: each miner has a skill, and all improve over time."""
    count = network.submissions
    miners = dice.integers(1, network.miners + 1, count)
    talents = dice.normal(0, 0.08, int(miners.max()) + 1)
    progress = np.arange(count) / count
    skills = 0.25 + 0.5 * progress + talents[miners] + dice.normal(0, 0.03, count)
    last = max(LIFE, round(count**0.5) * 2)
    sources = [_source(dice, network.lines) for _ in range(min(count, network.sources))]
    contents = [f"{number:016x}" for number in dice.integers(1, 2**62, count).tolist()]
    contents[: len(sources)] = [sha256(source.encode()).hexdigest() for source in sources]
    return _Agents(
        miners.tolist(),
        skills.clip(0.02, 0.98).tolist(),
        np.floor(progress * last).astype(np.int64).tolist(),
        contents,
        [*sources, *[None] * (count - len(sources))],
    )


def _source(dice: np.random.Generator, count: int) -> str:
    """Return random program-like text of ``count`` lines; each has a different structure."""
    words = dice.integers(0, len(_WORDS), (count, 3))
    signs = dice.integers(0, len(_OPERATORS), (count, 4))
    names = dice.integers(0, 50, (count, 4))
    lines = ["def solve(task):"]
    for word, sign, name in zip(words.tolist(), signs.tolist(), names.tolist(), strict=True):
        used = " ".join(f"x{n} {_OPERATORS[s]}" for n, s in zip(name, sign, strict=True))
        lines.append(f"    {_WORDS[word[0]]} {used} {_WORDS[word[1]]} {_WORDS[word[2]]} {name[0]}")
    return "\n".join(lines)


def _measure(dice: np.random.Generator, skills: FloatArray) -> FloatArray:
    passed: FloatArray = dice.binomial(TASKS, skills).astype(np.float64)
    return passed / TASKS


def _moments(
    dice: np.random.Generator, agents: _Agents, times: int
) -> tuple[IntArray, IntArray, IntArray]:
    """Return which of ``times`` validators evaluate which submission in which of its epochs.

    Returns:
        submissions, validators (0 … ``times`` - 1) and epochs, by epoch.
    """
    count = len(agents.miners)
    submissions = np.repeat(np.arange(count), LIFE * times)
    ages = np.tile(np.repeat(np.arange(LIFE), times), count)
    epochs = np.repeat(np.array(agents.epochs), LIFE * times) + ages
    validators = np.tile(np.arange(times), count * LIFE)
    made = np.flatnonzero(dice.random(len(submissions)) < _PRESENT)
    made = made[np.argsort(epochs[made], kind="stable")]
    return submissions[made], validators[made], epochs[made]


def _honest_reports(dice: np.random.Generator, agents: _Agents, honest: int) -> _Reports:
    submissions, validators, epochs = _moments(dice, agents, honest)
    scores = _measure(dice, np.array(agents.skills)[submissions])
    return _Reports([submissions], [validators], [epochs], [scores])


@dataclass
class _Validators:
    """The validators of a simulated network, and what they report; attackers join at the end."""

    dice: np.random.Generator
    agents: _Agents
    reports: _Reports
    names: list[str]
    stakes: list[float]

    def measure(self) -> tuple[IntArray, IntArray, FloatArray]:
        """Return random honest evaluations of one more validator: submissions, epochs, scores."""
        submissions, _, epochs = _moments(self.dice, self.agents, 1)
        scores = _measure(self.dice, np.array(self.agents.skills)[submissions])
        return submissions, epochs, scores

    def add(
        self,
        name: str,
        submissions: IntArray,
        epochs: IntArray,
        scores: FloatArray,
        *,
        stake: float | None = None,
    ) -> None:
        """Add a validator with its evaluations; None: with the stake of the first one."""
        self.reports.add(submissions, len(self.names), epochs, scores)
        self.names.append(name)
        self.stakes.append(round(self.stakes[0] if stake is None else stake, 2))


def _erratic(validators: _Validators) -> None:
    submissions, epochs, scores = validators.measure()
    scores = validators.dice.integers(0, TASKS + 1, len(submissions)).astype(np.float64) / TASKS
    validators.add("erratic-validator", submissions, epochs, scores)


def _copying(validators: _Validators) -> None:
    _repeating("copying-validator", validators, victim=0, delay=0)


def _lagging(validators: _Validators) -> None:
    _repeating("lagging-validator", validators, victim=1, delay=1)


def _repeating(name: str, validators: _Validators, *, victim: int, delay: int) -> None:
    """Return the victim's report of ``delay`` epochs before, else an honest score."""
    submissions, epochs, scores = validators.measure()
    reports, starts = validators.reports, np.array(validators.agents.epochs)
    of_victim = reports.validators[0] == victim
    rows, when = reports.submissions[0][of_victim], reports.epochs[0][of_victim]
    known = np.full((len(starts), LIFE + delay), np.nan)
    known[rows, when - starts[rows] + delay] = reports.scores[0][of_victim]
    copied = known[submissions, epochs - starts[submissions]]
    validators.add(name, submissions, epochs, np.where(np.isnan(copied), scores, copied))


def _whale(validators: _Validators) -> None:
    validators.add("stake-whale", *validators.measure(), stake=1.2 * sum(validators.stakes))


def _self_serving(validators: _Validators) -> None:
    submissions, epochs, scores = validators.measure()
    friend = np.bincount(validators.agents.miners).argmax()
    adds = np.where(np.array(validators.agents.miners)[submissions] == friend, _BONUS, 0.0)
    scores = np.minimum(1.0, scores + adds)
    validators.add("self-serving-validator", submissions, epochs, scores)


def _copy_agent(agents: _Agents) -> None:
    """Submit the last agent whose source is known byte for byte, an epoch later."""
    like, source = agents.last_with_source
    agents.add(
        "copied-agent",
        like,
        epoch=agents.epochs[like] + 1,
        content=agents.contents[like],
        source=source,
    )


def _rewrite_agent(agents: _Agents) -> None:
    """Submit the last agent whose source is known under other names, an epoch later."""
    like, source = agents.last_with_source
    changed = source.replace("x", "value_").replace("solve", "work")
    digest = sha256(changed.encode()).hexdigest()
    agents.add(
        "rewritten-agent", like, epoch=agents.epochs[like] + 1, content=digest, source=changed
    )


def _submissions(agents: _Agents) -> pa.Table:
    count = len(agents.miners)
    hours = np.array(agents.epochs) * 24 * 3600 * 1_000_000 + np.arange(count)
    return pa.table(
        {
            "id": [f"s{index + 1}" for index in range(count)],
            "miner_uid": pa.array(agents.miners, pa.int64()),
            "submitted_at": _START + hours.astype("timedelta64[us]"),
            "content_hash": agents.contents,
            "source": pa.array(agents.sources, pa.string()),
        }
    )


def _evaluations(reports: _Reports, names: list[str]) -> pa.Table:
    submissions = np.concatenate(reports.submissions)
    known = pa.array([f"s{index + 1}" for index in range(int(submissions.max(initial=0)) + 1)])
    validators = np.concatenate(reports.validators)
    return pa.table(
        {
            "submission_id": known.take(pa.array(submissions)),
            "validator_id": pa.array(names).take(pa.array(validators)),
            "score": np.concatenate(reports.scores),
            "epoch": np.concatenate(reports.epochs),
        }
    )


def _people(agents: _Agents, names: list[str], honest: int) -> pa.Table:
    uids = sorted(set(agents.miners))
    best: dict[int, float] = {}
    for uid, skill in zip(agents.miners, agents.skills, strict=True):
        best[uid] = max(skill, best.get(uid, 0.0))
    return pa.table(
        {
            "id": [*(str(uid) for uid in uids), *names],
            "kind": ["miner"] * len(uids) + ["validator"] * len(names),
            "role": [
                *(agents.roles.get(uid, "honest") for uid in uids),
                *("honest" if index < honest else name for index, name in enumerate(names)),
            ],
            "skill": pa.array([*(best[uid] for uid in uids), *[None] * len(names)], pa.float64()),
        }
    )


BY_MINERS: tuple[Attack[_Agents], ...] = (
    Attack(
        "copied-agent",
        "a miner submits another miner's agent byte for byte",
        _copy_agent,
    ),
    Attack(
        "rewritten-agent",
        "a miner submits another miner's agent with its names changed",
        _rewrite_agent,
    ),
)
"""The attacks of miners, in the order in which they are played."""

BY_VALIDATORS: tuple[Attack[_Validators], ...] = (
    Attack(
        "erratic-validator",
        "a validator reports numbers without running a task",
        _erratic,
    ),
    Attack(
        "copying-validator",
        "a validator reports what another one reported in the same epoch",
        _copying,
    ),
    Attack(
        "lagging-validator",
        "a validator reports what another one reported an epoch before",
        _lagging,
    ),
    Attack(
        "stake-whale",
        "a validator has more stake than all others together",
        _whale,
    ),
    Attack(
        "self-serving-validator",
        "a validator adds to the scores of one miner, epoch after epoch",
        _self_serving,
    ),
)
"""The attacks of validators, in the order in which they are played."""

ATTACKS = meanings(BY_VALIDATORS) | meanings(BY_MINERS)
