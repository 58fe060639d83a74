"""Verdicts that solvers see before the freeze name the gates and nothing else."""

import json
import re
from collections.abc import Iterator
from datetime import timedelta
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from agon.app.contests.boards.publish import publish as publish_boards
from agon.app.contests.changes.change_sets import apply, dry_run, propose
from agon.app.contests.lifecycle.transitions import finalize
from agon.app.dojo.grading import verdict_row as verdict_of
from agon.app.sandbox import RunResult
from agon.kernel.times import written_time
from fakes.autumn import autumn, judged, publish
from fakes.instance import API, Instance, instance_at
from fakes.routes import OPEN
from fakes.service import ORGANISER

BITS = [int(n * n % 7 in {1, 2}) for n in range(1, 25)]
"""A hidden sequence of 0 and 1."""
SETTER = "def seq(n):\n    return int(n * n % 7 in {1, 2})\n"
COLUMNS = ("cpu_ms", "wall_ms", "memory_kib", "mode", "runner")


class Solver:
    """An automatic solver that submits lists of terms and reads their verdicts."""

    def __init__(self, instance: Instance, problem: str, *, terms: list[int] = BITS) -> None:
        self.instance = instance
        self.problem = problem
        self.expected = tuple(map(str, terms))

    def send(self, guess: list[int], **more: Any) -> Any:
        """Submit a list of terms; return the response."""
        source = f"def solver():\n    return {guess}\n"
        body = {"problem": self.problem, "content": {"source": source}, **more}
        return self.instance.post("/contests/autumn/submissions", "participant", json=body)

    def judge(self, submission: str, guess: list[int], *, violation: str = "") -> None:
        """Record the verdict as a worker does after running the program."""
        run = RunResult(outcome="ok", terms=tuple(map(str, guess)), mode="bwrap", runner="test")
        row = dict(verdict_of(run, expected=self.expected, first_index=1, violation=violation))
        columns = {name: row[name] for name in ("verdict", "terms_matched", "reason", *COLUMNS)}
        judged(self.instance.service, submission, self.problem, source=str(guess), **columns)

    def try_out(self, guess: list[int], **more: Any) -> dict[str, Any]:
        """Submit a list, judge it, and return the verdict as the solver sees it."""
        name = self.send(guess).json()["id"]
        self.judge(name, guess, **more)
        return self.record(name)

    def record(self, submission: str, role: str = "participant") -> dict[str, Any]:
        """Return the verdict as a role sees it."""
        response = self.instance.get(f"/contests/autumn/submissions/{submission}", role).json()
        (row,) = response["records"]
        return dict(row)

    def read_off(self) -> list[int]:
        """Reconstruct the sequence from verdicts that contain the position of the first error."""
        known: list[int] = []
        for _ in range(len(self.expected)):
            row = self.try_out(known + [0] * (len(self.expected) - len(known)))
            if row["verdict"] == "ok":
                return known + [0] * (len(self.expected) - len(known))
            matched = row["terms_matched"]
            if matched is None:
                return known
            known = known + [0] * (matched - len(known)) + [1]
        return known


def dojo(instance: Instance, **rules: Any) -> Solver:
    """Open the contest with a problem of bits."""
    autumn(instance.service)
    if rules:
        change_rules(instance, **rules)
    terms = [str(bit) for bit in BITS]
    return Solver(instance, publish(instance.service, SETTER, N_check=24, terms=terms))


def change_rules(instance: Instance, **rules: Any) -> None:
    """Apply a change of rules to the contest."""
    params = {"edition": "dojo/0.1", "overrides": rules}
    change_set = propose(
        instance.service, "autumn", kind="rules", params=params, reason="r", by=ORGANISER
    )
    dry_run(instance.service, "autumn", change_set.id)
    apply(instance.service, "autumn", change_set.id, by=ORGANISER)


@pytest.mark.exhaustive
def test_feedback_terms_lets_a_solver_reconstruct_a_sequence_of_bits(instance: Instance) -> None:
    """This is why a live contest does not report how many leading terms are right."""
    assert dojo(instance, feedback="terms").read_off() == BITS


