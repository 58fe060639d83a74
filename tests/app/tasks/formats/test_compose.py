"""Services of a compose file are read as far as they need nothing of the host."""

from pathlib import Path

import pytest

from agon.app.files import InvalidPackage
from agon.app.tasks.formats.discovery import read_task
from agon.app.tasks.formats.variables import VariableNames, with_variables
from agon.app.tasks.run import plan_of, run_tasks
from agon.app.tasks.services import build
from agon.errors import InvalidRule
from agon.runners.agents.builtin import NopAgent
from app.tasks.folders import harbor, terminal_bench, write
from app.tasks.test_run import ticking
from fakes.containers import FakeContainers

CLIENT = """\
services:
  client:
    build: {dockerfile: Dockerfile}
    container_name: ${T_BENCH_TASK_DOCKER_CLIENT_CONTAINER_NAME}
    command: [sh, -c, sleep infinity]
    environment: ["TEST_DIR=${T_BENCH_TEST_DIR}", "DB=db:5432"]
    volumes: ["${T_BENCH_TASK_LOGS_PATH}:${T_BENCH_CONTAINER_LOGS_PATH}"]
    depends_on: {api: {condition: service_healthy}}
"""
SERVICES = """\
  api:
    build: {context: api, dockerfile: Dockerfile.api}
    command: serve --port $${PORT}
    depends_on: [db]
    expose: [8000]
    restart: always
    networks: [inner]
  db:
    image: localhost/db:1
    entrypoint: ["/db"]
    environment: {PASSWORD: "${PASSWORD:-secret}", EMPTY: }
    volumes: ["data:/var/lib/db", "/cache"]
    tmpfs: /scratch
    hostname: store
    healthcheck: {test: "ready -h db", interval: 1m30s, timeout: 500ms, retries: 2}
volumes: {data: }
networks: {inner: }
"""


def old(folder: Path, compose: str) -> Path:
    """Write a task of Terminal-Bench with a compose file."""
    return write(terminal_bench(folder, compose=compose), {"api/Dockerfile.api": "FROM x\n"})


def test_services_are_read_in_the_order_of_their_start(tmp_path: Path) -> None:
    """With their images, commands, variables, folders and health checks."""
    task = read_task(old(tmp_path / "t", CLIENT + SERVICES))
    db, api = task.files.services
    assert (task.files.main, db.name, api.name) == ("client", "db", "api")
    assert task.settings.agent_env == {"TEST_DIR": "/tests", "DB": "db:5432"}
    assert (api.context, api.dockerfile, api.image) == (
        task.folder / "api", "Dockerfile.api", "",
    )  # fmt: skip
    assert (api.command, api.depends_on, api.ports) == (
        ("serve", "--port", "${PORT}"), (("db", "started"),), ("8000",),
    )  # fmt: skip
    assert (db.image, db.entrypoint, db.command, db.aliases) == (
        "localhost/db:1", ("/db",), None, ("store",),
    )  # fmt: skip
    assert db.environment == {"PASSWORD": "secret", "EMPTY": ""}
    assert [folder for _, folder in db.folders] == ["/var/lib/db", "/cache", "/scratch"]
    assert db.health is not None
    assert db.health.command == ("/bin/sh", "-c", "ready -h db")
    assert (db.health.interval_s, db.health.timeout_s, db.health.patience_s) == (90, 0.5, 181)


def test_the_agents_service_of_harbor_is_main(tmp_path: Path) -> None:
    """The task's own variables are stronger than those of the compose file."""
    toml = '[environment.env]\nMODE = "task"\n'
    compose = (
        "services:\n  main:\n    environment: {MODE: compose, X: 1}\n"
        "  db:\n    image: y\n    command: serve\n"
    )
    folder = write(harbor(tmp_path / "t", toml=toml), {"environment/docker-compose.yaml": compose})
    task = read_task(folder)
    assert task.settings.agent_env == {"MODE": "task", "X": "1"}
    assert (task.files.context, task.files.dockerfile) == (folder / "environment", "Dockerfile")
    assert [service.command for service in task.files.services] == [("serve",)]


def test_a_single_service_says_its_variables(tmp_path: Path) -> None:
    """Other keys of it are noted; a value that only the host knows is left out."""
    compose = (
        "services:\n  app:\n    ports: ['80:80']\n    environment: {}\n    working_dir: /srv\n"
        "    command: sleep infinity\n    volumes: ['${{T_BENCH_TASK_LOGS_PATH}}:/logs']\n"
    )
    known = read_task(old(tmp_path / "known", compose.format('["A=1", "B=${T_BENCH_TEST_DIR}"]')))
    assert known.settings.workdir == "/srv"
    note = "known/docker-compose.yaml: services.app.ports is not read"
    assert known.settings.notes == (note,)
    assert known.settings.agent_env == {"A": "1", "B": "/tests"}
    assert known.settings.verifier_env == {"A": "1", "B": "/tests", "TEST_DIR": "/tests"}
    unknown = read_task(old(tmp_path / "unknown", compose.format('["A=$HOME"]')))
    assert unknown.settings.agent_env == {}


