"""Test running one program: the scan first, always in the sandbox, a setter within its gate."""

from typing import Any

import pytest

from agon.app.dojo.grading import precheck
from agon.app.dojo.inspection import ProgramInspection, inspect, rules_in_force
from agon.app.dojo.run import ProgramAnswer, run_program
from agon.app.dojo.setter_validation import SETTER_LIMITS
from agon.app.sandbox import RunLimits, RunRequest, RunResult
from agon.disciplines.dojo.imports import Kind
from fakes.sandbox import FakeSandbox

SQUARES = b"def solver():\n    return [n * n for n in range(9)]\n"


def run_in(
    raw: bytes, sandbox: FakeSandbox, *, kind: Kind = "solver", scan: bool = True, n_check: int = 5
) -> ProgramAnswer:
    """Run a program in a fake sandbox."""
    return run_program(
        raw,
        kind=kind,
        n_check=n_check,
        scan=scan,
        rules=rules_in_force(),
        open_sandbox=lambda: sandbox,
    )


def test_terms_are_decimal_text_up_to_the_requested_number() -> None:
    """A program reads them without loss."""
    assert run_in(SQUARES, FakeSandbox()).to_dict() == {
        "verdict": "ok",
        "terms": ["0", "1", "4", "9", "16"],
        "terms_count": 5,
        "cpu_ms": 1.25,
        "wall_ms": 2.5,
        "memory_kib": 64,
        "mode": "cold",
        "reason": "",
        "first_index": 0,
    }


def test_a_short_list_says_how_many_terms_are_missing() -> None:
    """``ok`` alone would promise a verdict that a judge does not give."""
    answer = run_in(SQUARES, FakeSandbox(), n_check=10)
    assert (answer.verdict, answer.reason) == ("ok", "9 of 10 terms; a judge needs all of them")


@pytest.mark.parametrize(
    ("raw", "verdict", "text"),
    [
        (b"return 1", "syntax_error", "'return' outside function"),
        (b"def solver(a, a): pass", "syntax_error", "duplicate argument"),
        (b"x = " + b"7" * 5000, "syntax_error", "an integer literal has more than 4300 digits"),
        (b"import os\nx = eval('1')\n", "rejected_import", "line 1: import of os"),
        (b"def solver(:\n", "syntax_error", "line 1: not Python"),
        (b"def solver(:\n", "syntax_error", "this judge runs Python 3."),
        (f"T = {list(range(121))}\n".encode(), "rejected_policy", "121 numeric literals"),
        (f"import os\nT = {list(range(121))}\n".encode(), "rejected_import", "import of os"),
        (b"\xff", "syntax_error", "not UTF-8"),
    ],
)
def test_a_rejected_program_is_not_run(raw: bytes, verdict: str, text: str) -> None:
    """No sandbox is opened; the reason names all lines of the most severe kind."""
    sandbox = FakeSandbox()
    result = run_in(raw, sandbox)
    assert (result.verdict, result.mode, result.terms) == (verdict, None, ())
    assert text in result.reason
    assert sandbox.ran == []
    assert not sandbox.closed


def test_without_the_scan_only_the_sandbox_protects() -> None:
    """The scan is only for clear messages; tests of the sandbox leave it out."""
    result = run_in(b"import os\n" + SQUARES, FakeSandbox(), scan=False)
    assert result.verdict == "ok"


@pytest.mark.parametrize("scan", [True, False])
@pytest.mark.parametrize(
    ("source", "terms"),
    [(b"def seq(n): return n", ("0", "1", "2")), (b"def gen(N): return [7] * N", ("7",) * 3)],
)
def test_a_setter_is_called_by_the_function_that_it_defines(
    source: bytes, terms: tuple[str, ...], *, scan: bool
) -> None:
    """seq(n) from 1 on, or gen(N)."""
    assert run_in(source, FakeSandbox(), kind="setter", n_check=3, scan=scan).terms == terms


def test_a_setter_that_defines_neither_or_both_functions_is_an_error() -> None:
    """It is not known which to call."""
    for source in (b"x = 1", b"def seq(n): return n\ndef gen(N): return []"):
        result = run_in(source, FakeSandbox(), kind="setter")
        assert result.verdict == "runtime_error"
        assert "seq" in result.reason


def test_a_setter_may_take_one_second_and_a_solver_five() -> None:
    """A setter that passes here passes the gate; the seed states the five seconds."""
    limits: list[RunLimits] = []

    class Watching(FakeSandbox):
        def run(self, request: RunRequest) -> RunResult:
            limits.append(request.limits)
            return super().run(request)

    run_in(SQUARES, Watching())
    run_in(b"def seq(n): return n", Watching(), kind="setter")
    assert limits == [RunLimits(), SETTER_LIMITS]
    assert (limits[0].cpu_s, limits[1].cpu_s) == (5.0, 1.0)


def test_the_sandbox_is_closed_afterwards() -> None:
    """No process remains."""
    sandbox = FakeSandbox()
    run_in(SQUARES, sandbox)
    assert sandbox.closed


@pytest.mark.parametrize("exact", [False, True])
def test_a_rule_states_whether_other_exact_integers_are_terms(*, exact: bool) -> None:
    """It is off unless an edition or an override states it; a setter's terms are always int."""
    requests: list[RunRequest] = []

    class Watching(FakeSandbox):
        def run(self, request: RunRequest) -> RunResult:
            requests.append(request)
            return super().run(request)

    assert not rules_in_force().exact_integers
    rules = rules_in_force(overrides={"exact_integers": exact})
    kinds: dict[Kind, bytes] = {"solver": SQUARES, "setter": b"def seq(n): return n"}
    for kind, source in kinds.items():
        run_program(source, kind=kind, n_check=5, scan=True, rules=rules, open_sandbox=Watching)
    assert [request.exact_integers for request in requests] == [exact, False]


def test_a_program_is_inspected_once_between_its_run_and_its_verdict(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The worker inspects before the run, the server when it records; the result is the same."""
    inspected: list[bytes] = []

    def count(source: bytes, **options: Any) -> ProgramInspection:
        inspected.append(source)
        return inspect(source, **options)

    monkeypatch.setattr("agon.app.dojo.grading.inspect", count)
    source = b"import os  # only here\n"
    rules = rules_in_force()
    assert precheck(source, rules=rules) == precheck(source, rules=rules)
    assert precheck(source, rules=rules).verdict == "rejected_import"
    assert inspected == [source]
