"""Walls are built whole or not at all, and what they promise is seen from outside."""

import os
import platform
import shutil
import stat
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from agon.app.sandbox import RunLimits, RunRequest, SandboxEscape
from agon.errors import Unavailable
from agon.runners.sandbox import isolation, open_sandbox
from agon.runners.sandbox.isolation import Isolation, isolation_of
from agon.runners.sandbox.pool import Pool
from agon.runners.sandbox.self_test import HOSTILE_PROGRAMS, self_test
from agon.runners.sandbox.verdicts import Verdict
from runners.hostile_programs import hostile_programs
from runners.identities import command_as, identities
from runners.processes import descendants, eventually, status

LONG = RunRequest(
    source=b"def solver():\n    while True:\n        pass\n", limits=RunLimits(cpu_s=30, wall_s=30)
)


def test_a_missing_bwrap_is_said_with_the_package_that_brings_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The message ends in what to do."""
    monkeypatch.setenv("PATH", "")
    with pytest.raises(Unavailable, match="Debian package bubblewrap"):
        open_sandbox("bwrap")


@pytest.mark.parametrize("mode", ["bwrap", "degraded", "cold"])
def test_another_processor_is_refused(monkeypatch: pytest.MonkeyPatch, mode: str) -> None:
    """A list of system calls for x86-64 means nothing elsewhere."""
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    with pytest.raises(Unavailable, match="x86-64 only, this is linux on aarch64"):
        open_sandbox(mode)  # type: ignore[arg-type]  # the parameters are modes


def test_an_unknown_mode_is_refused_with_a_suggestion() -> None:
    """A misspelt mode must not fall back to a weaker one."""
    with pytest.raises(ValueError, match="did you mean degraded"):
        open_sandbox("degradet")  # type: ignore[arg-type]  # that is the point


def test_a_bwrap_that_cannot_make_namespaces_is_said_in_its_own_words(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """In a locked container the operator reads why, and what else there is."""
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho 'No permissions to create new namespace' >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(Unavailable, match=r"No permissions to create.*degraded"):
        open_sandbox("bwrap")


def test_what_a_dying_bwrap_leaves_behind_is_ended_at_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A part of it that hangs holds our socket open: nobody must wait for it, nor forget it."""
    fake = tmp_path / "bwrap"
    fake.write_text(f"#!/bin/sh\nsleep 600 &\necho $! > {tmp_path}/left\nkill -9 $$\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    begin = time.monotonic()
    with pytest.raises(Unavailable, match="ended without a word"):
        open_sandbox("bwrap", workers=1)
    assert time.monotonic() - begin < 10
    left = int((tmp_path / "left").read_text())
    assert eventually(lambda: not Path(f"/proc/{left}/exe").exists())


def test_a_bwrap_that_cannot_be_run_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A broken installation is no crash."""
    fake = tmp_path / "bwrap"
    fake.write_bytes(b"\x7fELF nothing")
    fake.chmod(0o755)
    monkeypatch.setattr(shutil, "which", lambda _: str(fake))
    with pytest.raises(Unavailable, match="does not start"):
        open_sandbox("bwrap")


def test_a_missing_library_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs would fail for our reason."""
    isolation._library.cache_clear()
    monkeypatch.setattr(isolation, "find_spec", lambda _: None)
    with pytest.raises(Unavailable, match="sympy is missing"):
        isolation_of("degraded")
    isolation._library.cache_clear()


HOLES = {
    "no list of system calls": ("child.py", "    seccomp.install(filter_)\n"),
    "no limit on memory": ("child.py", "        (resource.RLIMIT_AS, memory, memory),\n"),
    "no limit on output": (
        "child.py",
        "        (resource.RLIMIT_FSIZE, request.output_bytes, request.output_bytes),\n",
    ),
    "descriptors stay open": ("child.py", "    system.close_from(READY + 1)\n"),
    "code may be mapped": ("seccomp.py", "        Instruction(_ANY_BIT, _PROT_EXEC, 5, 0),\n"),
}


@pytest.mark.parametrize("hole", HOLES)
def test_an_isolation_with_a_hole_is_not_opened(hole: str, tmp_path: Path) -> None:
    """The self-test runs when workers start; with one layer taken out it must find the hole."""
    inside = tmp_path / "inside"
    shutil.copytree(Path(isolation.__file__).parent / "inside", inside)
    file, line = HOLES[hole]
    text = (inside / file).read_text()
    assert line in text
    without = line.replace("_PROT_EXEC, 5, 0", "_PROT_EXEC, 0, 0")
    (inside / file).write_text(text.replace(line, without if without != line else ""))
    whole = isolation_of("degraded")
    broken = replace(whole, paths=(str(tmp_path), *whole.paths[1:]))
    with pytest.raises(SandboxEscape, match="does not hold"):
        Pool(broken, workers=1)
    assert eventually(lambda: descendants() == set())


def test_the_self_test_runs_nine_programs_and_believes_none() -> None:
    """A program that comes back with what it reached for has escaped."""
    assert len(HOSTILE_PROGRAMS) == 9
    with pytest.raises(Unavailable, match="reads a file"):
        self_test(lambda _: Verdict("ok", ("1",)))


def test_a_child_that_cannot_shut_its_doors_is_our_fault(tmp_path: Path) -> None:
    """When a limit cannot be set the source is not even read."""
    inside = tmp_path / "inside"
    shutil.copytree(Path(isolation.__file__).parent / "inside", inside)
    text = (inside / "child.py").read_text()
    (inside / "child.py").write_text(
        text.replace("_STACK_BYTES = 8 << 20", "_STACK_BYTES = 1 << 70")
    )
    whole = isolation_of("degraded")
    broken = replace(whole, paths=(str(tmp_path), *whole.paths[1:]))
    with pytest.raises(Unavailable, match="could not shut its doors"):
        Pool(broken, workers=1)
    with Pool(broken, workers=1, tested=False) as sandbox:
        run = sandbox.run(RunRequest(source=b"solver = lambda: [1]"))
    assert (run.outcome, run.attempts) == ("sandbox_error", 2)
    assert "could not shut its doors" in run.reason


def test_the_degraded_isolation_holds_without_landlock() -> None:
    """Older kernels have none; the list of system calls alone must do, and it is told."""
    whole = isolation_of("degraded")
    families = ("reading", "writing", "sockets", "proc", "signals", "classes")
    programs = [one for one in hostile_programs() if one.name.startswith(families)]
    with Pool(replace(whole, landlock=False), workers=2) as sandbox:
        assert not any("landlock" in layer for layer in sandbox.layers)
        expected = {one.name: one for one in programs}
        runs = sandbox.run_many(one.job for one in programs)
        assert [job.name for job, run in runs if not expected[job.name].held(run)] == []


def kept(of_mode: Isolation) -> Pool:
    """Open a sandbox with one worker and start a program that stays."""
    sandbox = Pool(of_mode, workers=1)
    sandbox._executor.submit(sandbox._judge, LONG, 0)
    return sandbox


@pytest.mark.parametrize("mode", ["bwrap", "degraded"])
def test_a_running_program_is_nobody_without_privileges_behind_a_filter(mode: str) -> None:
    """Seen from outside, in the kernel's own account."""
    with kept(isolation_of(mode)):  # type: ignore[arg-type]  # the parameters are modes
        assert eventually(lambda: any(status(one)["Seccomp"] == "2" for one in descendants()))
        program = next(one for one in descendants() if status(one)["Seccomp"] == "2")
        said = status(program)
        user = 65534 if os.geteuid() == 0 else os.geteuid()
        assert set(said["Uid"].split()) == {str(user)}
        assert int(said["CapEff"], 16) == int(said["CapPrm"], 16) == 0
        assert said["NoNewPrivs"] == "1"
        assert said["Threads"] == "1"


OWNER = """
import os, sys, time
from agon.app.sandbox import RunLimits, RunRequest
from agon.runners.sandbox.isolation import isolation_of
from agon.runners.sandbox.pool import Pool
from runners.processes import descendants, eventually, status
source = b"def solver():\\n    while True:\\n        pass\\n"
long = RunRequest(source=source, limits=RunLimits(cpu_s=30, wall_s=30))
filtered = lambda: [one for one in descendants() if status(one)["Seccomp"] == "2"]
with Pool(isolation_of(sys.argv[1]), workers=1, tested=False) as sandbox:
    sandbox._executor.submit(sandbox._judge, long, 0)
    assert eventually(lambda: filtered() != [], within_s=30)
    for process in descendants():
        name = open(f"/proc/{process}/comm").read().strip()
        if name.startswith("python"):
            owner = os.stat(f"/proc/{process}/environ").st_uid
            print(str(owner) == status(process)["Uid"].split()[1])
"""


@pytest.mark.parametrize("identity", identities())
@pytest.mark.parametrize("mode", ["bwrap", "degraded"])
def test_no_process_of_the_sandbox_can_dump_its_memory(mode: str, identity: str) -> None:
    """A core may be piped to a program of the host: what is not dumpable belongs to no user."""
    tests = str(Path(__file__).parents[2])
    code = f"import sys; sys.path.insert(0, {tests!r})\n{OWNER}"
    command = command_as(identity, [sys.executable, "-c", code, mode])
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.split()) == {"False"}


