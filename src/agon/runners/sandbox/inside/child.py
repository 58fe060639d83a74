"""Run one program in a forked child: give up privileges, read the source, run it, answer.

Until the source is read only agon's code runs. From then on the program controls the process: what
it writes to the answer's descriptor is treated as untrusted bytes.
"""

import ctypes
import gc
import mmap
import operator
import os
import resource
import signal
import sys
from collections.abc import Callable
from types import (
    AsyncGeneratorType,
    BuiltinFunctionType,
    CoroutineType,
    FrameType,
    FunctionType,
    GeneratorType,
    ModuleType,
    TracebackType,
)
from typing import Any, NoReturn

from . import seccomp, system
from .wire import ENTRIES, WireRequest

SOURCE, PRINTS, ERRORS, ANSWER, READY = 0, 1, 2, 3, 4
"""Descriptors of a child; no others are open."""

PROGRAM = "<program>"
_REASON_CHARACTERS = 300
_STACK_BYTES = 8 << 20
_BALLAST_BYTES = 1 << 20
PADS = (0, 1, 2, 4, 8, 16, 33, 66, 131, 262, 523, 1046)
"""Number of blocks of each size by which a variation moves objects; each bit differs in some."""
_BYTES_OF_48, _BYTES_OF_LARGER = 15, range(47, 470, 16)
"""Lengths of bytes that take blocks of 48, and of 80 to 496."""
_SHARE_OF_FULL = 0.25
"""Share of its memory that a compiler has touched at least when it gets no more."""
_SHARE_AT_END = 0.9
"""Share of its memory that a program has touched at least when frames get no more."""
_PARAMETERS = {"seq": "n", "gen": "N", "solver": ""}
_RETURNS = {"seq": "term", "gen": "list of terms", "solver": "list of terms"}
_OTHER_THAN_LISTS = (
    ((dict,), "return the list of its values"),
    ((str, bytes), "return a list of numbers, not a text"),
    ((CoroutineType, AsyncGeneratorType), "write def without async"),
    ((FunctionType, BuiltinFunctionType), "return the list, not a function"),
)
"""What a function may return instead of a list, with what its author should do."""
_VARARGS = 4
"""The flag of a function's code that takes any number of arguments."""
_BITS_PER_DIGIT = 3.321928094887363
# A program may replace built-in names; these references keep the original objects.
_type, _int, _bool, _list, _name_of_type = type, int, bool, list, type.__dict__["__name__"].__get__
_index = operator.index


class SolverFailed(Exception):
    """A run ended with an outcome other than ``ok``."""

    def __init__(self, outcome: str, reason: str) -> None:
        super().__init__(reason)
        self.outcome = outcome


def run_and_exit(
    request: WireRequest,
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
        os._exit(0)  # no handlers, no flush: no code of the program runs after the answer


def _isolate(
    request: WireRequest,
    descriptors: tuple[int, int, int, int],
    zygote: int,
    base_bytes: int,
    filter_: ctypes.Structure,
    random_seed: int,
) -> None:
    system.prctl(system.PR_SET_PDEATHSIG, signal.SIGKILL)
    # The signal comes for later ends only: the parent may have ended before the line above.
    if os.getppid() != zygote:
        os._exit(0)
    source, prints, answer, ready = descriptors
    for descriptor, number in (
        (source, SOURCE), (prints, PRINTS), (prints, ERRORS), (answer, ANSWER), (ready, READY),
    ):  # fmt: skip
        os.dup2(descriptor, number)
    # After dup2: the control socket and all other requests' files end here.
    system.close_from(READY + 1)
    # No other process of the same user may attach or read /proc/PID/mem.
    system.prctl(system.PR_SET_DUMPABLE, 0)
    # A fork has the zygote's generators in the state that they had there.
    if "random" in sys.modules:
        sys.modules["random"].seed(random_seed)
    _limit(request, base_bytes)
    # Last: the steps above need system calls that the filter forbids.
    seccomp.install(filter_)


def _limit(request: WireRequest, base_bytes: int) -> None:
    """Set the kernel's limits; those on time and output end the process with distinct signals."""
    seconds = int(request.cpu_s) + 2  # later than the timer, which is exact
    # RLIMIT_AS counts the zygote's address space as well, which the child shares by fork.
    memory = base_bytes + request.memory_bytes
    for limit, soft, hard in (
        (resource.RLIMIT_CPU, seconds, seconds + 1),
        (resource.RLIMIT_AS, memory, memory),
        (resource.RLIMIT_FSIZE, request.output_bytes, request.output_bytes),
        # Descriptors must be below READY, and those are taken: nothing is opened besides.
        (resource.RLIMIT_NOFILE, READY, READY),
        (resource.RLIMIT_NPROC, 0, 0),
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_STACK, _STACK_BYTES, _STACK_BYTES),
        (resource.RLIMIT_MEMLOCK, 0, 0),
        (resource.RLIMIT_MSGQUEUE, 0, 0),
    ):
        resource.setrlimit(limit, (soft, hard))
    system.signal_after(request.cpu_s, signal.SIGPROF)


