"""The contract of the sandbox port: every adapter takes this suite."""

import itertools
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, get_args

import pytest

from agon.app.sandbox import Mode, RunLimits, RunRequest, Sandbox
from agon.errors import Unavailable
from agon.runners.sandbox import open_sandbox
from runners.processes import descendants, eventually, open_descriptors

MODES: tuple[Mode, ...] = get_args(Mode)
QUICK = RunLimits(cpu_s=0.2, wall_s=10.0, memory_mib=64, output_bytes=65_536)


@pytest.fixture(params=MODES, scope="module")
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """Return each adapter in turn."""
    with open_sandbox(request.param, workers=2) as opened:
        yield opened


def job(source: str, **changed: Any) -> RunRequest:
    """Make a job with small limits."""
    return RunRequest(source=source.encode(), **{"limits": QUICK, "n_check": 5, **changed})


SQUARES = job("def solver():\n    return [n * n for n in range(10)]\n")
FOREVER = job("def solver():\n    while True:\n        pass\n")


def test_a_solver_gives_its_terms_and_what_they_cost(sandbox: Sandbox) -> None:
    """Terms past n_check are ignored; the rest of the run is a record."""
    run = sandbox.run(SQUARES)
    assert (run.outcome, run.terms) == ("ok", ("0", "1", "4", "9", "16"))
    assert (run.reason, run.attempts, run.mode) == ("", 1, sandbox.mode)
    assert 0 < run.cpu_ms < 200
    assert run.wall_ms > 0
    assert 0 < run.memory_kib < 65_536
    assert "Python" in run.runner


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("source", "entry", "terms"),
    [
        ("def seq(n):\n    return n * n\n", "seq", ("0", "1", "4", "9", "16")),
        ("def gen(N):\n    return list(range(-N, N))\n", "gen", ("-5", "-4", "-3", "-2", "-1")),
        ("def solver():\n    return []\n", "solver", ()),
        ("def solver():\n    return [7]\n", "solver", ("7",)),
        ("def solver():\n    print('noise')\n    return [0, -1]\n", "solver", ("0", "-1")),
        ("from math import comb\nsolver = lambda: [comb(40, 20)]\n", "solver", ("137846528820",)),
    ],
)
def test_every_entry_is_called_as_its_interface_says(
    sandbox: Sandbox, source: str, entry: Any, terms: tuple[str, ...]
) -> None:
    """Seq counts from the first index, gen gets N; a short list is valid; prints do not matter."""
    run = sandbox.run(job(source, entry=entry))
    assert (run.outcome, run.terms) == ("ok", terms)


@pytest.mark.exhaustive
def test_sympy_can_be_used_down_to_its_submodules(sandbox: Sandbox) -> None:
    """Modules that sympy loads on first use must be loaded before files are closed off."""
    source = (
        "from sympy import Matrix, Symbol, fibonacci, primerange, rsolve, Function, totient\n"
        "from sympy.combinatorics.named_groups import SymmetricGroup\n"
        "from sympy.functions.combinatorial.numbers import partition\n"
        "n, y = Symbol('n', integer=True), Function('y')\n"
        "def solver():\n"
        "    closed = rsolve(y(n + 2) - y(n + 1) - y(n), y(n), {y(0): 0, y(1): 1})\n"
        "    return [int(closed.subs(n, 10).simplify()), int(SymmetricGroup(4).order()),\n"
        "            int(partition(10)), sum(primerange(20)),\n"
        "            int(Matrix([[0, 1], [1, 0]]).det())]\n"
    )
    run = sandbox.run(job(source, limits=RunLimits()))
    assert (run.outcome, run.terms) == ("ok", ("55", "24", "42", "77", "-1")), run.reason


