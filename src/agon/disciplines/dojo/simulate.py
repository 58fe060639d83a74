"""Simulate a season: honest solvers of different skill and style, and attackers.

Honest programs are written from templates of the methods that the source document names; their
sources are real Python, so that policy, brevity and fingerprints work on them as on any other. A
season of more than :data:`WITH_SOURCE` submissions gives the later ones by hash and length, as a
judge may record them.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from agon.disciplines.capabilities import Simulation
from agon.disciplines.dojo.canonical import canonicalize, length
from agon.kernel.attacks import Attack, meanings, select

WITH_SOURCE = 5_000
"""Number of honest submissions with their source."""

_DECLARES = 0.7
_FAILS = 0.25
_START = datetime(2026, 1, 5)  # noqa: DTZ001 - records store UTC without a zone
_DAYS = 28

_TEMPLATES = {
    "linear_recurrence": (
        "def solver():\n    {x}, {y} = {p}, {q}\n    {r} = []\n    for _ in range(200):\n"
        "        {r}.append({x})\n        {x}, {y} = {y}, {x} + {k} * {y}\n    return {r}\n"
    ),
    "closed_form": (
        "def solver():\n    return [{k} * {x} * {x} + {p} * {x} + {q} for {x} in range(200)]\n"
    ),
    "search_enum": (
        "def solver():\n    {r}, {x} = [], {p}\n    while len({r}) < 200:\n"
        "        if all({x} % {y} for {y} in range(2, {k} + 2)):\n            {r}.append({x})\n"
        "        {x} += 1\n    return {r}\n"
    ),
    "matrix_power": (
        "def solver():\n    def times({x}, {y}):\n"
        "        return [[sum({x}[i][k] * {y}[k][j] for k in range(2)) for j in range(2)]\n"
        "                for i in range(2)]\n"
        "    {r}, m, out = [[1, 0], [0, 1]], [[{p}, {k}], [1, 0]], []\n"
        "    for _ in range(200):\n        out.append({r}[0][1] + {q})\n"
        "        {r} = times({r}, m)\n"
        "    return out\n"
    ),
}
_NAMES = ("a", "b", "n", "x", "y", "value", "term", "state", "left", "right", "current", "step")


def simulate(*, size: int, seed: int, attacks: Sequence[str] = ()) -> Simulation:
    """Return a simulation of ``size`` submissions of honest users, plus the attackers'.

    Raises:
        NotFound: an attack that is not in :data:`ATTACKS`.
    """
    chosen = select(TABLE, attacks)
    dice = np.random.default_rng(seed)
    season = _Season(dice, size)
    for attack in chosen:
        attack.play(season)
    return season.simulation()


class _Season:
    """Collect the rows of one simulated season."""

    def __init__(self, dice: np.random.Generator, size: int) -> None:
        self.dice = dice
        self.problems = max(4, min(60, size // 100))
        self.users = max(8, size // 20)
        self.blocks: list[dict[str, Any]] = []
        self.people: list[pa.Table] = []
        self._honest(size)

    def program(self, method: str) -> str:
        """Return a program of a method, with individual names and numbers."""
        names = self.dice.choice(_NAMES, 3, replace=False)
        p, q, k = self.dice.integers(1, 5_000, 3)
        body = _TEMPLATES[method].format(x=names[0], y=names[1], r=names[2], p=p, q=q, k=k)
        words = self.dice.integers(0, 14)
        comment = " ".join(self.dice.choice(_NAMES, words)) if words else ""
        return f"# {comment}\n{body}" if comment else body

    def _honest(self, size: int) -> None:
        skill = self.dice.beta(2, 2, self.users)
        user = self.dice.integers(0, self.users, size)
        works = self.dice.random(size)
        right = works < skill[user]
        half = ~right & (works < skill[user] + 0.15)
        failed = ~right & ~half & (self.dice.random(size) < _FAILS)
        other = np.array(["time_limit", "runtime_error", "wrong_type", "syntax_error"])
        verdict = np.where(right, "ok", "wrong_answer").astype(object)
        verdict[failed] = other[self.dice.integers(0, 4, int(failed.sum()))]
        near, far = self.dice.integers(100, 200, size), self.dice.integers(0, 100, size)
        matched = np.where(right, 200, np.where(half, near, far))
        methods = np.array(list(_TEMPLATES), object)
        method = methods[self.dice.integers(0, len(methods), size)]
        sources = [self.program(name) for name in method[:WITH_SOURCE]]
        lengths = np.array([length(canonicalize(source.encode())) for source in sources] or [0])
        rest = size - len(sources)
        hashes = np.frombuffer(self.dice.bytes(32 * rest).hex().encode(), dtype="S64")
        missing = pa.nulls(len(sources), pa.string())
        self.blocks.append(
            {
                "user": _name_ids("u", user + 1),
                "problem": self.dice.integers(0, self.problems, size),
                "day": self.dice.random(size) * _DAYS * 0.98,
                "source": _join_times(pa.array(sources, pa.string()), pa.nulls(rest, pa.string())),
                "source_hash": _join_times(missing, pa.array(hashes).cast(pa.string())),
                "l_chars": _join_times(
                    pa.nulls(len(sources), pa.int64()),
                    pa.array(self.dice.choice(lengths, rest).astype(np.int64)),
                ),
                "verdict": verdict,
                "matched": np.where(failed, 0, matched),
                "tag": np.where(self.dice.random(size) < _DECLARES, method, np.array(None, object)),
            }
        )
        self.people.append(
            pa.table(
                {
                    "id": _name_ids("u", np.arange(1, self.users + 1)),
                    "role": pa.array(["honest"] * self.users),
                    "skill": skill,
                    "attack": pa.nulls(self.users, pa.string()),
                }
            )
        )

    def attacker(self, attack: str, number: int) -> str:
        """Add an attacker's account; return its id."""
        name = f"{attack}-{number}"
        self.people.append(
            pa.table(
                {
                    "id": [name],
                    "role": ["attacker"],
                    "skill": pa.nulls(1, pa.float64()),
                    "attack": [attack],
                }
            )
        )
        return name

    def submit(self, user: str, problem: int, day: float, source: str, tag: str | None) -> None:
        """Add a correct submission."""
        self.blocks.append(
            {
                "user": pa.array([user]),
                "problem": np.array([problem]),
                "day": np.array([day]),
                "source": pa.array([source]),
                "source_hash": pa.nulls(1, pa.string()),
                "l_chars": pa.nulls(1, pa.int64()),
                "verdict": np.array(["ok"], object),
                "matched": np.array([200]),
                "tag": np.array([tag], object),
            }
        )

    def simulation(self) -> Simulation:
        """Return the tables."""
        day = np.concatenate([block["day"] for block in self.blocks])
        created = np.datetime64(_START, "us") + (day * 86_400e6).astype("timedelta64[us]")
        problem = np.concatenate([block["problem"] for block in self.blocks])
        submissions = pa.table(
            {
                "id": _name_ids("s", np.arange(1, len(day) + 1)),
                "problem_id": _name_ids("p", problem + 1),
                "user_id": self._column("user"),
                "created_at": pa.array(created),
                "source": self._column("source"),
                "source_hash": self._column("source_hash"),
                "l_chars": self._column("l_chars"),
                "method_tag": pa.array(
                    np.concatenate([b["tag"] for b in self.blocks]), pa.string()
                ),
                "verdict": pa.array(
                    np.concatenate([b["verdict"] for b in self.blocks]), pa.string()
                ),
                "terms_matched": pa.array(np.concatenate([b["matched"] for b in self.blocks])),
            }
        )
        numbers = np.arange(1, self.problems + 1)
        freeze = [_START + timedelta(days=_DAYS)] * self.problems
        problems = pa.table(
            {
                "id": _name_ids("p", numbers),
                "setter_user_id": _name_ids("setter", numbers),
                "title": _name_ids("Sequence ", numbers),
                "n_check": np.full(self.problems, 200),
                "freeze_started_at": pa.array(freeze, pa.timestamp("us")),
            }
        )
        people = pa.concat_tables(self.people)
        return Simulation({"problems": problems, "submissions": submissions}, {"people": people})

    def _column(self, name: str) -> pa.ChunkedArray:
        return _join_times(*(block[name] for block in self.blocks))


