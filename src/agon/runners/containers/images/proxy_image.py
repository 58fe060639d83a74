"""Build the image of the proxy from the installed package squid, so that no registry is needed."""

import io
import re
import shutil
import subprocess
import tarfile
from hashlib import sha256
from pathlib import Path
from typing import Final

from agon.app.containers import Egress
from agon.errors import Unavailable
from agon.runners.containers.engine import CommandLine, EngineError

_NAME: Final = "localhost/agon-proxy"
_DATA: Final = (
    "/usr/share/squid/errors/templates",
    "/usr/share/squid/mime.conf",
    "/usr/share/squid/icons",
)
_LIBRARY: Final = re.compile(r"(/\S+) \(0x")
_PASSWD: Final = "root:x:0:0::/:/bin/false\nproxy:x:65534:65534::/:/bin/false\n"  # noqa: S105
_GROUP: Final = "root:x:0:\nproxy:x:65534:\n"
_INSTALL: Final = "install the Debian package squid (apt-get install --no-install-recommends squid)"


def require_egress(engine: CommandLine, egress: Egress) -> None:
    """Require what an allowlist needs; nothing for other modes.

    Raises:
        Unavailable: squid is not installed, or podman runs without root.
    """
    if egress.mode != "allowlist":
        return
    if engine.named.name == "podman":
        try:
            rootless = engine.ask("info", "--format={{.Host.Security.Rootless}}").strip()
        except EngineError as wrong:
            raise Unavailable(f"podman: {wrong}") from None
        if rootless == "true":
            raise Unavailable(
                "--agent-network allowlist needs podman as root: without root its networks cannot "
                "be proven to lead to the proxy alone; run agon as root, or leave the option out"
            )
    import_proxy_image(engine)


def import_proxy_image(engine: CommandLine) -> str:
    """Import the image unless one of the same content exists; return its name.

    Raises:
        Unavailable: squid is not installed, or the engine fails.
    """
    files = _files()
    digest = sha256()
    for path, content in sorted(files.items()):
        digest.update(f"{path} {sha256(content).hexdigest()}\n".encode())
    name = f"{_NAME}:{digest.hexdigest()[:16]}"
    try:
        if engine.inspect("image", name) is None:
            engine.ask("import", "-", name, stdin=_archive(files))
    except EngineError as wrong:
        raise Unavailable(f"{engine.named.name}: {wrong}") from None
    return name


def _files() -> dict[str, bytes]:
    """Return squid, its libraries and its data, by their paths inside."""
    program = shutil.which("squid", path="/usr/sbin:/usr/bin:/usr/local/sbin")
    if program is None:
        raise Unavailable(f"the proxy for --agent-network allowlist is missing: {_INSTALL}")
    listed = subprocess.run(  # noqa: S603
        ["/usr/bin/ldd", program], capture_output=True, check=False, text=True
    )
    paths = [program, *_LIBRARY.findall(listed.stdout)]
    for data in map(Path, _DATA):
        paths += [str(file) for file in sorted(data.rglob("*")) if file.is_file()]
        paths += [str(data)] if data.is_file() else []
    try:
        files = {path: Path(path).read_bytes() for path in paths}
    except OSError as failed:
        raise Unavailable(f"squid is incomplete ({failed}): {_INSTALL}") from None
    return {
        **{("/usr/sbin/squid" if path == program else path): files[path] for path in paths},
        "/etc/passwd": _PASSWD.encode(),
        "/etc/group": _GROUP.encode(),
    }


def _archive(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for path, content in sorted(files.items()):
            member = tarfile.TarInfo(path.lstrip("/"))
            member.mode, member.size = 0o755, len(content)
            archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()