def _answer(request: WireRequest) -> list[bytes]:
    """Run the program; return its answer as bytes, or the outcome and reason of its failure."""
    sys.set_int_max_str_digits(0)  # time and memory are the limits
    # Memory to give back: at the limit even the message "memory_limit" could not be made.
    ballast = bytearray(_BALLAST_BYTES)
    before_kib = _peak_kib()
    try:
        return _terms_as_bytes(_compute(request), request.max_term_digits)
    except SolverFailed as failed:
        return _failure(failed.outcome, str(failed))
    except MemoryError:
        del ballast  # frees memory for the message
        return [b"memory_limit\n"]
    except SystemError as error:  # what the interpreter raises where it cannot even raise
        full = (_peak_kib() - before_kib) << 10 > request.memory_bytes * _SHARE_AT_END
        return [b"memory_limit\n"] if full else _failure("runtime_error", _describe(error))
    except BaseException as error:  # noqa: BLE001  # SystemExit and KeyboardInterrupt are failures too
        return _failure("runtime_error", _describe(error))


def _compute(request: WireRequest) -> list[int]:
    """Compile the source, call its entry point and return the terms, each of type ``int``."""
    module = ModuleType("program")
    sys.modules["program"] = module
    pads = _pads(request.variation)  # noqa: F841  # kept until the end
    code = _compile(request)
    # The limit counts our frames below the program's, which it must not pay for.
    sys.setrecursionlimit(_depth() + request.recursion_limit)
    exec(code, module.__dict__)  # noqa: S102  # running programs is the purpose of this process
    name = ENTRIES[request.entry]
    entry = module.__dict__.get(name)
    if entry is None:
        remedy = f"write def {name}({_PARAMETERS[name]}): that returns the {_RETURNS[name]}"
        raise SolverFailed("runtime_error", f"there is no function {name}(); {remedy}")
    _require_parameters(entry, name)
    accept = _exact_integer if request.exact_integers else _integer
    if name == "seq":
        first = request.first_index
        numbers = range(first, first + request.n_check)
        return [accept(entry(number), f"seq({number})") for number in numbers]
    terms = entry(request.n_check) if name == "gen" else entry()
    # Exactly list: a subclass could change its items while they are read.
    if _type(terms) is not _list:
        fact = f"{name}() returned {_kind(terms)}, not list"
        raise SolverFailed("wrong_type", f"{fact}{_list_remedy(terms, name)}")
    checked = terms[: request.n_check]
    return [accept(term, f"term {index}") for index, term in enumerate(checked, 1)]


def _require_parameters(entry: Any, name: str) -> None:
    """Raise what a call with another number of arguments would, with the line to write.

    Raises:
        SolverFailed: the function takes no such call.
    """
    if _type(entry) is not FunctionType:
        return
    parameter = _PARAMETERS[name]
    count = 1 if parameter else 0
    most = entry.__code__.co_argcount
    least = most - len(entry.__defaults__ or ())
    if count < least or (count > most and not entry.__code__.co_flags & _VARARGS):
        call = f"with {parameter}" if parameter else "without arguments"
        fact = f"{name}() is called {call}"
        raise SolverFailed("runtime_error", f"{fact}; write def {name}({parameter}):")


def _depth() -> int:
    """Return how deep the present call is nested."""
    depth = 0
    frame: FrameType | None = sys._getframe()  # noqa: SLF001  # inspect would have to be loaded
    while frame is not None:
        frame, depth = frame.f_back, depth + 1
    return depth


def _list_remedy(terms: Any, name: str) -> str:
    """Return what makes a list of what a function returned; nothing where that is not plain."""
    kind = _type(terms)
    if kind is GeneratorType:
        end = "; one without an end needs itertools.islice" if name == "solver" else ""
        return f": it yields; wrap it in list(…){end}"
    if terms is None:
        return ": return the list"
    if kind is set or kind is frozenset:
        return ": a set has no order; collect the terms in a list"
    for kinds, remedy in _OTHER_THAN_LISTS:
        if any(kind is one for one in kinds):
            return f": {remedy}"
    return ": wrap it in list(…)" if hasattr(kind, "__iter__") else ": return a list of the terms"