def test_main_says_what_it_is_built_from_and_where_it_begins(tmp_path: Path) -> None:
    """As the reference lays the file over its own: another Dockerfile would be another task."""
    compose = (
        "services:\n  main:\n    build: {context: ., dockerfile: main.Dockerfile}\n"
        "    working_dir: /srv\n    command: ['sh', '-c', 'sleep infinity']\n"
    )
    folder = harbor(tmp_path / "t")
    files = {"environment/docker-compose.yaml": compose, "environment/main.Dockerfile": "FROM x\n"}
    task = read_task(write(folder, files))
    assert task.settings.workdir == "/srv"
    containers = FakeContainers()
    build(task, containers)
    assert task.files.dockerfile == "main.Dockerfile"
    assert containers.contexts == [["Dockerfile", "docker-compose.yaml", "main.Dockerfile"]]
    (folder / "environment" / "Dockerfile").unlink()
    assert read_task(folder).files.context == folder / "environment"


@pytest.mark.parametrize(
    ("key", "remedy"),
    [
        ("command: ['sh', '-c', '/start.sh && sleep infinity']", "let it wait"),
        ("entrypoint: /start.sh", "write it into the Dockerfile, as ENTRYPOINT"),
        ("healthcheck: {test: 'true'}", r"as \[environment.healthcheck\]"),
        ("privileged: true", "no container has rights on the host"),
    ],
)
def test_what_main_would_do_before_the_agent_is_refused(
    tmp_path: Path, key: str, remedy: str
) -> None:
    """It would be ignored, and the task would be another one."""
    compose = {"environment/docker-compose.yaml": f"services:\n  main:\n    {key}\n"}
    with pytest.raises(InvalidPackage, match=remedy):
        read_task(write(harbor(tmp_path / "t"), compose))


def test_keys_that_no_version_of_the_old_format_has_are_noted(tmp_path: Path) -> None:
    """A fork of the format may say there what decides."""
    folder = old(tmp_path / "t", CLIENT + SERVICES)
    settings = folder / "task.yaml"
    settings.write_text(settings.read_text() + "parser_name: x\ntest_scripts: [a.sh]\n")
    what = "t/task.yaml: test_scripts is not a key of the format, and not read: the tests are "
    assert read_task(folder).settings.notes == (f"{what}run-tests.sh",)


@pytest.mark.parametrize(
    ("services", "what"),
    [
        ("db: {image: x, ports: ['80:80']}", "services.db.ports is ['80:80']; remove it: services"),
        ("db: {image: x, privileged: true}", "services.db.privileged is True; remove it: no"),
        ("db: {image: x, network_mode: host}", "services.db.network_mode is 'host'; remove it"),
        ("db: {image: x, devices: [/dev/kvm]}", "no container has a device of the host"),
        ("db: {image: x, cap_add: [SYS_ADMIN]}", "rights of the agent's container"),
        ("db: {image: x, security_opt: [a]}", "a service of a trial cannot have it"),
        ("db: {image: x, volumes: ['./etc:/etc']}", "name a volume"),
        ("db: {image: x, volumes: ['/var/run/docker.sock:/s']}", "name a volume"),
        ("db: {image: x, volumes: [{type: bind}]}", "name a volume"),
        ("db: {image: x, environment: {A: $HOME}}", "no variable of the host is read"),
        ("db: {build: ../..}", "build from inside the task's folder"),
        ("db: {build: none}", "put Dockerfile there"),
        ("db: {build: {context: api, args: {A: 1}}}", "only context and dockerfile are read"),
        ("db: {}", "say what the service is built from"),
        ("db: {image: x, depends_on: [no]}", "name a service of this file"),
        ("db: {image: x, depends_on: {client: {condition: ready}}}", "give one of service_started"),
        ("db: {image: x, healthcheck: {test: [ping]}}", "write test: [CMD"),
        ("db: {image: x, healthcheck: {test: a, interval: soon}}", "write times such as 5s"),
        ("db: {image: x, depends_on: [a]}\n  a: {image: x, depends_on: [db]}", "remove the circle"),
        ("db: {image: x, volumes: ['d:/d']}\n  a: {image: x, volumes: ['d:/e']}", "share none"),
        ("db: {image: x, expose: [80]}\n  a: {image: x, expose: ['80/tcp']}", "different ports"),
        ("db: {image: x}\nsecrets: {a: {file: b}}", "secrets is"),
    ],
)  # fmt: skip
def test_what_reaches_the_host_or_another_service_is_refused(
    tmp_path: Path, services: str, what: str
) -> None:
    """With the key, the value and the remedy."""
    with pytest.raises(InvalidPackage) as caught:
        read_task(old(tmp_path / "t", f"{CLIENT.replace('api:', 'db:')}  {services}\n"))
    assert what in str(caught.value)
    assert "docker-compose.yaml" in str(caught.value)


