"""What processes of an earlier boot left is theirs, whoever has their ids today."""

import os
from dataclasses import replace

import pytest

from agon.runners.containers import open_containers, owner_process
from agon.runners.containers.engine import find_engine
from agon.runners.containers.isolation import LABEL, PROCESS_LABEL
from agon.runners.containers.owner_process import ProcessPlace, has_ended, process_label
from runners.containers.course import Course

HERE = ProcessPlace(machine="m1", boot="b2", namespace="7")


def label_at(monkeypatch: pytest.MonkeyPatch, place: ProcessPlace) -> str:
    """Return the label of this process as a process of another place would write it."""
    with monkeypatch.context() as there:
        there.setattr(owner_process, "this_place", lambda: place)
        return process_label()


@pytest.mark.parametrize(
    ("place", "ended"),
    [
        (HERE, False),
        (replace(HERE, boot="b1"), True),
        (replace(HERE, boot="b1", namespace="9"), True),
        (replace(HERE, namespace="9"), False),
        (replace(HERE, machine="m9", boot="b1"), False),
        (replace(HERE, machine="", boot="b1"), False),
    ],
)
def test_a_process_of_an_earlier_boot_of_this_machine_has_ended(
    monkeypatch: pytest.MonkeyPatch, place: ProcessPlace, *, ended: bool
) -> None:
    """Its id and start time are this process's: the boot decides, then machine and namespace."""
    label = label_at(monkeypatch, place)
    monkeypatch.setattr(owner_process, "this_place", lambda: HERE)
    assert has_ended(label) is ended


def test_a_container_does_not_know_its_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """The id in its files may be its image's: other machines that share the engine are not ours."""
    nowhere = replace(HERE, machine="")
    label = label_at(monkeypatch, replace(nowhere, boot="b1"))
    monkeypatch.setattr(owner_process, "this_place", lambda: nowhere)
    assert not has_ended(label)


@pytest.mark.exhaustive
def test_the_next_run_removes_what_an_earlier_boot_left(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without ``agon challenge clean``; what a process of today owns stays."""
    place = owner_process.this_place()
    if not place.machine:
        pytest.skip("these tests run in a container, which does not know its machine")
    engine, name = find_engine(), f"boot-{os.getpid()}"
    labels = {
        f"{name}-before": label_at(monkeypatch, replace(place, boot="earlier")),
        f"{name}-today": process_label(),
    }
    try:
        for each, label in labels.items():
            own = (f"--label={LABEL}.run={name}", f"--label={PROCESS_LABEL}={label}")
            engine.ask("network", "create", "--internal", *own, each)
            engine.ask("create", f"--name={each}", *own, course.image.reference, "true")
        open_containers().close()
        assert engine.inspect("container", f"{name}-before") is None
        assert engine.inspect("container", f"{name}-today") is not None
        networks = engine.ask("network", "ls", f"--filter=label={LABEL}.run={name}")
        assert (f"{name}-before" in networks, f"{name}-today" in networks) == (False, True)
    finally:
        course.containers.clean(name)
