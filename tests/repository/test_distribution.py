"""The distribution ``agon-engine`` is built, installed into an empty environment and used.

The wheel is built from the unpacked source distribution. The environment has no package but that
wheel; the dependencies are those of this environment, by a path file, so that none is downloaded.
That the lists of dependencies suffice is not shown here: ``requirements/base.lock`` is made from
them, and every installation of this checkout uses it.
"""

import hashlib
import json
import re
import subprocess
import sys
import venv
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest

import agon
from agon.extras import EXTRAS

ROOT = Path(__file__).parents[2]
TUTORIAL = str(ROOT / "examples" / "tutorial")
WITHOUT = {
    "pandas": f"agon.score('community', {TUTORIAL!r}).board().to_pandas()",
    "plots": """
agon.write_records(agon.simulate("challenge", size=30, seed=1), "c")
run(["challenge", "plot", "c", "--out", "weights.png"])""",
    "polars": f"agon.compare('community', {TUTORIAL!r}).to_polars()",
    "postgres": "run(['score', 'community', 'postgresql://localhost/none'])",
    "sail": f"run(['score', 'community', {TUTORIAL!r}, '--engine', 'sail'])",
    "serve": "run(['contest', 'list'])",
    "xlsx": """
import pathlib
pathlib.Path("users.xlsx").write_bytes(b"PK")
run(["score", "community", "."])""",
}
"""What needs an extra; ``ibis`` and ``bittensor`` are not tried here."""
COMMANDS = f"""
import agon
from agon.cli.run import run
print(agon.__file__)
database = ("--database", "sqlite:///agon.db")
for command in (
    ("score", "community", {TUTORIAL!r}, "--format", "ndjson"),
    ("contest", "create", "spring", "--discipline", "community", *database),
    ("contest", "list", *database),
):
    code = run(command)
    assert code == 0, code
"""
"""What works without the checkout, in one process: each would import all of it again."""


