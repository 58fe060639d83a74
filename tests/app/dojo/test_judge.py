"""Test judging: each submission gets one verdict, and never a second one."""

import os
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

import agon
from agon.app.dojo.judge import JudgeSummary, JudgingProgress, judge
from agon.app.dojo.packages import PackageFolder, read_package
from agon.app.dojo.problems import read_problem
from agon.app.replay.replay import replay
from agon.app.sandbox import RunRequest, RunResult
from agon.errors import Conflict, NotFound, Unavailable
from agon.ledger.directory import import_directory
from app.dojo.packing import RIGHT, entries, ledger_of, pack_problem, pack_solver, recorded, rows
from fakes.sandbox import FakeSandbox

HALF = "def solver():\n    return [n * n for n in range(1, 11)]\n"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Return a problem of 20 squares."""
    return pack_problem(tmp_path / "p", freeze_started_at="2026-02-01", setter_user_id="gus")


def judged(package: Path, *, sandbox: FakeSandbox | None = None) -> JudgeSummary:
    """Judge the submissions next to a package into a season next to it."""
    folder = package.parent
    (folder / "s").mkdir(exist_ok=True)
    return judge(read_problem(package), folder / "s", folder / "season", sandbox or FakeSandbox())


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("source", "verdict", "matched", "text"),
    [
        (RIGHT.format(n=20), "ok", 20, ""),
        (RIGHT.format(n=30), "ok", 20, ""),
        (HALF, "wrong_answer", 10, "10 of 20 terms, all of them right"),
        ("def solver(): return [1, 4, 8]", "wrong_answer", 2, "term 3 is wrong"),
        ("def solver(): return []", "wrong_answer", 0, "0 of 20 terms"),
        ("def solver(): return [1.0]", "wrong_type", None, "no int"),
        ("def solver(): return 1 // 0", "runtime_error", None, "ZeroDivisionError"),
        ("x = 1", "runtime_error", None, "solver"),
        ("", "runtime_error", None, "solver"),
        ("import os", "rejected_import", None, "line 1: import of os"),
        ("def solver(:", "syntax_error", None, "line 1: not Python"),
        (b"\xff\xfe", "syntax_error", None, "not UTF-8"),
        (b"x = '\0'", "syntax_error", None, "NUL"),
        (b"#" * 70_000, "syntax_error", None, "more than 65536 bytes"),
        ("(" * 5000, "syntax_error", None, "nested"),
        (RIGHT.format(n=20) + "# outcome: time_limit", "time_limit", None, ""),
        (RIGHT.format(n=20) + "# outcome: memory_limit", "memory_limit", None, ""),
        (RIGHT.format(n=20) + "# outcome: output_limit", "output_limit", None, ""),
        (
            f"T = {list(range(121))}\n" + HALF,
            "rejected_policy",
            10,
            "numeric literals, 120 are allowed",
        ),
    ],
)
def test_every_program_gets_its_verdict(
    package: Path, source: str | bytes, verdict: str, matched: int | None, text: str
) -> None:
    """The closed list of the dojo page, each verdict from a program that gets it."""
    pack_solver(package.parent / "s", "ada", source)
    (row,) = judged(package).rows
    assert (row["verdict"], row["terms_matched"]) == (verdict, matched)
    assert text in row["reason"]
    assert len(agon.read_records("dojo", package.parent / "season").arrow("submissions")) == 1


def test_a_verdict_is_a_complete_record(package: Path) -> None:
    """Scoring needs nothing else, and a reader sees the cause."""
    pack_solver(package.parent / "s", "ada", method_tag="closed_form", notes="n squared")
    judged(package)
    (row,) = rows(package.parent / "season")
    assert row == {
        "id": f"{read_problem(package).id[:12]}/ada/1",
        "problem_id": read_problem(package).id,
        "user_id": "ada",
        "created_at": "2026-01-01T00:00:00.000000Z",
        "source": RIGHT.format(n=20),
        "source_hash": row["source_hash"],
        "l_chars": len(RIGHT.format(n=20)),
        "method_tag": "closed_form",
        "notes": "n squared",
        "verdict": "ok",
        "terms_matched": 20,
        "terms_count": 20,
        "cpu_ms": 1.25,
        "wall_ms": 2.5,
        "memory_kib": 64,
        "attempts": 1,
        "mode": "cold",
        "runner": "fake",
        "reason": "",
    }
    (problem,) = rows(package.parent / "season", "problems")
    assert problem["p_hash"] == problem["id"] == read_problem(package).id
    assert problem["n_check"] == 20


def test_a_program_that_the_scan_rejects_never_enters_the_sandbox(package: Path) -> None:
    """The scan is the first gate; the edition applies the payload policy."""
    folder = package.parent / "s"
    pack_solver(folder, "ada", "import os")
    pack_solver(folder, "bob", "def solver(:")
    pack_solver(folder, "cy", f"T = {list(range(121))}\n" + HALF)
    sandbox = FakeSandbox()
    judged(package, sandbox=sandbox)
    assert [name.split("/")[1] for name in sandbox.ran if name != "setter"] == ["cy"]


@pytest.mark.exhaustive
def test_a_season_is_scored_from_its_folder(package: Path) -> None:
    """Rewards, stage passes, and the users without a score: the setter and a late one."""
    folder = package.parent / "s"
    pack_solver(folder, "ada", method_tag="closed_form")
    pack_solver(folder, "bob", HALF)
    pack_solver(folder, "gus")
    pack_solver(folder, "late", created_at="2026-02-01T00:00:00.000001Z")
    pack_solver(folder, "sharp", created_at="2026-02-01T00:00:00Z")
    summary = judged(package)
    assert [name.split("/")[1] for name in summary.late] == ["late"]
    result = agon.score("dojo", package.parent / "season")
    assert {row["id"]: row["score"] for row in result.board().rows()} == {
        "ada": 1000 + 185 + 50, "sharp": 1000 + 185 + 50, "bob": 200,
    }  # fmt: skip
    assert {item.id for item in result.board().unscored} == {"gus", "late"}


def test_a_second_judge_runs_only_new_programs(package: Path) -> None:
    """A verdict is a record; no program with a verdict is judged again."""
    pack_solver(package.parent / "s", "ada")
    judged(package)
    before = rows(package.parent / "season")
    pack_solver(package.parent / "s", "bob")
    sandbox = FakeSandbox()
    summary = judged(package, sandbox=sandbox)
    assert [row["user_id"] for row in summary.rows] == ["bob"]
    assert summary.repeated == 1
    assert not [name for name in sandbox.ran if "/ada/" in name]
    assert rows(package.parent / "season")[0] == before[0]


def test_a_sandbox_error_is_judged_again(package: Path) -> None:
    """It is not a verdict about the program."""
    place = pack_solver(
        package.parent / "s", "ada", RIGHT.format(n=20) + "# outcome: sandbox_error"
    )
    assert judged(package).rows[0]["verdict"] == "sandbox_error"
    (place / "solver.py").write_text(RIGHT.format(n=20))
    assert judged(package).rows[0]["verdict"] == "ok"
    assert [row["verdict"] for row in rows(package.parent / "season")] == ["ok"]


def test_a_source_changed_after_its_verdict_is_reported_and_not_judged(package: Path) -> None:
    """Otherwise a solver could try many programs."""
    place = pack_solver(package.parent / "s", "ada", HALF)
    judged(package)
    (place / "solver.py").write_text(RIGHT.format(n=20))
    summary = judged(package)
    assert summary.rows == ()
    assert "changed after it was judged" in str(summary.remarks[0])
    assert rows(package.parent / "season")[0]["verdict"] == "wrong_answer"


@pytest.mark.exhaustive
def test_several_problems_share_a_season(package: Path) -> None:
    """The season's board adds their rewards."""
    pack_solver(package.parent / "s", "ada")
    judged(package)
    other = pack_problem(package.parent / "q", setter="def seq(n):\n    return n**3\n")
    pack_solver(package.parent / "t", "ada", "def solver(): return [n**3 for n in range(1, 21)]")
    judge(read_problem(other), package.parent / "t", package.parent / "season", FakeSandbox())
    (row,) = agon.score("dojo", package.parent / "season").board().rows()
    assert row["problems"] == 2