def _integer(term: Any, label: str) -> int:
    """Return a term that is exactly an ``int``: not a bool, a float or a subclass.

    Raises:
        SolverFailed: it is of another type.
    """
    kind = _type(term)
    if kind is not _int:
        remedy = "; each term is one whole number"
        if kind is float:
            remedy = "; compute with // instead of /, and without math.pow and math.sqrt"
        elif kind is str or hasattr(kind, "__int__"):
            remedy = "; write int(…)"
        raise SolverFailed("wrong_type", f"{label} is {_kind(term)}, not int{remedy}")
    return term


def _exact_integer(term: Any, label: str) -> int:
    """Return the ``int`` that a term is exactly by its own ``__index__``, as sympy's integers are.

    A bool is still none, and what ``__index__`` gives is checked like any other term.

    Raises:
        SolverFailed: it has no such value.
    """
    if _type(term) is _int or _type(term) is _bool or not hasattr(_type(term), "__index__"):
        return _integer(term, label)
    return _integer(_int(_index(term)), label)


def _pads(variation: int) -> list[object]:
    """Return objects that move those created after them to other addresses.

    They are one of each size that Python allocates in pools, as often as the variation says; lists
    and numbers first use up those that Python keeps to use again.
    """
    count = PADS[variation]
    pads: list[object] = [None] * (count * 32)
    index = 0
    for _ in range(count):
        for pad in (object(), index + 0.5, bytes(_BYTES_OF_48), [], *map(bytes, _BYTES_OF_LARGER)):
            pads[index] = pad
            index += 1
    if count:
        private = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        pads += [bytearray(count * mmap.PAGESIZE), mmap.mmap(-1, count * mmap.PAGESIZE, private)]
    return pads


def _compile(request: WireRequest) -> Any:
    raw = os.pread(SOURCE, request.source_bytes, 0)
    os.close(SOURCE)
    before_kib = _peak_kib()
    try:
        # Text, not bytes: an encoding declared in the source must not decide how it is decoded.
        # A byte order mark is no part of the program, as in its canonical form.
        text = raw.decode("utf-8").lstrip("\ufeff")
        return compile(text, PROGRAM, "exec", dont_inherit=True)
    except SyntaxError as error:
        raise SolverFailed("syntax_error", f"line {error.lineno}: {error.msg}") from None
    except (MemoryError, RecursionError):
        # The parser raises MemoryError for deep nests too, which take next to nothing.
        if (_peak_kib() - before_kib) << 10 > request.memory_bytes * _SHARE_OF_FULL:
            raise SolverFailed("memory_limit", "") from None
        raise SolverFailed("syntax_error", "nested too deep for the compiler") from None
    except (ValueError, OverflowError) as error:
        raise SolverFailed("syntax_error", str(error)) from None


def _peak_kib() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _terms_as_bytes(
    terms: list[int],
    max_digits: int,
    *,
    write: Callable[[int], str] = int.__repr__,
) -> list[bytes]:
    max_bits = int(max_digits * _BITS_PER_DIGIT) + 1
    lines = [b"ok\n"]
    for index, term in enumerate(terms, 1):
        text = write(term) if int.bit_length(term) <= max_bits else ""
        if not text or len(text) - (text[0] == "-") > max_digits:
            fact = f"term {index} has more than {max_digits} digits, the limit of one term"
            raise SolverFailed("output_limit", fact)
        lines.append(text.encode() + b"\n")
    lines.append(b"end\n")
    return lines


def _failure(outcome: str, reason: str) -> list[bytes]:
    return [f"{outcome}\n{reason[:_REASON_CHARACTERS]}".encode("utf-8", "backslashreplace")]


def _describe(error: BaseException) -> str:
    """Return what was raised and where; the text of the exception comes from the program."""
    try:
        line = _line(error.__traceback__)
        text = str(error)[:_REASON_CHARACTERS]
        if isinstance(error, ImportError):
            text = text.partition(" (/")[0] + "; agon dojo rules lists the modules that are there"
        if isinstance(error, RecursionError):
            text += "; compute with a loop"
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
    """Return the name of a value's type, with its module when it is not a built-in."""
    kind = _type(value)
    name, module = _name_of_type(kind), kind.__module__
    return f"{module}.{name}" if module not in {"builtins", "program"} else name


def _write(parts: list[bytes]) -> None:
    gc.disable()
    answer = memoryview(b"".join(parts))
    while answer:
        answer = answer[os.write(ANSWER, answer) :]
