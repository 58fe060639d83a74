"""A zygote is closed completely, however it has ended."""

import errno
import os
from dataclasses import replace
from subprocess import Popen
from typing import Any

import pytest

from agon.errors import Unavailable
from agon.runners.sandbox import zygote
from agon.runners.sandbox.isolation import isolation_of
from agon.runners.sandbox.zygote import Zygote
from runners.processes import open_descriptors


def test_a_process_killed_before_it_has_a_group_is_closed_completely(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A kill between fork and setsid leaves no group to kill.

    The socket and the process were leaked, which failed whatever ran next.
    """
    monkeypatch.setattr(zygote, "Popen", started := Started())
    dead = replace(isolation_of("degraded"), prefix=("/bin/false",))
    before = open_descriptors()
    with pytest.raises(Unavailable, match="the degraded sandbox does not start"):
        Zygote(dead, hash_seed=0, sympy=False)
    (process,) = started.processes
    assert process.returncode is not None
    with pytest.raises(ProcessLookupError) as gone:
        os.killpg(process.pid, 0)
    assert gone.value.errno == errno.ESRCH
    assert open_descriptors() == before


class Started:
    """Starts processes in the group of this one, as if killed before they made their own."""

    def __init__(self) -> None:
        self.processes: list[Popen[bytes]] = []

    def __call__(self, command: list[str], **options: Any) -> Popen[bytes]:
        """Start a process."""
        self.processes.append(Popen(command, **(options | {"start_new_session": False})))
        return self.processes[-1]


def test_a_zygote_without_a_descriptor_for_its_process_is_closed_completely(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The limit of open descriptors can be reached at any of them."""

    def exhausted(_: int) -> int:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(zygote, "Popen", started := Started())
    monkeypatch.setattr(os, "pidfd_open", exhausted)
    before = open_descriptors()
    with pytest.raises(OSError, match="Too many open files"):
        Zygote(isolation_of("degraded"), hash_seed=0, sympy=False)
    assert [process.returncode is None for process in started.processes] == [False]
    assert open_descriptors() == before
