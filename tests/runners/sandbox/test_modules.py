"""What rules can allow programs to import is there, and the list of what is missing is true."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import agon.runners.sandbox
from agon.app.sandbox import Mode, RunLimits, RunRequest, Sandbox
from agon.disciplines.dojo.modules import MODULES, SYMPY_MISSING, missing_of_sympy
from agon.runners.sandbox import open_sandbox

MODES: tuple[Mode, ...] = ("bwrap", "degraded")


@pytest.fixture(
    params=[pytest.param(mode, marks=pytest.mark.xdist_group(f"modules-{mode}")) for mode in MODES],
    scope="module",
)
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """Return the warm adapters in turn."""
    with open_sandbox(request.param, workers=1) as opened:
        yield opened


def job(source: str, **changed: Any) -> RunRequest:
    """Make a job with time for a busy machine, on which sympy is loaded."""
    limits = RunLimits(wall_s=60)
    return RunRequest(source=source.encode(), **{"n_check": 5, "limits": limits, **changed})


@pytest.mark.parametrize("module", MODULES)
def test_every_module_that_rules_can_allow_is_there(sandbox: Sandbox, module: str) -> None:
    """With what its functions load on first use, once the files are closed off."""
    if module == "__future__":
        source = "from __future__ import annotations\ndef solver() -> Unknown: return [1]\n"
    else:
        source = f"import {module} as m\n{USES.get(module, 'x = 1')}\nsolver = lambda: [int(x)]\n"
    run = sandbox.run(job(source))
    assert (run.outcome, run.terms) == ("ok", ("1",))


USES = {
    "functools": "x = m.singledispatch(lambda n: n)(1); m.total_ordering(type('A', (), "
    "{'__lt__': lambda *_: 1})); m.cached_property(int)",
    "collections": "import collections.abc\nx = m.Counter('a')['a']; P = m.namedtuple('P', 'a b'); "
    "m.OrderedDict(); m.ChainMap(); m.deque([1], maxlen=3)",
    "heapq": "h = [3, 1]; m.heapify(h); x = next(m.merge(h, [2]))",
    "bisect": "x = m.bisect([0], 0)",
    "operator": "x = m.itemgetter(0)([1])",
    "typing": "x = 1; m.NamedTuple('N', [('a', int)]); m.get_type_hints(m.Protocol)",
    "dataclasses": "\n@m.dataclass(order=True, frozen=True, slots=True)\nclass A:\n    n: int = 1"
    "\nx = m.replace(A()).n; m.asdict(A()); str(m.fields(A))",
    "decimal": "x = m.Decimal('1.0').quantize(m.Decimal(1)); m.getcontext().prec = 50",
    "string": "x = len(m.Template('$a').substitute(a='b'))",
    "random": "x = m.randrange(1, 2); m.shuffle([1, 2]); m.sample(range(9), 2)",
    "fractions": "x = m.Fraction('1/2') * 2",
    "itertools": "x = next(m.count(1))",
    "math": "x = m.comb(3, 3)",
    "sympy": "x = m.prime(1) - 1",
}


@pytest.mark.exhaustive
def test_random_numbers_are_the_same_in_every_run(sandbox: Sandbox) -> None:
    """A verdict must not depend on luck."""
    source = "import random\nsolver = lambda: [random.randrange(10**12) for _ in range(3)]\n"
    first, second = (sandbox.run(job(source)) for _ in range(2))
    assert first.outcome == "ok"
    assert first.terms == second.terms


def test_a_module_that_is_not_there_says_where_the_list_is(sandbox: Sandbox) -> None:
    """Without the scan, or from inside a module, it is an exception of the program."""
    run = sandbox.run(job("import sympy.crypto\nsolver = list\n"))
    assert (run.outcome, run.terms) == ("runtime_error", ())
    assert "No module named 'sympy.crypto'; agon dojo rules lists" in run.reason


DEEP = """
from functools import lru_cache
@lru_cache(maxsize=None)
def f(n):
    return 0 if n == 0 else f(n - 1) + 1
def g(n):
    return 0 if n == 0 else g(n - 1) + 1
def solver():
    return [f({cached}), g({plain})]
"""


def test_calls_are_nested_as_deep_as_the_request_says(sandbox: Sandbox) -> None:
    """A limit of its own, not what happens to be left; no depth that is allowed crashes."""
    assert sandbox.run(job(DEEP.format(cached=450, plain=950))).terms == ("450", "950")
    beyond = sandbox.run(job(DEEP.format(cached=1, plain=1001)))
    assert "RecursionError" in beyond.reason
    deep = job(DEEP.format(cached=4_900, plain=9_900), recursion_limit=10_000)
    assert sandbox.run(deep).terms == ("4900", "9900")


@pytest.mark.parametrize("first", [-3, 5, 1 << 53])
def test_a_sequence_begins_anywhere(sandbox: Sandbox, first: int) -> None:
    """Offsets of known sequences are whole numbers, negative ones too."""
    run = sandbox.run(job("def seq(n): return n", entry="seq", first_index=first, n_check=2))
    assert run.terms == (str(first), str(first + 1))


LOADED = """
import sys
sys.path.insert(0, sys.argv[1])
from inside.preload import load
load(sympy=True, random_seed=1)
import pkgutil, sympy
names = {name.removeprefix("sympy.") for name in sys.modules if name.startswith("sympy.")}
tops = {module.name for module in pkgutil.iter_modules(sympy.__path__)}
print(*sorted(names))
print(*sorted(tops))
"""


@pytest.mark.exhaustive
def test_the_parts_of_sympy_that_are_missing_are_listed() -> None:
    """The scan rejects them without a run, so the list must be neither too long nor too short."""
    folder = Path(agon.runners.sandbox.__file__).parent
    command = [sys.executable, "-c", LOADED, str(folder)]
    output = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    loaded, tops = (set(line.split()) for line in output.stdout.splitlines())
    assert not loaded & set(SYMPY_MISSING)
    assert tops - loaded <= set(SYMPY_MISSING) | {"release"}
    assert all(missing_of_sympy(f"sympy.{name}") is None for name in loaded)
