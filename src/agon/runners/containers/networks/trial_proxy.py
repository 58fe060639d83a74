"""Run the proxy of a trial: squid, the only way from the agent's network to listed hosts."""

import json
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from agon.app.containers import AgentTrial
from agon.app.containers.egress import AllowedHost
from agon.errors import Unavailable
from agon.runners.containers.cleanup_guard import CleanupGuard
from agon.runners.containers.engine import CommandLine, last_line
from agon.runners.containers.images.proxy_image import import_proxy_image
from agon.runners.containers.isolation import labels
from agon.runners.containers.networks.proxy_logs import MESSAGES, REQUESTS, ProxyLogs
from agon.runners.containers.runs import ContainerRunner

PORT: Final = 3128
LOG: Final = "network.log"
"""The file in a trial's folder with a line for each request."""
_START_S: Final = 60.0
_ROUND_S: Final = 0.1
_READY: Final = b"Accepting HTTP Socket connections"
_FOLDERS: Final = ("/tmp", "/dev/shm")  # noqa: S108 (inside the proxy's container)
_TEMPORARY: Final = "rw,noexec,nosuid,nodev,mode=1777,size=16m"
_SETTINGS: Final = f"""\
http_port {PORT}
visible_hostname proxy
hosts_file /etc/hosts
dns_nameservers 127.0.0.1
pid_filename none
unlinkd_program /usr/sbin/squid
logfile_daemon /usr/sbin/squid
pinger_enable off
cache deny all
cache_mem 1 MB
netdb_filename none
coredump_dir none
cache_log /log/{MESSAGES}
logfile_rotate 0
shutdown_lifetime 0 seconds
max_filedescriptors 1024
via off
forwarded_for delete
logformat agon %{{%Y-%m-%dT%H:%M:%SZ}}tg %Ss %>Hs %rm %ru %<a %<st
access_log stdio:/log/{REQUESTS} agon
acl connect method CONNECT
http_access deny !connect
"""


def proxy_settings(hosts: Sequence[AllowedHost]) -> str:
    """Return squid's settings: CONNECT to each host at its port; everything else is denied."""
    lines = [_SETTINGS]
    for number, host in enumerate(hosts):
        lines.append(
            f"acl name{number} dstdomain -n {host.name}\nacl port{number} port {host.port}\n"
            f"http_access allow name{number} port{number}\n"
        )
    return "".join((*lines, "http_access deny all\n"))


def host_names(hosts: Sequence[AllowedHost]) -> str:
    """Return the names that the proxy knows, with the addresses that were checked."""
    names = {(host.name, address) for host in hosts for address in host.addresses}
    return "".join(f"{address} {name}\n" for name, address in sorted(names))


class TrialProxy:
    """A proxy in a container beside one trial, the only way from it to allowed hosts."""

    def __init__(
        self,
        engine: CommandLine,
        runner: ContainerRunner,
        lifeline: CleanupGuard,
        trial: AgentTrial,
        folder: Path,
    ) -> None:
        """Start nothing yet; ``folder`` is a new folder for its settings and its log."""
        self._engine = engine
        self._runner = runner
        self._lifeline = lifeline
        self._trial = trial
        self._folder = folder
        self._name = ""
        self._logs: ProxyLogs | None = None

    def start(self, network: str, outside: str) -> str:
        """Start the proxy in a trial's network and in one outside; return its address.

        Raises:
            Unavailable: squid is missing or does not start.
            EngineError: the engine fails.
        """
        image = import_proxy_image(self._engine)
        hosts = self._trial.egress.hosts
        self._folder.mkdir()
        log = self._folder / "log"
        log.mkdir()
        log.chmod(0o755)
        self._logs = ProxyLogs(log, target=self._trial.folder / LOG)
        for file, text in (("squid.conf", proxy_settings(hosts)), ("hosts", host_names(hosts))):
            (self._folder / file).write_text(text)
            (self._folder / file).chmod(0o644)
        self._name = name = self._runner.new_name(self._trial.run)
        self._engine.ask(
            *("create", f"--name={name}", f"--network={network}"),
            *labels(self._trial, owner=self._runner.owner, phase="proxy"),
            *("--user=65534:65534", "--read-only", "--cap-drop=ALL"),
            *("--security-opt=no-new-privileges", "--memory=256m", "--pids-limit=64"),
            *("--ulimit=nofile=1024:1024", "--ulimit=nproc=1024:1024", "--ulimit=core=0:0"),
            *(f"--tmpfs={folder}:{_TEMPORARY}" for folder in _FOLDERS),
            *(("--no-hosts", "--http-proxy=false") if self._engine.named.name == "podman" else ()),
            f"--mount=type=bind,source={self._folder}/hosts,target=/etc/hosts,readonly",
            f"--mount=type=bind,source={self._folder}/squid.conf,target=/etc/squid.conf,readonly",
            f"--mount=type=bind,source={log},target=/log,readonly",
            *(
                "--log-driver=none",
                "--pull=never",
                "--entrypoint=/usr/sbin/squid",
                image,
                "-N",
                "-f",
                "/etc/squid.conf",
            ),
        )
        self._engine.ask("network", "connect", outside, name)
        self._engine.ask("start", name, inherited=(self._lifeline.inherited,))
        self._wait()
        return self._address(network)

    def end(self) -> None:
        """Write the log of the requests, and remove the proxy.

        Raises:
            Unavailable: it had ended before.
        """
        if not self._name:
            return
        name, self._name = self._name, ""
        try:
            is_running = self._is_running(name)
            self._runner.remove(name)
        finally:
            if self._logs is not None:
                self._logs.close()
        shutil.rmtree(self._folder, ignore_errors=True)
        if not is_running:
            raise Unavailable("the proxy of the agent's network ended before the agent")

    def _wait(self) -> None:
        deadline = time.monotonic() + _START_S
        while _READY not in (printed := self._logs.messages if self._logs else b""):
            if not self._is_running(self._name) or time.monotonic() > deadline:
                cause = last_line(printed) or "it says nothing"
                raise Unavailable(f"the proxy of the agent's network does not start: {cause}")
            time.sleep(_ROUND_S)

    def _is_running(self, name: str) -> bool:
        state = (self._engine.inspect("container", name) or {}).get("State") or {}
        return bool(state.get("Running"))

    def _address(self, network: str) -> str:
        text = self._engine.ask(
            "inspect", "--format={{json .NetworkSettings.Networks}}", self._name
        )
        return str(json.loads(text)[network]["IPAddress"])