_WHOLE = "compute with // instead of /, and without math.pow and math.sqrt"


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("source", "entry", "said"),
    [
        ("solver = lambda: [1, True]\n", "solver", "term 2 is bool, not int; write int(…)"),
        ("def solver():\n    return ['1']\n", "solver", "term 1 is str, not int; write int(…)"),
        ("def solver():\n    return [1.0]\n", "solver", f"term 1 is float, not int; {_WHOLE}"),
        ("def solver():\n    return 7\n", "solver",
         "solver() returned int, not list: return a list of the terms"),
        ("def solver():\n    return {1: 2}\n", "solver",
         "solver() returned dict, not list: return the list of its values"),
        ("def solver():\n    return '1, 2'\n", "solver",
         "solver() returned str, not list: return a list of numbers, not a text"),
        ("async def solver():\n    return [1]\n", "solver",
         "solver() returned coroutine, not list: write def without async"),
        ("def solver():\n    return len\n", "solver",
         ("solver() returned builtin_function_or_method, not list: return the list, not a "
          "function")),
        ("def seq(n):\n    return n / 1\n", "seq", f"seq(0) is float, not int; {_WHOLE}"),
        ("def gen(N):\n    return range(N)\n", "gen",
         "gen() returned range, not list: wrap it in list(…)"),
        ("def solver():\n    yield 1\n", "solver",
         ("solver() returned generator, not list: it yields; wrap it in list(…); one without an "
          "end needs itertools.islice")),
        ("def solver():\n    return {1}\n", "solver",
         "solver() returned set, not list: a set has no order; collect the terms in a list"),
        ("def solver():\n    print([1])\n", "solver",
         "solver() returned NoneType, not list: return the list"),
        ("def solver():\n    return [None]\n", "solver",
         "term 1 is NoneType, not int; each term is one whole number"),
        ("from sympy import S\ndef solver():\n    return [S(3)]\n", "solver",
         "term 1 is sympy.core.numbers.Integer, not int; write int(…)"),
    ],
)  # fmt: skip
def test_a_wrong_type_is_said_with_its_place(
    sandbox: Sandbox, source: str, entry: Any, said: str
) -> None:
    """Authors find the term; 2.0 is no integer."""
    run = sandbox.run(job(source, entry=entry))
    assert (run.outcome, run.reason, run.terms) == ("wrong_type", said, ())


@pytest.mark.parametrize(
    ("source", "outcome", "said"),
    [
        ("x = 1\ndef solver(:\n", "syntax_error", "line 2: invalid syntax"),
        ("\n\ndef solver():\n    return [1 // 0]\n", "runtime_error", "line 4: ZeroDivisionError"),
        ("x = 1\n", "runtime_error", "write def solver(): that returns the list of terms"),
        ("def solver():\n    return solver()\n", "runtime_error", "exceeded; compute with a loop"),
        (
            "def solver(n):\n    return [n]\n",
            "runtime_error",
            "solver() is called without arguments; write def solver():",
        ),
        ("import numpy\n", "runtime_error", "No module named 'numpy'"),
        ("def solver():\n    raise SystemExit(0)\n", "runtime_error", "line 2: SystemExit: 0"),
        ("def solver():\n    return [10 ** 4300]\n", "output_limit", "more than 4300 digits"),
        ("def solver():\n    return [len(bytearray(10**9))]\n", "memory_limit", "more than 64 MiB"),
        (
            "def solver():\n    while True:\n        print('x' * 999)\n",
            "output_limit",
            "65536 bytes",
        ),
    ],
)
def test_every_other_end_has_its_verdict_and_its_reason(
    sandbox: Sandbox, source: str, outcome: str, said: str
) -> None:
    """The list is closed; the reason is for the author."""
    run = sandbox.run(job(source))
    assert (run.outcome, run.terms) == (outcome, ())
    assert said in run.reason


def test_the_longest_allowed_term_is_allowed(sandbox: Sandbox) -> None:
    """The bound is on digits, the sign is none."""
    run = sandbox.run(job("def solver():\n    return [-(10 ** 4300 - 1)]\n"))
    assert run.terms == ("-" + "9" * 4300,)


def test_other_integers_have_no_limit_of_digits(sandbox: Sandbox) -> None:
    """Sums of digits are ordinary sequences; only a term is bounded, and the message says so."""
    source = "def solver():\n    return [len(str(int('7' * 5000))), len(str(2 ** 100_000))]\n"
    assert sandbox.run(job(source)).terms == ("5000", "30103")
    long = sandbox.run(job("def solver():\n    return [1, 10 ** 4300]\n"))
    assert long.outcome == "output_limit"
    assert long.reason == "term 2 has more than 4300 digits, the limit of one term"


