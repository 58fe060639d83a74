"""Fill a small disk: append until it is full, back up to it; print the result of each step.

``python full_disk.py SMALL BIG`` is run by ``test_database_errors.py``: the folder SMALL is a file
system of its own; BIG is a database that is larger than it.
"""

import os
import sys
from dataclasses import replace
from itertools import count
from pathlib import Path

from agon.errors import Unavailable
from agon.ledger.entry import genesis
from agon.store import open_store
from agon.store.maintenance.backup import backup
from agon.store.maintenance.verify import verify
from store.factories import NOON, chained, contest, created, vote


def main(small: Path, big: str) -> None:
    """Do every step."""
    url = f"sqlite:///{small}/agon.db"
    store = open_store(url)
    with store.write() as session:
        spring = session.contests.add(contest())
        entries, head, seq = chained([created("spring")], previous=genesis("spring"))
        session.entries.append(spring.no, entries)
        session.contests.save(replace(spring, seq=seq, head=head))
    stored = 0
    try:
        for start in count(0, 1000):
            with store.write() as session:
                locked = session.contests.lock("spring")
                drafts = [vote(number) for number in range(start, start + 1000)]
                entries, head, seq = chained(drafts, previous=locked.head, seq=locked.seq)
                session.entries.append(locked.no, entries)
                session.contests.save(replace(locked, seq=seq, head=head))
            stored = seq
    except Unavailable as error:
        sys.stdout.write(f"{error}\n")
    store.close()
    report = verify(url)
    is_whole = (report.issues, report.entries) == ((), stored)
    sys.stdout.write("whole\n" if is_whole else f"{report}\n")
    for name in ("copy.db", "copy.tar.gz"):
        filler = small / "filler"
        filler.write_bytes(b"")
        try:
            with filler.open("ab", buffering=0) as stream:
                while stream.write(os.urandom(4096)):
                    pass
        except OSError:
            pass
        try:
            backup(big, small / name, now=NOON)
        except Unavailable as error:
            sys.stdout.write(f"{error}\n")
        filler.unlink()
    left = [path.name for path in small.iterdir() if not path.name.startswith("agon.db")]
    sys.stdout.write(f"{left}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
