"""Images are built from a task's Dockerfile alone, each content once, without a network."""

import io
import os
import shutil
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import pytest

from agon.app.containers import BuildFailed, Containers, Image, ImageSpec, Limits
from agon.errors import InvalidRule, NotFound, Unavailable, Unreadable
from agon.runners.containers import open_containers
from agon.runners.containers.images.base_image import base_archive
from agon.runners.containers.images.image_folders import writable_folders
from agon.runners.containers.images.images import base_images
from agon.runners.containers.staging import StagingFolder, content_hash
from runners.containers.course import Course, sleeping


def context(folder: Path, text: str, **files: str) -> Path:
    """Write a build context."""
    folder.mkdir()
    (folder / "Dockerfile").write_text(f"FROM localhost/agon-base:1\n{text}\n")
    for name, content in files.items():
        (folder / name).write_text(content)
    return folder


@pytest.fixture
def build(containers: Containers) -> Iterator["Build"]:
    """Build images and remove them afterwards."""
    built = []

    def remembered(recipe: ImageSpec) -> Image:
        image = containers.build(recipe)
        built.append(image.reference)
        return image

    yield remembered
    for reference in dict.fromkeys(built):
        # Another process that cleans may have removed it.
        subprocess.run(["podman", "rmi", "-f", reference], capture_output=True, check=False)


Build: TypeAlias = Callable[[ImageSpec], Image]


@pytest.mark.exhaustive
def test_the_same_content_is_built_once(build: Build, tmp_path: Path) -> None:
    """Names and times of the folder do not count; other content is another image."""
    text = f"COPY data /app/data\n# {os.urandom(4).hex()}"
    first = build(ImageSpec(context=context(tmp_path / "a", text, data="x")))
    second = build(ImageSpec(context=context(tmp_path / "b", text, data="x")))
    third = build(ImageSpec(context=context(tmp_path / "c", text, data="y")))
    assert (first.cached, second.cached, third.cached) == (False, True, False)
    assert first.reference == second.reference != third.reference


@pytest.mark.exhaustive
def test_an_agent_sees_what_the_image_has_in_its_writable_folders(course: Course) -> None:
    """They are mounted empty and filled again at each start, hidden names and links too."""
    run = course.agent("cat provided linked; ls -ld tools/helper | cut -c1-10; echo x >> provided")
    assert run.account.stdout.path.read_text() == "provided\nprovided\n-rwxr-xr-x\n"
    assert run.account.exit_code == 0


def test_an_image_keeps_its_user_and_its_volumes(
    build: Build, containers: Containers, tmp_path: Path
) -> None:
    """An image's own user works in folders that belong to root, which every user may write."""
    recipe = ImageSpec(context=context(
        tmp_path / "image",
        "RUN mkdir -p /srv/data && echo kept > /srv/data/kept && chown -R nobody /srv\n"
        'VOLUME /srv/data\nENTRYPOINT ["/bin/false"]\nUSER nobody\nENV PATH=/bin:/app/bin',
    ), writable=("/var/cache/mine",))  # fmt: skip
    image = build(recipe)
    again = build(recipe)
    assert (again.cached, again.reference) == (True, image.reference)
    assert image.user == "nobody"
    assert {"/srv", "/var/cache/mine"} <= set(image.writable)
    course = Course(containers, image, tmp_path)
    result = course.both(
        "id -u; echo $PATH; cat /srv/data/kept; echo 42 > answer; mkdir d; echo 1 > d/e; "
        "echo x > /srv/data/new && echo x > /var/cache/mine/new",
        "id -u; cmp /app/answer /tests/expected && cat /app/d/e && echo more >> /app/d/e",
    )
    assert result.run.account.stdout.path.read_text() == "65534\n/bin:/app/bin\nkept\n"
    assert (result.run.account.exit_code, result.outcome) == (0, "passed")


@pytest.mark.exhaustive
def test_a_dockerfile_that_fails_says_where(containers: Containers, tmp_path: Path) -> None:
    """The end of its log is in the message."""
    folder = context(tmp_path / "image", "RUN echo the cause && exit 3")
    with pytest.raises(BuildFailed, match="the cause"):
        containers.build(ImageSpec(context=folder))


def test_an_image_that_is_not_there_is_named(containers: Containers, tmp_path: Path) -> None:
    """Nothing is pulled, so that online and offline machines behave in the same way."""
    folder = tmp_path / "image"
    folder.mkdir()
    (folder / "Dockerfile").write_text("FROM localhost/nowhere:1\n")
    with pytest.raises(BuildFailed, match="localhost/nowhere:1 does not exist here"):
        containers.build(ImageSpec(context=folder))
    with pytest.raises(BuildFailed, match="localhost/nowhere:2 does not exist here"):
        containers.build(ImageSpec(image="localhost/nowhere:2"))
    with pytest.raises(BuildFailed, match="Dockerfile cannot be read"):
        containers.build(ImageSpec(context=tmp_path))


@pytest.mark.exhaustive
def test_a_build_has_no_network_and_a_limit_of_time(
    build: Build, containers: Containers, tmp_path: Path
) -> None:
    """A task's Dockerfile is no more trusted than an agent."""
    text = f"RUN ls /sys/class/net > /app/net && echo {os.urandom(4).hex()}"
    image = build(ImageSpec(context=context(tmp_path / "a", text)))
    course = Course(containers, image, tmp_path)
    assert course.agent("cat net").account.stdout.path.read_text() == "lo\n"
    number = 2 * 10**6 + os.getpid()
    slow = context(tmp_path / "b", f"RUN sleep {number} # {os.urandom(4).hex()}")
    with pytest.raises(BuildFailed, match="more than 2 s"):
        containers.build(ImageSpec(context=slow, timeout_s=2))
    assert not sleeping(number)


