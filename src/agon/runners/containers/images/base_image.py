"""Build an image from busybox alone, for machines without a registry: examples, tests, offline CI.

About 2 MB: one static program under all its names, the folders a program expects, and the users
root and nobody.
"""

import io
import os
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Final

from agon.errors import Unavailable
from agon.runners.containers.engine import CommandLine, EngineError

NAME: Final = "localhost/agon-base:1"
_FOLDERS: Final = {
    "bin": 0o755, "dev": 0o755, "etc": 0o755, "home": 0o755, "proc": 0o755, "root": 0o700,
    "run": 0o755, "sys": 0o755, "tmp": 0o1777, "usr": 0o755, "usr/bin": 0o755, "var": 0o755,
    "var/tmp": 0o1777, "app": 0o755,
}  # fmt: skip
_FILES: Final = {
    "etc/passwd": "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n",
    "etc/group": "root:x:0:\nnogroup:x:65534:\n",
}


def import_base_image(engine: CommandLine) -> str:
    """Import the image unless it exists; return its name.

    Raises:
        Unavailable: there is no static busybox (Debian package busybox-static), or the engine
            fails.
    """
    try:
        if engine.inspect("image", NAME) is None:
            engine.ask("import", "-", NAME, stdin=base_archive())
    except EngineError as wrong:
        raise Unavailable(f"{engine.named.name}: {wrong}") from None
    return NAME


def base_archive() -> bytes:
    """Return the image's files as a tar file, always the same for the same busybox.

    Raises:
        Unavailable: there is no static busybox.
    """
    busybox = shutil.which("busybox", path=f"{os.environ.get('PATH', '')}:/bin:/usr/bin")
    if busybox is None:
        raise Unavailable("busybox is missing: install the Debian package busybox-static")
    program = Path(busybox).resolve().read_bytes()
    if b"/ld-linux" in program or b"/ld-musl" in program:
        raise Unavailable(
            "busybox is linked to libraries: install the Debian package busybox-static"
        )
    listed = subprocess.run(  # noqa: S603  # the busybox that was found
        [busybox, "--list"], capture_output=True, check=True, text=True
    )
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for folder, mode in _FOLDERS.items():
            _add(archive, folder, kind=tarfile.DIRTYPE, mode=mode)
        for file, text in _FILES.items():
            _add(archive, file, content=text.encode())
        _add(archive, "bin/busybox", content=program, mode=0o755)
        for applet in sorted(set(listed.stdout.split()) - {"busybox"}):
            _add(archive, f"bin/{applet}", kind=tarfile.SYMTYPE, target="busybox")
    return buffer.getvalue()


def _add(
    archive: tarfile.TarFile,
    name: str,
    *,
    kind: bytes = tarfile.REGTYPE,
    mode: int = 0o644,
    content: bytes = b"",
    target: str = "",
) -> None:
    member = tarfile.TarInfo(name)
    member.type, member.mode, member.linkname, member.size = kind, mode, target, len(content)
    archive.addfile(member, io.BytesIO(content))
