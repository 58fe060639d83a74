"""Run a task by the rules of Harbor 0.26: agent and tests in one shared container of podman.

Only what decides an outcome is here: the image's ENTRYPOINT with a command that waits, health
checks, users, variables, collecting, artifacts, steps, and how rewards are read. Written from what
the reference does, with its own names for what fails; it shares nothing with agon.
"""

import json
import math
import subprocess
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]  # it ships no type information

from agon.runners.containers.isolation import build_ulimits

_LOGS = ("/logs/verifier", "/logs/agent", "/logs/artifacts")


class ReferenceFailed(Exception):
    """The reference ends a trial without a reward."""


@dataclass(frozen=True, kw_only=True)
class _Container:
    """A running container, with the settings that hold for each command in it."""

    name: str
    env: Mapping[str, str] = field(default_factory=dict)
    workdir: str = ""

    def run(self, command: str, *, user: Any = None, env: Mapping[str, str] | None = None) -> int:
        """Run a line of the shell, and return its exit code."""
        flags = [f"-e{name}={value}" for name, value in {**self.env, **(env or {})}.items()]
        flags += [f"-w{self.workdir}"] if self.workdir else []
        flags += [f"-u{user}"] if user is not None else []
        return _podman("exec", *flags, self.name, "sh", "-c", command, check=False).returncode

    def put(self, source: Path, target: str) -> None:
        """Copy a folder's files or a file into it."""
        self.run(f"mkdir -p {target if source.is_dir() else Path(target).parent}", user=0)
        inside = f"{source}/." if source.is_dir() else str(source)
        _podman("cp", inside, f"{self.name}:{target}", check=False)


def reference(folder: Path, agent: str, commands: str, scratch: Path) -> dict[str, float]:
    """Return the rewards of a trial.

    Args:
        folder: the task's folder.
        agent: ``oracle``, ``nop`` or ``model``.
        commands: what the model sends.
        scratch: an empty folder.

    Raises:
        ReferenceFailed: with the reason.
    """
    old = (folder / "task.yaml").is_file()
    settings = {} if old else tomllib.loads((folder / "task.toml").read_text())
    environment = settings.get("environment", {})
    context = folder if old else folder / "environment"
    image = environment.get("docker_image", "")
    compose = context / "docker-compose.yaml"
    services = yaml.safe_load(compose.read_text())["services"] if compose.is_file() else {}
    if build := services.get("main", {}).get("build"):
        image = _built(context / build["context"], build["dockerfile"])
    elif (context / "Dockerfile").is_file():
        image = _built(context)
    services = {name: one for name, one in services.items() if name not in {"main", "client"}}
    with ExitStack() as stack:
        hosts = [f"--add-host={name}:127.0.0.1" for name in services]
        variables = environment.get("env", {})
        main = stack.enter_context(_container(image, "--network=none", *hosts, env=variables))
        main = _Container(name=main.name, env=variables, workdir=environment.get("workdir", ""))
        sidecars = {
            name: stack.enter_context(_service(service, context, main))
            for name, service in services.items()
        }
        if image == environment.get("docker_image") and context.is_dir() and not compose.is_file():
            main.put(context, main.workdir or _podman("exec", main.name, "pwd").stdout.strip())
        trial = _Trial(folder, settings, main, sidecars, agent, commands, scratch, image)
        _healthy(main, environment.get("healthcheck"))
        return trial.steps() if settings.get("steps") else trial.step(settings)


