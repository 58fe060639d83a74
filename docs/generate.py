"""Write the generated parts of the documentation, so that it can be read without building it.

A part stands between ``<!-- agon-NAME ARGUMENT -->`` and ``<!-- end -->``; :data:`PARTS` has the
names. ``python docs/generate.py`` writes them all; a test compares them.
"""

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS / "_ext"))

import reference_hand as hand  # noqa: E402 (a module of the folder above)
import reference_http as http  # noqa: E402 (a module of the folder above)
import reference_library as library  # noqa: E402 (a module of the folder above)
import reference_tables as tables  # noqa: E402

PARTS: Mapping[str, Callable[[str], str]] = {
    "rules": tables.rules,
    "tables": tables.tables,
    "hand": hand.by_hand,
    "boards": tables.boards,
    "findings": tables.findings,
    "task_keys": tables.task_keys,
    "attacks": tables.attacks,
    "examples": tables.examples,
    "editions": tables.all_editions,
    "commands": tables.commands,
    "settings": tables.settings,
    "owners": tables.owners,
    "doors": tables.doors,
    "files": tables.files,
    "tried_tasks": tables.tried_tasks,
    "library": library.members,
    "curl": http.examples,
}
PART = re.compile(r"(<!-- agon-(\w+) ?(.*?) -->\n).*?(<!-- end -->)", re.DOTALL)


def current(page: str) -> str:
    """Return a page with its parts made from the code of today."""
    return PART.sub(lambda part: f"{part[1]}\n{_make(part[2], part[3])}\n\n{part[4]}", page)


def _make(name: str, argument: str) -> str:
    text = re.sub(r"\n{3,}", "\n\n", PARTS[name](argument))
    return "\n".join(line.rstrip() for line in text.strip().split("\n"))


def pages() -> Iterator[Path]:
    """Yield the pages that have generated parts."""
    for path in sorted(DOCS.rglob("*.md")):
        if "_build" not in path.parts and PART.search(path.read_text()):
            yield path


def main() -> None:
    """Write the pages."""
    for path in pages():
        path.write_text(current(path.read_text()))


if __name__ == "__main__":
    main()
