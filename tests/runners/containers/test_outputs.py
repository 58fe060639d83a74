"""The tests receive what an agent did anywhere but in the image's system, and nothing else."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from agon.app.containers import Containers, Image, ImageSpec, Outputs
from runners.containers.course import Course

DOCKERFILE = """\
FROM localhost/agon-base:1
RUN mkdir -p /opt/tool/bin /venv/bin /work/src /var/log /data \\
    && ln -s /bin/sh /work/shell && ln -s ../../bin/sh /work/src/shell && ln -s / /work/all \\
    && ln -s /tmp /work/scratch && echo one > /work/one && echo two > /work/two \\
    && echo 'A=image' > /root/.profile && echo kept > /root/notes && echo log > /var/log/old
ENV PATH=/venv/bin:/opt/tool/bin:/bin
WORKDIR /work/src
"""


@pytest.fixture(scope="module")
def elsewhere(containers: Containers, tmp_path_factory: pytest.TempPathFactory) -> Image:
    """Build an image whose working folder is not ``/app``."""
    context = tmp_path_factory.mktemp("elsewhere")
    (context / "Dockerfile").write_text(DOCKERFILE)
    return containers.build(ImageSpec(context=context, optional=("/results", "/usr/lib", "/opt")))


@pytest.fixture
def trial(course: Course, elsewhere: Image) -> Callable[..., tuple[str, str, Outputs]]:
    """Run an agent and tests there; return the outcome, what the tests printed and the outputs."""
    there = replace(course, image=elsewhere)

    def run(agent: str, tests: str, *further: str) -> tuple[str, str, Outputs]:
        result = there.both(agent, tests, outputs=(*elsewhere.outputs, *further))
        assert result.run.outputs is not None, result.reason
        return result.outcome, result.printed(), result.run.outputs

    return run


def test_the_working_folder_and_other_folders_of_a_task_are_handed_over(elsewhere: Image) -> None:
    """The system, the tools on the path and temporary folders are not."""
    assert elsewhere.workdir == "/work/src"
    assert {"/data", "/home", "/results", "/root", "/var/log", "/work"} <= set(elsewhere.outputs)
    assert not {"/opt", "/usr/lib", "/venv"} & set(elsewhere.outputs)
    assert not any(folder.endswith("tmp") for folder in elsewhere.outputs)


def test_work_in_any_folder_reaches_the_tests(
    trial: Callable[..., tuple[str, str, Outputs]],
) -> None:
    """Relative paths begin in the working folder, in both containers; what was deleted is gone."""
    agent = (
        "pwd; echo 42 > answer; rm ../two; echo x > ~/result; echo x > /results/a; "
        "echo x >> /var/log/old; echo x > /data/new; echo x > /tmp/mine"
    )
    tests = (
        "pwd; cmp answer /tests/expected && cat /work/src/answer /work/one /root/result "
        "/root/notes /results/a /var/log/old /data/new && [ ! -e /work/two ] && [ ! -e /tmp/mine ]"
    )
    outcome, printed, _ = trial(agent, tests)
    assert (outcome, printed) == ("passed", "/work/src\n42\none\nx\nkept\nx\nlog\nx\nx\n")


@pytest.mark.exhaustive
def test_files_in_temporary_folders_can_be_declared(
    trial: Callable[..., tuple[str, str, Outputs]],
) -> None:
    """Tests use these folders for files of their own, so nothing else in them is handed over."""
    agent = "echo 42 > /tmp/answer; echo 42 > /tmp/other"
    tests = "cat /tmp/answer; [ ! -e /tmp/other ]"
    outcome, _, outputs = trial(agent, tests, "/tmp/answer")  # noqa: S108  # the container's
    assert outcome == "passed"
    assert not any("other" in entry.name for entry in outputs.left_out)


@pytest.mark.exhaustive
def test_links_of_the_image_stay_and_links_to_its_programs_pass(
    trial: Callable[..., tuple[str, str, Outputs]],
) -> None:
    """Virtual environments consist of such links."""
    agent = "mkdir -p env/bin; ln -s /bin/sh env/bin/sh; ln -s /work/one copy; ln -s /data/x later"
    tests = (
        "for l in ../shell shell env/bin/sh copy later; do readlink $l; done; "
        "env/bin/sh -c 'cat copy'"
    )
    outcome, printed, outputs = trial(agent, tests)
    assert outcome == "passed"
    assert printed.split() == ["/bin/sh", "../../bin/sh", "/bin/sh", "/work/one", "/data/x", "one"]
    assert {entry.name for entry in outputs.left_out} == {"work/all", "work/scratch"}


def test_no_link_of_an_agent_leads_to_the_tests(
    trial: Callable[..., tuple[str, str, Outputs]],
) -> None:
    """Not through a link of the image either, nor to where tests put copies."""
    targets = [
        "/tests/expected", "/work/all/tests/expected", "../all/tests/expected", "/logs/x",
        "/proc/self/root/tests", "/usr/../tests/expected", "/work/scratch/copy",
        "../scratch/copy", "/tmp/copy", "/",  # noqa: S108  # the container's
    ]  # fmt: skip
    agent = "; ".join(f"ln -s {target} answer{at}" for at, target in enumerate(targets))
    tests = (
        "cp /tests/expected /tmp/copy; "
        "for file in answer*; do ! cmp $file /tests/expected 2>&1 || exit 0; done; exit 1"
    )
    outcome, printed, outputs = trial(agent, tests)
    assert outcome == "failed"
    assert "differ" not in printed
    names = {entry.name for entry in outputs.left_out}
    assert {name for name in names if "answer" in name} == {
        f"work/src/answer{at}" for at, target in enumerate(targets) if target[1:5] != "work"
        and not target.startswith("../")
    }  # fmt: skip


@pytest.mark.exhaustive
def test_settings_of_home_folders_stay_as_the_image_has_them(
    trial: Callable[..., tuple[str, str, Outputs]],
) -> None:
    """Shells, Python and git read them by themselves, so they would run with the tests."""
    agent = (
        "echo A=agent > ~/.profile; mkdir -p ~/.local/bin; echo x > ~/.local/bin/x; echo 1 > ~/a"
    )
    tests = ". ~/.profile; cat ~/a; [ $A = image ] && [ ! -e ~/.local ]"
    outcome, _, outputs = trial(agent, tests)
    assert outcome == "passed"
    assert {entry.name for entry in outputs.left_out} >= {"root/.profile", "root/.local/bin/x"}
    assert any("declare it as an output" in entry.reason for entry in outputs.left_out)
    assert trial(agent, ". ~/.profile; [ $A = agent ] && [ ! -e ~/.local ]", "/root/.profile")[
        0
    ] == ("passed")


@pytest.mark.exhaustive
def test_the_system_of_an_image_cannot_be_changed(
    trial: Callable[..., tuple[str, str, Outputs]],
) -> None:
    """Programs, libraries, their settings, and tools in folders that only the path names."""
    agent = (
        "for f in /bin/x /etc/ld.so.preload /etc/profile /opt/tool/bin/cmp /venv/bin/cmp "
        "/usr/x /x; do echo x > $f && echo $f; done 2> /dev/null; true"
    )
    outcome, _, outputs = trial(agent, "ls /venv/bin /opt/tool/bin; test ! -e /etc/profile")
    assert outcome == "passed"
    assert outputs.path.with_name("stdout.txt").read_text() == ""


@pytest.mark.exhaustive
def test_a_home_folder_with_programs_on_the_path_is_not_handed_over(
    course: Course, containers: Containers, tmp_path: Path
) -> None:
    """The tests would run what the agent put there; the working folder within it is."""
    context = tmp_path / "environment"
    context.mkdir()
    (context / "Dockerfile").write_text(
        "FROM localhost/agon-base:1\nRUN mkdir -p /root/conda/bin && cp /bin/cmp /root/conda/bin\n"
        "ENV PATH=/root/conda/bin:/root/.local/bin:/bin\nWORKDIR /root/work\n"
    )
    there = replace(course, image=containers.build(ImageSpec(context=context)))
    assert "/root/work" in there.image.outputs
    assert "/root" not in there.image.outputs
    forger = "printf '#!/bin/sh\\nexit 0\\n' > ~/conda/bin/cmp; chmod 755 ~/conda/bin/cmp; "
    tests = "cmp answer /tests/expected"
    assert there.both(forger, tests, outputs=there.image.outputs).outcome == "failed"
    honest = there.both(f"{forger} echo 42 > answer", tests, outputs=there.image.outputs)
    assert honest.outcome == "passed"
