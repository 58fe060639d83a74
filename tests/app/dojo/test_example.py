"""The example season that agon contains: sixteen sequences and real programs, really run."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import agon
from agon.app.demo import DemoResult, build_demo
from agon.app.dojo.example import SUBMISSIONS, example_problems, judge_example
from agon.app.dojo.packages import find_packages, read_package
from agon.app.dojo.problems import read_problem
from agon.app.replay.replay import replay
from agon.app.sandbox import Sandbox
from agon.disciplines.dojo.classifier import classify, contradicts
from agon.disciplines.dojo.program import ParsedProgram, parse
from agon.errors import Unavailable
from agon.ledger.directory import import_directory
from agon.wiring import sandbox
from app.dojo.packing import rows

KNOWN = {
    # The first terms as any table of sequences gives them.
    "Bell numbers: partitions of a set": [1, 1, 2, 5, 15, 52, 203, 877],
    "Catalan numbers": [1, 1, 2, 5, 14, 42, 132, 429],
    "Collatz: steps until 1": [0, 1, 7, 2, 5, 8, 16, 3],
    "Euler's totient": [1, 1, 2, 2, 4, 2, 6, 4],
    "Fibonacci numbers": [1, 1, 2, 3, 5, 8, 13, 21],
    "Happy numbers": [1, 7, 10, 13, 19, 23, 28, 31],
    "Motzkin numbers": [1, 1, 2, 4, 9, 21, 51, 127],
    "Numbers both square and triangular": [0, 1, 36, 1225, 41616, 1413721, 48024900, 1631432881],
    "Padovan numbers": [1, 1, 1, 2, 2, 3, 4, 5],
    "Partitions of n": [1, 2, 3, 5, 7, 11, 15, 22],
    "Primes": [2, 3, 5, 7, 11, 13, 17, 19],
    "Recamán's sequence": [0, 1, 3, 6, 2, 7, 13, 20],
    "Stern's diatomic series": [1, 1, 2, 1, 3, 2, 3, 1],
    "Sum of the divisors of n": [1, 3, 4, 7, 6, 12, 8, 15],
    "Thue–Morse sequence": [0, 1, 1, 0, 1, 0, 0, 1],
    "Ulam numbers": [1, 2, 3, 4, 6, 8, 11, 13],
}
NOT_RIGHT = {
    ("Bell numbers: partitions of a set", "emil"): ("wrong_answer", 23),
    ("Catalan numbers", "emil"): ("wrong_answer", 27),
    ("Collatz: steps until 1", "emil"): ("wrong_answer", 128),
    ("Fibonacci numbers", "emil"): ("wrong_answer", 70),
    ("Happy numbers", "emil"): ("wrong_answer", 142),
    ("Motzkin numbers", "emil"): ("wrong_answer", 39),
    ("Numbers both square and triangular", "dora"): ("wrong_answer", 8),
    ("Numbers both square and triangular", "emil"): ("wrong_answer", 11),
    ("Padovan numbers", "emil"): ("wrong_answer", 118),
    ("Partitions of n", "emil"): ("wrong_answer", 150),
    ("Partitions of n", "fay"): ("wrong_answer", 0),
    ("Primes", "emil"): ("wrong_answer", 68),
    ("Primes", "fay"): ("wrong_answer", 168),
    ("Primes", "jo"): ("rejected_policy", 200),
    ("Recamán's sequence", "emil"): ("wrong_answer", 101),
    ("Stern's diatomic series", "emil"): ("wrong_answer", 127),
    ("Sum of the divisors of n", "emil"): ("wrong_answer", 143),
    ("Thue–Morse sequence", "emil"): ("wrong_answer", 128),
    ("Thue–Morse sequence", "fay"): ("wrong_type", None),
    ("Ulam numbers", "emil"): ("wrong_answer", 125),
    ("Ulam numbers", "fay"): ("wrong_answer", 4),
}


@pytest.fixture(scope="module")
def real_sandbox() -> Iterator[Sandbox]:
    """Open a real sandbox; without one, these tests fail."""
    with sandbox() as opened:
        yield opened


@pytest.fixture(scope="module")
def season(real_sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Judge the complete season once."""
    folder = tmp_path_factory.mktemp("example") / "season"
    assert judge_example(folder, real_sandbox) == 88
    return folder


