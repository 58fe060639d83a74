"""Weaknesses of a task are reported with their class, file and remedies; sound designs are not."""

from pathlib import Path

import pytest

from agon.app.containers import Image
from agon.app.tasks.acceptance.probes import NOTHING_SEEN, Observation
from agon.app.tasks.acceptance.programs import LeftFile
from agon.app.tasks.acceptance.results import ProbeResult, Run, Weakness
from agon.app.tasks.acceptance.texts import texts_of_tests
from agon.app.tasks.acceptance.weaknesses import find_weaknesses
from agon.app.tasks.formats.discovery import read_tasks
from app.tasks.folders import TOML, harbor, write

BOTH = TOML.replace("[verifier]\n", '[verifier]\nreward_source = "both"\n')
JUDGE = "import subprocess\nsubprocess.run(['sh', '/app/solve.sh'])\n"


def weaknesses(
    folder: Path,
    files: dict[str, str],
    *,
    left: tuple[str, ...] = (),
    seen: Observation = NOTHING_SEEN,
    **environment: str,
) -> tuple[Weakness, ...]:
    """Return the weaknesses of a task with these files, whose oracle left some."""
    write(harbor(folder / "task"), files)
    (task,) = read_tasks([folder])
    image = Image(
        reference="", content="", user="", writable=("/app",), cached=True, seconds=0.0,
        environment=tuple(environment.items()),
    )  # fmt: skip
    programs = {
        path: LeftFile(path=path, language="" if path == "/app/a" else "shell", content=b"")
        for path in left
    }
    return find_weaknesses(task, image, programs, texts_of_tests(task), seen)


def kinds(reported: tuple[Weakness, ...]) -> list[tuple[str, tuple[str, ...]]]:
    """Return classes and files."""
    return [(weakness.kind, weakness.files) for weakness in reported]


def test_a_sound_task_has_none(tmp_path: Path) -> None:
    """Tests that compare files, with tools outside of what the agent leaves."""
    test = {"tests/test_it.py": "import json, pytest\n"}
    assert weaknesses(tmp_path, test, left=("/app/hello.txt",), PATH="/usr/bin:/bin") == ()


def test_variables_that_name_the_outputs_are_reported(tmp_path: Path) -> None:
    """The image's author knows where the tools belong."""
    (weakness,) = weaknesses(
        tmp_path, {}, PATH="/app/.venv/bin:/bin", BASH_ENV=".env", PYTHONPATH="/app/src"
    )
    assert weakness.text.startswith("BASH_ENV, PATH, PYTHONPATH of the image")
    assert str(weakness).endswith(
        "remedy (not tried): install tools elsewhere, or declare fewer outputs"
    )


def test_modules_of_the_agent_in_the_process_of_the_tests_are_reported(tmp_path: Path) -> None:
    """Such a module can end the tests with exit code 0."""
    test = {"tests/test_it.py": "import json\nfrom solution import f\nimport support\n",
            "tests/support.py": ""}  # fmt: skip
    left = ("/app/solution.py", "/app/json.py", "/app/support.py")
    (weakness,) = weaknesses(tmp_path, test, left=left)
    assert (weakness.kind, weakness.files) == ("imported-module", ("tests/test_it.py",))
    assert "imports /app/solution.py, which the agent writes" in weakness.text


@pytest.mark.parametrize(
    ("file", "text", "module"),
    [
        ("tests/a.test.js", "const d = require('/app/double.js');\n", "/app/double.js"),
        ("tests/a.test.mjs", 'import { d } from "/app/double"\n', "/app/double.js"),
        ("tests/a.test.js", "const d = await import('/app/double.js');\n", "/app/double.js"),
        ("tests/judge.rb", "require '/app/double'\n", "/app/double.rb"),
        ("tests/test.sh", "#!/bin/sh\nset -e\n. /app/lib.sh\n", "/app/lib.sh"),
        ("tests/test.sh", "#!/bin/sh\n[ -f lib.sh ] && source ./lib.sh\n", "/app/lib.sh"),
        ("tests/test.sh", "#!/bin/sh\nsh -c '. /app/lib.sh; f'\n", ""),
        ("tests/test.sh", "#!/bin/sh\n. /tests/lib.sh\n", ""),
    ],
)
def test_every_language_imports(tmp_path: Path, file: str, text: str, module: str) -> None:
    """What a module does in one, it does in all; a shell of its own is a program."""
    left = ("/app/double.js", "/app/double.rb", "/app/lib.sh")
    found = weaknesses(tmp_path, {file: text}, left=left)
    assert kinds(found) == ([("imported-module", (file,))] if module else [])
    assert all(module in weakness.text for weakness in found)


