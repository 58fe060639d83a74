"""Install packages for a test: a folder with code and metadata, as an installer would leave it."""

import re
import shutil
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "discipline"
MINIMAL = ROOT / "examples" / "minimal-discipline"


def install(site: Path, *, package: str, entry: str, version: str = "1.0") -> None:
    """Write the metadata of a package that registers a discipline.

    Args:
        site: the folder to install to; it must be on the path.
        package: the name of the package.
        entry: the line in its entry points, such as ``quiz = agon_quiz:DISCIPLINE``.
        version: its version.
    """
    info = site / f"{package.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    metadata = f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n"
    (info / "METADATA").write_text(metadata, encoding="utf-8")
    (info / "entry_points.txt").write_text(f"[agon.disciplines]\n{entry}\n", encoding="utf-8")


def install_quiz(site: Path) -> Path:
    """Install the example of the how-to, and return the folder it is in."""
    install(site, package="agon-quiz", entry="quiz = agon_quiz:DISCIPLINE")
    (site / "agon_quiz").symlink_to(EXAMPLE / "agon_quiz")
    return site


def install_tally(site: Path) -> None:
    """Install the smallest discipline of the how-to; its edition is not released yet."""
    install(site, package="agon-tally", entry="tally = agon_tally:DISCIPLINE")
    shutil.copytree(MINIMAL / "agon_tally", site / "agon_tally")


def install_renamed(site: Path, name: str, tables: Mapping[str, str]) -> None:
    """Install the example as a discipline of another name, with other names of its tables."""
    package = f"agon_{name.replace('-', '_')}"
    words = {**tables, "quiz": name, "agon_quiz": package}
    pattern = re.compile(rf"\b({'|'.join(words)})\b")
    for file in (EXAMPLE / "agon_quiz").rglob("*"):
        if file.suffix in {".py", ".toml"}:
            copy = site / package / file.relative_to(EXAMPLE / "agon_quiz")
            copy.parent.mkdir(parents=True, exist_ok=True)
            text = file.read_text(encoding="utf-8")
            copy.write_text(pattern.sub(lambda word: words[word[0]], text), encoding="utf-8")
    install(site, package=package, entry=f"{name} = {package}:DISCIPLINE")
