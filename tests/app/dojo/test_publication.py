"""Test publishing, revealing and verifying a problem's terms."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agon.app.dojo.hidden_answer import HiddenAnswer, read_answer
from agon.app.dojo.judge import judge
from agon.app.dojo.lifecycle import require_revealable
from agon.app.dojo.problems import Problem, read_problem
from agon.app.dojo.publication import publish
from agon.app.dojo.reveal import reveal, verify
from agon.app.dojo.setter_validation import InvalidSetter, validate_setter
from agon.app.files import InvalidPackage
from agon.errors import Conflict, NotFound, Unavailable, Unreadable
from app.dojo.packing import SQUARES, entries, pack_problem, pack_solver
from fakes.sandbox import FakeSandbox


def problem(source: str = SQUARES, *, n_check: int = 200) -> Problem:
    """Return a problem with a setter's source."""
    interface = "seq" if "def seq" in source else "gen"
    return Problem(source=source.encode(), interface=interface, n_check=n_check)  # type: ignore[arg-type]  # the conditional loses the literal


def test_the_disclosure_is_the_first_fifty_terms_of_odd_index(tmp_path: Path) -> None:
    """a_1, a_3, …, a_99, as decimal text with their indices, and the hash; nothing else."""
    publish(problem(), tmp_path / "out", FakeSandbox())
    disclosed = json.loads((tmp_path / "out" / "disclosure.json").read_text())
    assert disclosed["disclosed"] == [{"n": n, "a": str(n * n)} for n in range(1, 100, 2)]
    assert len(disclosed["disclosed"]) == 50
    assert disclosed["problem_id"] == problem().id
    assert (disclosed["N_check"], disclosed["first_index"]) == (200, 0)


def test_the_disclosure_has_no_hidden_value(tmp_path: Path) -> None:
    """Neither the source nor a term beyond the disclosed ones, not even as a part of a number."""
    source = "def seq(n):\n    return 10**30 + n * 7919\n"
    publish(problem(source), tmp_path / "out", FakeSandbox())
    text = (tmp_path / "out" / "disclosure.json").read_text()
    hidden = [n for n in range(200) if n % 2 == 0 or n > 99]
    assert not [n for n in hidden if str(10**30 + n * 7919) in text]
    assert "n * 7919" not in text
    assert "return" not in text


def test_only_the_owner_can_read_the_hidden_file(tmp_path: Path) -> None:
    """It has the terms and the source."""
    publish(problem(), tmp_path / "out", FakeSandbox())
    hidden = tmp_path / "out" / "sealed.json"
    assert hidden.stat().st_mode & 0o777 == 0o600
    answer = read_answer(hidden)
    assert answer == HiddenAnswer(
        replace(problem(), stated_first_index=0), tuple(str(n * n) for n in range(200))
    )
    assert sorted(path.name for path in tmp_path.rglob("*")) == [
        "disclosure.json", "out", "sealed.json",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("def seq(n): return n + (n == 17) * HASH_SEED", r"term 18 \(a_17\) differs .* 18 and 19;"),
        (
            "def gen(N): return [1] * (N - HASH_SEED + 1)",
            r"term 200 \(a_199\) differs .* none;",
        ),
        ("def gen(N): return [1] * 150", "gave 150 terms; it has to give 200"),
        ("def seq(n): return n / 1", r"wrong_type \(a term is no int\)"),
        ("def seq(n): return 1 // 0", "runtime_error .*ZeroDivisionError"),
        ("def seq(n): return n  # outcome: time_limit", "time_limit.* within 1 s of CPU time"),
        ("def seq(n): return [1][HASH_SEED - 1]", "ended differently"),
    ],
)
def test_a_setter_that_fails_its_gate_is_not_published(
    tmp_path: Path, source: str, text: str
) -> None:
    """N_check terms, all int, in a second, equal in two runs; otherwise nothing is written."""
    with pytest.raises(InvalidSetter, match=text):
        publish(problem(source), tmp_path / "out", FakeSandbox())
    assert list(tmp_path.iterdir()) == []


def test_a_failing_sandbox_is_not_an_error_of_the_setter() -> None:
    """The error is the sandbox's."""
    with pytest.raises(Unavailable, match="the sandbox failed"):
        validate_setter(problem("def seq(n): return n  # outcome: sandbox_error"), FakeSandbox())


