"""Test the service behind a real nginx: the example, and a path that is removed or not."""

import re
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
import uvicorn

from fakes.instance import Instance, instance_at
from web.test_public_path import links

PROXY = Path(__file__).parents[2] / "deploy" / "proxy"
PATIENCE_S = 60.0


def free_port() -> int:
    """Return a port that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def configuration(folder: Path, servers: str) -> Path:
    """Write a configuration of nginx that needs no root, with these servers."""
    places = "".join(
        f"{name}_temp_path {folder}/{name};\n"
        for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    file = folder / "nginx.conf"
    file.write_text(
        f"pid {folder}/pid; error_log {folder}/error.log; daemon off;\n"
        f"events {{}}\nhttp {{\naccess_log off;\n{places}{servers}}}\n"
    )
    return file


def nginx(folder: Path, *options: str) -> list[str]:
    """Return the command line of an nginx of this folder."""
    return ["/usr/sbin/nginx", "-p", str(folder), "-c", str(folder / "nginx.conf"),
            "-e", str(folder / "error.log"), *options]  # fmt: skip


def test_nginx_reads_the_example(tmp_path: Path) -> None:
    """An example with a wrong line costs an evening."""
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
         "-nodes", "-subj", "/CN=agon.example", "-keyout", "privkey.pem", "-out", "fullchain.pem"],
        cwd=tmp_path, check=True, capture_output=True,
    )  # fmt: skip
    example = (PROXY / "nginx.conf").read_text().replace("/etc/ssl/agon", str(tmp_path))
    configuration(tmp_path, example)
    checked = subprocess.run(nginx(tmp_path, "-t"), capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr


def test_caddy_has_balanced_blocks_and_the_same_upstream() -> None:
    """Caddy is in no Debian 12; its example says the same as that of nginx."""
    text = "\n".join(
        line for line in (PROXY / "Caddyfile").read_text().splitlines() if line[:1] != "#"
    )
    assert re.fullmatch(r"\s*agon\.example \{\n\treverse_proxy 127\.0\.0\.1:8080\n\}\s*", text)
    assert "proxy_pass http://127.0.0.1:8080;" in (PROXY / "nginx.conf").read_text()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Instance, str, str]]:
    """Return an instance, and its addresses behind an nginx that leaves or removes the path."""
    port, leaves, removes = free_port(), free_port(), free_port()
    instance = instance_at(
        tmp_path, public_url=f"http://127.0.0.1:{leaves}/agon", trusted_proxies=("127.0.0.1",)
    )
    instance.contest()
    location = (
        "proxy_set_header Host $http_host; proxy_set_header X-Forwarded-Proto $scheme;"
        "proxy_buffering off;"
    )
    # With a variable nginx passes on what was sent, also encoded slashes.
    strip = f"if ($request_uri ~ ^/agon(.*)$) {{ set $rest $1; }} proxy_pass http://127.0.0.1:{port}$rest;"
    configuration(
        tmp_path,
        f"server {{ listen 127.0.0.1:{leaves}; location /agon/ {{ {location}"
        f" proxy_pass http://127.0.0.1:{port}; }} }}\n"
        f"server {{ listen 127.0.0.1:{removes}; location /agon/ {{ {location} {strip} }} }}\n",
    )
    server = uvicorn.Server(uvicorn.Config(instance.app, port=port, log_level="error"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        with subprocess.Popen(nginx(tmp_path)) as process:
            addresses = [f"http://127.0.0.1:{each}/agon" for each in (leaves, removes)]
            end = time.monotonic() + PATIENCE_S
            while time.monotonic() < end and not all(map(answers, addresses)):
                time.sleep(0.05)
            yield instance, addresses[0], addresses[1]
            process.terminate()
    finally:
        server.should_exit = True
        thread.join()
        instance.close()


def answers(address: str) -> bool:
    """Return whether the service answers behind the proxy."""
    try:
        return httpx2.get(f"{address}/healthz").status_code == 200
    except httpx2.TransportError:
        return False


def test_pages_forms_and_events_work_behind_both(served: tuple[Instance, str, str]) -> None:
    """One proxy removes the path from requests, the other does not."""
    instance, *addresses = served
    for address in addresses:
        origin = address.removesuffix("/agon")
        with httpx2.Client() as client:
            page = client.get(f"{address}/c/spring")
            assert page.status_code == 200
            own = {link for link in links(page.text) if link.startswith("/")}
            assert own
            assert all(link.startswith("/agon/") for link in own)
            style = next(link for link in own if "/static/" in link)
            assert client.get(origin + style).status_code == 200
            signed_in = client.post(
                f"{address}/sign-in",
                data={"token": instance.tokens["organiser"], "next": "/account"},
                headers={"origin": origin},
            )
            assert (signed_in.status_code, signed_in.headers["location"]) == (303, "/agon/account")
            assert "olga" in client.get(f"{address}/account").text
            with client.stream("GET", f"{address}/c/spring/events?since=0") as stream:
                assert stream.headers["content-type"].startswith("text/event-stream")
                lines = (line for line in stream.iter_lines() if line.startswith("event:"))
                assert next(lines).startswith("event: contest-")
