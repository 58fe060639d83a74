"""What agents reach: which hosts may be listed, and that tests never share it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agon.app.containers.egress import is_public, read_host, read_hosts, resolve_hosts
from agon.app.tasks.formats.discovery import read_tasks
from agon.app.tasks.results.folder import read_results
from agon.app.tasks.run import plan_of, run_tasks
from agon.cli.challenge.arguments import AgentReach, hosts_of
from agon.errors import NotScorable, Unavailable, Unreadable
from agon.runners.agents.builtin import NopAgent
from agon.runners.containers.networks.trial_proxy import host_names, proxy_settings
from app.tasks.folders import harbor, stepped, write
from app.tasks.test_run import ticking
from fakes.containers import FakeContainers

PUBLIC = "93.184.216.34"


@pytest.mark.parametrize(
    ("text", "wrong"),
    [("10.0.0.1", "is an address"), ("93.184.216.34:443", "is an address"),
     ("[::1]:443", "is an address"), ("::1", "is an address"), ("2130706433", "is an address"),
     ("0x7f.1", "is an address"), ("127.1:80", "is an address"), ("*.example.com", "is a pattern"),
     (".example.com", "is a pattern"), ("*", "is a pattern"), ("https://pypi.org", "is a URL"),
     ("me@pypi.org", "is a URL"), ("pypi.org/simple", "is a URL"), ("localhost", "is private"),
     ("db.internal:5432", "is private"), ("10.0.0.1.nip.io", "is private"),
     ("printer.local.", "is private"), ("pypi", "expected"),
     ("", "expected"), ("a..b", "expected"), ("-a.example", "expected"),
     ("a b.example", "expected"), ("é.example", "expected"),
     ("x.y\nhttp_access allow all", "expected"),
     ("pypi.org:0", "no valid port"), ("pypi.org:65536", "no valid port"),
     ("pypi.org:", "no valid port"), ("pypi.org:https", "no valid port"),
     (f"{'a' * 64}.example", "expected"), (f"{'a.' * 127}example", "expected")],
)  # fmt: skip
def test_hosts_that_name_no_public_host_are_refused(text: str, wrong: str) -> None:
    """A name says whose host it is; a pattern or an address does not."""
    with pytest.raises(Unreadable, match=wrong):
        read_host(text)


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1",
     "0.0.0.1", "224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1", "fd00::1", "ff02::1",
     "::ffff:10.0.0.1", "64:ff9b::a00:1", "2002:a00:1::", "168.63.129.16", "not an address"],
)  # fmt: skip
def test_private_addresses_are_not_public(address: str) -> None:
    """Also those that hide in another address."""
    assert not is_public(address)
    with pytest.raises(Unreadable, match="which is private"):
        resolve_hosts([read_host("a.example")], lambda _: [PUBLIC, address])


def test_hosts_are_resolved_once_and_the_proxy_knows_no_other_address() -> None:
    """A name that leads elsewhere later leads nowhere."""
    hosts = resolve_hosts(
        [read_host("B.example:8443"), read_host("a.example"), read_host("a.example:443")],
        lambda _: [PUBLIC, PUBLIC],
    )
    assert [str(host) for host in hosts] == ["a.example:443", "b.example:8443"]
    assert host_names(hosts) == f"{PUBLIC} a.example\n{PUBLIC} b.example\n"
    rules = [line for line in proxy_settings(hosts).splitlines() if line.startswith("http_access")]
    assert rules == [
        "http_access deny !connect", "http_access allow name0 port0",
        "http_access allow name1 port1", "http_access deny all",
    ]  # fmt: skip

    def fail(_: str) -> list[str]:
        raise OSError("unknown name")

    with pytest.raises(Unavailable, match=r"a\.example has no address: unknown name"):
        resolve_hosts([read_host("a.example")], fail)


def test_every_wrong_host_is_named_with_the_task_that_lists_it() -> None:
    """An operator who allows the hosts of many tasks has to know whose file to correct."""
    named = [("", "10.0.0.1"), ("", "a.example"), ("t/task.toml: allowed_hosts: ", "*.pypi.org")]
    with pytest.raises(Unreadable) as refused:
        read_hosts(named)
    of_operator, of_task = str(refused.value).splitlines()
    assert of_operator.startswith("the host '10.0.0.1' is an address")
    assert of_task.startswith("t/task.toml: allowed_hosts: the host '*.pypi.org' is a pattern")


def test_options_that_do_not_fit_are_refused() -> None:
    """A host without its mode would be a run without a network that fails late."""
    with pytest.raises(Unreadable, match="add --agent-network allowlist"):
        hosts_of(AgentReach("none", ("pypi.org",), of_tasks=False), ())
    with pytest.raises(Unreadable, match="add --allow-host"):
        hosts_of(AgentReach("allowlist", (), of_tasks=False), ())
    assert hosts_of(AgentReach("public", (), of_tasks=False), ()) == {}


_ALLOWLIST = '[agent]\nnetwork_mode = "allowlist"\nallowed_hosts = ["pypi.org"]\n'


def test_hosts_of_tasks_count_after_consent_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A task's author is not the operator."""
    harbor(tmp_path / "t", toml=_ALLOWLIST)
    monkeypatch.setattr("agon.wiring.addresses_of", lambda _: [PUBLIC])
    read = read_tasks([tmp_path])
    own = AgentReach("allowlist", ("a.example",), of_tasks=False)
    assert list(hosts_of(own, read)) == ["a.example:443"]
    assert list(hosts_of(replace(own, of_tasks=True), read)) == ["a.example:443", "pypi.org:443"]


