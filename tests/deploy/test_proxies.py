"""Test the service behind a real nginx: the example, and a path that is removed or not."""

import re
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest
import uvicorn

from fakes.instance import Instance, instance_at
from web.test_public_path import links

PROXY = Path(__file__).parents[2] / "deploy" / "proxy"
PATIENCE_S = 60.0
ORIGIN = "http://agon.example"
PUBLIC = f"{ORIGIN}/agon"


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


def test_the_page_shows_the_examples_as_they_are() -> None:
    """Readers copy what the page shows, and nginx checks the file."""
    page = (PROXY.parents[1] / "docs" / "howto" / "network.md").read_text()
    for file in PROXY.iterdir():
        assert file.read_text().rstrip() in page, file.name


@dataclass(frozen=True)
class Proxied:
    """An instance behind an nginx, and clients that ask it by its public address."""

    instance: Instance
    leaves_the_path: httpx2.Client
    removes_the_path: httpx2.Client


@pytest.fixture
def proxied(tmp_path: Path) -> Iterator[Proxied]:
    """Run an instance behind an nginx; its sockets are files, so no port can be taken meanwhile."""
    instance = instance_at(tmp_path, public_url=PUBLIC, trusted_proxies=("127.0.0.1",))
    instance.contest()
    with (
        tempfile.TemporaryDirectory() as folder,
        socket.create_server(("127.0.0.1", 0)) as listening,
    ):
        upstream = f"http://127.0.0.1:{listening.getsockname()[1]}"
        headers = (
            "proxy_set_header Host $http_host; proxy_set_header X-Forwarded-Proto $scheme;"
            "proxy_buffering off;"
        )
        # With a variable nginx passes on what was sent, also encoded slashes.
        strip = f"if ($request_uri ~ ^/agon(.*)$) {{ set $rest $1; }} proxy_pass {upstream}$rest;"
        configuration(
            Path(folder),
            f"server {{ listen unix:{folder}/leaves; location /agon/ {{ {headers}"
            f" proxy_pass {upstream}; }} }}\n"
            f"server {{ listen unix:{folder}/removes; location /agon/ {{ {headers} {strip} }} }}\n",
        )
        # Uvicorn's own configuration of logging would outlive this test.
        server = uvicorn.Server(uvicorn.Config(instance.app, log_config=None))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            with (
                subprocess.Popen(nginx(Path(folder))) as process,
                client(f"{folder}/leaves") as leaves,
                client(f"{folder}/removes") as removes,
            ):
                end = time.monotonic() + PATIENCE_S
                while time.monotonic() < end and not (answers(leaves) and answers(removes)):
                    time.sleep(0.05)
                yield Proxied(instance, leaves, removes)
                process.terminate()
        finally:
            server.should_exit = True
            thread.join()
            instance.close()


def client(path: str) -> httpx2.Client:
    """Return a client that asks for the public address through a socket."""
    return httpx2.Client(transport=httpx2.HTTPTransport(uds=path), base_url=ORIGIN)


def answers(client: httpx2.Client) -> bool:
    """Return whether the service answers behind the proxy."""
    try:
        return client.get("/agon/healthz").status_code == 200
    except httpx2.TransportError:
        return False


def test_pages_forms_and_events_work_behind_both(proxied: Proxied) -> None:
    """One proxy removes the path from requests, the other does not."""
    for browser in (proxied.leaves_the_path, proxied.removes_the_path):
        page = browser.get("/agon/c/spring")
        assert page.status_code == 200
        own = {link for link in links(page.text) if link.startswith("/")}
        assert own
        assert all(link.startswith("/agon/") for link in own)
        style = next(link for link in own if "/static/" in link)
        assert browser.get(style).status_code == 200
        signed_in = browser.post(
            "/agon/sign-in",
            data={"token": proxied.instance.tokens["organiser"], "next": "/account"},
            headers={"origin": ORIGIN},
        )
        assert (signed_in.status_code, signed_in.headers["location"]) == (303, "/agon/account")
        assert "olga" in browser.get("/agon/account").text
        with browser.stream("GET", "/agon/c/spring/events?since=0") as stream:
            assert stream.headers["content-type"].startswith("text/event-stream")
            lines = (line for line in stream.iter_lines() if line.startswith("event:"))
            assert next(lines).startswith("event: contest-")