def test_the_freeze_may_change_and_the_number_of_terms_may_not(package: Path) -> None:
    """The first changes which users are scored, the second what the verdicts mean."""
    pack_solver(package.parent / "s", "ada")
    judged(package)
    pack_problem(package, freeze_started_at="2027-01-01")
    judged(package)
    (problem,) = rows(package.parent / "season", "problems")
    assert problem["freeze_started_at"] == "2027-01-01T00:00:00.000000Z"
    pack_problem(package, N_check=30)
    with pytest.raises(Conflict, match="judged by 20 terms, not by 30"):
        judged(package)


def test_packages_that_cannot_be_judged_are_listed_and_affect_no_others(package: Path) -> None:
    """An error in one package does not prevent the judging of others."""
    folder = package.parent / "s"
    pack_solver(folder, "ada")
    (folder / "bob" / "1").mkdir(parents=True)
    (folder / "bob" / "solver.py").write_text("")
    (pack_solver(folder, "cy") / "submission.json").write_text('{"created_at": "yesterday"}')
    dan = pack_solver(folder, "dan")
    (dan / "solver.py").unlink()
    (dan / "solver.py").symlink_to(package / "setter.py")
    eve = pack_solver(folder, "eve")
    (eve / "solver.py").unlink()
    os.mkfifo(eve / "solver.py")
    (folder / "fay").symlink_to(folder / "ada")
    huge = pack_solver(folder, "gil")
    os.truncate(huge / "solver.py", 1 << 40)
    summary = judged(package)
    assert [row["user_id"] for row in summary.rows] == ["ada"]
    issues = "\n".join(map(str, summary.issues))
    for user, what in {
        "bob/1/solver.py": "is missing",
        "bob/solver.py": "is not in a submission's folder",
        "cy/1/submission.json": "is 'yesterday', which is not a time",
        "dan/1/solver.py": "is a symbolic link",
        "eve/1/solver.py": "is not a regular file",
        "fay": "is a symbolic link",
        "gil/1/solver.py": "has more than 16,777,216 bytes",
    }.items():
        assert f"{folder / user}: {what}" in issues or (user in issues and what in issues)
    assert len(summary.issues) == 7
    assert len(rows(package.parent / "season", "refused")) == 7
    (folder / "bob" / "1" / "solver.py").write_text(HALF)
    assert [row["user_id"] for row in judged(package).rows] == ["bob"]
    assert len(rows(package.parent / "season", "refused")) == 6


