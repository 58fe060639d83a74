"""Run trials of small tasks: a script is the agent, another one the tests."""

import itertools
import os
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from agon.app.containers import (
    AgentRun,
    AgentTrial,
    Containers,
    Image,
    Limits,
    Mount,
    RewardSource,
    Shell,
    TaskTests,
    TrialVerification,
)
from agon.app.containers.pass_rule import PassRule

QUICK = Limits(
    timeout_s=20, memory_mib=128, storage_mib=24, processes=48, files=2000, output_kib=16
)


def limits(**changed: float) -> Limits:
    """Return the quick limits with changes."""
    return replace(QUICK, **changed)  # type: ignore[arg-type]  # the names differ in type


def sleeping(seconds: int) -> bool:
    """Return whether a process of this machine sleeps for that many seconds."""
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    return f"sleep {seconds}" in listed.stdout


@dataclass(frozen=True)
class Result:
    """The results of both parts of a trial."""

    run: AgentRun
    verification: TrialVerification | None

    @property
    def outcome(self) -> str:
        """The trial's outcome."""
        return self.verification.outcome if self.verification else self.run.outcome

    @property
    def reason(self) -> str:
        """Its reason."""
        return self.verification.reason if self.verification else self.run.reason

    def printed(self) -> str:
        """Return what the tests printed."""
        assert self.verification is not None
        return self.verification.account.stdout.path.read_text(errors="replace")


@dataclass
class Course:
    """Trials on an image, each in its own folder."""

    containers: Containers
    image: Image
    folder: Path
    run_name: str = field(default_factory=lambda: f"test-{os.getpid()}-{os.urandom(4).hex()}")
    _numbers: "itertools.count[int]" = field(default_factory=itertools.count)

    def trial(self) -> AgentTrial:
        """Return a further trial."""
        folder = self.folder / f"trial-{next(self._numbers)}"
        folder.mkdir()
        return AgentTrial(run=self.run_name, name=folder.name, folder=folder)

    def agent(
        self,
        script: str,
        *,
        bounds: Limits = QUICK,
        outputs: Sequence[str] = ("/app",),
        mounts: Sequence[Mount] = (),
        environment: Sequence[tuple[str, str]] = (),
    ) -> AgentRun:
        """Run an agent that is a shell script."""
        return self.containers.run_agent(
            self.image, ("sh", "-c", script), trial=self.trial(), limits=bounds, outputs=outputs,
            mounts=mounts, environment=environment,
        )  # fmt: skip

    def driven(self, driver: Callable[[Shell], None], *, bounds: Limits = QUICK) -> AgentRun:
        """Run an agent whose driver runs on the host."""
        return self.containers.drive_agent(self.image, driver, trial=self.trial(), limits=bounds)

    def verify(
        self,
        run: AgentRun,
        tests: str,
        *,
        source: RewardSource = "exit_code",
        bounds: Limits = QUICK,
        expected: str = "42\n",
    ) -> TrialVerification:
        """Run tests on what an agent left, with the file ``/tests/expected``."""
        assert run.outputs is not None, run.reason
        trial = self.trial()
        folder = trial.folder / "tests"
        folder.mkdir()
        (folder / "test.sh").write_text(f"#!/bin/sh\n{tests}\n")
        (folder / "expected").write_text(expected)
        return self.containers.verify(
            self.image,
            run.outputs,
            TaskTests(folder=folder, pass_rule=PassRule(source=source)),
            trial=trial,
            limits=bounds,
        )

    def both(
        self,
        script: str,
        tests: str,
        *,
        source: RewardSource = "exit_code",
        bounds: Limits = QUICK,
        outputs: Sequence[str] = ("/app",),
    ) -> Result:
        """Run an agent, then the tests if it finished."""
        run = self.agent(script, bounds=bounds, outputs=outputs)
        return self.judged(run, tests, source=source, bounds=bounds)

    def with_servers(
        self,
        script: str,
        tests: str,
        *,
        source: RewardSource = "exit_code",
        driver: Callable[[Shell], None] | None = None,
        bounds: Limits = QUICK,
    ) -> Result:
        """Run an agent, then the tests while the processes that it left go on."""
        trial = replace(self.trial(), servers_s=60.0)
        (trial.folder / "tests").mkdir()
        (trial.folder / "tests/test.sh").write_text(f"#!/bin/sh\n{tests}\n")
        (trial.folder / "tests/expected").write_text("42\n")
        with self.containers.open_network(self.image, trial=trial) as placed:
            if driver:
                run = self.containers.drive_agent(self.image, driver, trial=placed, limits=bounds)
            else:
                run = self.containers.run_agent(
                    self.image, ("sh", "-c", script), trial=placed, limits=bounds
                )
            if run.outputs is None:
                return Result(run, None)
            verified = TaskTests(folder=trial.folder / "tests", pass_rule=PassRule(source=source))
            verification = self.containers.verify(
                self.image, run.outputs, verified, trial=placed, limits=QUICK
            )
            return Result(run, verification)

    def judged(
        self, run: AgentRun, tests: str, *, source: RewardSource, bounds: Limits = QUICK
    ) -> Result:
        """Run the tests on what an agent left, if it finished."""
        if run.outcome != "finished":
            return Result(run, None)
        return Result(run, self.verify(run, tests, source=source, bounds=bounds))
