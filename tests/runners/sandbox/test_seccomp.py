"""The list of system calls: what the assembled filter says, against the policy said plainly."""

import struct
from collections.abc import Iterator
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agon.runners.sandbox.inside.seccomp import ALLOWED, NUMBERLESS, REFUSED, program
from sizes import size

X86_64, I386, AARCH64 = 0xC000003E, 0x40000003, 0xC00000B7
KILL, REFUSE, ZERO, ALLOW = 0x80000000, 0x00050001, 0x00050000, 0x7FFF0000
MMAP, MPROTECT, MADVISE, FUTEX = 9, 10, 28, 202

CLOCKS = (228, 229)

words = st.integers(0, 2**64 - 1)
FLAGS = (0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 0x22, 0x21, 0x32, 128, 129, 137)
flags = st.sampled_from(FLAGS) | words
calls = st.sampled_from([MMAP, MPROTECT, MADVISE, FUTEX, *CLOCKS]) | st.integers(0, 2**32 - 1)


def verdict(number: int, *arguments: int, arch: int = X86_64) -> int:
    """Run the filter as the kernel would: a naive machine for classic BPF."""
    words_of_call = [*arguments, 0, 0, 0, 0, 0, 0][:6]
    data = struct.pack("=IIQ6Q", number, arch, 0xDEAD, *words_of_call)
    steps = list(struct.iter_unpack("=HBBI", program()))
    at, value = 0, 0
    while True:
        operation, if_true, if_false, operand = steps[at]
        at += 1
        match operation:
            case 0x20:
                (value,) = struct.unpack_from("=I", data, operand)
            case 0x54:
                value &= operand
            case 0x15:
                at += if_true if value == operand else if_false
            case 0x35:
                at += if_true if value >= operand else if_false
            case 0x45:
                at += if_true if value & operand else if_false
            case 0x06:
                return int(operand)
            case _:
                pytest.fail(f"no such operation: {operation:#x}")


def policy(number: int, arguments: list[int]) -> int:
    """Say plainly what may pass."""
    low = [argument & 0xFFFFFFFF for argument in arguments]
    code = bool(low[2] & 4)
    private = low[3] & 0x22 == 0x22
    actions = {
        MMAP: KILL if code else ALLOW if private else REFUSE,
        MPROTECT: KILL if code else ALLOW,
        MADVISE: ALLOW if low[2] == 4 else REFUSE,
        FUTEX: ALLOW if low[1] & 255 in {128, 129, 137, 138} else KILL,
        **dict.fromkeys(CLOCKS, ALLOW if low[0] < 12 else REFUSE),
        **dict.fromkeys(NUMBERLESS.values(), ZERO),
        **dict.fromkeys(ALLOWED.values(), ALLOW),
        **dict.fromkeys(REFUSED.values(), REFUSE),
    }
    return actions.get(number, KILL)


@pytest.mark.parametrize("number", [MMAP, MPROTECT, MADVISE, FUTEX, *CLOCKS])
def test_every_flag_of_a_call_decides_as_in_the_policy(number: int) -> None:
    """Each value that the filter compares is tried in each place, whatever is drawn below."""
    for other in (0, 4, 0x22):
        for place, flag in product(range(4), FLAGS):
            arguments = [other] * 4
            arguments[place] = flag
            assert verdict(number, *arguments) == policy(number, arguments)


@settings(max_examples=size(400), deadline=None)
@given(calls, words, flags, flags, flags)
def test_the_filter_is_the_policy(number: int, a: int, b: int, c: int, d: int) -> None:
    """The assembled steps and the plain words give the same answer to every call."""
    assert verdict(number, a, b, c, d) == policy(number, [a, b, c, d])


def test_every_number_is_decided_and_few_pass() -> None:
    """What is not named ends the process."""
    passing = {number for number in range(1024) if verdict(number) == ALLOW}
    assert passing == set(ALLOWED.values()) | {MPROTECT, *CLOCKS}


@pytest.mark.parametrize("process", [1, 2, 4_000_000])
@pytest.mark.parametrize("kind", [2, 3, 6])
def test_the_clock_of_another_process_is_refused(process: int, kind: int) -> None:
    """Without namespaces it says how much processor time any process of the host has used."""
    number = (~process << 3 | kind) & 0xFFFFFFFF
    assert {verdict(call, number) for call in CLOCKS} == {REFUSE}


def dangerous() -> Iterator[tuple[str, int]]:
    """Name calls that must never pass."""
    yield from {
        "sendfile": 40, "socket": 41, "connect": 42, "clone": 56, "fork": 57, "vfork": 58,
        "execve": 59, "kill": 62, "ptrace": 101, "setuid": 105, "personality": 135, "prctl": 157,
        "mount": 165, "tgkill": 234, "unshare": 272, "process_vm_readv": 310, "seccomp": 317,
        "memfd_create": 319, "bpf": 321, "execveat": 322, "userfaultfd": 323, "io_uring_setup": 425,
        "pidfd_send_signal": 424, "clone3": 435, "openat2": 437, "pidfd_getfd": 438,
        "timer_delete": 226, "timer_settime": 223, "setitimer": 38, "dup": 32, "pipe": 22,
        "pwrite64": 18, "writev": 20, "ftruncate": 77, "shmget": 29, "msgget": 68, "keyctl": 250,
    }.items()  # fmt: skip


@pytest.mark.parametrize(("name", "number"), list(dangerous()))
def test_a_dangerous_call_ends_the_process(name: str, number: int) -> None:
    """Not an error that a program could try again around: the end."""
    assert verdict(number) == KILL, name


@pytest.mark.parametrize("arch", [I386, AARCH64, 0])
def test_another_architecture_ends_the_process(arch: int) -> None:
    """The numbers mean something else there: 1 is exit in one, write in another."""
    assert {verdict(number, arch=arch) for number in range(512)} == {KILL}


def test_the_x32_interface_ends_the_process() -> None:
    """The same numbers with one bit more would pass every list made for 64 bits."""
    assert {verdict(0x40000000 | number) for number in range(1024)} == {KILL}
    assert verdict(0xFFFFFFFF) == KILL
