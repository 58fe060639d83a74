"""Run one program in a forked child: give up privileges, read the source, run it, answer.

Up to reading the source only our code runs. From then on the process is controlled by the program:
what it writes into the answer's descriptor is treated as untrusted bytes.
"""

import ctypes
import gc
import os
import resource
import signal
import sys
from collections.abc import Callable
from types import ModuleType, TracebackType
from typing import Any, NoReturn

from . import seccomp, system
from .wire import ENTRIES, Request

SOURCE, PRINTS, ERRORS, ANSWER, READY = 0, 1, 2, 3, 4
"""Descriptors of a child; no other is open."""

PROGRAM = "<program>"
_REASON_CHARACTERS = 300
_STACK_BYTES = 8 << 20
_BALLAST_BYTES = 1 << 20
_BITS_PER_DIGIT = 3.321928094887363
# What a program does to the built-in names must not change what we mean by them.
_type, _int, _list, _name_of_type = type, int, list, type.__dict__["__name__"].__get__


class Failed(Exception):
    """A run ended with another outcome than ok."""

    def __init__(self, outcome: str, reason: str) -> None:
        super().__init__(reason)
        self.outcome = outcome


def run_and_exit(
    request: Request,
    *,
    descriptors: tuple[int, int, int, int],
    zygote: int,
    base_bytes: int,
    filter_: ctypes.Structure,
    random_seed: int,
) -> NoReturn:
    """Run one program in this process, which ends here.

    Args:
        request: what to run, and within which limits.
        descriptors: the source, where prints go, the answer, and the pipe that is written to once
            the isolation is complete.
        zygote: process id of the parent; if it has ended already, the child ends too.
        base_bytes: address space of the zygote.
        filter_: the system calls that are allowed.
        random_seed: seed of every random generator that has been loaded.
    """
    try:
        _isolate(request, descriptors, zygote, base_bytes, filter_, random_seed)
        os.write(READY, b"!")
        os.close(READY)
        _write(_answer(request))
    finally:
        os._exit(0)  # no handler, no flush: nothing of the program runs after the answer


def _isolate(
    request: Request,
    descriptors: tuple[int, int, int, int],
    zygote: int,
    base_bytes: int,
    filter_: ctypes.Structure,
    random_seed: int,
) -> None:
    system.prctl(system.PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != zygote:
        os._exit(0)
    source, prints, answer, ready = descriptors
    for descriptor, place in (
        (source, SOURCE), (prints, PRINTS), (prints, ERRORS), (answer, ANSWER), (ready, READY),
    ):  # fmt: skip
        os.dup2(descriptor, place)
    os.closerange(READY + 1, 1024)
    if "random" in sys.modules:
        sys.modules["random"].seed(random_seed)
    _limit(request, base_bytes)
    seccomp.turn_on(filter_)


def _limit(request: Request, base_bytes: int) -> None:
    """Let the kernel end what goes too far, with a signal of its own for each limit."""
    seconds = int(request.cpu_s) + 2  # behind the timer, which is exact
    memory = base_bytes + request.memory_bytes
    for what, soft, hard in (
        (resource.RLIMIT_CPU, seconds, seconds + 1),
        (resource.RLIMIT_AS, memory, memory),
        (resource.RLIMIT_FSIZE, request.output_bytes, request.output_bytes),
        (resource.RLIMIT_NOFILE, READY, READY),
        (resource.RLIMIT_NPROC, 0, 0),
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_STACK, _STACK_BYTES, _STACK_BYTES),
        (resource.RLIMIT_MEMLOCK, 0, 0),
        (resource.RLIMIT_MSGQUEUE, 0, 0),
    ):
        resource.setrlimit(what, (soft, hard))
    system.signal_after(request.cpu_s, signal.SIGPROF)


