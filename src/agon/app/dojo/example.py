"""Judge the season that is shipped with agon: sequences from mathematics, real programs."""

from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

from agon.app.dojo.judge import judge
from agon.app.dojo.problems import DECLARATION, read_problem
from agon.app.sandbox import Sandbox
from agon.errors import Unavailable

SUBMISSIONS = "submissions"


def example_problems() -> list[Path]:
    """Return the example's packages; each has its submissions in ``submissions/``.

    Raises:
        Unavailable: agon was installed without its data.
    """
    folder = Path(str(files("agon").joinpath("examples", "dojo")))
    problems = sorted(file.parent for file in folder.glob(f"*/{DECLARATION}"))
    if not problems:
        raise Unavailable("the example season is missing; install agon again")
    return problems


def judge_example(
    out: Path, sandbox: Sandbox, *, progress: Callable[[str], None] = lambda _: None
) -> int:
    """Judge every submission of the example into a season's folder; return how many."""
    judged = 0
    for package in example_problems():
        problem = read_problem(package)
        progress(f"judging {problem.title}")
        judged += len(judge(problem, package / SUBMISSIONS, out, sandbox).rows)
    return judged
