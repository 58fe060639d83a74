"""Open a real container engine; without one the tests that need it fail."""

import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from agon.app.containers import Containers, Image, ImageSpec
from agon.runners.containers import open_containers, provide_base_image
from runners.containers.coreutils_image import import_coreutils_image
from runners.containers.course import Course
from runners.containers.forgery import SETTINGS, Kind

DOCKERFILE = """\
FROM localhost/agon-base:1
WORKDIR /app
RUN echo provided > /app/provided && mkdir -p tools && echo '#!/bin/sh' > tools/helper \\
    && chmod 755 tools/helper && ln -s provided linked
"""


@pytest.fixture(scope="session")
def tests_of_runs() -> dict[str, str]:
    """Return the tests that ran trials, by the names of their runs."""
    return {}


@pytest.fixture(scope="session")
def containers(tests_of_runs: dict[str, str]) -> Iterator[Containers]:
    """Open the containers of the installed engine; at the end none of any test may run."""
    provide_base_image()
    with open_containers() as opened:
        yield opened
        names = _podman("ps", "--filter=label=agon.run", '--format={{index .Labels "agon.run"}}')
        assert [tests_of_runs[name] for name in names if name in tests_of_runs] == []


@pytest.fixture(scope="session")
def image(containers: Containers, tmp_path_factory: pytest.TempPathFactory) -> Image:
    """Build the image of most tests."""
    context = tmp_path_factory.mktemp("environment")
    (context / "Dockerfile").write_text(DOCKERFILE)
    return containers.build(ImageSpec(context=context))


@pytest.fixture
def course(
    containers: Containers,
    image: Image,
    tmp_path: Path,
    tests_of_runs: dict[str, str],
    request: pytest.FixtureRequest,
) -> Course:
    """Return trials on the image, none of whose containers may run at the end."""
    made = Course(containers, image, tmp_path)
    tests_of_runs[made.run_name] = request.node.nodeid
    return made


@pytest.fixture(scope="session")
def coreutils(containers: Containers) -> Image:
    """Build an image like Debian's."""
    return containers.build(ImageSpec(image=import_coreutils_image()))


@pytest.fixture(scope="session")
def settings(containers: Containers, tmp_path_factory: pytest.TempPathFactory) -> Image:
    """Build an image like Debian's whose variables name places in ``/app``."""
    context = tmp_path_factory.mktemp("settings")
    (context / "Dockerfile").write_text(f"FROM {import_coreutils_image()}\n{SETTINGS}")
    return containers.build(ImageSpec(context=context))


@pytest.fixture(scope="session")
def bash(containers: Containers, tmp_path_factory: pytest.TempPathFactory) -> Image:
    """Build an image like Fedora's, where bash is the ``sh``."""
    context = tmp_path_factory.mktemp("bash")
    (context / "Dockerfile").write_text(
        f"FROM {import_coreutils_image()}\nRUN ln -sf bash /usr/bin/sh\n"
    )
    return containers.build(ImageSpec(context=context))


@pytest.fixture
def courses(course: Course, request: pytest.FixtureRequest) -> Callable[[Kind], Course]:
    """Return the trials on an image by its kind, which is built when a test needs it."""

    def on(kind: Kind) -> Course:
        if kind == "busybox":
            return course
        return replace(course, image=request.getfixturevalue(kind))

    return on


def running(run_name: str) -> list[str]:
    """List the containers of a run that are running."""
    return _podman("ps", "-q", f"--filter=label=agon.run={run_name}")


def _podman(*arguments: str) -> list[str]:
    listed = subprocess.run(["podman", *arguments], capture_output=True, text=True, check=True)
    return listed.stdout.split()