def declared() -> Iterator[tuple[str, ParsedProgram]]:
    """Yield the declared tag and the program of every submission that declares one."""
    for package in example_problems():
        for place in find_packages(package / SUBMISSIONS)[0]:
            submission = read_package(place)
            program = parse(submission.source or b"", max_bytes=65_536, max_depth=300)
            if submission.method_tag is not None and isinstance(program, ParsedProgram):
                yield submission.method_tag, program


@pytest.mark.exhaustive
def test_every_program_of_the_example_gets_its_intended_verdict(
    season: Path,
) -> None:
    """Right ones by many methods, some right for half of the terms, some wrong."""
    titles = {row["id"]: row["title"] for row in rows(season, "problems")}
    verdicts = {
        (titles[row["problem_id"]], row["user_id"]): (row["verdict"], row["terms_matched"])
        for row in rows(season)
        if row["verdict"] != "ok"
    }
    assert verdicts == NOT_RIGHT
    assert Counter(row["verdict"] for row in rows(season))["ok"] == 67
    assert {row["mode"] for row in rows(season)} == {"bwrap"}


@pytest.mark.exhaustive
def test_the_example_shows_both_gates_and_a_right_program_for_every_problem(season: Path) -> None:
    """It shows brevity, diversity, stage passes, a late submission and one by the setter."""
    result = agon.score("dojo", season)
    board = {row["id"]: row for row in result.board().rows()}
    assert len(KNOWN) == 16
    assert board["ada"]["reward_corrects"] == 16
    assert board["emil"]["stage_passes"] > board["emil"]["reward_corrects"]
    assert {one.id for one in result.board().unscored} == {"ivo"}
    assert board["gus"]["problems"] == 2  # the one that gus set, Fibonacci numbers, does not count


MEASURED = {"cpu_ms": 0.0, "wall_ms": 0.0, "memory_kib": 0, "attempts": 1, "runner": "a runner"}
"""What differs from run to run, and what stands for it in the golden records."""
GOLDEN_ROWS = {
    "problems": "70c7fcf09bfe619c58f0563709e83ced8734775b607d77e010860fb58a847d39",
    "submissions": "59ab5712b3964c3221b1687dc7ad2a911deced126715c0e90dab3fc140d21a1f",
}
GOLDEN_FINGERPRINTS = {
    "0.1": "704f10c861c12c65ec2a267201648e9f96d6443daeaf7cc46c67ed25d3c850fe",
    "0.2": "cc8cb5fe578d7ae3a810aa1edec2101cafe226e57c08c7afe9286f87f0bddeae",
}
GOLDEN_BOARD = "ce78e153f04a434699c6054c35ba1bb47c951366b690c4c8e1135940bca9d2d6"


@pytest.mark.exhaustive
def test_the_examples_records_and_boards_are_the_golden_ones(season: Path, tmp_path: Path) -> None:
    """Every row, column and reason, byte for byte; measured values are set to fixed ones."""
    for table, golden in GOLDEN_ROWS.items():
        fixed = [
            {name: MEASURED.get(name, value) for name, value in row.items()}
            for row in rows(season, table)
        ]
        content = "".join(json.dumps(row) + "\n" for row in fixed)
        (tmp_path / f"{table}.ndjson").write_text(content)
        assert hashlib.sha256(content.encode()).hexdigest() == golden
    for edition, golden in GOLDEN_FINGERPRINTS.items():
        result = agon.score("dojo", tmp_path, edition=edition)
        assert result.fingerprint == golden
        assert result.board().sha256 == GOLDEN_BOARD


@pytest.mark.exhaustive
def test_the_examples_ledger_replays_to_the_board_of_its_tables(season: Path) -> None:
    """A season in a folder has the ledger of a contest."""
    ledger = import_directory(season / "ledger")
    rebuilt = replay((one.line for one in ledger.entries()), contest=ledger.contest)
    assert rebuilt.board_sha256 == GOLDEN_BOARD
    rebuilt.live.close()


