"""Run a task of the corpus as oracle, nop and a model, by the reference's rules and by agon.

``PYTHONPATH=tests python -m tasks.measuring [NAME...]`` writes the rows of ``table.jsonl``.
"""

import json
import sys
import tempfile
import tomllib
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agon.app.containers import AgentTrial, Containers
from agon.app.files import InvalidPackage
from agon.app.tasks.formats.discovery import read_task
from agon.app.tasks.formats.keys import keys_in
from agon.app.tasks.services import build
from agon.app.tasks.trials import TrialRunner
from agon.runners.agents.builtin import NopAgent, OracleAgent
from agon.runners.agents.chat import Chat
from agon.runners.agents.model import ModelAgent
from agon.runners.containers import open_containers, provide_base_image
from app.tasks.loopback import serving
from runners.containers.coreutils_image import import_coreutils_image
from tasks.corpus import PublicTask, read_corpus
from tasks.reference import ReferenceFailed, reference

if TYPE_CHECKING:
    from agon.app.tasks.agents import Agent

AGENTS = ("oracle", "nop", "model")
TABLE = Path(__file__).parent / "table.jsonl"


def by_reference(task: PublicTask, folder: Path, scratch: Path) -> dict[str, str]:
    """Return what the reference's rules make of a task, by agent."""
    if reason := task.about.get("refused"):
        return dict.fromkeys(AGENTS, f"refused: {reason}")
    outcomes = {}
    for agent in AGENTS:
        place = scratch / f"reference-{agent}"
        place.mkdir()
        try:
            outcomes[agent] = _shown(reference(folder, agent, task.commands, place))
        except ReferenceFailed as failed:
            outcomes[agent] = f"error: {failed}"
    return outcomes


def by_agon(
    task: PublicTask, folder: Path, scratch: Path, engine: Containers
) -> dict[str, dict[str, str]]:
    """Return what agon makes of a task, by agent: result, rewards, and why it is no pass."""
    try:
        read = read_task(folder)
    except InvalidPackage as refused:
        issue = refused.issues[0]
        row = {"result": "refused", "reason": f"{issue.where} {issue.what}"}
        return dict.fromkeys(AGENTS, row)
    image = build(read, engine)
    answers = [f"```sh\n{task.commands}```\n", "DONE"] * max(1, len(read.settings.steps))
    rows = {}
    with serving(*answers) as endpoint:
        agents: Mapping[str, Callable[[], Agent]] = {
            "oracle": OracleAgent,
            "nop": NopAgent,
            "model": lambda: ModelAgent(Chat(endpoint.url, "m", key="k")),
        }
        for name, agent in agents.items():
            place = scratch / f"agon-{name}"
            place.mkdir()
            trial = AgentTrial(run=f"tried-{task.name}", name=name, folder=place, keep_servers=True)
            result = TrialRunner(
                agent=agent(), containers=engine, image=image, now=lambda: datetime.now(UTC)
            ).run(read, trial)
            rows[name] = {"result": result.result, "reason": result.reason}
            if result.rewards:
                rows[name]["rewards"] = _shown(result.rewards)
    return rows


def agrees(reference_says: str, agon_says: Mapping[str, Any]) -> bool:
    """Return whether both let an agent pass, or neither does."""
    passed: bool = agon_says["result"] == "passed"
    return passes(reference_says) == passed


def passes(reference_says: str) -> bool:
    """Return whether the rewards that the reference reads are at least 1: ``reward``, else all."""
    if reference_says.startswith(("error", "refused")):
        return False
    rewards = {one.rpartition(" ")[0]: float(one.split()[-1]) for one in reference_says.split(", ")}
    return min([rewards["reward"]] if "reward" in rewards else rewards.values()) >= 1


def _shown(rewards: Mapping[str, float]) -> str:
    if list(rewards) == ["reward"]:
        return f"{rewards['reward']:g}"
    return ", ".join(f"{key} {value:g}" for key, value in sorted(rewards.items()))


def images() -> dict[str, str]:
    """Return the images that tasks are built from, by the names that they have in the corpus."""
    provide_base_image()
    return {"busybox": "localhost/agon-base:1", "python": import_coreutils_image()}


def read_table() -> dict[str, dict[str, Any]]:
    """Return the rows of the table by task."""
    rows = map(json.loads, TABLE.read_text("utf-8").splitlines()) if TABLE.exists() else ()
    return {row["task"]: row for row in rows}


def row_of_task(
    task: PublicTask, scratch: Path, engine: Containers, bases: Mapping[str, str]
) -> dict[str, Any]:
    """Return a task's row of the table, measured."""
    folder = task.write(scratch / "tasks", bases)
    return {
        "task": task.name,
        **task.about,
        "keys": keys_of(task),
        "reference": by_reference(task, folder, scratch),
        "agon": by_agon(task, folder, scratch, engine),
    }


def keys_of(task: PublicTask) -> list[str]:
    """Return the keys of a task's settings, without those that describe it."""
    if "task.toml" not in task.files:
        lines = task.files.get("task.yaml", "").splitlines()
        return [line.split(":")[0] for line in lines if line[:1].isalpha()]
    content = tomllib.loads(task.files["task.toml"])
    paths = dict.fromkeys(path for path, _ in keys_in(content))
    return [path for path in paths if path.split(".")[0] not in {"metadata", "schema_version"}]


def main() -> None:
    """Measure the named tasks, or all."""
    names = sys.argv[1:]
    bases = images()
    with open_containers() as engine:
        for name, task in read_corpus().items():
            if names and name not in names:
                continue
            with tempfile.TemporaryDirectory() as place:
                row = row_of_task(task, Path(place), engine, bases)
            rows = {**read_table(), name: row}
            TABLE.write_text("".join(f"{json.dumps(rows[key])}\n" for key in sorted(rows)))
            for agent in AGENTS:
                same = agrees(row["reference"][agent], row["agon"][agent])
                line = f"{name} {agent}: {row['reference'][agent]} | {row['agon'][agent]}\n"
                sys.stderr.write(line if same else f"!! {line}")


if __name__ == "__main__":
    main()
