"""The registry: released editions never change, and are found by name."""

import hashlib
from importlib.resources import files
from pathlib import Path

import pytest

from agon.disciplines import NAMES, discipline
from agon.editions import default_edition, edition, editions, lock, rules_sha256
from agon.editions.registry import file_of, parse
from agon.errors import AgonError, Conflict, InvalidRule, NotFound


def test_the_lock_names_every_released_file_and_no_other() -> None:
    """An edition outside the lock would not be held to anything."""
    folder = Path(str(files("agon.editions"))) / "released"
    found = {f"{path.parent.name}/{path.stem}" for path in folder.glob("*/*.toml")}
    assert found == set(lock())


@pytest.mark.parametrize("name", editions())
def test_a_released_file_is_the_one_in_the_lock(name: str) -> None:
    """Bytes, not meaning: a released edition is not even reformatted."""
    assert hashlib.sha256(file_of(name).read_bytes()).hexdigest() == lock()[name]


@pytest.mark.parametrize("name", editions())
def test_rules_in_force_have_a_fingerprint_of_their_own(name: str) -> None:
    """An override changes it, setting what is set already does not."""
    released = edition(name)
    same = released.with_rules({})
    assert rules_sha256(same) == rules_sha256(released.rules)
    assert released.full_name == name


def test_a_changed_edition_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scores published under a name must stay what they were."""
    changed = {**lock(), "dojo/0.1": "0" * 64}
    monkeypatch.setattr("agon.editions.registry.lock", lambda: changed)
    from agon.editions import registry

    monkeypatch.setattr(registry, "_load", registry._load.__wrapped__)
    with pytest.raises(Conflict, match="not the file that was released"):
        edition("dojo/0.1")


@pytest.mark.parametrize("name", NAMES)
def test_every_discipline_has_a_default_edition(name: str) -> None:
    """The literal one."""
    full = default_edition(name)
    assert edition(full) is edition(full.partition("/")[2], of=name)
    assert edition(full).rules.model_fields_set == set(discipline(name).rules.model_fields)


def test_an_unknown_edition_is_answered_with_the_closest() -> None:
    """By full name or by short name."""
    with pytest.raises(NotFound, match=r"did you mean dojo/0\.2"):
        edition("dojo/0.3")
    with pytest.raises(NotFound, match="sentience-1"):
        edition("sentience", of="arena")


_HEAD = 'discipline = "dojo"\nname = "x"\ntitle = "x"\nreleased = "2026-01-01"\n'


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ('discipline = "dojo"\nextra = 1', NotFound),
        ('discipline = "chess"', NotFound),
        (f"{_HEAD}[rules]\nno_rule = 1", InvalidRule),
    ],
)
def test_what_is_no_edition_is_refused(text: str, error: type[AgonError]) -> None:
    """With what is wrong."""
    with pytest.raises(error):
        parse(text)
