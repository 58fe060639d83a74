"""Make task folders, sound ones and others."""

from pathlib import Path

TOML = """\
schema_version = "1.1"
[metadata]
difficulty = "easy"
category = "files"
tags = ["shell"]
[agent]
timeout_sec = 30
[verifier]
timeout_sec = 20
[environment]
build_timeout_sec = 100
cpus = 1
memory_mb = 64
storage_mb = 16
"""
DOCKERFILE = "FROM localhost/agon-base:1\nWORKDIR /app\n"

YAML = """\
# canary
instruction: |-
  Write hello into /app/hello.txt.
  Nothing else.
author_name: Ada
difficulty: easy
category: files
tags:
  - shell
  - files
parser_name: pytest
max_agent_timeout_sec: 90.5
max_test_timeout_sec: 45
"""


def write(folder: Path, files: dict[str, str]) -> Path:
    """Write files below a folder; scripts are executable."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        if name.endswith(".sh"):
            path.chmod(0o755)
    return folder


def harbor(folder: Path, *, leave_out: str = "", **files: str) -> Path:
    """Write a sound task that wants ``/app/hello.txt``; ``files`` replace parts by key.

    SettingsReader: toml, instruction, dockerfile, test, solve, cheat.
    """
    parts = {
        "task.toml": files.get("toml", TOML),
        "instruction.md": files.get("instruction", "Write hello into /app/hello.txt.\n"),
        "environment/Dockerfile": files.get("dockerfile", DOCKERFILE),
        "tests/test.sh": files.get("test", '#!/bin/sh\n[ "$(cat /app/hello.txt)" = hello ]\n'),
        "tests/cheat.sh": files.get("cheat", "#!/bin/sh\ntouch /app/hello.txt\n"),
        "solution/solve.sh": files.get("solve", "#!/bin/sh\necho hello > /app/hello.txt\n"),
    }
    return write(folder, {name: text for name, text in parts.items() if name != leave_out})


def terminal_bench(folder: Path, *, yaml: str = YAML, compose: str | None = None) -> Path:
    """Write a sound task of Terminal-Bench 1 that wants ``/app/hello.txt``."""
    files = {
        "task.yaml": yaml,
        "Dockerfile": DOCKERFILE,
        "run-tests.sh": '#!/bin/sh\nsh "$TEST_DIR/look.sh"\n',
        "tests/look.sh": '[ "$(cat /app/hello.txt)" = hello ]\n',
        "solution.sh": "#!/bin/sh\necho hello > /app/hello.txt\n",
    }
    return write(folder, files | ({"docker-compose.yaml": compose} if compose else {}))


def stepped(folder: Path) -> Path:
    """Write a task of two steps; the second needs what the first left, and looks for its tests."""
    steps = """\
[[steps]]
name = "one"
min_reward = 1.0
[[steps]]
name = "two"
[steps.agent]
timeout_sec = 7
"""
    reward = (
        "echo 0 > /logs/verifier/reward.txt; {} && echo 1 > /logs/verifier/reward.txt; exit 0\n"
    )
    second = "[ $(cat /app/b) = 12 ] && [ ! -e /app/seen ]"
    parts = {
        "task.toml": TOML + steps,
        "environment/Dockerfile": DOCKERFILE,
        "steps/one/instruction.md": "Write one to /app/a.\n",
        "steps/one/solution/solve.sh": (
            "#!/bin/sh\necho 1 > /app/a\necho 1 > /logs/verifier/reward.txt\n"
        ),
        "steps/one/tests/test.sh": "#!/bin/sh\n" + reward.format("[ $(cat /app/a) = 1 ]"),
        "steps/two/instruction.md": "Append two to it, in /app/b.\n",
        "steps/two/solution/solve.sh": (
            "#!/bin/sh\necho $(cat /app/a)2 > /app/b; rm /app/a\n"
            "[ ! -e /tests/test.sh ] && [ ! -e /logs/verifier/reward.txt ] || touch /app/seen\n"
        ),
        "steps/two/tests/test.sh": "#!/bin/sh\n" + reward.format(second),
    }
    return write(folder, parts)


def prepared(folder: Path) -> Path:
    """Write a task whose second step brings files and sets them up; its tests use those of all."""
    steps = """\
[[steps]]
name = "one"
[[steps]]
name = "two"
[steps.healthcheck]
command = "[ -e ready ]"
interval_sec = 1
retries = 1
"""
    parts = {
        "task.toml": TOML + steps,
        "environment/Dockerfile": DOCKERFILE,
        "tests/test.sh": (
            "#!/bin/sh\nif sh /tests/check.sh; then echo 1; else echo 0; fi "
            "> /logs/verifier/reward.txt\n"
        ),
        "tests/check.sh": "[ -e /app/first ]\n",
        "steps/one/instruction.md": "Make /app/first.\n",
        "steps/one/solution/solve.sh": "#!/bin/sh\ntouch first\n",
        "steps/two/instruction.md": "Write the sum of data/in.txt into /app/sum.\n",
        "steps/two/workdir/data/in.txt": "40\n",
        "steps/two/workdir/setup.sh": (
            "echo 2 >> data/in.txt && [ -e first ] && touch ready && rm setup.sh\n"
        ),
        "steps/two/solution/solve.sh": (
            "#!/bin/sh\n[ ! -e setup.sh ] || exit 1\n"
            "s=0; while read -r n; do s=$((s + n)); done < data/in.txt; echo $s > sum\n"
        ),
        "steps/two/tests/check.sh": (
            '[ "$(cat /app/sum)" = 42 ] && [ "$(wc -l < /app/data/in.txt)" = 2 ]\n'
        ),
    }
    return write(folder, parts)
