"""Servers of an agent go on for tests that connect to one, if the task or the operator says so."""

import json
from pathlib import Path

import pytest

from agon.app.files import InvalidPackage
from agon.app.tasks.formats.discovery import read_task, read_tasks
from agon.app.tasks.run import plan_of, run_tasks
from agon.app.tasks.servers import connections, connections_in, keeps_servers
from agon.cli.challenge.arguments import Networks, notes_of
from agon.runners.agents.builtin import NopAgent
from app.tasks.folders import YAML, harbor, terminal_bench, write
from app.tasks.test_run import ticking
from fakes.containers import FakeContainers

CONNECTS = "#!/bin/sh\nwget -q -O - http://localhost:8080/\n"


@pytest.mark.parametrize(
    ("line", "address"),
    [("curl -s localhost:80/x", "localhost:80"), ("HOST = '127.0.0.1'", "127.0.0.1"),
     ("u.urlopen('http://[::1]:8000/')", "[::1]:8000"), ("nc -z 0.0.0.0:22", "0.0.0.0:22"),
     ("# curl localhost", None), ("curl http://api:80/", None), ("my-localhost.txt", None)],
)  # fmt: skip
def test_lines_that_name_this_machine_are_found(line: str, address: str | None) -> None:
    """As scripts and programs in the field's languages write it."""
    expected = [] if address is None else [(2, address)]
    assert connections_in(f"#!/bin/sh\n{line}\n") == expected


def test_tasks_say_whether_servers_go_on_or_the_operator_does(tmp_path: Path) -> None:
    """Not where the verifier has an image of its own: there no other runner does it either."""
    task = read_task(harbor(tmp_path / "silent", test=CONNECTS))
    assert connections(task) == ("tests/test.sh, line 2: localhost:8080",)
    assert [keeps_servers(task, allowed=allowed) for allowed in (False, True)] == [False, True]
    silent = read_task(harbor(tmp_path / "none"))
    assert not keeps_servers(silent, allowed=True)
    said = harbor(tmp_path / "says", toml="[verifier]\nkeep_servers = true\n")
    assert keeps_servers(read_task(said), allowed=False)
    never = terminal_bench(tmp_path / "never", yaml=f"{YAML}keep_servers: false\n")
    write(never, {"run-tests.sh": CONNECTS})
    assert not keeps_servers(read_task(never), allowed=True)
    separate = '[verifier]\nkeep_servers = true\nenvironment_mode = "separate"\n'
    write(said, {"tests/Dockerfile": "FROM x\nCOPY . /tests\n", "task.toml": separate})
    assert not keeps_servers(read_task(said), allowed=True)
    wrong = harbor(tmp_path / "wrong", toml='[verifier]\nkeep_servers = "yes"\n')
    with pytest.raises(InvalidPackage, match="give true or false"):
        read_task(wrong)


def test_a_run_says_where_servers_went_on(tmp_path: Path) -> None:
    """The plan, the summary and each result say it; without the option a note names the place."""
    harbor(tmp_path / "tasks" / "serve", test=CONNECTS)
    harbor(tmp_path / "tasks" / "plain")
    read = read_tasks([tmp_path / "tasks"])
    notes = list(notes_of(read, Networks("", "none", keep_servers=False)))
    assert len(notes) == 1
    assert "serve: its tests connect to a server (tests/test.sh, line 2" in notes[0]
    assert list(notes_of(read, Networks("", "none", keep_servers=True))) == []
    containers, now = FakeContainers(), ticking()
    plan = plan_of(read, NopAgent(), trials=1, run="r1", now=now, keep_servers=True)
    summary = run_tasks(
        read, NopAgent(), plan=plan, containers=containers, out=tmp_path / "out", jobs=1, now=now
    )
    assert summary["keep_servers"] is True
    assert sorted(containers.networks) == ["container:serve__1", "none"]
    assert [trial.servers_s for trial in containers.opened] == [2 * (20 + 300)]
    written = {
        name: json.loads((tmp_path / f"out/{name}__1/result.json").read_text())["test_network"]
        for name in ("serve", "plain")
    }
    assert written == {"serve": "agent", "plain": "none"}
