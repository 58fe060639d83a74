"""Programs that decide a verdict can be run but not read, in the containers of tests alone."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from agon.runners.containers.protected_programs import LIST_PROGRAMS
from runners.containers.course import Course
from runners.containers.forgery import Kind

READ = {
    "busybox": "cat /bin/busybox > /dev/null",
    "coreutils": "for name in python3 bash dash timeout env cmp grep; do "
    "cat $(command -v $name) > /dev/null || exit 1; done",
}
NONE_READ = {
    "busybox": "! cat /bin/busybox > /dev/null",
    "coreutils": "for name in python3 bash dash timeout env cmp grep; do "
    "! cat $(command -v $name) > /dev/null || exit 1; done",
}


@pytest.mark.sample(1)
@pytest.mark.parametrize("kind", ["busybox", "coreutils"])
def test_tests_run_programs_that_they_cannot_read(
    courses: Callable[[Kind], Course], kind: Kind
) -> None:
    """A process of such a program is closed to others of its user; agents have the task's image."""
    course = courses(kind)
    run = course.agent(READ[kind])
    assert run.account.exit_code == 0
    verification = course.verify(run, NONE_READ[kind])
    assert (verification.outcome, verification.reason) == ("passed", "")


@pytest.mark.exhaustive
def test_tests_use_unreadable_interpreters_as_ever(courses: Callable[[Kind], Course]) -> None:
    """Scripts name them, virtual environments link to them, Python starts itself."""
    tests = """\
printf '#!/usr/bin/env python3\\nprint(42)\\n' > /tmp/script; chmod 755 /tmp/script
python3 -m venv --without-pip /tmp/environment
[ "$(/tmp/script)" = 42 ] && [ "$(/tmp/environment/bin/python -c 'print(42)')" = 42 ] &&
python3 -c 'import subprocess as s, sys; s.run([sys.executable, "-c", "0"], check=True)'
"""
    verification = courses("coreutils").both("true", tests)
    assert (verification.outcome, verification.reason) == ("passed", "")


@pytest.mark.exhaustive
def test_tests_see_their_processes_and_programs_of_other_users_do_not(
    courses: Callable[[Kind], Course],
) -> None:
    """Tests look for a server by its name; a program without their rights does not see them."""
    tests = """\
python3 -c 'import time; time.sleep(60)' & id=$!
until grep -q python /proc/$id/comm; do sleep 0.1; done
! setpriv --reuid=65534 --regid=65534 --clear-groups ls /proc/$id || exit 1
kill $id; wait; true
"""
    verification = courses("coreutils").both("true", tests)
    assert (verification.outcome, verification.reason) == ("passed", "")


@pytest.mark.exhaustive
def test_only_machine_code_is_listed(tmp_path: Path) -> None:
    """An interpreter has to read its script; other names are not those of deciding programs."""
    program = shutil.which("true")
    assert program is not None
    for name in ("python3.99", "timeout", "server"):
        shutil.copy(program, tmp_path / name)
    (tmp_path / "node").symlink_to("server")
    (tmp_path / "ruby").write_text("#!/bin/sh\n")
    (tmp_path / "php").mkdir()
    listed = subprocess.run(
        ["sh", "-c", LIST_PROGRAMS], env={"PATH": f"{tmp_path}:{os.environ['PATH']}"}, cwd="/",
        capture_output=True, text=True, check=True,
    ).stdout.split("\n")  # fmt: skip
    names = {Path(path).name for path in listed if path.startswith(str(tmp_path))}
    assert names == {"python3.99", "timeout", "server"}