def test_the_agents_container_shares_no_folder(tmp_path: Path) -> None:
    """Files would pass from the agent to services, which still run with the tests."""
    shared = CLIENT.replace("volumes: [", 'volumes: ["data:/data", ')
    with pytest.raises(InvalidPackage, match="the agent's container shares no folder"):
        read_task(old(tmp_path / "t", shared + SERVICES))


def test_services_share_one_further_budget(tmp_path: Path) -> None:
    """A trial with many services needs no more of the machine than one with two containers."""
    folder = old(tmp_path / "tasks" / "t", CLIENT + SERVICES.replace("[db]", "[db]\n    image: i"))
    task, now, containers = read_task(folder), ticking(), FakeContainers()
    plan = plan_of([task], NopAgent(), trials=1, run="r", now=now)
    run_tasks([task], NopAgent(), plan=plan, containers=containers, out=tmp_path / "out", jobs=1,
              now=now)  # fmt: skip
    assert [service.command for service in containers.services] == [
        ("/db",), ("serve", "--port", "${PORT}"),
    ]  # fmt: skip
    assert [service.limits.memory_mib for service in containers.services] == [1024, 1024]
    assert containers.networks == ["container:t__1"]
    assert [recipe.writable for recipe in containers.recipes if recipe.image] == [
        ("/var/lib/db", "/cache", "/scratch")
    ]


def test_a_compose_file_of_harbor_may_describe_further_services_alone(tmp_path: Path) -> None:
    """The reference lays it over a service main, which the Dockerfile describes."""
    task = read_task(
        write(
            harbor(tmp_path / "t"),
            {
                "environment/docker-compose.yaml": "services:\n"
                "  db: {image: localhost/db:1, environment: {FAST: true}}\n"
            },
        )
    )
    assert task.files.main == "main"
    assert [service.name for service in task.files.services] == ["db"]
    assert task.files.services[0].environment == {"FAST": "true"}


OVERLAY = """\
services:
  main: {image: y, environment: ["TOKEN=${TOKEN}", "PRICE=5$$"]}
  db: {image: x, environment: {KEY: "k-${TOKEN}", OWN: "${OF_TASK}", OTHER: "${OTHER:-none}"}}
"""


def test_variables_of_a_compose_file_are_what_operator_and_task_give(tmp_path: Path) -> None:
    """The reference fills them from both; what is missing is asked for by name."""
    folder = harbor(tmp_path / "t", toml='[environment.env]\nOF_TASK = "own"\n')
    task = read_task(write(folder, {"environment/docker-compose.yaml": OVERLAY}))
    names = VariableNames(both=("TOKEN",))
    (filled,) = with_variables((task,), names, environment={"TOKEN": "s3cret", "OTHER": "no"})
    assert filled.settings.agent_env == {"OF_TASK": "own", "TOKEN": "s3cret", "PRICE": "5$"}
    assert filled.files.services[0].environment == {
        "KEY": "k-s3cret", "OWN": "own", "OTHER": "none",
    }  # fmt: skip
    with pytest.raises(InvalidRule) as refused:
        with_variables((task,), VariableNames(), environment={"TOKEN": "s3cret"})
    assert "t: the task needs the variable TOKEN" in str(refused.value)
    assert "s3cret" not in repr(filled)
    alone = write(folder, {"environment/docker-compose.yaml": OVERLAY.replace("main", "other", 1)})
    with pytest.raises(InvalidRule, match=r"t: the service db needs the variable TOKEN; .*--agent"):
        with_variables((read_task(alone),), VariableNames(), environment={})


def test_a_variable_in_a_command_is_refused_since_all_users_see_command_lines(
    tmp_path: Path,
) -> None:
    """``ps`` shows them; a service reads its environment instead."""
    text = 'services: {db: {image: x, command: "run ${TOKEN}"}}'
    with pytest.raises(InvalidPackage, match="name the variable in environment"):
        read_task(write(harbor(tmp_path / "t"), {"environment/docker-compose.yaml": text}))
