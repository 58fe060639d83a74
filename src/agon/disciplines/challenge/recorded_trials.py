"""Read what the records say of an agent's trials: no formula needs more of them than a rate."""

from collections.abc import Mapping
from dataclasses import dataclass

from agon.records import Records
from agon.records.raw import literal


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