@dataclass(frozen=True)
class _Trial:
    folder: Path
    settings: Mapping[str, Any]
    main: _Container
    sidecars: Mapping[str, _Container]
    agent: str
    commands: str
    scratch: Path
    image: str

    def step(self, step: Mapping[str, Any], place: str = ".") -> dict[str, float]:
        """Run an agent and the tests."""
        whole, verifier = self.settings, {**self.settings.get("verifier", {})}
        verifier |= step.get("verifier", {})
        user = self._agent_user(step)
        base = self.folder / place
        if self.agent == "oracle":
            solution = base / "solution"
            if not solution.is_dir():
                solution = self.folder / "solution"
            old = self.folder / "solution.sh"
            self.main.put(
                old if old.is_file() else solution, "/solution/" + old.name * old.exists()
            )
            self.main.run("chmod +x /solution/*.sh", user=0)
            script = "/solution/solution.sh" if old.is_file() else "/solution/solve.sh"
            self.main.run(script, user=user, env=whole.get("solution", {}).get("env", {}))
        elif self.agent == "model":
            self.main.run(self.commands, user=user)
        own_step = step if place != "." else {}
        hooks = [part.get("verifier", {}).get("collect", []) for part in (whole, own_step)]
        for hook in [one for part in hooks for one in part]:
            container = self.sidecars.get(hook.get("service", "main"), self.main)
            container.run(hook["command"], user=hook.get("user"))
        own = verifier.get("environment")
        tests = [one for one in (self.folder / "tests", base / "tests") if one.is_dir()]
        tests = list(dict.fromkeys(one.resolve() for one in tests))
        if verifier.get("environment_mode", "separate" if own is not None else "") == "separate":
            artifacts = [*whole.get("artifacts", []), *own_step.get("artifacts", [])]
            return self._verify_apart(verifier, own or {}, tests, artifacts)
        return self._verify(self.main, verifier, tests)

    def steps(self) -> dict[str, float]:
        """Run the steps in one container, and combine their rewards."""
        found: list[dict[str, float]] = []
        for step in self.settings["steps"]:
            self.main.run("rm -rf /tests/* /logs/verifier/* /logs/agent/* /solution", user=0)
            try:
                self._prepare(step, self.folder / "steps" / step["name"] / "workdir")
            except ReferenceFailed:  # the step has no verdict, and is in no mean
                if not found:
                    raise
                break
            found.append(self.step(step, f"steps/{step['name']}"))
            least = step.get("min_reward", {})
            least = least if isinstance(least, dict) else {"reward": least}
            if any(found[-1].get(key, -math.inf) < value for key, value in least.items()):
                break
        if self.settings.get("multi_step_reward_strategy") == "final":
            return found[-1]
        keys = dict.fromkeys(key for one in found for key in one)
        return {key: sum(one.get(key, 0.0) for one in found) / len(found) for key in keys}

    def _agent_user(self, step: Mapping[str, Any]) -> Any:
        return step.get("agent", {}).get("user", self.settings.get("agent", {}).get("user"))

    def _prepare(self, step: Mapping[str, Any], files: Path) -> None:
        """Bring the files of a step, set them up and wait until all is ready."""
        if files.is_dir():
            workdir = _podman("exec", self.main.name, "pwd").stdout.strip()
            workdir = self.main.workdir or workdir
            self.main.put(files, workdir)
            # The reference calls bash, which the images of these tasks do not have.
            if (files / "setup.sh").is_file() and self.main.run(
                f"sh {workdir}/setup.sh", user=self._agent_user(step)
            ):
                raise ReferenceFailed("setup.sh")
        _healthy(self.main, step.get("healthcheck"), user=self._agent_user(step))

    def _verify_apart(
        self,
        verifier: Mapping[str, Any],
        own: Mapping[str, Any],
        tests: Sequence[Path],
        declared: Sequence[Any],
    ) -> dict[str, float]:
        """Run the tests in another container, which receives the artifacts alone."""
        image = own.get("docker_image", "")
        if not image and (tests[-1] / "Dockerfile").is_file():
            image = _built(tests[-1])
        bundled, image = bool(image), image or self.image  # such an image brings the tests
        artifacts = [
            {"source": one} if isinstance(one, str) else one
            for one in ("/logs/artifacts", *declared)
        ]
        env = {**own.get("env", {})}
        with _container(image, "--network=none", env=env) as started:
            judge = _Container(name=started.name, env=env, workdir=own.get("workdir", ""))
            for number, one in enumerate(artifacts):
                left = self.sidecars.get(one.get("service", "main"), self.main)
                copy = self.scratch / f"{number}"
                copied = _podman("cp", f"{left.name}:{one['source']}", str(copy), check=False)
                if not copied.returncode:
                    judge.put(copy, one["source"])
                for pattern in one.get("exclude", []):
                    judge.run(f"rm -rf {one['source']}/{pattern}", user=0)
            return self._verify(judge, verifier, [] if bundled else tests)

    def _verify(
        self, judge: _Container, verifier: Mapping[str, Any], tests: Sequence[Path]
    ) -> dict[str, float]:
        judge.run("rm -f /logs/verifier/reward.txt /logs/verifier/reward.json", user=0)
        for one in tests:
            judge.put(one, "/tests")
        env = {**verifier.get("env", {})}
        old = self.folder / "run-tests.sh"
        if old.is_file():  # as the reference imports it: the exit code becomes the reward
            judge.put(old, "/tests/run-tests.sh")
            code = judge.run("sh /tests/run-tests.sh", env={"TEST_DIR": "/tests"})
            return {"reward": float(code == 0)}
        judge.run("chmod +x /tests/test.sh", user=0)
        judge.run("/tests/test.sh > /logs/verifier/test-stdout.txt 2>&1",
                  user=verifier.get("user"), env=env)  # fmt: skip
        return _rewards(judge)


