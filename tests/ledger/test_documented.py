"""The reference of the ledger names every kind and every field."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from agon.ledger.entry import KEYS
from agon.ledger.files import FILES
from agon.ledger.kinds import KINDS
from agon.ledger.manifest import Manifest
from agon.ledger.proofs import Proof

TEXT = (Path(__file__).parents[2] / "docs" / "reference" / "ledger.md").read_text()


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_documented_with_its_fields(kind: str) -> None:
    """Who writes another reader has the page and nothing else."""
    (row,) = re.findall(rf"^\| `{kind}` \|.*$", TEXT, re.MULTILINE)
    named = re.findall(r"`([a-z_0-9]+)`", row.split("|")[2])
    inherited = ["table", "row", "change"] if kind == "record-replaced" else []
    assert set(named) | set(inherited) >= {field.name for field in KINDS[kind]}


def test_no_other_kind_is_documented() -> None:
    """What is gone from the code goes from the page."""
    section = TEXT[TEXT.index("## Kinds") : TEXT.index("## Directory")]
    assert set(re.findall(r"^\| `([a-z-]+)` \|", section, re.MULTILINE)) == set(KINDS)


def test_every_key_file_and_manifest_field_is_documented() -> None:
    """All that leaves the instance in files."""
    names = [*KEYS, *FILES, *(field.name for field in (*fields(Manifest), *fields(Proof)))]
    assert [name for name in names if f"`{name}`" not in TEXT] == []