def test_feedback_gate_reveals_nothing_to_an_automatic_solver(instance: Instance) -> None:
    """With the default of a live contest, all wrong answers have equal verdicts."""
    solver = dojo(instance)
    assert solver.read_off() == []
    rows = [
        solver.try_out(BITS[:right] + [1 - BITS[right]] * (24 - right)) for right in range(0, 12, 3)
    ]
    own = {"id", "source", "created_at"}
    readable_state = {json.dumps({k: v for k, v in row.items() if k not in own}) for row in rows}
    assert len(readable_state) == 1
    assert "no stage pass: not all of the first " in readable_state.pop()


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("right", "verdict", "reason", "matched"),
    [
        (19, "wrong_answer", "no stage pass: not all of the first 100 terms are right", None),
        (120, "wrong_answer", "stage pass: the first 100 terms are right, not all 200", None),
        (200, "ok", "", 200),
    ],
)
def test_with_feedback_gate_a_verdict_names_the_gates(
    instance: Instance, right: int, verdict: str, reason: str, matched: int | None
) -> None:
    """It reports stage pass, full success or neither; staff see the recorded verdict."""
    problem = autumn(instance.service)
    squares = [n * n for n in range(1, 201)]
    solver = Solver(instance, problem, terms=squares)
    guess = squares[:right]
    row = solver.try_out(guess)
    assert (row["verdict"], row["reason"], row["terms_matched"]) == (verdict, reason, matched)
    name = row["id"]
    assert solver.record(name, "organiser")["terms_matched"] == right


def test_a_rejected_program_does_not_reveal_its_matched_terms(instance: Instance) -> None:
    """The record contains them, for editions that accept the program."""
    solver = dojo(instance)
    row = solver.try_out(BITS, violation="line 1: a table; compute the terms")
    assert (row["verdict"], row["terms_matched"]) == ("rejected_policy", None)
    assert row["reason"].startswith("line 1: a table")
    assert solver.record(row["id"], "organiser")["terms_matched"] == 24


@pytest.mark.sample(1)
@pytest.mark.parametrize("closing", ["freeze", "final"])
def test_verdicts_are_disclosed_when_a_problem_is_closed(instance: Instance, closing: str) -> None:
    """Submissions are no longer possible, so the disclosure helps no solver."""
    solver = dojo(instance)
    if closing == "freeze":
        at = written_time(instance.service.clock() + timedelta(seconds=90))
        terms = [str(bit) for bit in BITS]
        solver.problem = publish(
            instance.service, SETTER + "# b\n", N_check=24, terms=terms, freeze_started_at=at
        )
    row = solver.try_out(BITS[:3])
    assert row["terms_matched"] is None
    if closing == "final":
        finalize(instance.service, "autumn", by=ORGANISER, force=True)
    else:
        instance.service.clock.at += timedelta(seconds=100)  # type: ignore[attr-defined]  # tests turn it
    assert solver.record(row["id"])["terms_matched"] == 3


def visible(instance: Instance, problem: str, submission: str) -> Iterator[tuple[str, object]]:
    """Yield every response readable by the public and the solver, without hashes and signatures."""
    with instance.service.store.read() as session:
        boards = [*session.contests.get("autumn").boards[:1], f"problem:{problem}"]
    values = {"contest": ["autumn"], "board": boards, "no": ["1", "2", "3"],
              "id": ["ada", problem, submission]}  # fmt: skip
    schema = instance.client.get("/api/openapi.json").json()
    read = {path for path, methods in schema["paths"].items() if "get" in methods}
    for template in sorted(read - OPEN - {f"{API}/contests/{{contest}}/events"}):
        names = re.findall(r"\{(\w+)\}", template)
        for chosen in product(*(values.get(name, ["x1"]) for name in names)):
            path = template
            for name, value in zip(names, chosen, strict=True):
                path = path.replace("{" + name + "}", value)
            for role in (None, "participant"):
                response = instance.client.get(path, headers=instance.as_(role))
                text = re.sub(r"[0-9a-f]{32,}|[A-Za-z0-9_-]{40,}|urn:agon:request:\w+", "#",
                              response.text)  # fmt: skip
                yield f"{role} {path}", (response.status_code, text)


def readable_state(folder: Path, right: int) -> dict[str, object]:
    """Return all responses of a contest whose one submission has this many right terms."""
    instance = instance_at(folder)
    solver = dojo(instance)
    name = solver.send([0]).json()["id"]
    guess = BITS[:right] + [1 - BITS[right]] * (24 - right)
    solver.judge(name, guess)
    publish_boards(instance.service, "autumn")
    responses = dict(visible(instance, solver.problem, name))
    instance.close()
    return responses