@pytest.mark.sample(1)
def test_a_program_that_computes_for_ever_is_ended_once(sandbox: Sandbox) -> None:
    """Far beyond the limit there is nothing to repeat."""
    run = sandbox.run(FOREVER)
    assert (run.outcome, run.attempts) == ("time_limit", 1)
    assert 200 < run.cpu_ms < 1000


@pytest.mark.sample(1)
def test_a_run_just_above_its_limit_is_run_again(sandbox: Sandbox) -> None:
    """A short delay of the machine must not decide; two runs above the limit do."""
    source = (
        "from time import process_time\n"
        "def solver():\n"
        "    while process_time() < 0.23:\n"
        "        pass\n"
        "    return [1]\n"
    )
    run = sandbox.run(job(source))
    assert (run.outcome, run.attempts) == ("time_limit", 2)
    assert run.cpu_ms > 200


def test_a_program_that_waits_is_ended_by_the_clock_and_run_again(sandbox: Sandbox) -> None:
    """It had processor time left, so the machine may have been the reason."""
    source = (
        "import _thread\n"
        "def solver():\n"
        "    lock = _thread.allocate_lock()\n"
        "    return [lock.acquire(), lock.acquire()]\n"
    )
    run = sandbox.run(job(source, limits=RunLimits(cpu_s=0.2, wall_s=0.3)))
    assert (run.outcome, run.attempts) == ("time_limit", 2)
    assert "no end after 0.3 s" in run.reason


def test_a_setter_runs_under_its_own_limit(sandbox: Sandbox) -> None:
    """Limits belong to the job, not to the sandbox."""
    run = sandbox.run(job("def gen(N):\n    while True: pass\n", entry="gen", limits=RunLimits(
        cpu_s=0.05, wall_s=5)))  # fmt: skip
    assert run.outcome == "time_limit"
    assert run.cpu_ms < 200


@pytest.mark.sample(1)
def test_many_jobs_give_one_run_each(sandbox: Sandbox) -> None:
    """None lost, none twice, whatever became of the neighbours."""
    sources = ["solver = lambda: [{}]", "solver = lambda: [{}.5]", "solver = lambda: [{}"]
    outcomes = {0: "ok", 1: "wrong_type", 2: "syntax_error"}
    count = 12 if sandbox.mode == "cold" else 120
    jobs = [job(sources[at % 3].format(at), name=str(at)) for at in range(count)]
    done = list(sandbox.run_many(jobs))
    assert sorted(int(one.name) for one, _ in done) == list(range(count))
    for one, run in done:
        at = int(one.name)
        assert run.outcome == outcomes[at % 3]
        assert run.terms == ((str(at),) if at % 3 == 0 else ())


@pytest.mark.sample(1)
def test_jobs_are_taken_as_workers_become_free(sandbox: Sandbox) -> None:
    """The iterable may be endless, and what is not taken is not run."""
    taken = itertools.count()
    runs = sandbox.run_many(job(f"solver = lambda: [{next(taken)}]") for _ in itertools.count())
    assert [next(runs)[1].outcome for _ in range(5)] == ["ok"] * 5
    runs.close()  # type: ignore[attr-defined]  # the adapter's iterator is a generator
    assert next(taken) < 20


def test_a_slow_job_does_not_hold_up_the_others(sandbox: Sandbox) -> None:
    """Runs come as they finish."""
    first = next(iter(sandbox.run_many([FOREVER, SQUARES])))[0]
    assert first is SQUARES


@pytest.mark.sample(1)
def test_several_threads_may_use_it(sandbox: Sandbox) -> None:
    """A service does."""
    with ThreadPoolExecutor(4) as threads:
        jobs = [job(f"solver = lambda: [{at}]") for at in range(8)]
        runs = list(threads.map(sandbox.run, jobs))
    assert [run.terms for run in runs] == [(str(at),) for at in range(8)]


