"""An agent reaches the hosts that the operator lists, through a proxy, and nothing else."""

import http.server
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from agon.app.containers import AllowedHost, ContainerEngine, Containers, Egress, Image
from agon.app.tasks.agents import AgentEnvironment
from agon.app.tasks.formats.discovery import read_task
from agon.errors import Unavailable
from agon.runners.agents.commands import CommandAgent
from agon.runners.containers.images.proxy_image import require_egress
from app.tasks.folders import harbor
from app.tasks.loopback import serving
from runners.containers.course import QUICK, Course

if TYPE_CHECKING:
    from agon.runners.containers.engine import CommandLine

OUTSIDE = "10.88.0.1"
"""The address of this machine in podman's own network, where a model server listens in tests."""
ASK = (
    "ask() {{ rm -f /tmp/ask; mkfifo /tmp/ask; nc -w 20 {proxy} < /tmp/ask & exec 3> /tmp/ask; "
    "printf '%s\\r\\n' \"$1 HTTP/1.1\" 'Host: x' '' 'GET /answer HTTP/1.0' '' >&3; "
    "wait $!; exec 3>&-; }}; "
)
"""Sends a request to the proxy, and one to the host; the input stays open until the answer."""


class _Model(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:  # (the name that the library asks for)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"an answer of the model")

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture
def model() -> Iterator[int]:
    """Serve a model on this machine; return its port."""
    server = http.server.ThreadingHTTPServer(("", 0), _Model)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()


def test_an_agent_reaches_listed_hosts_by_the_proxy_only(
    course: Course, containers: Containers, image: Image, model: int
) -> None:
    """The mechanism at once: the way out, what it refuses, its log, and its end."""
    host = AllowedHost(name="model.test", port=model, addresses=(OUTSIDE,))
    wanted = replace(course.trial(), egress=Egress(mode="allowlist", hosts=(host,)))
    with containers.open_network(image, trial=wanted) as trial:
        proxy = trial.proxy.removeprefix("http://").replace(":", " ")
        script = ASK.format(proxy=proxy) + (
            f"ask 'CONNECT model.test:{model}' > listed; ask 'CONNECT model.test:1' > port; "
            f"ask 'CONNECT {OUTSIDE}:{model}' > address; ask 'CONNECT other.test:{model}' > other; "
            f"ask 'GET http://model.test:{model}/' > plain; "
            f"nc -w 2 {OUTSIDE} {model} < /dev/null > direct 2>&1 && echo reached >> direct; "
            "echo $HTTPS_PROXY > variable; head -n 99 listed port address other plain direct "
            "variable; true"
        )
        run = containers.run_agent(image, ("sh", "-c", script), trial=trial, limits=QUICK)
        containers.close_egress(trial)
    printed = run.account.stdout.path.read_text()
    parts = dict(part.split(" <==\n", 1) for part in printed.split("==> ") if part)
    assert "an answer of the model" in parts["listed"]
    for refused in ("port", "address", "other", "plain"):
        assert " 403 " in parts[refused].splitlines()[0]
        assert "an answer" not in parts[refused]
    assert "reached" not in parts["direct"]
    assert parts["variable"].strip() == trial.proxy
    log = (trial.folder / "network.log").read_text()
    assert f"CONNECT other.test:{model}" in log
    (tunnel,) = (line for line in log.splitlines() if "TCP_TUNNEL" in line)
    assert f"CONNECT model.test:{model} {OUTSIDE}" in tunnel


INSTALLS = """\
mkdir -p "$HOME/bin"
cat > "$HOME/bin/ask" <<'END'
proxy=${HTTPS_PROXY#http://}; rm -f /tmp/ask; mkfifo /tmp/ask
nc -w 20 "${proxy%:*}" "${proxy#*:}" < /tmp/ask & exec 3> /tmp/ask
printf 'CONNECT %s HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n' "$MODEL_HOST" >&3
printf 'POST /v1/%s HTTP/1.0\\r\\nx-api-key: %s\\r\\n' "$1" "$KEY" >&3
printf 'Content-Length: 15\\r\\n\\r\\n{"messages":[]}' >&3
wait $!; exec 3>&-
END
"""


@pytest.mark.exhaustive
def test_an_agent_that_is_installed_calls_models_of_both_protocols(
    course: Course, containers: Containers, image: Image, tmp_path: Path
) -> None:
    """Set-up and command have the proxy and the operator's variables."""
    task = read_task(harbor(tmp_path / "hello"))
    agent = CommandAgent(
        'for path in chat/completions messages; do sh "$HOME/bin/ask" $path; done', setup=INSTALLS
    )
    with serving("an answer", host="") as endpoint:
        port = int(endpoint.url.rpartition(":")[2].partition("/")[0])
        host = AllowedHost(name="model.test", port=port, addresses=(OUTSIDE,))
        variables = {"KEY": "secret-key", "MODEL_HOST": f"model.test:{port}"}
        task = replace(task, settings=replace(task.settings, agent_env=variables))
        wanted = replace(course.trial(), egress=Egress(mode="allowlist", hosts=(host,)))
        with containers.open_network(image, trial=wanted) as trial:
            place = AgentEnvironment(containers=containers, image=image, trial=trial, limits=QUICK)
            done = agent.work(task, place)
            containers.close_egress(trial)
    assert done.run.outcome == "finished"
    assert endpoint.keys == ["secret-key", "secret-key"]
    log = (trial.folder / "agent.log").read_text()
    assert '"choices"' in log
    assert '"type": "message"' in log
    assert (trial.folder / "network.log").read_text().count("TCP_TUNNEL") == 2


@pytest.mark.exhaustive
def test_a_proxy_that_died_is_an_error_of_the_trial(
    course: Course, containers: Containers, image: Image
) -> None:
    """The agent could not work: that is not its failure."""
    host = AllowedHost(name="model.test", addresses=(OUTSIDE,))
    wanted = replace(course.trial(), egress=Egress(mode="allowlist", hosts=(host,)))
    with containers.open_network(image, trial=wanted) as trial:
        containers.clean(trial.run)
        with pytest.raises(Unavailable, match="the proxy of the agent's network ended before"):
            containers.close_egress(trial)


@pytest.mark.exhaustive
def test_a_public_network_ends_with_the_agent(
    course: Course, containers: Containers, image: Image, model: int
) -> None:
    """Tests that share the network of services must not get the agent's way out."""
    ask = ("sh", "-c", f"echo 'GET / HTTP/1.0\n' | nc -w 5 {OUTSIDE} {model}; true")
    with containers.open_network(
        image, trial=replace(course.trial(), egress=Egress(mode="public"))
    ) as trial:
        before = containers.run_agent(image, ask, trial=trial, limits=QUICK)
        assert b"an answer" in before.account.stdout.path.read_bytes()
        containers.close_egress(trial)
        after = containers.run_agent(image, ask, trial=trial, limits=QUICK)
        assert b"an answer" not in after.account.stdout.path.read_bytes()


class Engine:
    """Podman's client, with or without root."""

    named = ContainerEngine(
        name="podman", version="4", runtime="runc", cgroups="v2", limits_cpus=True
    )

    def __init__(self, rootless: str) -> None:
        self._rootless = rootless

    def ask(self, *_: str) -> str:
        """Return whether it runs without root."""
        return f"{self._rootless}\n"


def test_an_allowlist_is_refused_before_a_run_where_it_cannot_hold(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without root its networks were never shown to lead to the proxy alone; squid may lack."""
    allowlist = Egress(mode="allowlist")
    require_egress(cast("CommandLine", Engine("true")), Egress(mode="public"))
    with pytest.raises(Unavailable, match="needs podman as root"):
        require_egress(cast("CommandLine", Engine("true")), allowlist)
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)
    with pytest.raises(Unavailable, match="install the Debian package squid"):
        require_egress(cast("CommandLine", Engine("false")), allowlist)
