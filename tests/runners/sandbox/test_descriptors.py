"""A program reaches no descriptor of its supervisor, however many that has."""

import os
import resource
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from agon.app.sandbox import Mode, RunRequest
from agon.runners.sandbox.inside.wire import Report
from agon.runners.sandbox.isolation import isolation_of
from agon.runners.sandbox.pool import Pool
from agon.runners.sandbox.zygote import Zygote

WRITER = b"""
import os
def solver():
    written = 0
    for number in range(4, 9000):
        try:
            written += os.write(number, b"x" * 50) > 0
        except OSError:
            pass
    return [written]
"""


@pytest.fixture
def many_descriptors() -> Iterator[None]:
    """Open 2,000 descriptors, so that every later one has a higher number."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with ExitStack() as opened:
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 5000)), hard))
        opened.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        for _ in range(2000):
            opened.callback(os.close, os.open("/dev/null", os.O_RDONLY))
        yield


@pytest.mark.sample(1)
@pytest.mark.usefixtures("many_descriptors")
@pytest.mark.parametrize("mode", ["bwrap", "degraded"])
def test_a_program_cannot_shift_the_answers_of_others(mode: Mode) -> None:
    """What it writes to its zygote's socket would be read as the report of the next run."""
    with Pool(isolation_of(mode), workers=1) as sandbox:
        for number in range(15):
            assert sandbox.run(RunRequest(source=WRITER, n_check=1)).terms == ("0",)
            source = f"solver = lambda: [{number}]\n".encode()
            run = sandbox.run(RunRequest(source=source, n_check=1))
            assert (run.terms, run.attempts) == ((str(number),), 1)


def test_a_report_of_another_request_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A shifted report belongs to another program: the run is lost and made again elsewhere."""
    receive = Zygote._receive
    shifted: list[bytes] = []

    def shift(zygote: Zygote, size: int, *, within_s: float) -> bytes:
        record = receive(zygote, size, within_s=within_s)
        if within_s < 60 and not shifted:
            shifted.append(record)
            return Report.unpack(record)._replace(number=1).pack()
        return record

    with Pool(isolation_of("degraded"), workers=1, tested=False) as sandbox:
        monkeypatch.setattr(Zygote, "_receive", shift)
        run = sandbox.run(RunRequest(source=b"solver = lambda: [5]", n_check=1))
    assert len(shifted) == 1
    assert (run.terms, run.attempts) == (("5",), 2)
