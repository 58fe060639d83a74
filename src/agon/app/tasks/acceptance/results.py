"""Define what a check of a task reports: proofs, probes, and weaknesses with their remedies."""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from agon.app.containers import Outcome, RewardSource

Part: TypeAlias = Literal["oracle", "nothing", "cheat"]
WeaknessClass: TypeAlias = Literal[
    "variable-names-outputs",
    "imported-module",
    "tests-ended",
    "forged-reward",
    "runner-memory",
    "writable-tests",
]
"""What a design lets an agent do:

``variable-names-outputs``: replace a program or file that a variable names; ``imported-module``:
run code in the process of the tests; ``tests-ended``: end that process with exit code 0;
``forged-reward``: write the reward in the place of the tests; ``runner-memory``: write to the
memory of the program that judges; ``writable-tests``: write settings beside tests in ``/tmp``.
"""
NOT_TRIED = "not tried"
"""What is known of a remedy that changes the files of a task."""


@dataclass(frozen=True, kw_only=True)
class AcceptanceCheck:
    """The result of one of the three agents that check a task.

    Attributes:
        part: which agent.
        result: its outcome; None when it could not run.
        reason: why, in one line.
        holds: whether an acceptable task gives this outcome.
    """

    part: Part
    result: Outcome | None
    reason: str
    holds: bool


@dataclass(frozen=True, kw_only=True)
class ProbeResult:
    """The result of the tests on a solution whose programs were replaced by forgeries.

    Attributes:
        probe: what the programs do.
        result: the outcome; None when it was not tried.
        reason: why, in one line.
    """

    probe: str
    result: Outcome | None
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Run:
    """How the tests ran a forged program, by its own trace.

    Attributes:
        path: the program that it replaced.
        other_user: whether it ran as another user than the tests.
        writable: the processes of the tests whose memory it could open for writing.
    """

    path: str
    other_user: bool
    writable: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return a plain value for JSON."""
        return {
            "program": self.path, "other_user": self.other_user, "writable": list(self.writable)
        }  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Remedy:
    """What may be done about a weakness.

    Attributes:
        text: what to do.
        tried: what came of it on the task at hand, or :data:`NOT_TRIED`.
        works: whether it was seen to work; None: not tried.
    """

    text: str
    tried: str = NOT_TRIED
    works: bool | None = None

    def __str__(self) -> str:
        """Return both in one line; what does not work is not advised.

        Example:
            >>> print(Remedy(text="compare files"))
            remedy (not tried): compare files
            >>> print(Remedy(text="reward_source both", tried="doing nothing passes", works=False))
            no remedy: reward_source both (tried: doing nothing passes)
        """
        if self.works is None:
            return f"remedy ({self.tried}): {self.text}"
        return f"{'' if self.works else 'no '}remedy: {self.text} (tried: {self.tried})"


@dataclass(frozen=True, kw_only=True)
class Weakness:
    """A design with which an agent may pass without solving the task.

    Attributes:
        kind: its class.
        files: the files of the tests that it is in.
        text: the fact, in one line.
        passed: the probes that passed by it; empty when it is only read in the files.
        remedies: what may be done about it, and what was tried and does not help.
    """

    kind: WeaknessClass
    files: tuple[str, ...]
    text: str
    passed: tuple[str, ...] = ()
    remedies: tuple[Remedy, ...] = ()

    def __str__(self) -> str:
        """Return class, fact and remedies in one line."""
        return "; ".join((f"{self.kind}: {self.text}", *map(str, self.remedies)))

    def to_dict(self) -> dict[str, Any]:
        """Return a plain value for JSON; ``remedies`` has only what may help."""
        return {
            "class": self.kind,
            "files": list(self.files),
            "text": self.text,
            "observed": bool(self.passed),
            "passed": list(self.passed),
            "remedies": [
                {"text": remedy.text, "tried": remedy.tried}
                for remedy in self.remedies
                if remedy.works is not False
            ],
            "no_remedies": [
                {"text": remedy.text, "tried": remedy.tried}
                for remedy in self.remedies
                if remedy.works is False
            ],
        }


@dataclass(frozen=True, kw_only=True)
class Acceptance:
    """Whether a task can be accepted, with its checks; a task without a cheat has two.

    Attributes:
        task: which.
        reward_source: what counted as a pass; None for a folder that is no readable task.
        proofs: the checks with the oracle, with no action, with the cheat.
        notes: settings that are ignored though they look like misspelled ones.
        programs: the agent's programs that were replaced by forgeries.
        runs: how the tests ran those of them that ran.
        probes: what the tests made of the forgeries; they do not decide whether it is accepted.
        weaknesses: designs with which an agent may pass without solving it.
    """

    task: str
    reward_source: RewardSource | None = None
    proofs: tuple[AcceptanceCheck, ...]
    notes: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    runs: tuple[Run, ...] = ()
    probes: tuple[ProbeResult, ...] = ()
    weaknesses: tuple[Weakness, ...] = ()

    @property
    def accepted(self) -> bool:
        """Whether every check holds."""
        return all(proof.holds for proof in self.proofs)

    def to_dict(self) -> dict[str, Any]:
        """Return a plain value for JSON."""
        return {
            "task": self.task,
            "accepted": self.accepted,
            "reward_source": self.reward_source,
            **{
                proof.part: {"result": proof.result, "reason": proof.reason, "holds": proof.holds}
                for proof in self.proofs
            },
            "notes": list(self.notes),
            "programs": list(self.programs),
            "runs": [run.to_dict() for run in self.runs],
            "probes": {
                probe.probe: {"result": probe.result, "reason": probe.reason}
                for probe in self.probes
            },
            "weaknesses": [weakness.to_dict() for weakness in self.weaknesses],
        }