@pytest.mark.sample(1)
def test_two_runs_of_a_sound_program_agree(sandbox: Sandbox) -> None:
    """The setter's gate."""
    assert sandbox.run_with_two_seeds(SQUARES).agree


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "source",
    [
        "solver = lambda: [1, hash('a'), 3]",
        "solver = lambda: [1] + [ord(letter) for letter in set('abcdefghij')]",
        "from sympy.core.random import randint\nsolver = lambda: [1, randint(1, 10**12)]",
        "import random, sympy\nsolver = lambda: [1, random.randrange(10**12)]",
    ],
)
def test_what_hangs_on_hashes_or_dice_differs_between_two_runs_and_only_there(
    sandbox: Sandbox, source: str
) -> None:
    """An unsound setter is caught; a solver gets the same verdict whenever it is judged."""
    program = job(source, limits=RunLimits())
    assert sandbox.run_with_two_seeds(program).first_difference == 2
    assert sandbox.run(program).terms == sandbox.run(program).terms


@pytest.mark.parametrize(
    "term", ["id(object()) >> 4", "hash(object()) & 15", "int(repr(object())[-4:-2], 16)"]
)
def test_what_depends_on_addresses_differs_between_two_runs(sandbox: Sandbox, term: str) -> None:
    """The low bits of an address were the same in 11 of 12 checks of a setter.

    Objects of 16 bytes lie one behind the other, so the blocks that a run puts before them decide
    their low bits.
    """
    program = job(f"solver = lambda: [1, ({term}) & 1, ({term}) & 7]")
    for _ in range(1 if sandbox.mode == "cold" else 3):
        assert not sandbox.run_with_two_seeds(program).agree


@pytest.mark.sample(1)
def test_addresses_of_lists_differ_between_two_runs(sandbox: Sandbox) -> None:
    """A list takes 64 bytes, so one of these three bits varies, and by chance.

    The 12 runs of a check have the same bit with a probability of 2 ** -11. So five of ten checks
    agree with one of 7e-15, and all four on cold starts, which take long, with one of 6e-14.
    """
    program = job("solver = lambda: [1, id([]) >> 4 & 7]")
    if sandbox.mode == "cold":
        assert any(not sandbox.run_with_two_seeds(program).agree for _ in range(4))
        return
    assert sum(sandbox.run_with_two_seeds(program).agree for _ in range(10)) < 5


@pytest.mark.sample(1)
def test_no_output_can_depend_on_process_ids(sandbox: Sandbox) -> None:
    """They are hidden, so that a setter that uses them gives the same terms everywhere."""
    source = (
        "import ctypes, os, _thread\n"
        "libc = ctypes.CDLL(None)\n"
        "solver = lambda: [os.getpid(), _thread.get_native_id(), libc.syscall(39), libc.getppid()]"
    )
    tries = 4 if sandbox.mode == "cold" else 40
    assert {sandbox.run(job(source)).terms for _ in range(tries)} == {("0", "0", "0", "-1")}


def test_a_byte_order_mark_is_no_part_of_a_program(sandbox: Sandbox) -> None:
    """Its canonical form has none, so the run must not mind one."""
    assert sandbox.run(job("\ufeffsolver = lambda: [1]\n")).terms == ("1",)


@pytest.mark.sample(1)
def test_sympy_is_there_in_whatever_letters_it_is_named(sandbox: Sandbox) -> None:
    """Python reads full-width letters as plain ones."""
    source = "import ｓｙｍｐｙ\nsolver = lambda: [int(sympy.prime(3))]\n"
    run = sandbox.run(job(source, limits=RunLimits()))
    assert (run.outcome, run.terms) == ("ok", ("5",)), run.reason


EXACT = (
    "from sympy import factorial, Rational\n"
    "from sympy.ntheory.continued_fraction import continued_fraction_iterator\n"
    "solver = lambda: [factorial(5), *continued_fraction_iterator(Rational(7, 3))]\n"
)