def test_a_folder_that_is_not_empty_is_not_changed(tmp_path: Path) -> None:
    """It is rejected before the setter runs."""
    (tmp_path / "notes").write_text("mine")
    sandbox = FakeSandbox()
    with pytest.raises(Conflict):
        publish(problem(), tmp_path, sandbox)
    with pytest.raises(NotFound):
        publish(problem(), tmp_path / "a" / "b", sandbox)
    assert sandbox.ran == []


def test_any_reader_can_verify_a_revealed_file(tmp_path: Path) -> None:
    """By the file alone, or by the source and the published hash."""
    hidden = publish(problem(), tmp_path / "out", FakeSandbox())
    reveal(hidden, tmp_path / "revealed.json")
    assert verify(tmp_path / "revealed.json").holds
    assert verify(tmp_path / "revealed.json", problem().id.upper()).holds
    (tmp_path / "setter.py").write_text(SQUARES.replace("\n", "\r\n"))
    assert verify(tmp_path / "setter.py", problem().id).holds
    assert not verify(tmp_path / "setter.py", "0" * 64).holds
    with pytest.raises(Unreadable, match="--hash"):
        verify(tmp_path / "setter.py")


def test_a_changed_revealed_file_is_not_verified(tmp_path: Path) -> None:
    """One changed byte of the source is enough."""
    reveal(HiddenAnswer(problem(), ("1",) * 200), tmp_path / "revealed.json")
    text = (tmp_path / "revealed.json").read_text().replace("n * n", "n + n")
    (tmp_path / "revealed.json").write_text(text)
    assert not verify(tmp_path / "revealed.json").holds
    with pytest.raises(InvalidPackage, match="problem_id is"):
        read_answer(tmp_path / "revealed.json")


@pytest.mark.parametrize("terms", [["1"], "1", [1] * 200, ["01"] * 200, None])
def test_a_hidden_file_with_other_terms_is_rejected(tmp_path: Path, terms: object) -> None:
    """Solvers would be judged by wrong terms."""
    page = json.loads(HiddenAnswer(problem(), ("1",) * 200).to_bytes()) | {"terms": terms}
    (tmp_path / "sealed.json").write_text(json.dumps(page))
    with pytest.raises(InvalidPackage, match="terms are not N_check decimal integers"):
        read_answer(tmp_path / "sealed.json")


def test_nothing_is_revealed_before_the_freeze() -> None:
    """Submissions arrive until the freeze, and not at its time."""
    freeze = datetime(2026, 3, 1, tzinfo=UTC)
    with pytest.raises(Conflict, match="2026-03-01T00:00:00"):
        require_revealable(freeze, now=freeze - timedelta(microseconds=1))
    require_revealable(freeze, now=freeze)
    require_revealable(None, now=freeze, over=True)
    with pytest.raises(Conflict, match="until its contest is over"):
        require_revealable(None, now=freeze)


@pytest.mark.exhaustive
def test_the_revealed_file_states_how_often_each_tag_was_used(tmp_path: Path) -> None:
    """Among the reward-correct submissions that count for diversity (document 002, 6.3)."""
    problem = read_problem(pack_problem(tmp_path / "p", freeze_started_at="2026-02-01"))
    for user, tag in (("ada", "closed_form"), ("bob", "closed_form"), ("cy", "loops")):
        pack_solver(tmp_path / "s", user, method_tag=tag)
    pack_solver(tmp_path / "s", "dan", "def solver(): return []", method_tag="other")
    judge(problem, tmp_path / "s", tmp_path / "season", FakeSandbox())
    hidden = HiddenAnswer(problem, validate_setter(problem, FakeSandbox()))
    reveal(hidden, tmp_path / "r.json", season=tmp_path / "season")
    page = json.loads((tmp_path / "r.json").read_text())
    assert page["method_tags"] == {"closed_form": 2, "loops": 1}
    reveal(hidden, tmp_path / "r.json", season=tmp_path / "season")
    kinds = [entry["kind"] for entry in entries(tmp_path / "season")]
    assert kinds.count("problem-revealed") == 1