def test_what_passes_by_a_module_is_no_weakness_of_a_program(tmp_path: Path) -> None:
    """Another user is no remedy for it."""
    seen = Observation(
        programs=("/app/solution.py",),
        runs=(Run(path="/app/solution.py", other_user=False, writable=("python3",)),),
        results=tuple(ProbeResult(probe=name, result="passed") for name in ("exit", "byte")),
    )
    files = {"task.toml": BOTH, "tests/test_it.py": "import solution\n"}
    (weakness,) = weaknesses(tmp_path, files, left=("/app/solution.py",), seen=seen)
    assert (weakness.kind, weakness.passed) == ("imported-module", ("exit", "byte"))


def test_programs_of_the_agent_are_reported_where_a_reward_counts(tmp_path: Path) -> None:
    """Shells and other runners; not programs that run as another user."""
    test = {"tests/test.sh": "#!/bin/sh\nsh /app/solve.sh > /tmp/x\n/app/run --all\ncat /app/a\n"}
    test["tests/test_it.py"] = (
        "import subprocess\nsubprocess.run(['python3', '/app/b.py'])\nopen('/app/a').read()\n"
    )
    left = ("/app/solve.sh", "/app/run", "/app/a", "/app/b.py", "/app/other.sh")
    reward, memory = weaknesses(tmp_path / "both", {**test, "task.toml": BOTH}, left=left)
    assert reward.kind == "forged-reward"
    assert reward.files == ("tests/test.sh", "tests/test_it.py")
    assert "runs /app/solve.sh, /app/run, /app/b.py with" in reward.text
    assert (memory.kind, memory.files) == ("runner-memory", ("tests/test_it.py",))
    drops = {
        "task.toml": BOTH, "tests/test.sh": "su nobody -s /bin/sh -c 'sh /app/solve.sh'\n",
        "tests/test_it.py": "import subprocess\nsubprocess.run(['python3', '/app/b.py'], user=9)\n",
    }  # fmt: skip
    assert weaknesses(tmp_path / "drops", drops, left=left) == ()


@pytest.mark.parametrize(
    ("file", "text", "weak"),
    [
        ("tests/judge.py", JUDGE, True),
        ("tests/test.sh", f"#!/usr/bin/env python3\n{JUDGE}", True),
        ("tests/judge.js", 'require("child_process").spawnSync("sh", ["/app/solve.sh"])\n', False),
        ("tests/judge.rb", "system('/app/solve.sh')\n", True),
        ("tests/test.sh", "#!/bin/bash\nbash /app/solve.sh\n", False),
    ],
)
def test_a_runner_that_is_no_shell_is_reported_under_exit_codes(
    tmp_path: Path, file: str, text: str, *, weak: bool
) -> None:
    """The shell of test.sh alone is a copy that no process can write to.

    The call in JavaScript has a form that is not read; a forged program shows that one.
    """
    found = weaknesses(tmp_path, {file: text}, left=("/app/solve.sh",))
    assert kinds(found) == ([("runner-memory", (file,))] if weak else [])
    ran = Run(path="/app/solve.sh", other_user=False, writable=("node",) if weak else ())
    seen = Observation(programs=("/app/solve.sh",), runs=(ran,))
    again = weaknesses(tmp_path / "seen", {file: text}, left=("/app/solve.sh",), seen=seen)
    assert kinds(again) == kinds(found)


def test_what_a_forged_program_saw_holds_over_what_is_read(tmp_path: Path) -> None:
    """It can write to no process of the tests, or it runs as another user by a way of its own."""
    files = {"tests/judge.py": JUDGE, "task.toml": BOTH}
    for number, (run, expected) in enumerate([
        (Run(path="/app/solve.sh", other_user=False, writable=()), ["forged-reward"]),
        (Run(path="/app/solve.sh", other_user=True, writable=()), []),
    ]):  # fmt: skip
        seen = Observation(programs=("/app/solve.sh",), runs=(run,))
        found = weaknesses(tmp_path / str(number), files, left=("/app/solve.sh",), seen=seen)
        assert [weakness.kind for weakness in found] == expected


def test_probes_that_passed_are_named_with_the_file(tmp_path: Path) -> None:
    """Also where nothing in the files shows that a program runs."""
    seen = Observation(
        programs=("/app/x",),
        runs=(Run(path="/app/x", other_user=False, writable=("go",)),),
        results=tuple(
            ProbeResult(probe=name, result="passed")
            for name in ("exit", "memory", "settings", "byte", "kill")
        ),
    )
    found = weaknesses(tmp_path, {"task.toml": BOTH}, left=("/app/x",), seen=seen)
    assert [(weakness.kind, weakness.passed) for weakness in found] == [
        ("tests-ended", ("exit",)),
        ("forged-reward", ("byte", "kill")),
        ("runner-memory", ("memory",)),
        ("writable-tests", ("settings",)),
    ]
    assert all(weakness.files == ("tests/test.sh",) for weakness in found)
    assert "prints a byte that is no UTF-8, or writes a reward, then kills" in found[1].text
    assert "(go)" in found[2].text
    assert found[1].to_dict()["observed"] is True
