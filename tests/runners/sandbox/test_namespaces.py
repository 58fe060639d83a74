"""Where a machine refuses namespaces, the message has the cause and both ways out."""

import os
import shutil
from pathlib import Path

import pytest

from agon.errors import Unavailable
from agon.runners.sandbox import open_sandbox
from agon.runners.sandbox.namespaces import remedy

COMPLAINTS = (
    "bwrap: setting up uid map: Permission denied",
    "bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted",
    "bwrap: Creating new namespace failed: Operation not permitted",
    "bwrap: No permissions to create new namespace, likely because the kernel does not allow it",
)


@pytest.mark.parametrize("complaint", COMPLAINTS)
@pytest.mark.parametrize(
    ("settings", "cause"),
    [
        ({"kernel/apparmor_restrict_unprivileged_userns": "1"}, "AppArmor"),
        ({"kernel/apparmor_restrict_unprivileged_userns": "0",
          "kernel/unprivileged_userns_clone": "0"}, "kernel.unprivileged_userns_clone is 0"),
        ({"user/max_user_namespaces": "0"}, "user.max_user_namespaces is 0"),
        ({}, "a container's security profile"),
    ],
)  # fmt: skip
def test_refused_namespaces_are_explained(
    complaint: str, settings: dict[str, str], cause: str
) -> None:
    """Administrators need the setting, everyone else the other mode."""
    text = remedy(complaint, read=settings.get)
    assert cause in text
    assert "AppArmor profile" in text
    assert text.endswith("--mode degraded")


def test_other_failures_are_not_put_down_to_namespaces() -> None:
    """A missing folder has another remedy than a profile."""
    text = remedy("bwrap: Can't find source path /x: No such file", read=lambda _: None)
    assert "AppArmor" not in text
    assert "--mode degraded" in text


def test_a_sandbox_without_namespaces_ends_with_this_message(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """From the complaint of bubblewrap to the message of the command."""
    fake = tmp_path / "bwrap"
    fake.write_text(f"#!/bin/sh\necho '{COMPLAINTS[0]}' >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setattr(shutil, "which", lambda _: os.fspath(fake))
    with pytest.raises(Unavailable, match="does not start: bwrap: setting up uid map") as error:
        open_sandbox("bwrap", workers=1)
    assert "AppArmor profile" in str(error.value)
    assert str(error.value).endswith("--mode degraded")