def test_rejected_packages_of_all_problems_are_listed_together(package: Path) -> None:
    """Judging the next problem keeps the list of the one before."""
    (package.parent / "s" / "bob" / "1").mkdir(parents=True)
    judged(package)
    other = pack_problem(package.parent / "q", setter="def seq(n):\n    return n**3\n")
    (package.parent / "t" / "cy" / "1").mkdir(parents=True)
    season = package.parent / "season"
    for _ in range(2):
        judge(read_problem(other), package.parent / "t", season, FakeSandbox())
        assert len({line["problem_id"] for line in rows(season, "refused")}) == 2
        assert len(rows(season, "refused")) == 2
    for user, folder in (("bob", "s"), ("cy", "t")):
        (package.parent / folder / user / "1" / "solver.py").write_text(HALF)
    judged(package)
    judge(read_problem(other), package.parent / "t", season, FakeSandbox())
    assert not (season / "refused.ndjson").exists()


@pytest.mark.parametrize(
    "solution",
    [b"[]", b"{", b"\xff", b'{"method_tag": 7, "notes": []}', b'{"method_tag": "\\udc00"}'],
)
def test_a_solution_without_a_readable_method_is_unspecified(
    package: Path, solution: bytes
) -> None:
    """Document 002, 6.1: missing or not a string; the program itself is judged."""
    place = pack_solver(package.parent / "s", "ada")
    (place / "solution.json").write_bytes(solution)
    (row,) = judged(package).rows
    assert (row["verdict"], row["method_tag"], row["notes"]) == ("ok", None, None)


