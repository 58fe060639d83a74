"""Merkle trees, against the recursion of RFC 6962 as it stands there."""

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agon.ledger.merkle import Tree, proof, root, verify
from sizes import size

LAW = settings(max_examples=size(200), deadline=None)


def naive_root(lines: list[bytes]) -> bytes:
    """Compute MTH as RFC 6962, section 2.1, writes it."""
    if not lines:
        return hashlib.sha256(b"").digest()
    if len(lines) == 1:
        return hashlib.sha256(b"\x00" + lines[0]).digest()
    split = naive_split(len(lines))
    both = naive_root(lines[:split]) + naive_root(lines[split:])
    return hashlib.sha256(b"\x01" + both).digest()


def naive_path(index: int, lines: list[bytes]) -> list[bytes]:
    """Compute PATH as RFC 6962, section 2.1.1, writes it."""
    if len(lines) == 1:
        return []
    split = naive_split(len(lines))
    if index < split:
        return [*naive_path(index, lines[:split]), naive_root(lines[split:])]
    return [*naive_path(index - split, lines[split:]), naive_root(lines[:split])]


def naive_split(size: int) -> int:
    """Return the largest power of two below a size."""
    return max(1 << bit for bit in range(size.bit_length()) if 1 << bit < size)


def lines_of(size: int) -> list[bytes]:
    """Make so many lines."""
    return [b"line %d" % number for number in range(size)]


@pytest.mark.parametrize("size", range(71))
def test_every_line_of_every_small_tree_is_proved(size: int) -> None:
    """Odd sizes are where trees go wrong."""
    lines = lines_of(size)
    tree = Tree(lines)
    assert len(tree) == size
    assert tree.root == root(lines) == naive_root(lines)
    for index, line in enumerate(lines):
        path = tree.proof(index)
        assert path == naive_path(index, lines)
        assert verify(line, index, size, path, tree.root)


@pytest.mark.parametrize("size", range(1, 71))
def test_no_proof_proves_anything_else(size: int) -> None:
    """Another line, another place, another root, a longer or shorter way."""
    lines = lines_of(size)
    tree = Tree(lines)
    for index, line in enumerate(lines):
        path = tree.proof(index)
        assert not verify(line + b"!", index, size, path, tree.root)
        assert not verify(line, index, size, path, bytes(32))
        assert not verify(line, index, size, [*path, bytes(32)], tree.root)
        assert not verify(line, index, size, [b"", *path], tree.root)
        assert not verify(line, -1, size, path, tree.root)
        assert not verify(line, size, size, path, tree.root)
        for other in range(size):
            assert other == index or not verify(line, other, size, path, tree.root)
        for level in range(len(path)):
            spoiled = [bytes(32) if at == level else one for at, one in enumerate(path)]
            assert not verify(line, index, size, spoiled, tree.root)
            assert not verify(line, index, size, path[:level] + path[level + 1 :], tree.root)


def test_a_node_cannot_pass_for_a_line() -> None:
    """Leaves and nodes are hashed apart, or two lines could be shown as one."""
    tree = Tree([b"a", b"b", b"c", b"d"])
    node = hashlib.sha256(b"\x00a").digest() + hashlib.sha256(b"\x00b").digest()
    assert not verify(node, 0, 2, tree.proof(0)[1:], tree.root)


def test_the_roots_known_elsewhere_come_out() -> None:
    """The vectors that Certificate Transparency's implementations share."""
    leaves = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657",
              "606162636465666768696a6b6c6d6e6f"]  # fmt: skip
    lines = [bytes.fromhex(leaf) for leaf in leaves]
    assert root([]).hex() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert root(lines[:1]).hex() == (
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"
    )
    assert root(lines).hex() == "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"


@pytest.mark.parametrize("index", [-1, 3, 4])
def test_a_line_that_is_not_there_has_no_proof(index: int) -> None:
    """Nothing is proved by accident."""
    with pytest.raises(IndexError, match="the tree has 3 lines"):
        proof(lines_of(3), index)


@given(st.lists(st.binary(max_size=8), min_size=1, max_size=200), st.data())
@LAW
def test_any_lines_are_proved(lines: list[bytes], data: st.DataObject) -> None:
    """Repeated and empty lines too."""
    index = data.draw(st.integers(0, len(lines) - 1))
    assert verify(lines[index], index, len(lines), proof(lines, index), root(lines))