def run(*command: str | Path, cwd: Path) -> str:
    """Run a command and return what it printed."""
    process = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr
    return process.stdout


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Return the folder of a dry run of a release, and what it printed."""
    folder = tmp_path_factory.mktemp("dist")
    return folder, run(sys.executable, "tools/release", "--dry-run", "--out", folder, cwd=ROOT)


@pytest.fixture(scope="module")
def wheel(release: tuple[Path, str]) -> Path:
    """Return the wheel that is built from the source distribution."""
    (path,) = release[0].glob("agon_engine-*.whl")
    return path


@pytest.mark.exhaustive
def test_a_dry_run_makes_every_file_of_a_release_and_names_the_signatures(
    release: tuple[Path, str],
) -> None:
    """What is missing on the day of a release is found before; checksums and packages are right."""
    folder, printed = release
    names = {path.name for path in folder.iterdir()}
    assert names == {
        f"agon_engine-{agon.__version__}{ending}"
        for ending in (".tar.gz", "-py3-none-any.whl", ".cdx.json")
    } | {"SHA256SUMS"}
    assert {line.split()[0] for line in printed.splitlines() if line.endswith(".asc")} == names
    for line in (folder / "SHA256SUMS").read_text().splitlines():
        digest, name = line.split()
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
    (bill,) = folder.glob("*.cdx.json")
    components = json.loads(bill.read_text())["components"]
    locked = re.findall(
        r"^(\S+)==(\S+)", (ROOT / "requirements/base.lock").read_text(), re.MULTILINE
    )
    assert [(item["name"], item["version"]) for item in components] == locked


def test_the_wheel_contains_every_file_of_the_package(wheel: Path) -> None:
    """Editions, examples and templates are data, which a build forgets without an error."""
    tracked = run("git", "ls-files", "src/agon", cwd=ROOT).splitlines()
    with zipfile.ZipFile(wheel) as archive:
        packed = set(archive.namelist())

    assert {path.removeprefix("src/") for path in tracked} - packed == set()


def test_the_wheel_names_the_distribution_its_extras_and_its_command(wheel: Path) -> None:
    """Messages say ``pip install agon-engine[…]``; the name ``agon`` belongs to another project."""
    with zipfile.ZipFile(wheel) as archive:
        folder = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = message_from_bytes(archive.read(folder))
        commands = archive.read(folder.replace("METADATA", "entry_points.txt")).decode()

    assert metadata["Name"] == "agon-engine"
    assert set(metadata.get_all("Provides-Extra") or ()) == set(EXTRAS)
    assert "agon = agon.cli:main" in commands
    assert (metadata["Author"], metadata["License-Expression"]) == (
        "the agon developers",
        "Apache-2.0",
    )
    assert metadata["License-File"] == "LICENSE"
    assert "Typing :: Typed" in (metadata.get_all("Classifier") or ())


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the interpreter of an environment in which the wheel is installed."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder / "venv", with_pip=False)
    python = folder / "venv" / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python)
    run(*pip, "install", "-qq", "--no-deps", "--no-index", "--no-compile", wheel, cwd=folder)
    (packages,) = (folder / "venv").glob("lib/python*/site-packages")
    dependencies = [path for path in sys.path if path.endswith("site-packages")]
    (packages / "dependencies.pth").write_text("\n".join(dependencies))
    return python


def test_an_installed_wheel_scores_records_and_creates_a_contest(
    python: Path, tmp_path: Path
) -> None:
    """The checkout is not on its path: what the wheel lacks is missing here."""
    (packages,) = python.parents[1].glob("lib/python*/site-packages")
    assert "agon, version" in run(python.with_name("agon"), "--version", cwd=tmp_path)
    printed = run(python, "-c", COMMANDS, cwd=tmp_path).splitlines()
    assert Path(printed[0]).is_relative_to(packages)
    assert '"id":"ada"' in "".join(printed).replace(" ", "")
    assert "spring" in printed[-1]


@pytest.mark.sample(1)
@pytest.mark.parametrize("extra", sorted(WITHOUT))
def test_an_installed_wheel_without_an_extra_names_it(
    extra: str, python: Path, tmp_path: Path
) -> None:
    """A user reads what to install, from the wheel and not from the checkout."""
    code = f"""
import sys
class Absent:
    def find_spec(self, fullname, path=None, target=None):
        if fullname.partition(".")[0] in {EXTRAS[extra]!r}:
            raise ModuleNotFoundError(f"No module named {{fullname!r}}", name=fullname)
sys.meta_path.insert(0, Absent())
import agon
from agon.cli.run import run
{WITHOUT[extra]}
"""
    process = subprocess.run(
        [python, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert f"agon-engine[{extra}]" in process.stderr, process.stderr
    assert "bug in agon" not in process.stderr


@pytest.mark.exhaustive
def test_types_of_the_installed_wheel_are_seen_by_the_type_checker_of_a_user(
    python: Path, tmp_path: Path
) -> None:
    """Without ``py.typed`` every value would be of any type, and no mistake an error."""
    program = tmp_path / "program.py"
    program.write_text((ROOT / "tests" / "typing" / "public_api.py").read_text())
    options = ("--warn-unused-ignores", "--ignore-missing-imports", "--config-file", "/dev/null")
    mypy = (sys.executable, "-m", "mypy", "--python-executable", python, *options)
    assert "no issues found" in run(*mypy, program, cwd=tmp_path)


def test_messages_and_documents_name_the_distribution() -> None:
    """``pip install agon[serve]`` installs the package of another project."""
    texts = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "src/agon").rglob("*.py")]
    extras = ("serve", "postgres", "ibis", "pandas", "polars", "plots", "bittensor", "xlsx")

    assert [
        str(path.relative_to(ROOT))
        for path in texts
        if any(f"agon[{extra}]" in path.read_text(encoding="utf-8") for extra in extras)
    ] == []
