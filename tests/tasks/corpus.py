"""Read the tasks of the corpus, each written in a single file.

A file has lines of the form ``name: text``, then the files of the task's folder, each after a line
``=== path``. ``{python}`` and ``{busybox}`` in them are the names of images that exist without a
registry; ``=== agent`` is what the model on the loopback sends as its commands.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

DATA = Path(__file__).parent / "data"
_IMAGE = re.compile(r"\{(busybox|python)\}")
_PART = re.compile(r"^=== (\S+)\n", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class PublicTask:
    """A task in the shape of public ones.

    Attributes:
        name: its name.
        about: the lines before its files: ``origin`` (the collection whose shape it has), ``idea``,
            and ``refused``: why the reference does not run it.
        files: the files of its folder.
        commands: what the model sends.
    """

    name: str
    about: Mapping[str, str]
    files: Mapping[str, str]
    commands: str

    def write(self, folder: Path, images: Mapping[str, str]) -> Path:
        """Write the task's folder below another one, with the names of images."""
        for path, text in self.files.items():
            file = folder / self.name / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(_IMAGE.sub(lambda name: images[name[1]], text))
        return folder / self.name


def read_corpus() -> dict[str, PublicTask]:
    """Return all tasks by name."""
    return {path.stem: _read(path) for path in sorted(DATA.iterdir())}


def _read(path: Path) -> PublicTask:
    head, *parts = _PART.split(path.read_text("utf-8"))
    files = dict(zip(parts[::2], parts[1::2], strict=True))
    commands = files.pop("agent", "")
    about = dict(line.split(": ", 1) for line in head.splitlines())
    return PublicTask(name=path.stem, about=about, files=files, commands=commands)
