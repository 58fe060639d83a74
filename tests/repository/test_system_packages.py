"""Test that the demo goes on where Debian's packages cannot be installed."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOOL = ROOT / "tools" / "system-packages"


@pytest.fixture
def bare(tmp_path: Path) -> dict[str, str]:
    """Return an environment without apt, dpkg and sudo."""
    for name in ("id", "sh"):
        (tmp_path / name).symlink_to(shutil.which(name) or name)
    return {"PATH": str(tmp_path)}


def test_what_is_optional_is_named_and_left_out(bare: dict[str, str]) -> None:
    """A visitor with another system sees the demo, and what it does without."""
    command = ["/bin/sh", str(TOOL), "--optional", "bubblewrap"]
    done = subprocess.run(command, env=bare, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
    assert "going on without bubblewrap: this system has no apt-get" in done.stderr


def test_what_is_needed_ends_with_the_command_to_run(bare: dict[str, str]) -> None:
    """Tests need all of it."""
    command = ["/bin/sh", str(TOOL), "bubblewrap"]
    done = subprocess.run(command, env=bare, capture_output=True, text=True, check=False)
    assert done.returncode == 5
    assert "apt-get install bubblewrap" in done.stderr


def test_the_demo_installs_as_optional() -> None:
    """The rule of the Makefile says so."""
    (rule,) = (
        line for line in (ROOT / "Makefile").read_text().splitlines() if "$(RUN_PACKAGES)" in line
        and "DEV_PACKAGES" not in line and ":=" not in line
    )  # fmt: skip
    assert rule.strip() == "tools/system-packages --optional $(RUN_PACKAGES)"
