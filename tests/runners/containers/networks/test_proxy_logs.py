"""The logs of a proxy are bounded, whatever an agent asks it for."""

import os
from pathlib import Path

from agon.runners.containers.networks.proxy_logs import MESSAGES, REQUESTS, ProxyLogs
from runners.processes import open_descriptors


def write(folder: Path, name: str, content: bytes) -> None:
    """Write to a pipe as the proxy does."""
    pipe = os.open(folder / name, os.O_WRONLY)
    with os.fdopen(pipe, "wb") as file:
        file.write(content)


def test_requests_beyond_the_bound_are_counted(tmp_path: Path) -> None:
    """100,000 lines of 10 bytes into 1,000: whole lines stay, and the last one says the rest."""
    before = open_descriptors()
    logs = ProxyLogs(tmp_path, target=tmp_path / "network.log", most=1005)
    for _ in range(10):
        write(tmp_path, REQUESTS, b"123456789\n" * 10_000)
    logs.close()
    lines = (tmp_path / "network.log").read_text().splitlines()
    assert lines[:-1] == ["123456789"] * 100
    assert lines[-1] == (
        "# cut at 1,005 bytes: 99,900 further requests (999,000 bytes) are left out"
    )
    assert not (tmp_path / REQUESTS).is_file()
    assert open_descriptors() == before


def test_a_log_within_the_bound_is_whole(tmp_path: Path) -> None:
    """Also a last line that has no end, since the proxy was killed."""
    logs = ProxyLogs(tmp_path, target=tmp_path / "network.log")
    write(tmp_path, REQUESTS, b"one\ntwo\nthr")
    logs.close()
    assert (tmp_path / "network.log").read_text() == "one\ntwo\nthr\n"


def test_messages_are_bounded_in_memory(tmp_path: Path) -> None:
    """The first ones say why a proxy does not start."""
    logs = ProxyLogs(tmp_path, target=tmp_path / "network.log")
    write(tmp_path, MESSAGES, b"ready\n" + b"x" * 1_000_000)
    logs.close()
    assert logs.messages.startswith(b"ready\n")
    assert len(logs.messages) == 64 << 10
