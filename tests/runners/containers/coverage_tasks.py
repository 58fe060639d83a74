"""Small tasks of the classes that public collections consist of, in both formats, with oracles."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

Image: TypeAlias = Literal["busybox", "coreutils"]

_REWARD = """\
if { %s
}; then echo 1 > /logs/verifier/reward.txt; else echo 0 > /logs/verifier/reward.txt; fi
exit 0"""
_SERVER = (
    "import http.server as h; s = h.HTTPServer(('127.0.0.1', 8000), h.SimpleHTTPRequestHandler); "
    "s.serve_forever()"
)
_LOCAL = (
    "import socket, time; s = socket.socket(socket.AF_UNIX); s.bind('/app/socket'); s.listen(); "
    "open('ready', 'w'); time.sleep(300)"
)
_COMPOSE = """\
services:
  client:
    build:
      dockerfile: Dockerfile
    command: ["sh", "-c", "sleep infinity"]
"""
_SERVICE = "nc -ll -p 5000 -e echo 42"
_SERVICES = f"""\
services:
  client: {{build: ., depends_on: {{db: {{condition: service_healthy}}}}}}
  db:
    build: .
    command: {_SERVICE}
    healthcheck: {{test: "nc 127.0.0.1 5000 < /dev/null", interval: 1s}}
"""


@dataclass(frozen=True, kw_only=True)
class CoverageTask:
    """A task, and what becomes of it.

    Attributes:
        what: the class of tasks that it stands for.
        dockerfile: the lines after ``FROM``.
        solution: the oracle's commands.
        tests: the commands that judge.
        image: what it is based on.
        toml: settings of Harbor's format; None: the task is in Terminal-Bench's.
        instruction: what is asked for, where it matters.
        further: further files.
        service: the command of a further container, which others know as ``db``.
        exception: why it is not solved here though a shared container solves it; empty: it is.
    """

    what: str
    dockerfile: str
    solution: str
    tests: str
    image: Image = "busybox"
    toml: str | None = ""
    instruction: str = "Solve it."
    further: tuple[tuple[str, str], ...] = ()
    service: str = ""
    exception: str = ""

    def write(self, folder: Path, base: str) -> Path:
        """Write the task's folder."""
        files = dict(self.further)
        if self.toml is None:
            files |= {
                "task.yaml": f"instruction: {self.instruction}\n{files.get('task.yaml', '')}",
                "Dockerfile": f"FROM {base}\n{self.dockerfile}\n",
                "run-tests.sh": f"#!/bin/sh\n{self.tests}\n",
                "solution.sh": f"#!/bin/sh\nset -e\n{self.solution}\n",
            }
        else:
            limits = "[agent]\ntimeout_sec = 30\n[environment]\nmemory_mb = 256\n"
            files |= {
                "task.toml": f"{self.toml}\n{limits}",
                "instruction.md": self.instruction,
                "environment/Dockerfile": f"FROM {base}\n{self.dockerfile}\n",
                "tests/test.sh": f"#!/bin/sh\n{self.tests}\n",
                "solution/solve.sh": f"#!/bin/sh\nset -e\n{self.solution}\n",
            }
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text.replace("{base}", base))
        return folder


