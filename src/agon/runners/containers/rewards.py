"""Read the reward that a task's tests wrote, and see whether they could write it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import BinaryIO, Final

from agon.app.containers.pass_rule import REWARD, plain_reward
from agon.runners.containers.archives import ArchiveEntry, content, entries
from agon.runners.containers.first_process import MARK, MAX_REWARD_BYTES
from agon.runners.containers.inside.sitecustomize import CRASHED

_FOLDER, _TEXT, _JSON = (
    b"logs/verifier", b"logs/verifier/reward.txt", b"logs/verifier/reward.json",
)  # fmt: skip
REWARD_PATHS: Final = frozenset({_FOLDER, _TEXT, _JSON})
"""The entries of an archive that a reward depends on."""
_WRITABLE: Final = 0o200
_CHANGED: Final = (
    "the reward is not the one that stood as the tests ended, so a program replaced tar in the "
    "container; write it as plain text, and run the tests without a network"
)
_REWRITABLE: Final = (
    "a process that the tests did not wait for ended as they wrote the reward or after that, so it "
    "may have written it; end such processes, and wait, before the reward is written"
)
_OF_CRASH: Final = (
    "a Python of the tests ended with an error after the reward was written, so a program that it "
    "ran may have written it; catch the error, and write the reward afterwards"
)
_MARKS: Final = {f"{MARK}\n".encode(): _REWRITABLE, f"{CRASHED}\n".encode(): _OF_CRASH}
"""What a reward ends with that does not count, and why."""


@dataclass(frozen=True)
class Reward:
    """The reward of a task's tests.

    Attributes:
        values: the numbers by key, ``reward`` where the tests wrote a single one; empty when there
            is none that can be read.
        issue: why it may not be the tests': they may have been unable to write it, or another
            process may have written it after them; empty when it is theirs.
        note: that ``reward.txt`` says less than ``reward.json``, which the format would read alone.
    """

    values: Mapping[str, float] = field(default_factory=dict)
    issue: str = ""
    note: str = ""


def read_reward(
    logs: BinaryIO,
    original: Mapping[bytes, ArchiveEntry],
    reported: tuple[bytes, bytes] | None = None,
) -> Reward:
    """Return the rewards in the logs' archive: with two files the smaller one of a key counts.

    ``reward.json`` holds a table of numbers.

    A program of the agent that the tests run can write a reward as well, and then make it
    impossible for the tests to write theirs: with a folder, a link or a device in its place, or by
    taking the write permission away. Or it leaves a process that writes the reward after the tests
    and ends; the first process then marks it. Or it makes the tests' Python fail, which marks it
    itself.

    Args:
        logs: the archive, as filtered.
        original: the entries :data:`REWARD_PATHS` before they were filtered.
        reported: the files' texts as the first process read them; None: they are not compared. The
            ``tar`` that packs them may be the agent's where the system is writable.
    """
    texts = {_TEXT: b"", _JSON: b""}
    by_file: dict[bytes, dict[str, float]] = {}
    marks = ""
    for entry in entries(logs):
        if entry.name in {_TEXT, _JSON} and entry.kind == "file":
            next_entry = logs.tell()
            text = b"".join(content(logs, entry)) if entry.size <= MAX_REWARD_BYTES else b""
            logs.seek(next_entry)
            texts[entry.name] = text
            marks = marks or next((why for mark, why in _MARKS.items() if text.endswith(mark)), "")
            by_file[entry.name] = _numbers(text, of_json=entry.name == _JSON)
    rewards, note = by_file.values(), ""
    values: dict[str, float] = {}
    if all(rewards):
        values = {key: value for reward in rewards for key, value in reward.items()}
    if values and len(rewards) > 1:
        # One of the files may be the agent's: none of its keys may stand in for a lower reward.
        values[REWARD] = min(
            value
            for reward in rewards
            for value in ([reward[REWARD]] if REWARD in reward else reward.values())
        )
        json_value = by_file[_JSON].get(REWARD, min(by_file[_JSON].values()))
        if values[REWARD] < json_value:
            note = f"reward.json says {json_value:g} and reward.txt less, and the smaller counts"
    packed = tuple(map(_one_line, texts.values()))
    issue = _CHANGED if reported is not None and reported != packed else ""
    return Reward(values, _obstacle(original) or issue or marks, note)


def _one_line(text: bytes) -> bytes:
    """Return a text as the first process reports it: each line is followed by ``/``."""
    return b"".join(line + b"/" for line in text.removesuffix(b"\n").split(b"\n")) if text else b""


def _obstacle(original: Mapping[bytes, ArchiveEntry]) -> str:
    """Return what keeps the tests from writing a reward; empty when nothing does."""
    for name, entry in original.items():
        shown = f"/{name.decode()}"
        kind = "folder" if name == _FOLDER else "file"
        if entry.kind != kind:
            return (
                f"{shown} is not a {kind} of its own, so the tests may have failed to write the "
                "reward; write it as a plain file"
            )
        if not entry.mode & _WRITABLE:
            return (
                f"{shown} is read-only, so the tests may have failed to write the reward; "
                "leave it writable"
            )
    return ""


def _numbers(text: bytes, *, of_json: bool) -> dict[str, float]:
    """Return the rewards in a file by key; empty where it holds anything else.

    As in the format, ``reward.txt`` is one number, and ``reward.json`` a table of numbers alone.
    """
    try:
        if not of_json:
            return {REWARD: plain_reward(float(text.decode("ascii").strip()))}
        return {key: plain_reward(one) for key, one in json.loads(text).items()}
    except (ValueError, AttributeError, TypeError, ArithmeticError, RecursionError):
        return {}