def test_without_a_submission_file_the_time_is_when_the_source_was_changed(package: Path) -> None:
    """No other time is known."""
    place = pack_solver(package.parent / "s", "ada", created_at=None)
    os.utime(place / "solver.py", ns=(0, 1_700_000_000_123_456_789))
    (row,) = judged(package).rows
    assert row["created_at"] == "2023-11-14T22:13:20.123456Z"


def test_a_second_judge_of_a_season_at_work_is_rejected(package: Path) -> None:
    """Two would judge the same programs twice."""
    pack_solver(package.parent / "s", "ada")

    class Meddling(FakeSandbox):
        def run_many(
            self, requests: Iterable[RunRequest]
        ) -> Iterator[tuple[RunRequest, RunResult]]:
            with pytest.raises(Conflict, match="being judged by another process"):
                judged(package)
            yield from super().run_many(requests)

    judged(package, sandbox=Meddling())
    assert len(rows(package.parent / "season")) == 1


def test_a_judge_that_cannot_begin_leaves_no_files(package: Path) -> None:
    """A setter that fails its gate, a sandbox that fails, a folder of another program."""
    pack_solver(package.parent / "s", "ada")
    bad = pack_problem(
        package.parent / "q", setter="def seq(n): return n  # outcome: sandbox_error"
    )
    with pytest.raises(Unavailable):
        judge(read_problem(bad), package.parent / "s", package.parent / "season", FakeSandbox())
    assert not (package.parent / "season").exists()
    with pytest.raises(Conflict, match="is not a season"):
        judge(read_problem(package), package.parent / "s", package, FakeSandbox())
    with pytest.raises(NotFound):
        judge(read_problem(package), package / "nowhere", package.parent / "season", FakeSandbox())
    with pytest.raises(NotFound):
        judge(read_problem(package), package.parent / "s", package / "a" / "b", FakeSandbox())
    assert not (package.parent / "season").exists()


def test_the_expected_terms_never_enter_the_sandbox(package: Path) -> None:
    """A job has the program and the number of terms."""
    pack_solver(package.parent / "s", "ada")
    requests: list[RunRequest] = []

    class Watching(FakeSandbox):
        def run(self, request: RunRequest) -> RunResult:
            requests.append(request)
            return super().run(request)

    judged(package, sandbox=Watching())
    (request,) = requests
    assert request.source == RIGHT.format(n=20).encode()
    assert (request.entry, request.n_check) == ("solver", 20)


def test_progress_counts_every_submission(package: Path) -> None:
    """Up to the last one, with any verdict."""
    folder = package.parent / "s"
    for user in ("ada", "bob", "cy"):
        pack_solver(folder, user)
    (folder / "dan" / "1").mkdir(parents=True)
    reports: list[JudgingProgress] = []
    judge(read_problem(package), folder, package.parent / "season", FakeSandbox(),
          progress=reports.append)  # fmt: skip
    assert (reports[-1].done, reports[-1].total) in {(3, 4), (4, 4)}
    assert [report.done for report in reports] == sorted(report.done for report in reports)


def test_an_empty_folder_of_submissions_makes_an_empty_season(package: Path) -> None:
    """It can be scored; no user has a score."""
    summary = judged(package)
    assert summary.rows == ()
    assert len(agon.score("dojo", package.parent / "season").board()) == 0


def test_the_tables_of_a_season_do_not_contain_the_expected_terms(package: Path) -> None:
    """They can be published; the terms are in the ledger, which only its owner can read."""
    pack_solver(package.parent / "s", "ada", HALF)
    judged(package)
    season = package.parent / "season"
    assert ledger_of(season).stat().st_mode & 0o777 == 0o600
    assert ledger_of(season).parent.stat().st_mode & 0o777 == 0o700
    (published,) = [entry for entry in entries(season) if entry["kind"] == "problem-published"]
    assert "seq" in published["body"]["package"]["source"]
    text = "".join(path.read_text() for path in season.glob("*.ndjson"))
    assert "seq" not in text
    assert "400" not in text  # the twentieth square
    assert recorded(season) == [rows(season)[0]["id"]]