def test_a_program_shares_no_namespace_and_no_file_with_the_host() -> None:
    """Every namespace the kernel has for it is its own; its world is read-only and small."""
    kinds = ("mnt", "pid", "net", "ipc", "uts", "user")
    with kept(isolation_of("bwrap")):
        assert eventually(lambda: any(status(one)["Seccomp"] == "2" for one in descendants()))
        program = next(one for one in descendants() if status(one)["Seccomp"] == "2")
        if os.geteuid() == 0:  # its links are not for other users to read
            shared = [
                kind for kind in kinds
                if (Path(f"/proc/{program}/ns/{kind}").readlink()
                    == Path(f"/proc/self/ns/{kind}").readlink())
            ]  # fmt: skip
            assert shared == []
            root = Path(f"/proc/{program}/root")
            assert {entry.name for entry in root.iterdir()} <= {
                "agon", "lib", "lib64", "usr", *Path(sys.base_prefix).parts[1:2],
            }  # fmt: skip
            assert sorted(entry.name for entry in (root / "agon").iterdir()) == [
                "inside", "mpmath", "sympy",
            ]  # fmt: skip
            with pytest.raises(OSError, match="Read-only"):
                (root / "agon" / "made").touch()
        mounts = Path(f"/proc/{program}/mounts").read_text().splitlines()
        assert [line for line in mounts if "ro" not in line.split()[3].split(",")] == []


def test_a_zygote_inherits_no_environment_and_no_descriptor(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Secrets of the host stay with the host."""
    monkeypatch.setenv("AGON_SECRET", "do not tell")
    reading, writing = os.pipe()
    os.set_inheritable(reading, True)
    with Pool(isolation_of("degraded"), workers=1):
        (zygote,) = descendants()
        environ = Path(f"/proc/{zygote}/environ")
        if os.access(environ, os.R_OK):
            names = {pair.split(b"=")[0] for pair in environ.read_bytes().split(b"\0") if pair}
            assert names == {
                b"PYTHONHASHSEED", b"LC_ALL", b"SYMPY_GROUND_TYPES", b"MPMATH_NOGMPY",
            }  # fmt: skip
        ours = os.fstat(reading)
        for number in range(64):
            path = Path(f"/proc/{zygote}/fd/{number}")
            try:
                there = path.stat()
            except OSError:
                continue
            assert not (stat.S_ISFIFO(there.st_mode) and there.st_ino == ours.st_ino)
    os.close(reading)
    os.close(writing)
