"""Verdicts follow from the kernel's account and bytes, and from nothing else."""

import re
import signal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agon.app.sandbox import RunLimits, RunRequest
from agon.runners.sandbox.inside.wire import Report
from agon.runners.sandbox.verdicts import WorkerLost, decide, printable
from sizes import size

JOB = RunRequest(source=b"", n_check=3, limits=RunLimits(cpu_s=1, wall_s=2, max_term_digits=4))
CLEAN = Report(
    number=0, ready=True, expired=False, status=0, cpu_us=1000, wall_us=2000, memory_kib=10, waits=1
)
FAILS = {"wrong_type", "runtime_error", "memory_limit", "output_limit", "syntax_error"}


def test_a_well_formed_answer_is_ok_and_cut_at_the_terms_wanted() -> None:
    """Terms past n_check are ignored."""
    verdict = decide(CLEAN, b"ok\n1\n-22\n0\n9999\nend\n", JOB)
    assert (verdict.outcome, verdict.terms) == ("ok", ("1", "-22", "0"))


@pytest.mark.parametrize(
    "answer",
    [
        b"ok\n1_000\nend\n", b"ok\n+5\nend\n", b"ok\n-0\nend\n", b"ok\n05\nend\n", b"ok\n\nend\n",
        b"ok\n 5\nend\n", b"ok\n5 \nend\n", b"ok\n5\r\nend\n", b"ok\n5\0\nend\n", b"ok\n1e3\nend\n",
        b"ok\n12345\nend\n", b"ok\n-12345\nend\n", b"ok\n5\n", b"ok\nend", b"ok", b"end\n",
        b"OK\n5\nend\n", b"ok\n5\nend\n\n", b"ok\n5\nend\nok\n5\nend\n", b"\xef\xbb\xbfok\nend\n",
        "ok\n\uff15\nend\n".encode(), b"ok\n0x5\nend\n", b"sandbox_error\nplease",
        b"time_limit\nno",
    ],
)  # fmt: skip
def test_an_answer_that_is_not_well_formed_is_a_fail(answer: bytes) -> None:
    """Only the text our own child writes is read; everything else costs the program, not us."""
    verdict = decide(CLEAN, answer, JOB)
    assert (verdict.outcome, verdict.terms) == ("runtime_error", ())


@settings(max_examples=size(300), deadline=None)
@given(
    st.binary(max_size=40)
    | st.lists(st.sampled_from([b"ok", b"end", b"-", b"0", b"17", b"\n", b"_", b"\xd9\xa1"])).map(
        b"".join
    )
)
def test_no_bytes_can_do_more_than_spoil_their_own_verdict(answer: bytes) -> None:
    """Whatever is left, reading it gives integers as text, or a fail."""
    verdict = decide(CLEAN, answer, JOB)
    assert verdict.outcome == "ok" or verdict.outcome in FAILS
    assert all(str(int(term)) == term and len(term.lstrip("-")) <= 4 for term in verdict.terms)
    assert verdict.reason.isprintable()


def test_a_long_answer_is_read_in_linear_time() -> None:
    """A megabyte of digits is rejected before it is parsed as a number."""
    job = RunRequest(source=b"")
    assert decide(CLEAN, b"ok\n" + b"9" * (1 << 20), job).outcome == "runtime_error"
    many = b"ok\n" + b"7\n" * 500_000 + b"end\n"
    assert decide(CLEAN, many, job).terms == ("7",) * 200


@pytest.mark.parametrize(
    ("number", "outcome"),
    [
        (signal.SIGPROF, "time_limit"),
        (signal.SIGXCPU, "time_limit"),
        (signal.SIGXFSZ, "output_limit"),
        (signal.SIGSYS, "runtime_error"),
        (signal.SIGSEGV, "runtime_error"),
        (signal.SIGBUS, "runtime_error"),
        (signal.SIGFPE, "runtime_error"),
        (signal.SIGILL, "runtime_error"),
    ],
)
def test_a_signal_of_the_kernel_has_its_verdict(number: int, outcome: str) -> None:
    """Each limit ends a process with a signal of its own, whatever it has written."""
    answer = b"ok\n1\n2\n3\nend\n"
    verdict = decide(CLEAN._replace(status=number), answer, JOB)
    assert (verdict.outcome, verdict.terms, verdict.doubtful) == (outcome, (), False)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_from_outside_is_our_fault(number: int) -> None:
    """A program cannot send signals, so another process did: the run is repeated, not failed."""
    with pytest.raises(WorkerLost, match="outside"):
        decide(CLEAN._replace(status=number), b"ok\nend\n", JOB)


