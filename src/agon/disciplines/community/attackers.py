"""Add attacks to a simulated community: the attackers, their prompts and their feedback."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from agon.kernel.arrays import FloatArray, IntArray
from agon.kernel.attacks import Attack, meanings, select

Columns = dict[str, npt.NDArray[Any]]


_MINUTE = 60_000_000  # microseconds
_PEOPLE_PER_GROUP = 500


@dataclass
class SimulatedPeople:
    """The users of a simulation under construction; attackers are added last."""

    joined: IntArray
    skill: FloatArray
    leniency: FloatArray
    activity: FloatArray
    handles: pa.Array
    roles: pa.Array
    start: int
    span: int

    @classmethod
    def honest(
        cls, rng: np.random.Generator, size: int, *, handles: pa.Array, start: int, span: int
    ) -> "SimulatedPeople":
        """Return ``size`` honest users who join during the first half of the time."""
        activity = np.minimum(rng.pareto(1.2, size) + 0.1, 30.0)
        return cls(
            joined=start + (rng.random(size) ** 2 * span / 2).astype(np.int64),
            skill=rng.normal(0, 1, size),
            leniency=rng.normal(0, 0.4, size),
            activity=activity / activity.sum(),
            handles=handles,
            roles=pa.array(["honest"] * size),
            start=start,
            span=span,
        )

    @property
    def count(self) -> int:
        """Return the number of users."""
        return len(self.skill)

    def join(self, role: str, handles: list[str]) -> IntArray:
        """Add users; return their indices."""
        new = len(handles)
        self.joined = np.concatenate([self.joined, np.full(new, self.start + self.span // 2)])
        self.skill = np.concatenate([self.skill, np.zeros(new)])
        self.leniency = np.concatenate([self.leniency, np.zeros(new)])
        self.handles = pa.concat_arrays([self.handles, pa.array(handles, pa.string())])
        self.roles = pa.concat_arrays([self.roles, pa.array([role] * new)])
        return np.arange(self.count - new, self.count)


@dataclass
class _Scene:
    """The parts of a simulation that an attack extends."""

    rng: np.random.Generator
    people: SimulatedPeople
    prompts: Columns
    feedback: Columns
    honest: int
    written: int

    def accounts(self, role: str, count: int) -> IntArray:
        """Add users whose handles are similar to no others; return their indices."""
        names = [f"{role}-{self.rng.integers(10**12):012d}" for _ in range(count)]
        return self.people.join(role, names)

    def write(self, creator: IntArray) -> IntArray:
        """Add a prompt per entry, which no honest user rates; return their indices."""
        new = len(creator)
        first = len(self.prompts["creator"])
        self._extend(
            self.prompts,
            creator=creator,
            quality=np.zeros(new),
            difficulty=np.zeros(new),
            created=self._times(new),
        )
        return np.arange(first, first + new)

    def like(self, user: IntArray, prompt: IntArray, *, at: IntArray | None = None) -> None:
        """Add positive feedback, at the times ``at`` or random ones in the second half."""
        none = np.full(len(user), -1)
        self._extend(
            self.feedback,
            user=user,
            prompt=prompt,
            response=none,
            score=none,
            positive=np.ones(len(user), dtype=bool),
            created=self._times(len(user)) if at is None else at,
        )

    def some_prompts(self, count: int) -> IntArray:
        """Return a random sample of honest prompts."""
        return self.rng.choice(self.written, min(count, self.written), replace=False)

    def _times(self, count: int) -> IntArray:
        half = self.people.span // 2
        return self.people.start + half + self.rng.integers(half, size=count)

    @staticmethod
    def _extend(columns: Columns, **more: npt.NDArray[Any]) -> None:
        for name, values in more.items():
            columns[name] = np.concatenate([columns[name], values])


def play(
    names: Sequence[str],
    rng: np.random.Generator,
    people: SimulatedPeople,
    prompts: Columns,
    feedback: Columns,
) -> None:
    """Add attacks, each by one group per 500 honest users, at least one.

    Raises:
        NotFound: the attack does not exist; the message suggests one.
    """
    chosen = select(TABLE, names)
    honest = people.count
    written = len(prompts["difficulty"])
    scene = _Scene(rng, people, prompts, feedback, honest, written)
    for attack in TABLE:
        if attack in chosen:
            for _ in range(max(1, honest // _PEOPLE_PER_GROUP)):
                attack.play(scene)


def _hug_thresholds(scene: _Scene) -> None:
    for hugger in scene.accounts("threshold-hugging", 5):
        helpers = scene.accounts("helper", 3)
        prompts = scene.write(np.full(3, hugger))
        scene.like(np.repeat(helpers, 3), np.tile(prompts, 3))


def _like_oneself(scene: _Scene) -> None:
    (person,) = scene.accounts("self-feedback", 1)
    prompts = scene.write(np.full(8, person))
    scene.like(np.full(8, person), prompts)


def _ring(scene: _Scene) -> None:
    ring = scene.accounts("reciprocal-ring", 4)
    prompts = scene.write(np.repeat(ring, 5)).reshape(4, 5)
    scene.like(np.repeat(ring, 5), np.roll(prompts, -1, axis=0).ravel())


def _burst(scene: _Scene) -> None:
    (person,) = scene.accounts("feedback-burst", 1)
    prompts = scene.some_prompts(60)
    start = int(scene.rng.integers(scene.people.span // 2)) + scene.people.span // 2
    times = scene.people.start + start + np.sort(scene.rng.integers(5 * _MINUTE, size=len(prompts)))
    scene.like(np.full(len(prompts), person), prompts, at=times)


def _one_target(scene: _Scene) -> None:
    (creator,) = scene.accounts("favourite", 1)
    prompts = scene.write(np.full(30, creator))
    for fan in scene.accounts("one-target-reviewer", 3):
        others = scene.some_prompts(2)
        scene.like(np.full(len(prompts) + len(others), fan), np.concatenate([prompts, others]))


def _look_alike(scene: _Scene) -> None:
    known = scene.people.handles[int(scene.rng.integers(scene.honest))].as_py()
    look = {"o": "0", "l": "1", "e": "3", "a": "4", "s": "5", "t": "7"}
    index = next((index for index, letter in enumerate(known) if letter in look), None)
    copy = known + "-" if index is None else known[:index] + look[known[index]] + known[index + 1 :]
    scene.people.join("near-duplicate-handle", [copy])


def _target_group(scene: _Scene) -> None:
    """Ten likes of each of five users on one creator's prompts, among forty on others'."""
    (creator,) = scene.accounts("promoted", 1)
    prompts = scene.write(np.full(10, creator))
    for member in scene.accounts("target-group", 5):
        liked = np.concatenate([prompts, scene.some_prompts(40)])
        scene.like(np.full(len(liked), member), liked)


TABLE: tuple[Attack[_Scene], ...] = (
    Attack(
        "threshold-hugging",
        "writes exactly as many prompts as the bonus needs and buys each exactly the "
        "positives it needs from throw-away accounts",
        _hug_thresholds,
    ),
    Attack(
        "self-feedback",
        "likes each of their own prompts",
        _like_oneself,
    ),
    Attack(
        "reciprocal-ring",
        "joins a circle of users who each like the prompts of the next ones",
        _ring,
    ),
    Attack(
        "feedback-burst",
        "clicks through sixty prompts within five minutes for activity points",
        _burst,
    ),
    Attack(
        "one-target-reviewer",
        "likes whatever one creator writes, and hardly anything else",
        _one_target,
    ),
    Attack(
        "near-duplicate-handle",
        "opens an account whose handle resembles a known user's",
        _look_alike,
    ),
    Attack(
        "target-group",
        "likes one creator's prompts as four other accounts do, among many other likes",
        _target_group,
    ),
)
"""The attacks, in the order in which they are played."""

ATTACKS = meanings(TABLE)
