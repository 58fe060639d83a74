"""Run a task's tests on what an agent left."""

import shutil
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from agon.app.containers import (
    AgentTrial,
    Containers,
    Image,
    Limits,
    Outputs,
    TaskTests,
    TrialVerification,
)
from agon.app.tasks.files import files_under
from agon.app.tasks.outputs import verifier_spec
from agon.app.tasks.preparation import in_workdir
from agon.app.tasks.task import Task

OF_TRIAL: Final = frozenset({"agent", "services"})
"""The networks of tests that are the trial's own."""


def verify(
    task: Task,
    outputs: Outputs,
    containers: Containers,
    *,
    image: Image,
    trial: AgentTrial,
    network: str,
) -> TrialVerification:
    """Run the tests on an agent's outputs, of which those of a step may receive a part.

    An image of separate tests brings them itself, with what it built of them.
    """
    if (shown := task.settings.shown) is not None:
        outputs = containers.select(
            outputs, shown, excluded=task.settings.excluded, folder=trial.folder
        )
    if spec := verifier_spec(task, outputs.declared):
        own = replace(containers.build(spec), has_tests=task.settings.separate)
        image = in_workdir(task, own)
    image = replace(image, workdir=task.settings.verifier_workdir or image.workdir)
    bounds = task.settings.verifier_bounds
    limits = Limits(
        timeout_s=task.settings.bounds.verifier_s,
        memory_mib=bounds.memory_mb,
        storage_mib=bounds.storage_mb,
        cpus=bounds.cpus,
    )

    def run_verifier(folder: Path) -> TrialVerification:
        tests = TaskTests(
            folder=folder,
            pass_rule=replace(task.settings.pass_rule, source=task.reward_source),
            environment=tuple(task.settings.verifier_env.items()),
            network="none" if network in OF_TRIAL else network,
        )
        return containers.verify(image, outputs, tests, trial=trial, limits=limits)

    script, shared = task.files.script, task.files.shared_tests
    if script is None and shared is None:
        return run_verifier(task.files.tests)
    with TemporaryDirectory(prefix="agon-tests-") as place:
        tests = Path(place) / "tests"
        tests.mkdir()
        for folder in filter(None, (shared, task.files.tests)):
            _lay(folder, tests)
        if script is not None:
            shutil.copy(script, tests / script.name)
            shutil.copy(script, tests / "test.sh")
        return run_verifier(tests)


def _lay(source: Path, target: Path) -> None:
    """Copy what is in a folder into another one, in place of files and links of these names."""
    for path, entry in files_under(source) if source.is_dir() else ():
        place = target / path
        if entry.is_dir(follow_symlinks=False):
            place.mkdir(exist_ok=True)
            continue
        place.unlink(missing_ok=True)  # a link would lead the copy elsewhere
        shutil.copy2(entry.path, place, follow_symlinks=False)
