"""The reference of settings is generated from the code and correct about keys and secrets."""

from pathlib import Path

from agon.logs import without_secrets
from agon.settings import Settings

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "settings.md").read_text()


def test_the_reference_is_generated() -> None:
    """The reference then contains every setting."""
    assert "<!-- agon-settings -->" in PAGE


def test_the_named_keys_are_those_of_the_service() -> None:
    """Operators look them up there for backups."""
    for path in (Settings().server_key_path, Settings().signing_key_path):
        assert f"| `{path.name}` |" in PAGE


def test_every_documented_secret_is_masked_in_the_log() -> None:
    """The documentation guarantees it."""
    listed = PAGE.split("name a secret\n(")[1].split(")")[0]
    names = [name.strip(" `\n") for name in listed.split(",")]
    assert len(names) == 8
    assert without_secrets(dict.fromkeys(names, "x")) == dict.fromkeys(names, "***")
