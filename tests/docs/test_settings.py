"""The reference of settings is made from the code, and says of keys and secrets what is so."""

from pathlib import Path

from agon.logs import without_secrets
from agon.settings import Settings

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "settings.md").read_text()


def test_the_reference_is_made_by_the_directive() -> None:
    """So it holds every setting."""
    assert "```{agon-settings}\n```" in PAGE


def test_the_keys_it_names_are_those_of_the_service() -> None:
    """Who makes a backup looks them up there."""
    for path in (Settings().server_key_path, Settings().signing_key_path):
        assert f"| `{path.name}` |" in PAGE


def test_every_key_it_calls_secret_is_left_out_of_the_log() -> None:
    """A promise."""
    listed = PAGE.split("name a secret\n(")[1].split(")")[0]
    names = [name.strip(" `\n") for name in listed.split(",")]
    assert len(names) == 8
    assert without_secrets(dict.fromkeys(names, "x")) == dict.fromkeys(names, "***")
