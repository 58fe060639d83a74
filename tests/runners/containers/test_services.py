"""Services of a trial work in its network before the agent begins, until the tests have ended."""

from dataclasses import replace

import pytest

from agon.app.containers import HealthCheck, ServiceSpec, TaskTests
from agon.errors import Unavailable
from runners.containers.conftest import running
from runners.containers.course import QUICK, Course


def service(course: Course, name: str, script: str, **further: object) -> ServiceSpec:
    """Return a service whose command is a script."""
    spec = ServiceSpec(name=name, image=course.image, command=("sh", "-c", script), limits=QUICK)
    return replace(spec, **further)  # type: ignore[arg-type]  # the names differ in type


def test_services_answer_agent_and_tests_by_name(course: Course) -> None:
    """A service that others wait for has ended, one with a health check works, both by names."""
    trial = course.trial()
    (trial.folder / "tests").mkdir()
    (trial.folder / "tests/test.sh").write_text(
        "#!/bin/sh\ncmp answer /tests/expected && [ $(nc store 5000 < /dev/null) = 42 ]\n"
    )
    (trial.folder / "tests/expected").write_text("42\n")
    services = (
        service(course, "setup", "exit 0"),
        service(
            course, "db", "echo 42 > value; exec nc -ll -p 5000 -e cat /app/value",
            depends_on=(("setup", "completed"),), aliases=("store",),
            health=HealthCheck(command=("sh", "-c", "nc db 5000 < /dev/null"), patience_s=60),
        ),
    )  # fmt: skip
    with course.containers.open_network(
        course.image, trial=trial, services=services, main="client"
    ) as placed:
        run = course.containers.run_agent(
            course.image,
            ("sh", "-c", "nc db 5000 < /dev/null > answer; cat /etc/hosts; ls /app/value"),
            trial=placed,
            limits=QUICK,
        )
        assert run.outputs is not None
        assert not run.servers
        verification = course.containers.verify(
            course.image,
            run.outputs,
            TaskTests(folder=trial.folder / "tests"),
            trial=placed,
            limits=QUICK,
        )
        assert len(running(course.run_name)) == 2
    assert (verification.outcome, verification.reason) == ("passed", "")
    printed = run.account.stdout.path.read_text()
    assert {"127.0.0.1 client", "127.0.0.1 db", "127.0.0.1 store"} <= set(printed.splitlines())
    assert "/app/value" not in printed
    shared = [flag for flag in verification.account.flags if "seccomp" in flag]
    assert shared[0].endswith("verifier-shared.json")
    assert running(course.run_name) == []


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("further", "what"),
    [
        ({"health": HealthCheck(command=("false",), interval_s=0.1, patience_s=0.1)}, "healthy"),
        (
            {"depends_on": (("setup", "completed"),)},
            r"setup is not completed \(broken\)",
        ),
    ],
)
def test_a_service_that_does_not_work_is_named(
    course: Course, further: dict[str, object], what: str
) -> None:
    """The trial has no score then: the agent has not begun."""
    services = (
        service(course, "setup", "echo broken >&2; exit 3"),
        service(course, "db", "sleep 60", **further),
    )
    opening = course.containers.open_network(
        course.image, trial=course.trial(), services=services, main="client"
    )
    with pytest.raises(Unavailable, match=what), opening:
        pytest.fail("the agent began")
    assert running(course.run_name) == []
