"""A server that an agent started answers the tests, and nothing else of it reaches them."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from agon.app.containers import Shell
from agon.runners.containers.first_process import KEPT
from agon.runners.containers.system_calls import profile
from runners.containers.conftest import running
from runners.containers.course import QUICK, Course, limits
from runners.containers.forgery import PRINTED, Kind, script_of
from sizes import ALL

SERVER = """\
cat > server.py <<'E'
import http.server
server = http.server.HTTPServer(("127.0.0.1", 8000), http.server.SimpleHTTPRequestHandler)
open("ready", "w").close()
server.serve_forever()
E
setsid python3 server.py > /dev/null 2>&1 &
until [ -e ready ]; do sleep 0.05; done
"""
ASK = (
    "python3 -c \"import urllib.request as u; print(u.urlopen('http://localhost:8000/{}')"
    '.read().decode().strip())"'
)
ACCOMPLICE = """\
cat > accomplice.py <<'E'
import array, os, socket
taken = []
for kind, name in ((socket.SOCK_STREAM, b"\\0stream"), (socket.SOCK_DGRAM, b"\\0datagram")):
    own = socket.socket(socket.AF_UNIX, kind)
    own.bind(name)
    taken.append(own)
taken[0].listen()
if os.fork():
    open("ready", "w").close()
    taken = [taken[0].accept()[0]]
_, control, _, _ = taken[-1].recvmsg(1, 64)
reward = array.array("i", control[0][2])[0]
while True:
    os.pwrite(reward, b"1\\n", 0)
E
python3 accomplice.py > /dev/null 2>&1 &
until [ -e ready ]; do sleep 0.05; done
cat > solve.py <<'E'
import array, os, socket
file = array.array("i", [os.open("/logs/verifier/reward.txt", os.O_RDWR | os.O_CREAT, 0o644)])
rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, file)]
def stream():
    own = socket.socket(socket.AF_UNIX)
    own.connect(b"\\0stream")
    own.sendmsg([b"x"], rights)
def datagram(own):
    own.sendmsg([b"x"], rights, 0, b"\\0datagram")
for way in (
    stream,
    lambda: datagram(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)),
    lambda: datagram(socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0]),
    lambda: datagram(socket.socketpair()[0]),
):
    try:
        way()
    except OSError as error:
        print(error)
E
echo 'python3 /app/solve.py; echo no' > solve.sh
"""
"""Leaves a process that writes the reward through a descriptor which the tests' program sends."""
ENDINGS = {
    "ends everything": "(while :; do kill -9 -1; done) & (sleep 60) &",
    "ends its archive": f"(while :; do echo '{KEPT}' >> kept; done) & sleep 0.2; "
    "for i in 1 2 3 4 5 6 7 8 9; do cat kept kept > kept$i; done",
    "fills its memory": "(while :; do head -c 99999999 /dev/zero >> full; done) 2> /dev/null & "
    "sleep 0.3",
    "prints without end": "yes &",
    "forks": "i=0; while [ $i -lt 60 ]; do (sleep 60) & i=$((i+1)); done 2> /dev/null",
}


def test_a_server_answers_the_tests_and_ends_with_the_trial(
    courses: Callable[[Kind], Course],
) -> None:
    """It is in a container of its own: the tests share its network, no process and no file."""
    course = courses("coreutils")

    def driver(shell: Shell) -> None:
        shell.execute(("sh", "-c", f"{SERVER}echo 42 > answer"), timeout_s=20)

    tests = (
        f"[ $({ASK.format('answer')}) = 42 ] && echo served\n"
        "cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -c 'python3 [s]erver'\n"
    )
    result = course.with_servers("", tests, driver=driver)
    assert result.run.servers
    assert result.printed().splitlines() == ["served", "0"]
    assert running(course.run_name) == []


@pytest.mark.exhaustive
def test_a_container_without_a_server_ends_with_its_command(course: Course) -> None:
    """Nothing changes for a trial that could have kept one."""
    trial = replace(course.trial(), servers_s=60.0)
    with course.containers.open_network(course.image, trial=trial) as placed:
        run = course.containers.run_agent(
            course.image, ("sh", "-c", "echo 42 > answer"), trial=placed, limits=QUICK
        )
        assert (run.outcome, run.servers) == ("finished", False)
        assert len(running(course.run_name)) == 1


@pytest.mark.exhaustive
def test_no_descriptor_reaches_a_server(courses: Callable[[Kind], Course]) -> None:
    """A process that the tests do not see could write the reward through it, after them."""
    result = courses("coreutils").with_servers(
        ACCOMPLICE, script_of(PRINTED, "both"), source="both"
    )
    assert result.run.servers
    assert (result.outcome, result.verification and result.verification.reward) == ("failed", 0.0)


@pytest.mark.exhaustive
@pytest.mark.parametrize("ending", ENDINGS if ALL else list(ENDINGS)[:1])
def test_what_goes_on_cannot_leave_a_trial_without_a_verdict(course: Course, ending: str) -> None:
    """The network is that of a container of agon's own, so the tests run whatever becomes of it."""
    result = course.with_servers(ENDINGS[ending], "false", bounds=limits(timeout_s=10))
    assert result.outcome == "failed", result
    assert running(course.run_name) == []


def test_the_tests_of_a_shared_network_have_connected_pairs_only() -> None:
    """The kernel's abstract names are known in the whole network; event loops need pairs."""
    rules = [rule for rule in profile("verifier", shared=True)["syscalls"]
             if {"socket", "socketpair", "socketcall"} & set(rule["names"])]  # fmt: skip
    values = {(rule["names"][0], rule["args"][0]["op"], rule["args"][0]["value"],
               rule["args"][0]["valueTwo"]) for rule in rules}  # fmt: skip
    assert values == {
        ("socket", "SCMP_CMP_EQ", 2, 0), ("socket", "SCMP_CMP_EQ", 10, 0),
        ("socket", "SCMP_CMP_EQ", 16, 0), ("socketpair", "SCMP_CMP_MASKED_EQ", 0xF, 1),
        ("socketpair", "SCMP_CMP_MASKED_EQ", 0xF, 5),
    }  # fmt: skip
    assert {rule["action"] for rule in rules} == {"SCMP_ACT_ALLOW"}
