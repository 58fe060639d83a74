"""Weaknesses of a task are reported with their remedy; sound designs are not."""

import tarfile
from pathlib import Path

from agon.app.containers import Image
from agon.app.tasks.discovery import read_tasks
from agon.app.tasks.weaknesses import find_weaknesses
from app.tasks.folders import TOML, harbor, write


def weaknesses(
    folder: Path, files: dict[str, str], *, left: tuple[str, ...] = (), **environment: str
) -> tuple[str, ...]:
    """Return the weaknesses of a task with these files, whose oracle left some."""
    write(harbor(folder / "task"), files)
    (task,) = read_tasks([folder])
    archive = folder / "outputs.tar"
    with tarfile.open(archive, "w") as opened:
        for name in left:
            opened.addfile(tarfile.TarInfo(name))
    image = Image(
        reference="", content="", user="", writable=("/app",), cached=True, seconds=0.0,
        environment=tuple(environment.items()),
    )  # fmt: skip
    return find_weaknesses(task, image, archive)


def test_a_sound_task_has_none(tmp_path: Path) -> None:
    """Tests that compare files, with tools outside of what the agent leaves."""
    test = {"tests/test_it.py": "import json, pytest\n"}
    assert weaknesses(tmp_path, test, left=("app/hello.txt",), PATH="/usr/bin:/bin") == ()


def test_variables_that_name_the_outputs_are_reported(tmp_path: Path) -> None:
    """The image's author knows where the tools belong."""
    (weakness,) = weaknesses(
        tmp_path, {}, PATH="/app/.venv/bin:/bin", BASH_ENV=".env", PYTHONPATH="/app/src"
    )
    assert weakness.startswith("BASH_ENV, PATH, PYTHONPATH of the image")
    assert "install tools elsewhere" in weakness


def test_modules_of_the_agent_in_the_process_of_the_tests_are_reported(tmp_path: Path) -> None:
    """Such a module can end the tests with exit code 0."""
    test = {"tests/test_it.py": "import json\nfrom solution import f\nimport support\n",
            "tests/support.py": ""}  # fmt: skip
    left = ("app/solution.py", "app/json.py", "app/support.py")
    (weakness,) = weaknesses(tmp_path, test, left=left)
    assert weakness.startswith("test_it.py imports solution, which the agent writes")


def test_programs_of_the_agent_are_reported_where_a_reward_counts(tmp_path: Path) -> None:
    """Exit codes do not have that gap, nor do programs that run as another user."""
    settings = TOML.replace("[verifier]\n", '[verifier]\nreward_source = "both"\n')
    test = {"tests/test.sh": "#!/bin/sh\nsh /app/solve.sh > /tmp/x\n/app/run --all\ncat /app/a\n"}
    test["tests/test_it.py"] = (
        "import subprocess\nsubprocess.run(['python3', '/app/b.py'])\nopen('/app/a').read()\n"
    )
    left = ("app/solve.sh", "app/run", "app/a", "app/b.py", "app/other.sh")
    weak = weaknesses(tmp_path / "both", {**test, "task.toml": settings}, left=left)
    assert [text.partition(" with ")[0] for text in weak] == [
        "test.sh runs /app/solve.sh", "test.sh runs /app/run", "test_it.py runs /app/b.py",
    ]  # fmt: skip
    drops = {
        "task.toml": settings, "tests/test.sh": "su nobody -s /bin/sh -c 'sh /app/solve.sh'\n",
        "tests/test_it.py": "import subprocess\nsubprocess.run(['python3', '/app/b.py'], user=9)\n",
    }  # fmt: skip
    assert weaknesses(tmp_path / "drops", drops, left=left) == ()
    exit_code = {**test, "task.toml": settings.replace("both", "exit_code")}
    assert weaknesses(tmp_path / "exit", exit_code, left=left) == ()