def _answer(request: Request) -> list[bytes]:
    """Run the program; whatever it raises becomes words."""
    ballast = bytearray(_BALLAST_BYTES)
    try:
        return _terms_as_bytes(_compute(request), request.max_term_digits)
    except Failed as failed:
        return _sentence(failed.outcome, str(failed))
    except MemoryError:
        del ballast  # words need memory too
        return [b"memory_limit\n"]
    except BaseException as error:  # noqa: BLE001  # an exit or an interrupt is no answer either
        return _sentence("runtime_error", _describe(error))


def _compute(request: Request) -> list[int]:
    """Compile the source, call its entry, check that the terms are integers and nothing else."""
    module = ModuleType("program")
    sys.modules["program"] = module
    code = _compiled(request.source_bytes)
    exec(code, module.__dict__)  # noqa: S102  # this process exists for this line
    name = ENTRIES[request.entry]
    entry = module.__dict__.get(name)
    if entry is None:
        raise Failed("runtime_error", f"there is no function {name}()")
    if name == "seq":
        return [
            _integer(entry(number), f"seq({number})") for number in range(1, request.n_check + 1)
        ]
    terms = entry(request.n_check) if name == "gen" else entry()
    if _type(terms) is not _list:
        raise Failed("wrong_type", f"{name}() returned {_kind(terms)}, not list")
    wanted = terms[: request.n_check]
    return [_integer(term, f"term {at}") for at, term in enumerate(wanted, 1)]


def _integer(term: Any, place: str) -> int:
    """Let an integer pass: no bool, no float, no type that only behaves like one."""
    if _type(term) is not _int:
        raise Failed("wrong_type", f"{place} is {_kind(term)}, not int")
    return term


def _compiled(length: int) -> Any:
    raw = os.pread(SOURCE, length, 0)
    os.close(SOURCE)
    try:
        # Text, not bytes: an encoding named in the source must not choose how it is read.
        return compile(raw.decode("utf-8"), PROGRAM, "exec", dont_inherit=True)
    except SyntaxError as wrong:
        raise Failed("syntax_error", f"line {wrong.lineno}: {wrong.msg}") from None
    except (MemoryError, RecursionError):
        raise Failed("syntax_error", "nested too deep for the compiler") from None
    except (ValueError, OverflowError) as wrong:
        raise Failed("syntax_error", str(wrong)) from None


def _terms_as_bytes(
    terms: list[int],
    max_digits: int,
    *,
    write: Callable[[int], str] = int.__repr__,
) -> list[bytes]:
    sys.set_int_max_str_digits(0)
    most_bits = int(max_digits * _BITS_PER_DIGIT) + 1
    lines = [b"ok\n"]
    for at, term in enumerate(terms, 1):
        text = write(term) if int.bit_length(term) <= most_bits else ""
        if not text or len(text) - (text[0] == "-") > max_digits:
            raise Failed("output_limit", f"term {at} has more than {max_digits} digits")
        lines.append(text.encode() + b"\n")
    lines.append(b"end\n")
    return lines


def _sentence(outcome: str, reason: str) -> list[bytes]:
    return [f"{outcome}\n{reason[:_REASON_CHARACTERS]}".encode("utf-8", "backslashreplace")]


def _describe(error: BaseException) -> str:
    """Say what was raised and where; the error's own text is the program's."""
    try:
        line = _line(error.__traceback__)
        text = str(error)[:_REASON_CHARACTERS]
        return f"{line}{type(error).__name__}" + (f": {text}" if text else "")
    except BaseException:  # noqa: BLE001  # the text itself raised
        return "an exception without words"


def _line(trace: TracebackType | None) -> str:
    line = ""
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == PROGRAM:
            line = f"line {trace.tb_lineno}: "
        trace = trace.tb_next
    return line


def _kind(value: object) -> str:
    """Name the type of a value, with its module when it is not a built-in."""
    kind = _type(value)
    name, module = _name_of_type(kind), kind.__module__
    return f"{module}.{name}" if module not in {"builtins", "program"} else name


def _write(parts: list[bytes]) -> None:
    gc.disable()
    answer = memoryview(b"".join(parts))
    while answer:
        answer = answer[os.write(ANSWER, answer) :]
