"""Prove lines of published boards by Merkle paths."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from agon.app.access.permissions import View
from agon.app.contests.boards.pages import LINES_PER_READ, find
from agon.app.contests.boards.stored_rows import NotStored, require_rows_snapshot
from agon.app.contests.ledgers.positions import snapshot_at
from agon.app.service import Service
from agon.entities.contests import Contest, Snapshot
from agon.ledger.merkle import Tree


def proof(
    service: Service,
    view: View,
    board: str | None,
    participant: str,
    *,
    as_of: str | None = None,
) -> dict[str, Any]:
    """Prove that a published board says what it says of a participant, scored or not.

    The line's hash, with the hashes of ``path``, gives the manifest's ``merkle_root``, and the
    manifest is signed; ``agon replay --proof`` checks it without this server.

    Raises:
        NotFound: there is no such board, snapshot or id, or none the caller may see.
        NotStored: the rows are no longer stored.
        Unreadable: ``as_of`` cannot be read.
    """
    with service.store.read() as session:
        snapshot = snapshot_at(session, view, board, as_of)
        rows_snapshot = require_rows_snapshot(session, view.contest, snapshot)
        index, line = find(session, rows_snapshot, participant)
    root = rows_snapshot.manifest["merkle_root"]
    tree = _tree(_Leaves(root, service, view.contest, rows_snapshot))
    return {
        "manifest": dict(snapshot.manifest),
        "signature": snapshot.signature,
        "public_key": service.signer.public_key,
        "index": index,
        "line": line.decode(),
        "path": [sibling.hex() for sibling in tree.proof(index)],
    }


@dataclass(frozen=True)
class _Leaves:
    """The lines of a board; two with equal roots have equal lines."""

    merkle_root: str
    service: Service = field(compare=False, repr=False)
    contest: Contest = field(compare=False, repr=False)
    rows_snapshot: Snapshot = field(compare=False, repr=False)

    def __iter__(self) -> Iterator[bytes]:
        stored = self.rows_snapshot
        with self.service.store.read() as session:
            for unscored, count in ((False, stored.rows), (True, stored.unscored)):
                for start in range(0, count, LINES_PER_READ):
                    yield from session.snapshots.lines(
                        stored.no, start=start, count=LINES_PER_READ, unscored=unscored
                    )


@lru_cache(maxsize=2)
def _tree(leaves: _Leaves) -> Tree:
    """Return a board's tree; usually many proofs of one board are requested together."""
    tree = Tree(leaves)
    if tree.root.hex() != leaves.merkle_root:  # the rows were deleted meanwhile
        raise NotStored(leaves.contest, leaves.rows_snapshot)
    return tree