@pytest.mark.exhaustive
def test_the_setters_give_the_sequences_they_are_named_for(season: Path) -> None:
    """Compared with the first terms as they are known."""
    from agon.app.dojo.season import SeasonFolder

    with SeasonFolder.open(season, new=False) as opened:
        terms = {
            problem.package["title"]: [int(term) for term in problem.package["terms"][:8]]
            for problem in opened.problems.values()
        }
    assert terms == KNOWN


def test_the_classifiers_accuracy_on_the_example_is_what_the_rulebook_says() -> None:
    """56 of 82 tags; what it calls loops the seed calls other. Two honest tags contradicted."""
    guesses = [(tag, classify(program)) for tag, program in declared()]
    right = sum({"loops": "other"}.get(one.tag, one.tag) == tag for tag, one in guesses)
    against = sum(contradicts(tag, one) for tag, one in guesses)
    assert (right, against, len(guesses)) == (56, 2, 82)
    chapter = Path(__file__).parents[3] / "docs" / "rules" / "dojo.md"
    assert "56 of the 82" in " ".join(chapter.read_text().split())


@pytest.mark.exhaustive
def test_scoring_a_judged_season_runs_nothing(
    season: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs are recorded, never repeated for scoring: neither a sandbox nor a process is started."""

    def never(*_: Any, **__: Any) -> None:
        raise AssertionError("scoring started something")

    monkeypatch.setattr("agon.runners.sandbox.open_sandbox", never)
    monkeypatch.setattr("subprocess.Popen.__init__", never)
    monkeypatch.setattr("os.posix_spawn", never)
    for edition in ("0.1", "0.2"):
        result = agon.score("dojo", season, edition=edition, overrides={"max_numeric_literals": 5})
        assert len(result.board()) > 0
        assert result.explain("ada").parts
        assert result.findings is not None


@pytest.mark.exhaustive
def test_the_demo_runs_its_dojo_season_in_the_sandbox_it_is_given(
    real_sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It states the mode of the sandbox. Three sequences are enough to show it."""
    packages = example_problems()[:3]
    for module in ("agon.app.demo", "agon.app.dojo.example"):
        monkeypatch.setattr(f"{module}.example_problems", lambda: packages)
    programs = sum(len(find_packages(package / SUBMISSIONS)[0]) for package in packages)
    (exhibit,) = dojo_demo(tmp_path, monkeypatch, lambda: sandbox("degraded", workers=1))
    assert f"{programs} programs for 3 sequences" in exhibit.origin
    assert "mode degraded, without namespaces" in exhibit.origin
    assert exhibit.result.board().rows(top=1)[0]["id"] == "ada"
    assert real_sandbox.mode == "bwrap"


def dojo_demo(
    folder: Path, monkeypatch: pytest.MonkeyPatch, open_sandbox: Callable[[], Sandbox]
) -> list[DemoResult]:
    """Build a demo of the dojo alone."""
    monkeypatch.setattr("agon.app.demo.names", lambda: ["dojo"])
    return list(build_demo(folder / "demo", open_sandbox=open_sandbox))


def test_the_demo_says_so_when_nothing_can_be_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A simulated season is better than none, and is named as one."""

    def unavailable() -> Sandbox:
        raise Unavailable("bwrap is missing")

    (exhibit,) = dojo_demo(tmp_path, monkeypatch, unavailable)
    assert "simulated" in exhibit.origin
    assert "nothing could be run here (bwrap is missing)" in exhibit.origin


@pytest.mark.parametrize("package", example_problems(), ids=lambda path: path.name)
def test_every_package_of_the_example_is_valid(package: Path) -> None:
    """Users copy it to begin a problem."""
    problem = read_problem(package)
    places, issues = find_packages(package / SUBMISSIONS)
    assert problem.title in KNOWN
    assert problem.n_check == 200
    assert issues == []
    assert len(places) >= 4
    for place in places:
        assert read_package(place).remarks == ()
