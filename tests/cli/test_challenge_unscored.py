"""What an agent or its model causes is a failure: from the run to the rank, nothing is left out."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from app.tasks.folders import harbor
from app.tasks.loopback import serving
from cli.command import Cli

HELLO = "echo hello > /app/hello.txt"
TEST = (
    '#!/bin/sh\n[ ! -e /app/solve.sh ] || sh /app/solve.sh\n[ "$(cat /app/hello.txt)" = hello ]\n'
)
LIMIT = "sh /app/tools/prlimit.sh --pid 1 --{name}=0:0"
ATTACKS = {
    "a-solved": HELLO,
    "b-agent": f"cp -r /agent tools; {LIMIT.format(name='fsize')}",
    "c-verifier": f"cp -r /agent tools; echo '{LIMIT.format(name='nofile')}' > solve.sh",
}
HONEST = ("a-solved", "b-agent")
"""The tasks that the honest agent solves."""


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy ``prlimit`` with its libraries and a script that starts it from ``/app/tools``."""
    folder = tmp_path_factory.mktemp("tools")
    program = shutil.which("prlimit")
    assert program is not None, "install the Debian package util-linux"
    listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    libraries = [word for word in listed.split() if word.startswith("/")]
    for path in (program, *libraries):
        shutil.copy(path, folder)
    loader = next(Path(path).name for path in libraries if Path(path).name.startswith("ld"))
    (folder / "prlimit.sh").write_text(
        f'/app/tools/{loader} --library-path /app/tools /app/tools/prlimit "$@"\n'
    )
    return folder


@pytest.mark.exhaustive
def test_an_agent_that_avoids_verdicts_ranks_below_one_that_solves_more(
    agon: Cli, tmp_path: Path, tools: Path
) -> None:
    """It solves 1 of 3 tasks and attacks the first process in the others; a model answers once.

    Left out of the denominator, both would have a pass rate of 1 and the first rank.
    """
    for name in ATTACKS:
        harbor(tmp_path / "tasks" / name, test=TEST)
    attacks = " ".join(f"{name}) {command} ;;" for name, command in ATTACKS.items())
    honest = f"case $AGON_TASK in {'|'.join(HONEST)}) {HELLO} ;; esac"
    solved = (f"```sh\n{HELLO}\n```", "DONE")
    busy = (500, b"out of order", {"Retry-After": "0"})
    runs = tmp_path / "runs"

    def run(uid: int, name: str, agent: str, *options: object) -> dict[str, Any]:
        ended = agon("challenge", "run", tmp_path / "tasks", "--agent", agent, *options,
                     "--submission", name, "--miner-uid", uid, "--out", runs / name,
                     "--format", "json")  # fmt: skip
        assert ended.code == 0, ended.err
        summary: dict[str, Any] = json.loads((runs / name / "summary.json").read_text())
        assert summary == ended.json()
        return summary

    summaries = {
        "attacker": run(1, "attacker", f"case $AGON_TASK in {attacks} esac",
                        "--agent-files", tools),
        "honest": run(2, "honest", honest),
    }  # fmt: skip
    with serving(*solved, busy) as endpoint:
        summaries["model"] = run(3, "model", "openai", "--model", "m", "--endpoint", endpoint.url,
                                 "--jobs", 1)  # fmt: skip
    rates = {
        name: (summary["passed"], summary["total"], summary["unscored"], summary["pass_rate"])
        for name, summary in summaries.items()
    }
    third = round(1 / 3, 12)
    assert rates == {
        "attacker": (1, 3, 0, pytest.approx(third)),
        "honest": (2, 3, 0, pytest.approx(2 * third)),
        "model": (1, 3, 0, pytest.approx(third)),
    }

    imported = agon("import", "challenge-runs", runs, "--out", tmp_path / "records")
    assert imported.code == 0, imported.err
    assert "without a score" not in imported.err
    board = agon("score", "challenge", tmp_path / "records", "--board", "submissions",
                 "--set", "min_validators=1", "--format", "json")  # fmt: skip
    assert board.code == 0, board.err
    rows = {row["id"]: (row["rank"], row["score"]) for row in board.json()["rows"]}
    assert rows["honest"] == (1, pytest.approx(2 * third, abs=1e-4))
    assert rows["attacker"][1] == rows["model"][1] == pytest.approx(third, abs=1e-4)