@pytest.mark.exhaustive
def test_an_image_that_is_there_can_be_used_as_it_is(
    containers: Containers, tmp_path: Path
) -> None:
    """Tasks may name an image instead of a Dockerfile."""
    image = containers.build(ImageSpec(image="localhost/agon-base:1"))
    assert Course(containers, image, tmp_path).agent("pwd").outcome == "finished"
    assert containers.build(ImageSpec(image="localhost/agon-base:1")).cached


@pytest.mark.exhaustive
def test_own_files_larger_than_the_storage_leave_the_trial_unscored(
    build: Build, containers: Containers, tmp_path: Path
) -> None:
    """The error is the task's; the message says what does not fit."""
    folder = context(tmp_path / "image", "RUN head -c 3m /dev/zero > /app/large")
    course = Course(containers, build(ImageSpec(context=folder)), tmp_path)
    run = course.agent("true", bounds=Limits(timeout_s=5, memory_mib=64, storage_mib=1))
    assert run.outcome == "unscored"
    assert "/app" in run.reason
    assert "than the 1 MiB that the task's storage allows" in run.reason


@pytest.mark.parametrize("path", ["/", "/etc", "/usr/bin/x", "/usr", "/tests", "srv", "/a/../b"])
def test_commands_cannot_be_made_writable(path: str) -> None:
    """An agent that can replace ``timeout`` has no limit."""
    with pytest.raises(InvalidRule):
        writable_folders((path,))


def test_stages_and_case_do_not_confuse_the_list_of_bases() -> None:
    """The base images are part of the cache's key."""
    text = "from A AS build\nFROM --platform=linux/amd64 b:2 as Other\nFROM other\nFROM scratch\n"
    assert base_images(text) == ["A", "b:2"]


def test_the_hash_of_a_folder_is_of_its_content(tmp_path: Path) -> None:
    """Names, kinds, contents and whether a file may be run; neither times nor owners."""
    one, two = tmp_path / "one", tmp_path / "two"
    for folder in (one, two):
        (folder / "sub").mkdir(parents=True)
        (folder / "sub" / "file").write_text("x")
        (folder / "link").symlink_to("sub/file")
    assert content_hash(one) == content_hash(two) != content_hash(one, "further")
    seen = {content_hash(two)}
    (two / "sub" / "file").chmod(0o755)
    seen.add(content_hash(two))
    (two / "link").unlink()
    seen.add(content_hash(two))
    (two / "link").write_text("sub/file")
    seen.add(content_hash(two))
    assert len(seen) == 4
    os.mkfifo(two / "pipe")
    with pytest.raises(Unreadable, match="pipe"):
        content_hash(two)


def test_a_stage_copies_once_and_rejects_links_that_lead_out(tmp_path: Path) -> None:
    """Changes on the host while trials run have no effect inside."""
    source, folder = tmp_path / "source", tmp_path / "stage"
    source.mkdir()
    folder.mkdir()
    (source / "a").write_text("1")
    (source / "b").symlink_to("a")
    stage = StagingFolder(folder)
    copy = stage.show(source)
    (source / "a").write_text("2")
    assert stage.show(source) == copy
    assert ((copy / "a").read_text(), (copy / "b").read_text()) == ("1", "1")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "out").symlink_to("/etc/passwd")
    with pytest.raises(Unreadable, match="leads out"):
        stage.show(outside)
    with pytest.raises(NotFound, match="missing"):
        stage.show(tmp_path / "missing")


def test_the_base_image_is_the_same_every_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its content is the key of all caches above it."""
    first = base_archive()
    assert first == base_archive()
    with tarfile.open(fileobj=io.BytesIO(first)) as archive:
        names = set(archive.getnames())
    assert {"bin/sh", "bin/tar", "bin/timeout", "tmp", "etc/passwd"} <= names
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)
    with pytest.raises(Unavailable, match="busybox-static"):
        base_archive()


def test_built_images_can_be_removed_on_request(tmp_path: Path) -> None:
    """Only then, since they make the next run quick; the engine writes its commands to a file."""
    notes, real = tmp_path / "notes", shutil.which("podman")
    removed = tmp_path / "removed"
    engine = tmp_path / "podman"
    engine.write_text(
        f'#!/bin/sh\n[ $1 != info ] || exec {real} "$@"\necho $* >> {notes}\n'
        f"[ $1 != rm ] || touch {removed}\n"
        "[ $1 != images ] || printf 'one\\ntwo\\none\\n'\n"
        f"[ $1 != ps ] || [ -e {removed} ] || case $* in\n"
        "*agon.process*) ;;\n"  # opening looks for what ended processes left
        "*--external*) echo 'half agon-0123456789ab-0123456789ab-1'; echo 'other web-1' ;;\n"
        "*) echo lost ;; esac\n"
    )
    engine.chmod(0o755)
    with open_containers(str(engine)) as opened:
        cleaned = opened.clean(images=True)
        removed.unlink()
        of_run = opened.clean("r")
    assert (cleaned.containers, cleaned.images) == (2, 2)
    assert (of_run.containers, of_run.images) == (1, 0)
    lines = [line for line in notes.read_text().splitlines() if "agon.process" not in line]
    listed = [
        "ps -a -q --no-trunc --filter=label=agon.run",
        "ps -a --no-trunc --external --format={{.ID}} {{.Names}}",
    ]
    assert lines[:9] == [
        *listed,
        "rm -f -v -t 0 --depend lost half",
        *listed,
        "network ls --quiet --filter=label=agon.run",
        "images -q --no-trunc --filter=label=agon.writable",
        "rmi -f one",
        "rmi -f two",
    ]
    assert lines[9] == "ps -a -q --no-trunc --filter=label=agon.run=r"
