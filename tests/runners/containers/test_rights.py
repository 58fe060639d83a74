"""Root of an agent's container may do what solutions usually do to files and processes."""

from collections.abc import Callable

import pytest

from agon.runners.containers.isolation import AGENT_CAPABILITIES
from runners.containers.course import Course
from runners.containers.forgery import Kind


@pytest.mark.exhaustive
def test_archives_with_owners_are_unpacked_by_root(courses: Callable[[Kind], Course]) -> None:
    """Tar gives files their owners when root runs it, and fails where it must not."""
    program = (
        "import io, tarfile; t = tarfile.open('d.tar', 'w'); "
        "d = tarfile.TarInfo('d'); d.type, d.mode, d.uid = tarfile.DIRTYPE, 0o755, 1000; "
        "f = tarfile.TarInfo('d/answer'); f.size, f.uid, f.mode = 3, 1000, 0o640; "
        "t.addfile(d); t.addfile(f, io.BytesIO(b'42\\n')); t.close()"
    )
    agent = (
        f'set -e; python3 -c "{program}"; tar -x -f d.tar; echo more > d/more; cp -a d e; '
        "chown 1000:1000 d/answer; chmod 644 d/answer; cp d/answer answer"
    )
    result = courses("coreutils").both(agent, "cmp answer /tests/expected && cat d/more e/more")
    assert (result.run.account.exit_code, result.outcome) == (0, "passed")


def test_servers_listen_on_low_ports_and_drop_their_rights(
    courses: Callable[[Kind], Course],
) -> None:
    """The port is in the container's own network, which leads nowhere."""
    program = (
        "import os, socket; s = socket.socket(); s.bind(('127.0.0.1', 80)); "
        "os.setgroups([]); os.setgid(1000); os.setuid(1000); print(os.getuid())"
    )
    run = courses("coreutils").agent(f'python3 -c "{program}" > answer && cat answer')
    assert run.account.stdout.path.read_text() == "1000\n"


@pytest.mark.exhaustive
def test_processes_of_other_users_end_with_the_agent(courses: Callable[[Kind], Course]) -> None:
    """The first process kills them although they are not root's."""
    program = "import os, time; os.setgid(1000); os.setuid(1000); time.sleep(60)"
    run = courses("coreutils").agent(f'setsid python3 -c "{program}" & sleep 0.2; echo 1 > a')
    assert run.outcome == "finished"
    assert run.account.wall_ms < 20_000


def test_rights_end_where_the_container_does(course: Course) -> None:
    """The tests' have fewer; an agent cannot read the first process, mount or make devices."""
    script = "grep CapEff /proc/self/status; cat /.agon/sh; mount -t tmpfs x /app; mknod n c 1 3"
    run = course.agent(script)
    names = ("chown", "", "", "fowner", "fsetid", "kill", "setgid", "setuid", "", "", "net_bind")
    expected = sum(1 << bit for bit, name in enumerate(names) if name)
    assert run.account.stdout.path.read_text().split() == ["CapEff:", f"{expected:016x}"]
    assert run.account.stderr.path.read_text().lower().count("ermission denied") >= 2
    assert {f"--cap-add={name}" for name in AGENT_CAPABILITIES} <= set(run.account.flags)
    verification = course.verify(run, "true")
    assert not {"--cap-add=FOWNER", "--cap-add=FSETID"} & set(verification.account.flags)