def _rewards(judge: _Container) -> dict[str, float]:
    """Read the rewards: ``reward.json`` before ``reward.txt``, finite numbers alone."""
    for name in ("reward.json", "reward.txt"):
        read = _podman("exec", judge.name, "cat", f"/logs/verifier/{name}", check=False)
        if read.returncode:
            continue
        try:
            value = json.loads(read.stdout) if name.endswith("json") else float(read.stdout)
        except ValueError:
            raise ReferenceFailed(f"{name} cannot be parsed") from None
        rows = value if isinstance(value, dict) else {"reward": value}
        if not all(isinstance(one, int | float) and math.isfinite(one) for one in rows.values()):
            raise ReferenceFailed(f"{name} holds no finite number")
        if name.endswith("json") and not isinstance(value, dict):
            raise ReferenceFailed(f"{name} holds no table")
        return {key: float(one) for key, one in rows.items()}
    raise ReferenceFailed("no reward file")


def _healthy(container: _Container, check: Mapping[str, Any] | None, *, user: Any = None) -> None:
    """Wait for a health check: consecutive failures after the start period count."""
    if check is None:
        return
    begun, failures = time.monotonic(), 0
    line = f"timeout {check.get('timeout_sec', 30):g} sh -c '{check['command']}'"
    while container.run(line, user=user):
        early = time.monotonic() < begun + check.get("start_period_sec", 0)
        failures += not early
        if failures >= check.get("retries", 3):
            raise ReferenceFailed("health check")
        time.sleep(check.get("start_interval_sec" if early else "interval_sec", 5))


@contextmanager
def _container(image: str, *flags: str, env: Mapping[str, str]) -> Iterator[_Container]:
    """Yield a container that waits; its entrypoint gets the command that does."""
    given = [f"-e{name}={value}" for name, value in env.items()]
    with _running(*flags, *given, image, "sh", "-c", "sleep 600") as container:
        container.run(f"mkdir -p {' '.join(_LOGS)} && chmod 777 {' '.join(_LOGS)}", user=0)
        yield container


@contextmanager
def _service(service: Mapping[str, Any], context: Path, main: _Container) -> Iterator[_Container]:
    """Yield a container of a further service, in the network of the agent's container."""
    build = service.get("build")
    build = build if isinstance(build, dict) else {"context": str(build)}
    image = service.get("image") or _built(
        context / build["context"], build.get("dockerfile", "Dockerfile")
    )
    command = service.get("command", [])
    command = ["sh", "-c", command] if isinstance(command, str) else command
    command = [word.replace("$$", "$") for word in command]
    env = [f"-e{name}={value}" for name, value in service.get("environment", {}).items()]
    with _running(f"--network=container:{main.name}", *env, image, *command) as container:
        test = service.get("healthcheck", {}).get("test", [])
        check = test if isinstance(test, str) else "".join(test[1:])
        until = time.monotonic() + 60
        while check and container.run(check) and time.monotonic() < until:
            time.sleep(0.2)
        yield container


@contextmanager
def _running(*arguments: str) -> Iterator[_Container]:
    name = _podman("run", "-d", *build_ulimits(), *arguments).stdout.strip()
    try:
        yield _Container(name=name)
    finally:
        _podman("rm", "-f", "--depend", "-t", "0", name, check=False)


def _built(context: Path, dockerfile: str = "Dockerfile") -> str:
    flags = ("-q", "--network=none", "--pull=never", f"--file={context / dockerfile}")
    return _podman("build", *flags, *build_ulimits(), str(context)).stdout.strip()


def _podman(*arguments: str, check: bool = True) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(["podman", *arguments], capture_output=True, text=True, check=check)
