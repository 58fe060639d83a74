"""Read what the records say of agents' trials: results, and what the agent could reach meanwhile.

No formula reads either: rates are counted by :mod:`agon.disciplines.challenge.facts`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from agon.kernel.text.captions import count_text
from agon.records import Records
from agon.records.raw import literal

UNKNOWN: Final = "unknown"
_WORDS: Final = {"none": "nothing", "public": "every host"}


@dataclass(frozen=True)
class Reach:
    """What the agent could reach in some results of a submission.

    Attributes:
        network: ``none``, ``allowlist`` or ``public``; empty: the record does not say.
        hosts: with ``allowlist``, the hosts as HOST:PORT.
        results: the number of task results.
    """

    network: str
    hosts: tuple[str, ...]
    results: int

    @property
    def cell(self) -> str:
        """What the board says of it.

        Example:
            >>> Reach("allowlist", ("api.test:443", "pypi.test:443"), 3).cell
            'api.test:443, pypi.test:443'
            >>> Reach("none", (), 1).cell, Reach("", (), 1).cell
            ('none', 'unknown')
        """
        return ", ".join(self.hosts) or self.network or UNKNOWN

    @property
    def sentence(self) -> str:
        """What the explanation says of it.

        Example:
            >>> Reach("none", (), 2).sentence
            'in 2 task results the agent could reach nothing'
        """
        listed = f"by a proxy: {', '.join(self.hosts) or 'listed hosts'}"
        reached = _WORDS.get(self.network, listed)
        return f"in {count_text(self.results, 'task result')} the agent could reach {reached}"


def reach_by_submission(
    records: Records, *, submission: str | None = None
) -> dict[str, list[Reach]]:
    """Return what the agent of each submission with task results could reach, in a fixed order.

    Args:
        records: the records.
        submission: the only submission to look at; None: all.
    """
    only = "" if submission is None else f"WHERE submission_id::VARCHAR = {literal(submission)} "
    rows = records.sql(
        "SELECT submission_id::VARCHAR AS submission, coalesce(agent_network, '') AS network, "
        "coalesce(allowed_hosts, '') AS hosts, count(*) AS n FROM task_results "
        f"{only}GROUP BY ALL ORDER BY submission, network, hosts"
    ).to_pylist()
    reached: dict[str, list[Reach]] = {}
    for row in rows:
        hosts = tuple(host.strip() for host in row["hosts"].split(",") if host.strip())
        reached.setdefault(row["submission"], []).append(Reach(row["network"], hosts, row["n"]))
    return reached


def is_known(reached: Iterable[list[Reach]]) -> bool:
    """Return whether any record says what an agent could reach."""
    return any(one.network for several in reached for one in several)


def reach_cell(reached: list[Reach]) -> str:
    """Return what the board says of a submission: each different reach once.

    Example:
        >>> reach_cell([Reach("none", (), 3), Reach("public", (), 1)]), reach_cell([])
        ('none; public', 'unknown')
    """
    return "; ".join(dict.fromkeys(one.cell for one in reached)) or UNKNOWN


@dataclass(frozen=True)
class RecordedTrial:
    """The result of a task as the records have it.

    Attributes:
        task: the task's name.
        passed: whether the agent passed it.
        agent_network: what the agent could reach; None: the record does not say.
        rewards: the rewards that its tests wrote, by key.
    """

    task: str
    passed: bool
    agent_network: str | None
    rewards: Mapping[str, float]


def recorded_trials(records: Records, *, submission: str, validator: str) -> list[RecordedTrial]:
    """Return the results that a validator recorded of a submission, by task."""
    own = (
        f"WHERE submission_id::VARCHAR = {literal(submission)} "
        f"AND validator_id::VARCHAR = {literal(validator)}"
    )
    rewards: dict[str, dict[str, float]] = {}
    for row in records.sql(
        "SELECT task_id::VARCHAR AS task, reward_key::VARCHAR AS name, reward::DOUBLE AS reward "
        f"FROM task_rewards {own} ORDER BY task, name"
    ).to_pylist():
        rewards.setdefault(row["task"], {})[row["name"]] = row["reward"]
    results = records.sql(
        "SELECT task_id::VARCHAR AS task, passed, nullif(agent_network, '') AS network "
        f"FROM task_results {own} ORDER BY task"
    ).to_pylist()
    return [
        RecordedTrial(row["task"], row["passed"], row["network"], rewards.get(row["task"], {}))
        for row in results
    ]
