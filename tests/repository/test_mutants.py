"""The modules and tests that ``tools/mutants`` names exist."""

import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_mutated_module_and_its_tests_are_where_the_tool_looks() -> None:
    """It ended at the first module that had moved, before any mutant."""
    targets = runpy.run_path(str(ROOT / "tools" / "mutants"))["TARGETS"]
    modules = {module: tests for part in targets.values() for module, tests in part.items()}
    assert len(modules) * 8 >= 200  # it draws eight mutants of each
    missing = {
        path
        for module, tests in modules.items()
        for path in (f"src/agon/{module}", *(f"tests/{name}" for name in tests.split()))
        if not (ROOT / path).is_file()
    }
    assert missing == set()
