"""Builds and tests reach a network only where the operator gives them one; agents never do."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from agon.app.containers import BuildFailed, ImageSpec, TaskTests
from agon.app.containers.pass_rule import PassRule
from agon.runners.containers import open_containers, provide_base_image
from runners.containers.course import QUICK, Course
from runners.containers.forgery import PRINTED, Kind, script_of


class Package(BaseHTTPRequestHandler):
    """Answers every request with 42."""

    def do_GET(self) -> None:
        """Send the answer."""
        self.send_response(200)
        self.send_header("Content-Length", "3")
        self.end_headers()
        self.wfile.write(b"42\n")

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@contextmanager
def registry() -> Iterator[str]:
    """Yield the address of a server on this machine."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Package) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/package"
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.exhaustive
def test_a_network_is_given_to_builds_and_tests_alone(tmp_path: Path) -> None:
    """The same task without one: the build fails and says at which command."""
    provide_base_image()
    context = tmp_path / "environment"
    context.mkdir()
    with registry() as address:
        (context / "Dockerfile").write_text(
            f"FROM localhost/agon-base:1\nRUN wget -q -O /app/package {address}"
            f" # {os.urandom(4).hex()}\n"
        )
        with open_containers() as offline:
            assert offline.build_network == "none"
            with pytest.raises(BuildFailed, match="wget"):
                offline.build(ImageSpec(context=context))
        with open_containers(build_network="host") as online:
            assert online.build_network == "host"
            course = Course(online, online.build(ImageSpec(context=context)), tmp_path)
            run = course.agent(f"cat package; wget -q -O got {address} || echo none")
            assert run.account.stdout.path.read_text() == "42\nnone\n"
            assert run.outputs is not None
            tests = tmp_path / "tests"
            tests.mkdir()
            (tests / "test.sh").write_text(
                f"#!/bin/sh\nwget -q -O /usr/bin/tool {address} && cat /usr/bin/tool\n"
            )
            verifications = [
                online.verify(
                    course.image, run.outputs, TaskTests(folder=tests, network=network),
                    trial=course.trial(), limits=QUICK,
                )
                for network in ("host", "none")
            ]  # fmt: skip
    assert [verification.outcome for verification in verifications] == ["passed", "failed"]
    assert "--network=host" in verifications[0].account.flags
    assert {"--network=none", "--read-only"} <= set(verifications[1].account.flags)


REPLACEMENT = """\
cat > /app/tar <<'F'
#!/bin/sh
cd /tmp; mkdir -p logs/verifier; echo 1 > logs/verifier/reward.txt
exec /usr/bin/tar -c -f - logs
F
chmod 755 /app/tar; rm -f /.agon/tar; cp /app/tar /.agon/tar; echo no
"""


@pytest.mark.exhaustive
def test_a_program_that_replaces_tar_cannot_change_the_reward(
    courses: Callable[[Kind], Course],
) -> None:
    """With a network the system is writable, but the first process reads the reward itself."""
    course = courses("coreutils")
    run = course.agent(f"cat > solve.sh <<'E'\n{REPLACEMENT}E")
    assert run.outputs is not None
    trial = course.trial()
    tests = trial.folder / "tests"
    tests.mkdir()
    (tests / "test.sh").write_text(f"#!/bin/sh\n{script_of(PRINTED, 'both')}\n")
    (tests / "expected").write_text("42\n")
    verification = course.containers.verify(
        course.image, run.outputs,
        TaskTests(folder=tests, pass_rule=PassRule(source="both"), network="host"),
        trial=trial, limits=QUICK,
    )  # fmt: skip
    assert (verification.outcome, verification.reward) == ("failed", 1.0)
    assert "a program replaced tar" in verification.reason


@pytest.mark.exhaustive
def test_the_network_of_builds_can_be_configured(monkeypatch: pytest.MonkeyPatch) -> None:
    """As engine and runtime are; an option is stronger."""
    monkeypatch.setenv("AGON_CONTAINER_BUILD_NETWORK", "bridge")
    with open_containers() as configured, open_containers(build_network="none") as chosen:
        assert (configured.build_network, chosen.build_network) == ("bridge", "none")