def test_exact_integers_of_other_types_count_where_they_may(sandbox: Sandbox) -> None:
    """What sympy returns for honest programs is no int; a request says whether it is one."""
    strict = sandbox.run(job(EXACT, limits=RunLimits()))
    assert strict.outcome == "wrong_type"
    exact = sandbox.run(job(EXACT, limits=RunLimits(), exact_integers=True))
    assert (exact.outcome, exact.terms) == ("ok", ("120", "2", "3")), exact.reason


@pytest.mark.parametrize(
    ("value", "outcome"),
    [("True", "wrong_type"), ("2.0", "wrong_type"), ("'1'", "wrong_type"),
     ("X(2.0)", "runtime_error"), ("X(True)", "ok"), ("X(7)", "ok"), ("Y(9)", "ok"),
     ("Y", "wrong_type")],
)  # fmt: skip
def test_only_exact_integers_count(sandbox: Sandbox, value: str, outcome: str) -> None:
    """A float, a bool, a text and a class are none; an index is checked like any other term."""
    source = (
        "class X:\n    def __init__(self, n): self.n = n\n    def __index__(self): return self.n\n"
        "class Y(int):\n    def __index__(self): return 0\n    __repr__ = lambda s: 'end'\n"
        f"solver = lambda: [{value}]\n"
    )
    run = sandbox.run(job(source, exact_integers=True))
    assert run.outcome == outcome, run.reason
    assert run.terms in {(), ("1",), ("7",), ("9",)}


@pytest.mark.parametrize(
    "source",
    [
        "x = 1\n" * 100_000,
        "x = " + "a," * 300_000,
        "import sys\nsys.setrecursionlimit(10**9)\nf = lambda *a: f(*a, 1)\nsolver = lambda: [f()]",
    ],
)
def test_memory_that_is_full_while_compiling_or_calling_is_that_limit(
    sandbox: Sandbox, source: str
) -> None:
    """The author reads that it was memory, not that the syntax was wrong."""
    limits = RunLimits(cpu_s=5, wall_s=60, memory_mib=16)
    assert sandbox.run(job(source, limits=limits)).outcome == "memory_limit"


def test_nothing_is_remembered_between_runs(sandbox: Sandbox) -> None:
    """Each run is a fresh process."""
    source = (
        "import math\nmath.count = getattr(math, 'count', 0) + 1\nsolver = lambda: [math.count]"
    )
    assert [sandbox.run(job(source)).terms for _ in range(3)] == [("1",)] * 3


def test_the_layers_are_named(sandbox: Sandbox) -> None:
    """An operator sees the layers; a degraded isolation lacks namespaces."""
    assert ("namespaces" in sandbox.layers[0]) == (sandbox.mode != "degraded")
    assert sandbox.layers[-2:] == ("resource limits", "system call list")


@pytest.mark.sample(1)
@pytest.mark.parametrize("mode", MODES)
def test_closing_ends_everything_and_may_be_repeated(mode: Mode) -> None:
    """No process and no descriptor is left; a closed sandbox says so."""
    before = open_descriptors(), descendants()
    opened = open_sandbox(mode, workers=2)
    opened.run(SQUARES)
    opened.run_with_two_seeds(SQUARES)
    opened.close()
    opened.close()
    # What an earlier test left unfinished may end meanwhile.
    assert eventually(lambda: open_descriptors() <= before[0] and descendants() <= before[1])
    with pytest.raises(Unavailable, match="closed"):
        opened.run(SQUARES)
    with pytest.raises(Unavailable, match="closed"):
        list(opened.run_many([SQUARES]))


@pytest.mark.sample(1)
@pytest.mark.parametrize("mode", MODES)
def test_runs_under_way_end_as_our_fault_when_it_is_closed(mode: Mode) -> None:
    """Closing does not wait for a program, and a program does not fail by it."""
    opened = open_sandbox(mode, workers=1)
    patient = job(FOREVER.source.decode(), limits=RunLimits(cpu_s=60, wall_s=60))
    threading.Timer(0.3, opened.close).start()
    runs = [run for _, run in opened.run_many([patient, patient])]
    assert [run.outcome for run in runs] == ["sandbox_error"] * 2