TASKS: dict[str, CoverageTask] = {
    "workspace": CoverageTask(
        what="`WORKDIR` elsewhere, relative paths",
        dockerfile="WORKDIR /workspace/src",
        solution="mkdir -p out && echo 42 > out/answer",
        tests="[ $(cat out/answer) = 42 ] && [ $(pwd) = /workspace/src ]",
    ),
    "home of a user": CoverageTask(
        what="an image with a user, who works at home",
        dockerfile="RUN echo 'ada:x:1000:1000:ada:/home/ada:/bin/sh' >> /etc/passwd "
        "&& mkdir -p /home/ada && chown 1000 /home/ada\nUSER ada\nWORKDIR /home/ada",
        solution="id -u > answer; echo done >> answer",
        tests='[ "$(cat /home/ada/answer)" = "1000\ndone" ]',
    ),
    "home of root": CoverageTask(
        what="files in `/root`",
        dockerfile="WORKDIR /root\nRUN echo 41 > seed",
        solution="echo $(($(cat seed) + 1)) > ~/answer",
        tests="[ $(cat /root/answer) = 42 ]",
    ),
    "data and logs": CoverageTask(
        what="`/data` (created) and `/var/log`",
        dockerfile="RUN mkdir -p /var/log",
        solution="mkdir -p /data/out; echo 42 > /data/out/answer; echo ok >> /var/log/job.log",
        tests="[ $(cat /data/out/answer) = 42 ] && grep -q ok /var/log/job.log",
        instruction="Write /data/out/answer and a line into /var/log/job.log.",
    ),
    "archive of another user": CoverageTask(
        what="`tar x`, `cp -a` and `chown` as root",
        image="coreutils",
        dockerfile="RUN mkdir /app/s && echo 42 > /app/s/answer && chown -R 1000:1000 /app/s "
        "&& tar -c -C /app -f /app/s.tar s && rm -r /app/s\nWORKDIR /app",
        solution="tar -x -f s.tar; cp -a s t; chown -R 1000:1000 t; cp s/answer .",
        tests="[ $(cat answer s/answer t/answer | sort -u) = 42 ]",
    ),
    "verifier image": CoverageTask(
        what="`tests/Dockerfile` and `artifacts`",
        dockerfile="WORKDIR /work",
        solution="mkdir -p out && echo 42 > out/answer && echo no > other",
        tests="cmp /work/out/answer /etc/expected && [ ! -e /work/other ]",
        toml='artifacts = ["/work/out"]\n[verifier]\nenvironment_mode = "separate"',
        further=(("tests/Dockerfile", "FROM {base}\nCOPY . /tests\nRUN echo 42 > /etc/expected"),),
    ),
    "absolute links": CoverageTask(
        what="absolute links of the image and of the agent",
        dockerfile="RUN mkdir -p /work/releases/1 && ln -s /work/releases/1 /work/current "
        "&& ln -s /bin/cat /work/cat\nWORKDIR /work",
        solution="mkdir releases/2; echo 42 > releases/2/answer; ln -sfn /work/releases/2 current",
        tests="[ $(/work/cat /work/current/answer) = 42 ]",
    ),
    "words (two files)": CoverageTask(
        what="names with blanks: task, folder, file",
        dockerfile='RUN mkdir -p "/work/my files"\nWORKDIR "/work/my files"',
        solution="echo 42 > 'the answer.txt'",
        tests="[ $(cat '/work/my files/the answer.txt') = 42 ]",
        toml='artifacts = ["/work/my files/the answer.txt"]',
    ),
    "temporary report": CoverageTask(
        what="a file in `/tmp` that the instruction names",
        dockerfile="WORKDIR /app",
        solution="echo 42 > /tmp/report.txt",
        tests="[ $(cat /tmp/report.txt) = 42 ]",
        instruction="Write the answer to /tmp/report.txt.",
    ),
    "deleted secret": CoverageTask(
        what="deleting and moving files of a repository",
        dockerfile="WORKDIR /testbed\nRUN mkdir .git src && echo x > .git/secret "
        "&& echo 42 > src/a",
        solution="rm -r .git/secret; mv src lib",
        tests="[ ! -e /testbed/.git/secret ] && [ ! -e src ] && [ $(cat lib/a) = 42 ]",
    ),
    "environment": CoverageTask(
        what="a virtual environment made by the agent",
        image="coreutils",
        dockerfile="WORKDIR /app",
        solution="mkdir -p env/bin; ln -s /usr/local/bin/python3 env/bin/python; "
        "echo 'print(42)' > answer.py",
        tests="[ $(/app/env/bin/python /app/answer.py) = 42 ]",
    ),
    "reward": CoverageTask(
        what="a reward file, tests that always end with 0",
        dockerfile="WORKDIR /srv/job",
        solution="echo 42 > answer",
        tests=_REWARD % "[ $(cat /srv/job/answer) = 42 ]",
    ),
    "settings declared": CoverageTask(
        what="a setting of a home folder, declared in `artifacts`",
        dockerfile="WORKDIR /app",
        solution="echo '[user]' > ~/.gitconfig",
        tests="grep -q user /root/.gitconfig",
        toml='artifacts = ["/root/.gitconfig"]',
    ),
    "tests with files": CoverageTask(
        what="Terminal-Bench: tests with the script, `TEST_DIR`, one service",
        toml=None,
        dockerfile="WORKDIR /app",
        solution="echo 42 > answer",
        tests='sh "$TEST_DIR/look.sh"',
        further=(
            ("tests/look.sh", "[ $(cat /app/answer) = 42 ]\n"),
            ("docker-compose.yaml", _COMPOSE),
        ),
    ),
    "old workspace": CoverageTask(
        what="Terminal-Bench: `WORKDIR` elsewhere",
        toml=None,
        dockerfile="RUN echo 41 > /root/seed\nWORKDIR /workdir",
        solution="echo $(($(cat /root/seed) + 1)) > answer",
        tests="[ $(cat /workdir/answer) = 42 ]",
    ),
    "settings": CoverageTask(
        what="a setting of a home folder, not declared",
        dockerfile="WORKDIR /app",
        solution="echo '[user]' > ~/.gitconfig",
        tests="grep -q user /root/.gitconfig",
        exception="programs of the tests read such files by themselves; declare it in `artifacts`",
    ),
    "system": CoverageTask(
        what="a change of the image's system",
        dockerfile="WORKDIR /app",
        solution="echo hello > /etc/motd",
        tests="grep -q hello /etc/motd",
        exception="the tests' own programs depend on `/etc` and `/usr`; they are read-only",
    ),
    "server": CoverageTask(
        what="a server that keeps running for the tests",
        image="coreutils",
        dockerfile="WORKDIR /app",
        solution=f'nohup python3 -c "{_SERVER}" > /dev/null 2>&1 &\n'
        "until grep -q ':1F40 ' /proc/net/tcp; do sleep 0.1; done",
        tests="python3 -c \"import urllib.request as u; u.urlopen('http://127.0.0.1:8000/')\"",
    ),
    "same shell": CoverageTask(
        what="Terminal-Bench: `run_tests_in_same_shell`",
        toml=None,
        dockerfile="WORKDIR /app",
        solution="echo 42 > answer",
        tests="[ $(cat /app/answer) = 42 ]",
        further=(("task.yaml", "run_tests_in_same_shell: true\n"),),
        exception="refused: the agent could change the shell that judges it",
    ),
    "local socket": CoverageTask(
        what="a server on a Unix socket",
        image="coreutils",
        dockerfile="WORKDIR /app",
        solution=f'setsid python3 -c "{_LOCAL}" > /dev/null 2>&1 &\n'
        "until [ -e ready ]; do sleep 0.1; done",
        tests="python3 -c \"import socket as s; s.socket(s.AF_UNIX).connect('/app/socket')\"",
        exception="agent and tests share a network, no files; have the tests start it",
    ),
    "service of Harbor": CoverageTask(
        what="`environment/docker-compose.yaml` with a further service",
        dockerfile="WORKDIR /app",
        solution="nc db 5000 > answer < /dev/null",
        tests="[ $(cat /app/answer) = 42 ]",
        further=(("environment/docker-compose.yaml", _SERVICES.replace("client", "main")),),
        service=_SERVICE,
    ),
    "two services": CoverageTask(
        what="several containers: a service that agent and tests ask by name",
        toml=None,
        dockerfile="WORKDIR /app",
        solution="nc db 5000 > answer < /dev/null",
        tests="[ $(cat /app/answer) = 42 ] && [ $(nc db 5000 < /dev/null) = 42 ]",
        further=(("docker-compose.yaml", _SERVICES),),
        service=_SERVICE,
    ),
}  # fmt: skip