@pytest.mark.exhaustive
def test_a_season_has_the_entries_of_a_contest(package: Path) -> None:
    """Created, opened, published, received, judged: a service can import and replay it."""
    pack_solver(package.parent / "s", "ada", HALF, method_tag="loops")
    judged(package)
    season = package.parent / "season"
    assert [entry["kind"] for entry in entries(season)] == [
        "contest-created", "contest-opened", "problem-published", "record-added",
        "submission-received", "record-added",
    ]  # fmt: skip
    content = entries(season)[4]["body"]["content"]
    assert (content["source"], content["method_tag"]) == (HALF, "loops")
    ledger = import_directory(season / "ledger")
    assert ledger.contest == "season"
    rebuilt = replay((entry.line for entry in ledger.entries()), contest=ledger.contest)
    assert rebuilt.board_sha256 == agon.score("dojo", season).board().sha256
    rebuilt.live.close()


def test_a_name_that_no_ledger_accepts_is_an_issue_of_its_package(package: Path) -> None:
    """A folder may have any name, an entry names its submission in printable text."""
    pack_solver(package.parent / "s", "ada")
    pack_solver(package.parent / "s", "b\nb")
    summary = judged(package)
    assert [row["user_id"] for row in summary.rows] == ["ada"]
    assert "control characters" in str(summary.issues[0])


def test_keys_of_a_submission_are_read_in_any_spelling_and_others_are_listed(
    tmp_path: Path,
) -> None:
    """Ignored, ``createdAt`` would let a file's time decide who was late, and lose a tag."""
    place = pack_solver(tmp_path / "s", "ada", created_at=None)
    (place / "submission.json").write_text('{"createdAt": "2026-02-03T10:00:00Z", "user": "bob"}')
    (place / "solution.json").write_text('{"methodTag": "sum", "method-tag": "loops", "x-a": 1}')
    package = read_package(PackageFolder("ada", "1", place))
    assert package.created_at == datetime(2026, 2, 3, 10, tzinfo=UTC)
    assert package.method_tag == "sum"
    assert [(Path(remark.where).name, remark.what) for remark in package.remarks] == [
        ("submission.json", "'createdAt' is read as created_at"),
        ("submission.json", "'user' is not used"),
        ("solution.json", "'methodTag' is read as method_tag"),
        ("solution.json", "'method-tag' is not used: there is method_tag"),
    ]


def test_a_season_is_judged_by_the_edition_it_was_begun_with(tmp_path: Path, package: Path) -> None:
    """Two programs of one season may not be judged by different lists of modules."""
    source = "from functools import reduce\n" + RIGHT.format(n=20)
    pack_solver(tmp_path / "s", "ada", source)
    problem, sandbox = read_problem(package), FakeSandbox()
    first, second = tmp_path / "first", tmp_path / "second"
    (row,) = judge(problem, tmp_path / "s", first, sandbox).rows
    assert row["verdict"] == "rejected_import"
    (row,) = judge(problem, tmp_path / "s", second, sandbox, edition="0.2",
                   overrides={"recursion_limit": "500"}).rows  # fmt: skip
    assert row["verdict"] == "ok"
    created = entries(second)[0]["body"]
    assert (created["edition"], created["overrides"]) == ("dojo/0.2", {"recursion_limit": 500})
    pack_solver(tmp_path / "s", "bob", source)
    (row,) = judge(problem, tmp_path / "s", second, sandbox).rows
    assert (row["user_id"], row["verdict"]) == ("bob", "ok")
    with pytest.raises(Conflict, match=r"was begun under dojo/0.2 with recursion_limit"):
        judge(problem, tmp_path / "s", second, sandbox, edition="0.1")
