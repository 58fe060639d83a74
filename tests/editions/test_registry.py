"""The registry: the values of released editions never change, and editions are found by name."""

from importlib.resources import files
from pathlib import Path

import pytest

from agon.disciplines import BUILT_IN, discipline
from agon.disciplines.dojo.modules import SEED_MODULES
from agon.editions import default_edition, edition, editions, lock, registry, rules_sha256
from agon.editions.registry import parse
from agon.errors import AgonError, Conflict, InvalidRule, NotFound
from agon.kernel.rules import version_key
from agon.version import __version__

RELEASED = {
    "community/scores0002-1": "59230ee66f6b09339417e36f904086540af8ea9a5f157bfeca7d059cd0598dfe",
    "challenge/term-1": "1ed416fde1510cb250b1ba9cefbb18b5c47d1a8a5fea06812960d490afa126de",
    "community/hardened-1": "e310481e452c7d1d3f73b7b2eb10e63477de9ec9c7e471cb47882ff66ab1dda5",
    "challenge/hardened-1": "ffb54bd70116f334e1777fcd6ac55ff0c2c51177a313075e35d12aeb97b8365a",
    "dojo/0.1": "cb8e7a4c5b81d6e09770ab2ee03e1be0c32ebdb3a2ee22590b3f14edc78e476e",
    "dojo/0.2": "ceb0224807431c9b8927155bd642d3962bc9ec7b3f1654a1b836d5438560d167",
    "dojo/hardened-1": "699be129e7ea378a97febea569532b947fc89eaaed2084e624b09e9c9a1a4a99",
    "arena/sentience-1": "a7341ba2eeb7dbdd05d1bcb827b78ae90f296889a4b623f702387271bde9d9dc",
}
"""Ledgers, boards and proofs record these; a released edition keeps its fingerprint."""


@pytest.mark.parametrize(("name", "fingerprint"), RELEASED.items())
def test_released_editions_keep_their_fingerprints(name: str, fingerprint: str) -> None:
    """Written out here, so that a changed edition with a changed lock fails, too."""
    assert edition(name).rules_sha256 == rules_sha256(edition(name).rules) == fingerprint
    assert lock()[name] == fingerprint


def test_the_lock_names_every_released_file_and_no_other() -> None:
    """An edition outside the lock could change."""
    folder = Path(str(files("agon.editions"))) / "released"
    names = {f"{path.parent.name}/{path.stem}" for path in folder.glob("*/*.toml")}
    assert names - {f"{of}/lock" for of in BUILT_IN} == set(lock())


@pytest.mark.parametrize("name", editions())
def test_overrides_with_equal_values_do_not_change_the_fingerprint(name: str) -> None:
    """It is a fingerprint of values, not of their origin."""
    released = edition(name)
    stated = released.rules.stated_values()
    defaults = discipline(released.discipline).rules().model_dump(mode="json")
    added = released.stated - discipline(released.discipline).rules.basic()
    unchanged = {rule for rule in added if getattr(released.rules, rule) == defaults[rule]}
    assert set(stated) == released.stated - unchanged
    assert rules_sha256(released.with_rules({})) == released.rules_sha256
    assert rules_sha256(released.with_rules(stated)) == released.rules_sha256
    assert released.full_name == name


def test_an_edition_that_differs_from_the_lock_is_rejected_with_the_rule(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Scores published under a name must stay what they were."""
    changed = {**lock(), "dojo/0.1": rules_sha256(edition("dojo/0.1").with_rules({"n_check": 9}))}
    monkeypatch.setattr(registry, "lock_of", lambda _: changed)
    monkeypatch.setattr(registry, "_load", registry._load.__wrapped__)
    with pytest.raises(Conflict, match="does not state the rules that were released"):
        edition("dojo/0.1")
    with pytest.raises(Conflict, match="may be any of n_check, stage_base"):
        edition("dojo/0.1")
    changed = {**lock(), "dojo/0.2": RELEASED["dojo/0.1"]}
    monkeypatch.setattr(registry, "lock_of", lambda _: changed)
    with pytest.raises(Conflict, match="max_literal_digits was None and is 64, max_info"):
        edition("dojo/0.2")


@pytest.mark.parametrize("name", BUILT_IN)
def test_the_default_edition_is_the_reference_edition(name: str) -> None:
    """The first one released; it states the rules of the source document."""
    full = default_edition(name)
    assert edition(full) is edition(full.partition("/")[2], of=name)
    assert edition(full).base is None
    assert edition(full).stated == discipline(name).rules.basic()


def test_an_edition_has_what_its_base_has_and_its_file_does_not_change() -> None:
    """Rules, reasons and versions by name, examples by title."""
    base, later = edition("dojo/0.1"), edition("dojo/0.2")
    assert later.base == base.full_name
    added = {
        "max_information_bytes": 600, "max_string_bytes": 2000, "feedback": "gate",
        "max_submissions": 100, "tag_spelling": "folded",
        "allowed_modules": (*SEED_MODULES, "functools", "collections", "heapq", "bisect",
                            "operator", "typing", "dataclasses"),
    }  # fmt: skip
    assert later.stated == base.stated | added.keys()
    assert later.rules == base.with_rules({"max_literal_digits": 64, **added})
    assert later.examples[: len(base.examples)] == base.examples

    title = base.examples[0].title
    example = f'[[examples]]\ntitle = {title!r}\nboard = "season"\nrecords = {{}}\n'
    replaced = parse(f'{_HEAD}base = "dojo/0.1"\n{example}', full_name="dojo/x").examples
    assert [one.title for one in replaced[-1:]] == [title]
    assert replaced[-1].board == "season"
    assert len(replaced) == len(base.examples)


def test_an_unknown_edition_gets_a_suggestion() -> None:
    """By full name or by short name."""
    with pytest.raises(NotFound, match=r"did you mean dojo/0\.2"):
        edition("dojo/0.3")
    with pytest.raises(NotFound, match="sentience-1"):
        edition("sentience", of="arena")


_HEAD = 'agon = "0.1"\ntitle = "x"\nreleased = "2026-01-01"\n'


@pytest.mark.parametrize(
    ("name", "text", "error", "message"),
    [
        ("dojo/x", "extra = 1", NotFound, "unknown keys: extra"),
        ("dojo/x", 'agon = "0.1"', NotFound, "lacks title, released"),
        ("chess/x", "", NotFound, "no discipline 'chess'"),
        ("dojo/x", f"{_HEAD}[rules]\nno_rule = 1", InvalidRule, "unknown rule 'no_rule'"),
        ("dojo/x", f'{_HEAD}base = "dojo/0.3"', NotFound, "not released before it"),
        ("dojo/0.1", f'{_HEAD}base = "dojo/0.2"', NotFound, "not released before it"),
        ("dojo/0.2", f'{_HEAD}base = "dojo/0.2"', NotFound, "not released before it"),
    ],
)
def test_what_is_not_an_edition_is_rejected(
    name: str, text: str, error: type[AgonError], message: str
) -> None:
    """The error states the issue."""
    with pytest.raises(error, match=message):
        parse(text, full_name=name)


def test_no_edition_and_no_rule_is_of_a_version_that_does_not_exist() -> None:
    """A rule that states a later version than agon's would be missing from every edition."""
    newest = version_key(__version__)
    for name in editions():
        assert version_key(edition(name).agon) <= newest, name
    for of in BUILT_IN:
        for text in discipline(of).rules.texts():
            assert version_key(text.since) <= newest, (of, text.name)
