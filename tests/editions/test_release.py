"""The tool that adds editions to a lock."""

import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from agon.editions import registry
from agon.editions.registry import LOCK
from agon.editions.release import release

BASED = """\
agon = "0.1"
title = "Longer"
released = 2026-01-01
base = "dojo/{base}"
changelog = ["Longer programs."]
[rules]
max_string_literal_chars = {chars}
[reasons]
max_string_literal_chars = "Longer texts are needed."
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a folder with the first edition of the dojo and no lock."""
    first = registry.file_of("dojo/0.1").read_text(encoding="utf-8")
    (tmp_path / "zero-1.toml").write_text(first, encoding="utf-8")
    for module in ("registry", "release"):
        monkeypatch.setattr(f"agon.editions.{module}.folder_of", lambda _: tmp_path)
    registry.forget()
    yield tmp_path
    monkeypatch.undo()
    registry.forget()


def test_a_base_and_what_is_based_on_it_are_added_at_once(folder: Path) -> None:
    """Whatever the order of their names; an edition whose base does not exist is named."""
    (folder / "b-1.toml").write_text(BASED.format(base="zero-1", chars=90))
    (folder / "a-1.toml").write_text(BASED.format(base="b-1", chars=91))
    (folder / "c-1.toml").write_text(BASED.format(base="missing-1", chars=92))
    (error,) = release("dojo")
    assert error.startswith("dojo/c-1: edition dojo/c-1 has the base 'dojo/missing-1', which was")
    assert list(tomllib.loads((folder / LOCK).read_text())) == [
        "dojo/zero-1", "dojo/b-1", "dojo/a-1",
    ]  # fmt: skip


def test_a_base_and_what_is_based_on_it_are_recorded_again_at_once(folder: Path) -> None:
    """Otherwise the fingerprint of one would be that of rules that no longer exist."""
    (folder / "a-1.toml").write_text(BASED.format(base="zero-1", chars=90))
    assert release("dojo") == []
    before = tomllib.loads((folder / LOCK).read_text())
    text = (folder / "zero-1.toml").read_text(encoding="utf-8")
    changed = text.replace("max_list_tuple_elements = 400", "max_list_tuple_elements = 401")
    assert changed != text
    (folder / "zero-1.toml").write_text(changed, encoding="utf-8")
    assert len(release("dojo")) == 2
    assert tomllib.loads((folder / LOCK).read_text()) == before
    assert release("dojo", unreleased=["dojo/zero-1", "dojo/a-1"]) == []
    after = tomllib.loads((folder / LOCK).read_text())
    assert [before[name] != after[name] for name in before] == [True, True]