def _name_ids(prefix: str, numbers: Any) -> pa.Array:
    return pc.binary_join_element_wise(prefix, pc.cast(pa.array(numbers), pa.string()), "")


def _join_times(*parts: Any) -> pa.ChunkedArray:
    chunks = (part.chunks if isinstance(part, pa.ChunkedArray) else [part] for part in parts)
    return pa.chunked_array([chunk for several in chunks for chunk in several])


def _literal_payload(season: _Season) -> None:
    for number in range(3):
        numbers = ", ".join(str(n) for n in season.dice.integers(10**6, 10**7, 118))
        source = f"def solver():\n    t = [{numbers}]\n    return (t + t)[:200]\n"
        user = season.attacker("literal-payload", number)
        season.submit(user, number % season.problems, 3.0 + number, source, "other")


def _huge_literal(season: _Season) -> None:
    for number in range(3):
        digits = "".join(map(str, season.dice.integers(1, 10, 900)))
        source = (
            f"def solver():\n    n = {digits}\n"
            "    return [n // 10 ** (4 * i) % 10000 for i in range(200)]\n"
        )
        user = season.attacker("huge-literal", number)
        season.submit(user, number % season.problems, 4.0 + number, source, None)


def _copied_source(season: _Season) -> None:
    for number in range(3):
        source = season.program("search_enum") + "# a line of its author\n"
        author = season.attacker("copied-source", 2 * number)
        season.submit(author, number % season.problems, 2.0, source, "search_enum")
        copier = season.attacker("copied-source", 2 * number + 1)
        season.submit(copier, number % season.problems, 6.0, source, "search_enum")


