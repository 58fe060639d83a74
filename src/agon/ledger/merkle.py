"""Prove that a line is among many by a few hashes: the Merkle tree of RFC 6962, section 2.1.

A leaf is SHA-256(0x00 + line), a node SHA-256(0x01 + left + right), a tree of n > 1 leaves is split
at the largest power of two below n, and the root of an empty tree is the SHA-256 of no bytes.
"""

import hashlib
from collections.abc import Iterable, Sequence
from itertools import pairwise

_SIZE = 32


class Tree:
    """A Merkle tree with all its levels, to prove many of its lines; 64 bytes a line.

    Example:
        >>> tree = Tree([b"a", b"b", b"c"])
        >>> verify(b"c", 2, 3, tree.proof(2), tree.root)
        True
    """

    def __init__(self, lines: Iterable[bytes]) -> None:
        sha256 = hashlib.sha256
        # 0x00 before lines and 0x01 before pairs of hashes (RFC 9162): otherwise a pair could be
        # presented as a line.
        levels = [b"".join(sha256(b"\x00" + line).digest() for line in lines)]
        while len(levels[-1]) > _SIZE:
            levels.append(_above(levels[-1]))
        self._levels = tuple(levels)

    def __len__(self) -> int:
        return len(self._levels[0]) // _SIZE

    @property
    def root(self) -> bytes:
        """Return the tree's hash (32 bytes)."""
        return self._levels[-1] or hashlib.sha256(b"").digest()

    def proof(self, index: int) -> list[bytes]:
        """Return the sibling hashes on the path from a line to the root, the lowest first.

        Raises:
            IndexError: there is no line of that index, counted from 0.
        """
        if not 0 <= index < len(self):
            raise IndexError(f"the tree has {len(self)} lines, none at {index}")
        path = []
        for level in self._levels[:-1]:
            # The neighbor differs in the last bit: 4 and 5, 6 and 7.
            sibling = (index ^ 1) * _SIZE
            if sibling < len(level):  # the last of an odd level goes up alone
                path.append(level[sibling : sibling + _SIZE])
            index >>= 1
        return path


def root(lines: Iterable[bytes]) -> bytes:
    r"""Return the root (32 bytes) of lines in one walk, keeping one hash per level.

    Example:
        >>> root([]) == hashlib.sha256(b"").digest()
        True
        >>> root([b"a"]) == hashlib.sha256(b"\x00a").digest()
        True
    """
    sha256 = hashlib.sha256
    complete: list[bytes] = []  # roots of complete trees, the largest first
    for count, line in enumerate(lines):
        digest = sha256(b"\x00" + line).digest()
        # Each low bit that is set is a complete tree of that size on the stack, as in a binary
        # counter that is increased: join them until a bit is free.
        while count & 1:
            digest = sha256(b"\x01" + complete.pop() + digest).digest()
            count >>= 1  # noqa: PLW2901 - the bits below are the trees just joined
        complete.append(digest)
    if not complete:
        return sha256(b"").digest()
    digest = complete.pop()
    while complete:
        digest = sha256(b"\x01" + complete.pop() + digest).digest()
    return digest


def proof(lines: Iterable[bytes], index: int) -> list[bytes]:
    """Return the proof of one line; who needs several keeps a :class:`Tree`."""
    return Tree(lines).proof(index)


def verify(line: bytes, index: int, size: int, path: Sequence[bytes], root: bytes) -> bool:
    """Return whether a tree of ``size`` lines with that root has this line at ``index``.

    The walk of RFC 9162, section 2.1.3.2. The path must have exactly the hashes it needs.
    """
    if not 0 <= index < size or any(len(sibling) != _SIZE for sibling in path):
        return False
    digest = hashlib.sha256(b"\x00" + line).digest()
    last = size - 1
    for sibling in path:
        if last == 0:
            return False
        # A right child, or the last of an odd level, which rose alone until it had a sibling.
        if index & 1 or index == last:
            digest = hashlib.sha256(b"\x01" + sibling + digest).digest()
            while not index & 1 and index:
                index >>= 1
                last >>= 1
        else:
            digest = hashlib.sha256(b"\x01" + digest + sibling).digest()
        index >>= 1
        last >>= 1
    # last == 0: the path ended at the root and not below it.
    return last == 0 and digest == root


def _above(level: bytes) -> bytes:
    """Return the next level: each two hashes joined, an odd last one as it is."""
    sha256, pair = hashlib.sha256, 2 * _SIZE
    paired = len(level) - len(level) % pair
    steps = pairwise(range(0, paired + pair, pair))
    return (
        b"".join(sha256(b"\x01" + level[begin:end]).digest() for begin, end in steps)
        + level[paired:]
    )
