"""Release editions: add them to the lock of their discipline, after which they never change.

``python -m agon.editions.release quiz`` adds every new edition of the discipline ``quiz`` to
``lock.toml`` in its folder of editions.
"""

import argparse
import sys
from collections.abc import Collection, Sequence
from pathlib import Path

from agon.editions.edition import rules_sha256
from agon.editions.mismatch import compare
from agon.editions.registry import LOCK, folder_of, forget, lock_of, parse
from agon.errors import AgonError

HEAD = (
    "# rules_sha256 of each released edition, in order of release; "
    "the values of an edition never change.\n"
)


def release(discipline_name: str, *, unreleased: Collection[str] = ()) -> list[str]:
    """Add the new editions of a discipline to its lock, and return what is wrong with any.

    An edition that is in the lock keeps its entry, and so its rank: the first is the default. One
    that is based on another new one is added after it.

    Args:
        discipline_name: the discipline.
        unreleased: full names of editions whose fingerprint is recorded again, because they
            are not in use yet.

    Raises:
        NotFound: there is no such discipline.
    """
    folder = Path(str(folder_of(discipline_name)))
    changed: list[str] = []
    left = sorted(file for file in folder.glob("*.toml") if file.name != LOCK)
    while True:
        unread: dict[Path, str] = {}
        for file in left:
            try:
                changed += _add(f"{discipline_name}/{file.stem}", file, unreleased)
            except AgonError as error:
                unread[file] = f"{discipline_name}/{file.stem}: {error}"
        if len(unread) == len(left):
            return [*unread.values(), *changed]
        left = list(unread)  # their base may be in the lock now


def _add(name: str, file: Path, unreleased: Collection[str]) -> list[str]:
    """Add an edition to the lock unless it is there; return how it differs from its entry."""
    locked = dict(lock_of(name.partition("/")[0]))
    rules = parse(file.read_text(encoding="utf-8"), full_name=name).rules
    if name in locked and name not in unreleased:
        mismatch = compare(rules, edition=name, recorded=locked[name])
        return [f"{mismatch}, or release the change under a new name"] if mismatch else []
    locked[name] = rules_sha256(rules)
    lines = [f'"{name}" = "{fingerprint}"\n' for name, fingerprint in locked.items()]
    (file.parent / LOCK).write_text(HEAD + "".join(lines), encoding="utf-8")
    forget()
    return []


def main(arguments: Sequence[str]) -> int:
    """Release the editions of disciplines; return 1 when an edition is wrong or has changed."""
    parser = argparse.ArgumentParser(prog="python -m agon.editions.release", description=__doc__)
    parser.add_argument("discipline", nargs="+")
    parser.add_argument(
        "--unreleased",
        metavar="EDITION",
        action="append",
        default=[],
        help="Record the fingerprint of this edition again; it must not be in use yet.",
    )
    options = parser.parse_args(arguments)
    try:
        errors = [
            error
            for discipline_name in options.discipline
            for error in release(discipline_name, unreleased=options.unreleased)
        ]
    except AgonError as error:
        errors = [str(error)]
    sys.stderr.write("".join(f"{error}\n" for error in errors))
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