def test_a_wall_that_did_not_stand_is_our_fault() -> None:
    """Then the source was never read."""
    with pytest.raises(WorkerLost):
        decide(CLEAN._replace(ready=False), b"ok\nend\n", JOB)


@pytest.mark.parametrize(
    ("cpu_s", "outcome", "doubtful"),
    [(0.99, "ok", False), (1.0, "ok", False), (1.01, "time_limit", True),
     (1.29, "time_limit", True)],
)  # fmt: skip
def test_a_run_just_above_its_processor_time_is_doubtful(
    cpu_s: float, outcome: str, *, doubtful: bool
) -> None:
    """It ended by itself, so it has a result; on a quieter machine it may be below."""
    verdict = decide(CLEAN._replace(cpu_us=round(cpu_s * 1e6)), b"ok\nend\n", JOB)
    assert (verdict.outcome, verdict.doubtful) == (outcome, doubtful)


@pytest.mark.parametrize(("cpu_s", "doubtful"), [(0.2, True), (1.2, False)])
def test_a_run_that_waited_too_long_is_doubtful_unless_it_computed(
    cpu_s: float, *, doubtful: bool
) -> None:
    """With processor time left, the machine may have delayed it."""
    report = CLEAN._replace(expired=True, status=9, cpu_us=round(cpu_s * 1e6), waits=2)
    verdict = decide(report, b"", JOB)
    assert (verdict.outcome, verdict.doubtful) == ("time_limit", doubtful)


@pytest.mark.parametrize(
    ("cpu_s", "waits", "outcome"),
    [(0.2, 1, "sandbox_error"), (0.49, 0, "sandbox_error"), (0.99, 1, "sandbox_error"),
     (0.2, 2, "time_limit"), (0.99, 2, "time_limit")],
)  # fmt: skip
def test_a_run_that_was_kept_from_computing_is_our_fault(
    cpu_s: float, waits: int, outcome: str
) -> None:
    """It never waited by itself and had less than its processor time: it is run again."""
    report = CLEAN._replace(expired=True, status=9, cpu_us=round(cpu_s * 1e6), waits=waits)
    verdict = decide(report, b"", JOB)
    assert (verdict.outcome, verdict.doubtful) == (outcome, True)


def test_a_run_that_had_its_processor_time_or_the_whole_wall_is_over_its_limit() -> None:
    """Only what the machine withheld is our fault, not a wall that is below the processor time."""
    spent = CLEAN._replace(expired=True, status=9, cpu_us=1_200_000, waits=1)
    assert decide(spent, b"", JOB).outcome == "time_limit"
    short = RunRequest(source=b"", limits=RunLimits(cpu_s=5.0, wall_s=1.0))
    looped = CLEAN._replace(expired=True, status=9, cpu_us=980_000, waits=1)
    assert decide(looped, b"", short).outcome == "time_limit"


@pytest.mark.parametrize(
    "changed",
    [{"expired": True, "status": 9}, {"status": signal.SIGPROF}, {"status": signal.SIGSEGV},
     {"cpu_us": 1_200_000}],
)  # fmt: skip
def test_a_run_that_cannot_end_for_want_of_memory_is_over_that_limit(
    changed: dict[str, Any],
) -> None:
    """Frames that get no memory end in errors about errors, or in none at all."""
    full = CLEAN._replace(memory_kib=JOB.limits.memory_mib << 10, **changed)
    assert decide(full, b"", JOB).outcome == "memory_limit"
    assert decide(CLEAN._replace(**changed), b"", JOB).outcome != "memory_limit"


def test_an_exit_code_is_a_fail_even_with_an_answer() -> None:
    """Our child ends with zero; another code is the program's own doing."""
    verdict = decide(CLEAN._replace(status=77 << 8), b"ok\n1\nend\n", JOB)
    assert (verdict.outcome, verdict.reason) == ("runtime_error", "ended itself with exit code 77")


@settings(max_examples=size(100), deadline=None)
@given(st.binary(max_size=3000))
def test_a_reason_is_one_printable_line(said: bytes) -> None:
    """Terminals and logs show it; it cannot paint, break lines or run on."""
    line = printable(said)
    assert line.isprintable()
    assert len(line) <= 400


def test_an_honest_reason_is_kept_word_for_word() -> None:
    """Sanitising must not make messages unreadable."""
    assert printable("line 3: ValueError: naïve π — ok".encode()) == (
        "line 3: ValueError: naïve π — ok"
    )
    assert not re.search("\x1b|\n", printable(b"a\x1b[0m\nb"))