def _run(folder: Path, containers: FakeContainers, **about: Any) -> dict[str, Any]:
    read = read_tasks([folder / "tasks"])
    agent, now = NopAgent(), ticking()
    plan = plan_of(read, agent, trials=1, run="r", now=now, **about)
    return run_tasks(
        read, agent, plan=plan, containers=containers, out=folder / "out", jobs=1, now=now
    )


@pytest.mark.parametrize("mode", ["none", "allowlist", "public"])
def test_tests_have_no_network_and_every_record_says_what_the_agent_reached(
    tmp_path: Path, mode: str
) -> None:
    """The way out is closed before the tests begin; without one no network is opened at all."""
    harbor(tmp_path / "tasks" / "t")
    containers = FakeContainers()
    hosts = {"a.example:443": [PUBLIC]} if mode == "allowlist" else {}
    summary = _run(tmp_path, containers, agent_network=mode, allowed_hosts=hosts)
    assert containers.networks == ["none"]
    assert containers.egress_closed == ([] if mode == "none" else [("t__1", 0)])
    assert [trial.egress.mode for trial in containers.opened] == ([] if mode == "none" else [mode])
    assert (summary["agent_network"], summary["allowed_hosts"]) == (mode, list(hosts))
    assert [each.agent_network for each in read_results(tmp_path / "out")] == [mode]
    moved = {name: ["93.184.216.35"] for name in hosts}  # the same hosts, elsewhere by now
    assert _run(tmp_path, FakeContainers(), agent_network=mode, allowed_hosts=moved) == summary


def test_a_proxy_that_dies_leaves_the_trial_without_a_score(tmp_path: Path) -> None:
    """It is an error of the run, not a failure of the agent."""
    harbor(tmp_path / "tasks" / "t")
    containers = FakeContainers()
    containers.proxy_dies = True
    hosts = {"a.example:443": [PUBLIC]}
    summary = _run(tmp_path, containers, agent_network="allowlist", allowed_hosts=hosts)
    assert summary["unscored"] == 1
    assert "the proxy of the agent's network ended" in summary["tasks"]["t"]["reason"]


def test_a_missing_proxy_ends_a_run_before_its_folder_is_made(tmp_path: Path) -> None:
    """One message instead of one for each trial."""
    tasks = read_tasks([harbor(tmp_path / "t")])
    hosts = {"pypi.org:443": [PUBLIC]}
    plan = plan_of(
        tasks, NopAgent(), trials=1, run="r", now=ticking(), agent_network="allowlist",
        allowed_hosts=hosts,
    )  # fmt: skip
    containers = FakeContainers()
    containers.proxy_missing = True
    with pytest.raises(Unavailable, match="proxy for --agent-network allowlist is missing"):
        run_tasks(
            tasks, NopAgent(), plan=plan, containers=containers, out=tmp_path / "run", jobs=1,
            now=ticking(),
        )  # fmt: skip
    assert not (tmp_path / "run").exists()


def test_steps_with_services_run_without_any_network_outside(tmp_path: Path) -> None:
    """Tests of a step share the services' network, which the agents of later steps need open."""
    folder = stepped(tmp_path / "t")
    compose = "services:\n  db:\n    image: localhost/agon-base:1\n    command: sleep 9\n"
    tasks = read_tasks([write(folder, {"environment/docker-compose.yaml": compose})])
    agent, now = NopAgent(), ticking()
    plan = plan_of(tasks, agent, trials=1, run="r", now=now, agent_network="public")
    with pytest.raises(NotScorable, match=r"t: a task with steps and services .* apart from"):
        run_tasks(
            tasks, agent, plan=plan, containers=FakeContainers(), out=tmp_path / "out", jobs=1,
            now=now,
        )  # fmt: skip