def test_with_feedback_gate_no_response_depends_on_the_number_of_right_terms(
    tmp_path: Path,
) -> None:
    """Boards, explanations, histories, proofs and lists must not leak it to non-staff callers."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    few, many = readable_state(tmp_path / "a", 3), readable_state(tmp_path / "b", 9)
    source = re.compile(r'"source":"[^"]*"|"source_hash":"[^"]*"')
    assert few.keys() == many.keys()
    different = [
        path for path in few if source.sub("", str(few[path])) != source.sub("", str(many[path]))
    ]
    assert different == []
    explained = [str(value) for path, value in few.items() if "explanations/ada" in path]
    assert any(
        "no stage pass: not all of the first 12 terms are right" in item for item in explained
    )


@pytest.mark.exhaustive
def test_submissions_to_a_problem_are_limited_and_counted(instance: Instance) -> None:
    """The problem shows limit and count; each problem and user has a separate count."""
    solver = dojo(instance, max_submissions=2)
    path = f"/contests/autumn/problems/{solver.problem}"
    submission = solver.send([1]).json()["id"]
    response = instance.get(path, "participant").json()
    assert (response["feedback"], response["max_submissions"], response["submissions"]) == (
        "gate",
        2,
        1,
    )
    assert solver.send([2], external_id="mine").status_code == 202
    assert solver.send([2], external_id="mine").status_code == 202
    response = solver.send([3])
    assert response.status_code == 409
    assert "ada has made 2 submissions" in response.json()["detail"]
    assert "max_submissions: every verdict reveals" in response.json()["detail"]
    judged(
        instance.service, submission, solver.problem, verdict="sandbox_error", terms_matched=None
    )
    problems = instance.get("/contests/autumn/problems", "participant").json()["items"]
    assert [item["submissions"] for item in problems] == [0, 1]
    assert solver.send([3]).status_code == 202
    assert solver.send([4]).status_code == 409
    body = {"problem": solver.problem, "user": "bob", "content": {"source": "def solver(): 1\n"}}
    assert instance.post("/contests/autumn/submissions", "organiser", json=body).status_code == 202
    response = instance.get(path).json()
    assert (response["max_submissions"], response["submissions"]) == (2, None)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("verdict", "mode", "left"),
    [
        ("rejected_import", None, 2),
        ("syntax_error", None, 2),
        ("syntax_error", "bwrap", 1),  # a program can claim it when it runs
        ("rejected_policy", None, 1),
        ("runtime_error", "bwrap", 1),
    ],
)
def test_what_is_refused_without_a_run_costs_no_attempt(
    instance: Instance, verdict: str, mode: str | None, left: int
) -> None:
    """A typing error says nothing of the hidden terms, so it is not paid for."""
    solver = dojo(instance, max_submissions=2)
    submission = solver.send([1]).json()["id"]
    judged(
        instance.service, submission, solver.problem, verdict=verdict, mode=mode, terms_matched=None
    )
    sent = [solver.send([at]).status_code for at in range(2, 5)]
    assert sent == [202] * left + [409] * (3 - left)


@pytest.mark.exhaustive
def test_a_problem_says_what_programs_may_use_under_the_contests_rules(instance: Instance) -> None:
    """Participants read it before they spend an attempt; lists of problems leave it out."""
    solver = dojo(instance, allowed_modules=["math", "heapq"], recursion_limit=500)
    path = f"/contests/autumn/problems/{solver.problem}"
    judging = instance.get(path, "participant").json()["judging"]
    assert judging["allowed_modules"] == ["math", "heapq"]
    assert judging["limits"]["recursion"] == 500
    assert judging["python"].startswith("3.")
    assert "sympy.crypto" in judging["sympy_missing"]
    listed = instance.get("/contests/autumn/problems", "participant").json()["items"]
    assert {item["judging"] for item in listed} == {None}


def test_a_live_contest_defaults_to_gate_feedback_and_100_submissions(instance: Instance) -> None:
    """The defaults need no ledger entry, so they also apply to contests opened earlier."""
    name = autumn(instance.service)
    response = instance.get(f"/contests/autumn/problems/{name}", "participant").json()
    assert (response["feedback"], response["max_submissions"], response["submissions"]) == (
        "gate",
        100,
        0,
    )