def _renamed_copy(season: _Season) -> None:
    for number in range(3):
        shape = (
            "def solver():\n    {a} = {p}\n    {b} = []\n    while len({b}) < 200:\n"
            "        {b}.append({a} ^ ({a} >> 1) + {q})\n        {a} += {k}\n    return {b}\n"
        )
        p, q, k = (int(n) for n in season.dice.integers(100, 10_000, 3))
        for index, (a, b) in enumerate((("n", "out"), ("value", "terms"))):
            source = shape.format(a=a, b=b, p=p, q=q, k=k)
            user = season.attacker("renamed-copy", 2 * number + index)
            season.submit(user, number % season.problems, 5.0 + index, source, "search_enum")


def _tag_farming(season: _Season) -> None:
    for number in range(5):
        user = season.attacker("tag-farming", number)
        for problem in range(min(season.problems, 4)):
            source = season.program("closed_form") + f"# farm {number} {problem}\n"
            season.submit(user, problem, 7.0 + number, source, f"method-{number}-{problem}")


def _false_tag(season: _Season) -> None:
    for number in range(3):
        source = season.program("closed_form") + f"# false {number}\n"
        user = season.attacker("false-tag", number)
        season.submit(user, number % season.problems, 8.0 + number, source, "matrix_power")


TABLE: tuple[Attack[_Season], ...] = (
    Attack(
        "literal-payload",
        "hides the terms in just fewer literals than the payload policy allows",
        _literal_payload,
    ),
    Attack(
        "huge-literal",
        "packs the table of all terms into one huge integer literal",
        _huge_literal,
    ),
    Attack(
        "copied-source",
        "submits another user's program under an own account",
        _copied_source,
    ),
    Attack(
        "renamed-copy",
        "submits another user's program with every name changed",
        _renamed_copy,
    ),
    Attack(
        "tag-farming",
        "runs accounts that only collect the bonus for the first of a made-up tag",
        _tag_farming,
    ),
    Attack(
        "false-tag",
        "declares a method the program plainly does not use",
        _false_tag,
    ),
)

ATTACKS = meanings(TABLE)
